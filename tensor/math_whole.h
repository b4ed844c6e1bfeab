// math_whole.h -- per-element arithmetic of int64; as in PyTorch, overflow wraps around. Compiled
// for the CPU and by CUDA, as math.h is.
#ifndef TENSOR_MATH_WHOLE_H
#define TENSOR_MATH_WHOLE_H

#include <stdbool.h>

#include "tensor/math.h"

MATH_INLINE int64_t math_whole_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
MATH_INLINE int64_t math_whole_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
MATH_INLINE int64_t math_whole_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
MATH_INLINE int64_t math_whole_negate(int64_t x) { return math_whole_sub(0, x); }
MATH_INLINE int64_t math_whole_absolute(int64_t x) { return x < 0 ? math_whole_negate(x) : x; }
MATH_INLINE int64_t math_whole_sign(int64_t x) { return (x > 0) - (x < 0); }

// Truncates towards 0. Division by 0, which is refused where the host can see it, gives 0. -1 is
// handled apart, because a processor traps on the one quotient that is too large.
MATH_INLINE int64_t math_whole_div(int64_t a, int64_t b) {
    if (b == -1) return math_whole_negate(a);
    return b == 0 ? 0 : a / b;
}
// The remainder: fmod has the sign of a, remainder that of b.
MATH_INLINE int64_t math_whole_fmod(int64_t a, int64_t b) { return b == -1 || b == 0 ? 0 : a % b; }
MATH_INLINE int64_t math_whole_remainder(int64_t a, int64_t b) {
    int64_t rest = math_whole_fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
MATH_INLINE int64_t math_whole_max(int64_t a, int64_t b) { return a > b ? a : b; }
MATH_INLINE int64_t math_whole_min(int64_t a, int64_t b) { return a < b ? a : b; }

// The number made of x's last `bits` bits, 1 to 64: the result of arithmetic on such numbers.
MATH_INLINE int64_t math_whole_wrap(int64_t x, int bits, bool is_signed) {
    uint64_t last = (uint64_t)x << (64 - bits);
    return is_signed ? (int64_t)last >> (64 - bits) : (int64_t)(last >> (64 - bits));
}

// Comparisons give 1 if true, else 0.
MATH_INLINE int64_t math_whole_less(int64_t a, int64_t b) { return a < b; }
MATH_INLINE int64_t math_whole_less_equal(int64_t a, int64_t b) { return a <= b; }
MATH_INLINE int64_t math_whole_equal(int64_t a, int64_t b) { return a == b; }
MATH_INLINE int64_t math_whole_not_equal(int64_t a, int64_t b) { return a != b; }

#endif
