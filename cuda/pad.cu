// pad.cu -- padding and flips: one thread per element of the output. The gradient is a gather: a
// thread adds up the gradients of the outputs that read its element.
#include "cuda/cuda.h"

extern "C" {
#include "tensor/ops/pad.h"
}

struct Sides {
    PadSide side[TENSOR_MAX_DIMS];
    int ndim;
};

static Sides sides_of(const OpCall *call, const Tensor *x) {
    Sides s = {};
    s.ndim = x->shape.ndim;
    for (int d = 0; d < s.ndim; d++) s.side[d] = pad_side(&call->params, d, x->shape.dims[d]);
    return s;
}

template <typename T> __global__ static void pad(const T *x, T *y, T value, Sides s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t rest = e, from = 0, step = 1;
        bool inside = true;
        for (int d = s.ndim - 1; d >= 0; d--) {
            int64_t i = pad_source(&s.side[d], rest % s.side[d].out);
            rest /= s.side[d].out;
            inside = inside && i >= 0;
            from += i * step;
            step *= s.side[d].size;
        }
        y[e] = inside ? x[from] : value;
    }
}

CUDA_OP(pad) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    Sides sides = sides_of(call, call->in[0]);
    if (call->in[0]->dtype == DTYPE_INT64)
        return CUDA_LAUNCH(pad<int64_t>, cuda_grid(n), CUDA_BLOCK, 0, cuda_indices(call->in[0]),
                           cuda_indices(call->out[0]), call->params.whole, sides, n);
    return CUDA_LAUNCH(pad<float>, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call, 0),
                       call->params.value[0], sides, n);
}

__global__ static void pad_gradient(const float *dy, float *dx, Sides s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        double sum = 0.0; // an end may have been read very often
        for (int64_t turn = 0, left = 0; left == 0; turn++) {
            int64_t rest = e, from = 0, step = 1;
            bool is = true;
            left = turn;
            for (int d = s.ndim - 1; d >= 0; d--) {
                const PadSide *side = &s.side[d];
                int64_t i = rest % side->size, readers = pad_readers(side, i);
                int64_t o = pad_reader(side, i, left % readers);
                rest /= side->size;
                left /= readers;
                is = is && o >= 0;
                from += o * step;
                step *= side->out;
            }
            if (left == 0 && is) sum += (double)dy[from];
        }
        dx[e] = (float)sum;
    }
}

CUDA_OP(pad_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(pad_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), sides_of(call, call->out[0]), n);
}

// ---- flip --------------------------------------------------------------------------------------
struct Flips {
    int64_t size[TENSOR_MAX_DIMS];
    int ndim;
    unsigned flipped; // bit d: dimension d is flipped
};

template <typename T> __global__ static void flip(const T *x, T *y, Flips f, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t rest = e, from = 0, step = 1;
        for (int d = f.ndim - 1; d >= 0; d--) {
            int64_t i = rest % f.size[d];
            rest /= f.size[d];
            from += (f.flipped >> d & 1 ? f.size[d] - 1 - i : i) * step;
            step *= f.size[d];
        }
        y[e] = x[from];
    }
}

template <typename T> static Status flip_elements(CudaDevice *cuda, const OpCall *call) {
    const Tensor *x = call->in[0];
    Flips f = {{0}, x->shape.ndim, call->params.flags};
    for (int d = 0; d < f.ndim; d++) f.size[d] = x->shape.dims[d];
    int64_t n = call_numel(call);
    return CUDA_LAUNCH(flip<T>, cuda_grid(n), CUDA_BLOCK, 0, (const T *)(const void *)tensor_raw(x),
                       (T *)(void *)tensor_raw(call->out[0]), f, n);
}

CUDA_OP(flip) {
    if (call_numel(call) == 0) return STATUS_OK;
    switch (call->in[0]->dtype) {
    case DTYPE_UINT8:
        return flip_elements<uint8_t>(cuda, call);
    case DTYPE_INT64:
        return flip_elements<int64_t>(cuda, call);
    default:
        return flip_elements<float>(cuda, call);
    }
}
