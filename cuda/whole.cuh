// whole.cuh -- internal to cuda/: element-wise ops of int64. Their formulas are next to those of
// floats, in elementwise.cu.
#ifndef CUDA_WHOLE_CUH
#define CUDA_WHOLE_CUH

#include "cuda/elementwise.cuh"
#include "tensor/math_whole.h"

// If the formula divides, a divisor of 0 becomes a finding; the last place with one is kept.
#define WHOLE_FORMULA(name, expression, Type, looks)                                               \
    struct name##_whole {                                                                          \
        typedef Type Result;                                                                       \
        static constexpr bool divides = looks;                                                     \
        static constexpr int op = OP_##name;                                                       \
        __device__ Type operator()(int64_t a, [[maybe_unused]] int64_t b) const {                  \
            return (Type)(expression);                                                             \
        }                                                                                          \
    };

// y (n), row by row = formula(a, b); strides along y's dimensions locate a and b.
template <class Formula>
static __global__ void whole_numbers(Formula formula, const int64_t *a, const int64_t *b, Walk walk,
                                     typename Formula::Result *y, int64_t n,
                                     unsigned long long *findings) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t offset[MOST_INPUTS] = {};
        find(walk, 2, i, offset);
        int64_t second = b[offset[1]];
        if (Formula::divides && second == 0)
            cuda_note_finding(findings, CUDA_FOUND_ZERO | Formula::op, i);
        y[i] = formula(a[offset[0]], second);
    }
}

// An op of one input gets it as the second input, too.
template <class Formula> static Status launch_whole(const OpCall *call, CudaDevice *cuda) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    int second = call->n_in > 1 ? 1 : 0;
    Walk walk = walk_of(call, second + 1);
    for (int d = 0; d < walk.ndim && second == 0; d++) walk.stride[1][d] = walk.stride[0][d];
    return CUDA_LAUNCH(whole_numbers<Formula>, cuda_grid(n), CUDA_BLOCK, 0, Formula(),
                       cuda_indices(call->in[0]), cuda_indices(call->in[second]), walk,
                       (typename Formula::Result *)(void *)tensor_raw(call->out[0]), n,
                       cuda->findings);
}

#endif
