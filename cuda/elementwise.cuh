// elementwise.cuh -- internal to cuda/: the two kernels that all element-wise ops share, one for
// dense operands and one for broadcast or strided ones, and the macros that make an op from its
// formula. The ops are in elementwise.cu and elementwise_backward.cu.
#ifndef CUDA_ELEMENTWISE_CUH
#define CUDA_ELEMENTWISE_CUH

#include "cuda/cuda.h"
#include "tensor/math_activation.h"

enum { MOST_INPUTS = 3 };

struct Inputs {
    const float *at[MOST_INPUTS];
};

// Four adjacent elements, which move as one load or store of 16 bytes.
struct alignas(16) Four {
    float at[4];
};

template <class Formula> static __device__ Four apply(Formula formula, const Four x[MOST_INPUTS]) {
    Four y;
    for (int j = 0; j < 4; j++) y.at[j] = formula(x[0].at[j], x[1].at[j], x[2].at[j]);
    return y;
}

// ---- dense -------------------------------------------------------------------------------------
// y (n) = formula(in[0] (n), in[1] (n), ...): the first 4 * fours elements by Fours, the others one
// by one. y may be one of the inputs: each thread has read what it writes.
template <class Formula>
static __global__ void dense(Formula formula, Inputs in, float *y, int64_t fours, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < fours; i += GRID_STRIDE) {
        Four x[MOST_INPUTS] = {};
        for (int k = 0; k < Formula::inputs; k++) x[k] = ((const Four *)in.at[k])[i];
        ((Four *)y)[i] = apply(formula, x);
    }
    for (int64_t i = 4 * fours + GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        float x[MOST_INPUTS] = {};
        for (int k = 0; k < Formula::inputs; k++) x[k] = in.at[k][i];
        y[i] = formula(x[0], x[1], x[2]);
    }
}

// An absent input gets the address of the first one; its formula uses a number instead.
static inline const float *input_at(const OpCall *call, int k) {
    return call_in(call, call->in[k] ? k : 0);
}

template <class Formula>
static Status launch_dense(const OpCall *call, CudaDevice *cuda, float *y, int64_t n) {
    if (n == 0) return STATUS_OK;
    Inputs in = {};
    bool aligned = is_wide(y);
    for (int k = 0; k < Formula::inputs; k++) {
        in.at[k] = input_at(call, k);
        aligned = aligned && is_wide(in.at[k]);
    }
    int64_t fours = aligned ? n / 4 : 0;
    return CUDA_LAUNCH(dense<Formula>, cuda_grid(fours ? fours : n), CUDA_BLOCK, 0, Formula(call),
                       in, y, fours, n);
}

// ---- broadcast and strided ---------------------------------------------------------------------
// Positions of the inputs' elements along the output's dimensions. Dimensions count from the last;
// adjacent ones are merged if every operand steps evenly across both.
struct Walk {
    int ndim;
    int64_t size[TENSOR_MAX_DIMS];
    int64_t stride[MOST_INPUTS][TENSOR_MAX_DIMS]; // 0 where an input is broadcast
};

// offset[k] = position in input k of element i of the output. Index is the type that counts.
template <class Index>
static __device__ void find(const Walk &walk, int inputs, Index i, int64_t offset[MOST_INPUTS]) {
    for (int d = 0; d < walk.ndim; d++) {
        Index size = (Index)walk.size[d], rest = d + 1 < walk.ndim ? i / size : 0;
        Index index = i - rest * size;
        for (int k = 0; k < inputs; k++) offset[k] += (int64_t)index * walk.stride[k][d];
        i = rest;
    }
}

// y (n), row by row = formula(in[0], in[1], ...); strides along y's dimensions locate each input.
// by_four: y's rows are whole Fours, and along them each input steps by 1 or 0.
template <class Formula>
static __global__ void strided(Formula formula, Inputs in, Walk walk, float *y, bool by_four,
                               int64_t n) {
    int64_t width = by_four ? 4 : 1;
    for (int64_t i = width * GLOBAL_INDEX; i < n; i += width * GRID_STRIDE) {
        int64_t offset[MOST_INPUTS] = {};
        if (n <= UINT32_MAX) // a GPU divides 64-bit numbers in a slow subroutine
            find(walk, Formula::inputs, (uint32_t)i, offset);
        else
            find(walk, Formula::inputs, i, offset);
        Four x[MOST_INPUTS] = {};
        for (int k = 0; k < Formula::inputs; k++) {
            const float *from = in.at[k] + offset[k];
            if (by_four && walk.stride[k][0] == 1)
                x[k] = *(const Four *)from;
            else
                x[k] = Four{{*from, *from, *from, *from}};
        }
        if (by_four)
            *(Four *)(y + i) = apply(formula, x);
        else
            y[i] = formula(x[0].at[0], x[1].at[0], x[2].at[0]);
    }
}

// Stride of `in`, which may be absent, along dimension d of `out`.
static inline int64_t stride_along(const Tensor *in, const Tensor *out, int d) {
    if (!in) return 0;
    int own = d - (out->shape.ndim - in->shape.ndim);
    return own < 0 || in->shape.dims[own] == 1 ? 0 : in->stride[own];
}

static inline Walk walk_of(const OpCall *call, int inputs) {
    const Tensor *out = call->out[0];
    Walk walk = {};
    for (int d = out->shape.ndim - 1; d >= 0; d--) {
        if (out->shape.dims[d] == 1) continue;
        int64_t stride[MOST_INPUTS];
        int last = walk.ndim - 1;
        bool joins = last >= 0;
        for (int k = 0; k < inputs; k++) {
            stride[k] = stride_along(call->in[k], out, d);
            joins = joins && stride[k] == walk.size[last] * walk.stride[k][last];
        }
        if (joins) {
            walk.size[last] *= out->shape.dims[d];
            continue;
        }
        for (int k = 0; k < inputs; k++) walk.stride[k][walk.ndim] = stride[k];
        walk.size[walk.ndim++] = out->shape.dims[d];
    }
    return walk;
}

static inline bool walk_is_dense(const Walk *walk, int inputs) {
    bool dense = walk->ndim <= 1;
    for (int k = 0; k < inputs && walk->ndim == 1; k++) dense = dense && walk->stride[k][0] == 1;
    return dense;
}

static inline bool walk_is_by_four(const Walk *walk, const Inputs *in, int inputs) {
    bool by_four = walk->size[0] % 4 == 0;
    for (int k = 0; k < inputs; k++) {
        if (walk->stride[k][0] == 0) continue; // one element, four times
        by_four = by_four && walk->stride[k][0] == 1 && is_wide(in->at[k]);
        for (int d = 1; d < walk->ndim; d++) by_four = by_four && walk->stride[k][d] % 4 == 0;
    }
    return by_four;
}

template <class Formula> static Status launch_broadcast(const OpCall *call, CudaDevice *cuda) {
    int64_t n = call_numel(call);
    float *y = call_out(call, 0);
    if (n == 0) return STATUS_OK;
    Walk walk = walk_of(call, Formula::inputs);
    if (walk_is_dense(&walk, Formula::inputs)) return launch_dense<Formula>(call, cuda, y, n);
    Inputs in = {};
    for (int k = 0; k < Formula::inputs; k++) in.at[k] = input_at(call, k);
    bool by_four = is_wide(y) && walk_is_by_four(&walk, &in, Formula::inputs);
    return CUDA_LAUNCH(strided<Formula>, cuda_grid(by_four ? n / 4 : n), CUDA_BLOCK, 0,
                       Formula(call), in, walk, y, by_four, n);
}

// ---- an op from its formula --------------------------------------------------------------------
// The formula of op `name`: an expression of its inputs' elements by name, of value[0] and
// value[1], and of the call's flags.
#define FORMULA(name, count, elements, expression)                                                 \
    struct name##_formula {                                                                        \
        static constexpr int inputs = count;                                                       \
        float value[2];                                                                            \
        uint32_t flags;                                                                            \
        explicit name##_formula(const OpCall *call)                                                \
            : value{call->params.value[0], call->params.value[1]}, flags(call->params.flags) {}    \
        __device__ float operator() elements const { return expression; }                          \
    };
// An op with dense operands of one shape, and one that broadcasts.
#define DENSE_KERNEL(name, expression)                                                             \
    CUDA_OP(name) {                                                                                \
        return launch_dense<name##_formula>(call, cuda, call_out(call, 0), call_numel(call));      \
    }
#define DENSE_OP(name, count, elements, expression)                                                \
    FORMULA(name, count, elements, expression)                                                     \
    DENSE_KERNEL(name, expression)
#define BROADCAST_OP(name, count, elements, expression)                                            \
    FORMULA(name, count, elements, expression)                                                     \
    CUDA_OP(name) { return launch_broadcast<name##_formula>(call, cuda); }

#endif
