// decimal.h -- the decimal digits of a float32, for printing (print.c).
// Not here: how digits are laid out.
#ifndef TENSOR_DECIMAL_H
#define TENSOR_DECIMAL_H

#include <stdbool.h>

enum { DECIMAL_DIGITS = 64 };

// sign d1.d2d3... * 10^exponent, without zeros at the end; zero is the one digit '0'.
typedef struct Decimal {
    bool negative;
    int count;
    char digits[DECIMAL_DIGITS]; // not a string: `count` characters
    int exponent;
} Decimal;

// x is finite; 1 <= digits <= 32. Correctly rounded.
Decimal decimal_rounded(float x, int digits);

// The fewest digits that read back as x: nine are always enough for a float32. (For 2^-96, 2^87 and
// 2^90 NumPy finds one digit less, because it tries the other neighbour too.)
Decimal decimal_shortest(float x);

#endif
