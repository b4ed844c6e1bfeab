// convert.cu -- conversion between dtypes, and of labels to rows of 0 and 1. A label out of range
// gives a row of zeros, and is a finding (cuda.h).
#include "cuda/cuda.h"
#include "tensor/math_whole.h"

static __device__ inline void convert(float from, int64_t *to) { *to = math_to_int64(from); }
static __device__ inline void convert(int64_t from, float *to) { *to = (float)from; }
static __device__ inline void convert(uint8_t from, float *to) { *to = (float)from; }
static __device__ inline void convert(uint8_t from, int64_t *to) { *to = from; }

// y (n) = x (n)
template <typename From, typename To> __global__ static void cast(const From *x, To *y, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) convert(x[i], &y[i]);
}

template <typename From, typename To>
static Status launch_cast(const OpCall *call, CudaDevice *cuda) {
    const From *x = (const From *)(const void *)tensor_raw(call->in[0]);
    To *y = (To *)(void *)tensor_raw(call->out[0]);
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH((cast<From, To>), cuda_grid(n), CUDA_BLOCK, 0, x, y, n);
}

CUDA_OP(cast) {
    if (call->in[0]->dtype == DTYPE_FLOAT32) return launch_cast<float, int64_t>(call, cuda);
    if (call->in[0]->dtype == DTYPE_INT64) return launch_cast<int64_t, float>(call, cuda);
    return call->out[0]->dtype == DTYPE_INT64 ? launch_cast<uint8_t, int64_t>(call, cuda)
                                              : launch_cast<uint8_t, float>(call, cuda);
}

// y (n) = x (n) wrapped to `bits` bits
__global__ static void wrap(const int64_t *x, int64_t *y, int bits, bool is_signed, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE)
        y[i] = math_whole_wrap(x[i], bits, is_signed);
}

CUDA_OP(wrap) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(wrap, cuda_grid(n), CUDA_BLOCK, 0, cuda_indices(call->in[0]),
                       cuda_indices(call->out[0]), (int)call->params.count, call->params.flags != 0,
                       n);
}

// out (count, classes) from labels (count)
__global__ static void one_hot(const int64_t *labels, float *out, int64_t count, int64_t classes,
                               bool is_signed, unsigned long long *findings) {
    for (int64_t i = GLOBAL_INDEX; i < count * classes; i += GRID_STRIDE) {
        int64_t row = i / classes, label = math_place(labels[row], classes, is_signed);
        if (label < 0 || label >= classes) cuda_note_finding(findings, OP_one_hot, row);
        out[i] = i - row * classes == label ? 1.0f : 0.0f;
    }
}

CUDA_OP(one_hot) {
    const int64_t *labels = cuda_indices(call->in[0]);
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(one_hot, cuda_grid(n), CUDA_BLOCK, 0, labels, call_out(call, 0),
                       call->in[0]->numel, call->params.count, call->params.flags != 0,
                       cuda->findings);
}
