// emulator_device.h -- CUDA's device functions that its headers do not declare for g++: thread
// indices, barriers, shuffles, integer atomics, a few functions. Missing on purpose: approximate
// mathematics (__expf), float atomics and __activemask, whose results are not reproducible.
#ifndef TESTS_EMULATOR_EMULATOR_DEVICE_H
#define TESTS_EMULATOR_EMULATOR_DEVICE_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_runtime.h>

// One variable for all threads, found by the linker script shared.ld under this tag. `used`,
// because otherwise the compiler takes a variable that no kernel writes for a constant zero.
#undef __shared__
#define __shared__ static __attribute__((abi_tag("shared"), used))
#undef __launch_bounds__
#define __launch_bounds__(...)

// Indices of the running thread; only the emulator writes them.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

// The place of a call in the source, as default arguments, so that kernels are written as for nvcc.
#define EMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// ---- barriers, shuffles, votes -----------------------------------------------------------------
struct EmulatorMeeting { // lanes of a warp wait for each other and exchange values
    const char *name;    // such as "__shfl_sync"
    const char *file;
    int line;
    unsigned lanes; // the lanes that take part
    uint64_t value; // this lane's value
    int source;     // lane whose value is returned; ALL_VOTES: a bit for each non-zero value
};
enum { ALL_VOTES = -1 };
uint64_t emulator_meet(const EmulatorMeeting &meeting);
void emulator_barrier(const char *file, int line);
int emulator_lane();

static inline void __syncthreads(EMULATOR_HERE) { emulator_barrier(file, line); }
static inline void __syncwarp(unsigned lanes = 0xffffffffu, EMULATOR_HERE) {
    emulator_meet({"__syncwarp", file, line, lanes, 0, ALL_VOTES});
}
static inline unsigned __ballot_sync(unsigned lanes, int predicate, EMULATOR_HERE) {
    return unsigned(emulator_meet({"__ballot_sync", file, line, lanes, predicate != 0, ALL_VOTES}));
}
static inline int __any_sync(unsigned lanes, int predicate, EMULATOR_HERE) {
    return emulator_meet({"__any_sync", file, line, lanes, predicate != 0, ALL_VOTES}) != 0;
}
static inline int __all_sync(unsigned lanes, int predicate, EMULATOR_HERE) {
    return emulator_meet({"__all_sync", file, line, lanes, predicate != 0, ALL_VOTES}) == lanes;
}

template <class T>
static inline T emulator_shuffle(const char *name, const char *file, int line, unsigned lanes,
                                 T value, int source) {
    static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                  "a shuffle takes numbers of 32 or 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = emulator_meet({name, file, line, lanes, bits, source});
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Each `width` lanes form a segment; for a source outside of it a lane gets its own value.
template <class T>
static inline T __shfl_sync(unsigned lanes, T value, int source, int width = 32, EMULATOR_HERE) {
    int begin = emulator_lane() & -width;
    return emulator_shuffle("__shfl_sync", file, line, lanes, value,
                            begin + (source & (width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned lanes, T value, unsigned delta, int width = 32,
                               EMULATOR_HERE) {
    int lane = emulator_lane(), inside = lane & (width - 1);
    return emulator_shuffle("__shfl_up_sync", file, line, lanes, value,
                            delta > unsigned(inside) ? lane : lane - int(delta));
}
template <class T>
static inline T __shfl_down_sync(unsigned lanes, T value, unsigned delta, int width = 32,
                                 EMULATOR_HERE) {
    int lane = emulator_lane(), after = width - 1 - (lane & (width - 1));
    return emulator_shuffle("__shfl_down_sync", file, line, lanes, value,
                            delta > unsigned(after) ? lane : lane + int(delta));
}
// The source may lie in an earlier segment, but not in a later one, as on a GPU.
template <class T>
static inline T __shfl_xor_sync(unsigned lanes, T value, int mask, int width = 32, EMULATOR_HERE) {
    int lane = emulator_lane(), source = lane ^ mask, last = lane | (width - 1);
    return emulator_shuffle("__shfl_xor_sync", file, line, lanes, value,
                            source < 0 || source > last ? lane : source);
}

// Threads run one at a time, so every access is in order already.
static inline void __threadfence() {}
static inline void __threadfence_block() {}

// ---- integer atomics: they return the old value ------------------------------------------------
#define EMULATOR_ATOMIC(T, name, updated)                                                          \
    static inline T name(T *address, T value) {                                                    \
        T old = *address;                                                                          \
        *address = updated;                                                                        \
        return old;                                                                                \
    }
#define EMULATOR_ATOMICS(T)                                                                        \
    EMULATOR_ATOMIC(T, atomicAdd, old + value)                                                     \
    EMULATOR_ATOMIC(T, atomicMax, old > value ? old : value)                                       \
    EMULATOR_ATOMIC(T, atomicMin, old < value ? old : value)                                       \
    EMULATOR_ATOMIC(T, atomicAnd, old &value)                                                      \
    EMULATOR_ATOMIC(T, atomicOr, old | value)                                                      \
    EMULATOR_ATOMIC(T, atomicXor, old ^ value)                                                     \
    EMULATOR_ATOMIC(T, atomicExch, value)                                                          \
    static inline T atomicCAS(T *address, T expected, T value) {                                   \
        T old = *address;                                                                          \
        if (old == expected) *address = value;                                                     \
        return old;                                                                                \
    }
EMULATOR_ATOMICS(int)
EMULATOR_ATOMICS(unsigned)
EMULATOR_ATOMICS(unsigned long long)

// ---- functions that math.h does not have -------------------------------------------------------
template <class T> static inline T __ldg(const T *address) { return *address; }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

template <class To, class From> static inline To emulator_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return emulator_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return emulator_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return emulator_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return emulator_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return emulator_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return emulator_bits<double>(x); }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }

#define EMULATOR_MIN_MAX(T, smaller, larger)                                                       \
    static inline T min(T a, T b) { return smaller; }                                              \
    static inline T max(T a, T b) { return larger; }
#define EMULATOR_MIN_MAX_WHOLE(T) EMULATOR_MIN_MAX(T, b < a ? b : a, a < b ? b : a)
EMULATOR_MIN_MAX_WHOLE(int)
EMULATOR_MIN_MAX_WHOLE(unsigned)
EMULATOR_MIN_MAX_WHOLE(long)
EMULATOR_MIN_MAX_WHOLE(unsigned long)
EMULATOR_MIN_MAX_WHOLE(long long)
EMULATOR_MIN_MAX_WHOLE(unsigned long long)
EMULATOR_MIN_MAX(float, fminf(a, b), fmaxf(a, b))
EMULATOR_MIN_MAX(double, fmin(a, b), fmax(a, b))

#endif
