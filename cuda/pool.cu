// pool.cu -- pools: one thread per output; and their gradients as gathers: one thread per element
// of the image adds up the gradients of the windows over it, in order.
#include "cuda/cuda.h"

extern "C" {
#include "tensor/ops/window.h"
}

// ---- positions of threads ----------------------------------------------------------------------
struct Planes { // sizes of images (height, width) and outputs (out_height, out_width)
    OpWindow window;
    int64_t height, width, out_height, out_width;
    unsigned flags; // the op's
};

static Planes planes_of(const OpCall *call, const Tensor *image, const Tensor *outputs) {
    return {call->params.window,    image->shape.dims[2],   image->shape.dims[3],
            outputs->shape.dims[2], outputs->shape.dims[3], call->params.flags};
}

struct Place { // position of element e of all planes
    int64_t plane, row, column;
};

static __device__ inline Place place_of(int64_t e, int64_t height, int64_t width) {
    int64_t line = e <= UINT32_MAX ? (int64_t)((uint32_t)e / (uint32_t)width) : e / width;
    int64_t plane = line / height;
    return {plane, line - plane * height, e - line * width};
}

// The outputs along dimension d whose windows may reach `place`.
static __device__ inline Range windows_over(const OpWindow *w, int d, int64_t place,
                                            int64_t outputs) {
    int64_t at = place + w->before[d], reach = (int64_t)(w->kernel[d] - 1) * w->dilation[d];
    Range range = {at > reach ? divide_up(at - reach, w->stride[d]) : 0, at / w->stride[d] + 1};
    return range_within(range, 0, outputs);
}

// ---- max --------------------------------------------------------------------------------------
// y, where (planes, ho, wo) from x (planes, h, w); where may be NULL. As on the CPU, the first of
// equals wins, and the last NaN.
__global__ static void largest(const float *x, float *y, int64_t *where, Planes s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.out_height, s.out_width);
        const float *image = x + at.plane * s.height * s.width;
        float best = -INFINITY;
        int64_t found = -1;
        for (int64_t i = 0; i < s.window.kernel[0]; i++) {
            int64_t ih = window_place(&s.window, 0, at.row, i);
            if (ih < 0 || ih >= s.height) continue;
            for (int64_t j = 0; j < s.window.kernel[1]; j++) {
                int64_t iw = window_place(&s.window, 1, at.column, j);
                if (iw < 0 || iw >= s.width) continue;
                float value = image[ih * s.width + iw];
                if (!(value > best || value != value || found < 0)) continue;
                best = value;
                found = ih * s.width + iw;
            }
        }
        y[e] = best;
        if (where) where[e] = found;
    }
}

CUDA_OP(max_pool2d) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    int64_t *where = call->n_out > 1 ? cuda_indices(call->out[1]) : NULL;
    return CUDA_LAUNCH(largest, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call, 0),
                       where, planes_of(call, call->in[0], call->out[0]), n);
}

// dx (planes, h, w) = the sum of dy (planes, ho, wo) over windows whose largest element it is
__global__ static void largest_gradient(const float *dy, const int64_t *where, float *dx, Planes s,
                                        int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.height, s.width);
        Range rows = windows_over(&s.window, 0, at.row, s.out_height);
        Range columns = windows_over(&s.window, 1, at.column, s.out_width);
        int64_t first = at.plane * s.out_height * s.out_width, own = at.row * s.width + at.column;
        float sum = 0.0f;
        for (int64_t oh = rows.begin; oh < rows.end; oh++)
            for (int64_t ow = columns.begin; ow < columns.end; ow++) {
                int64_t o = first + oh * s.out_width + ow;
                if (where[o] == own) sum += dy[o];
            }
        dx[e] = sum;
    }
}

CUDA_OP(max_pool2d_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    const int64_t *where = cuda_indices(call->in[1]);
    return CUDA_LAUNCH(largest_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), where,
                       call_out(call, 0), planes_of(call, call->out[0], call->in[0]), n);
}

// ---- mean -------------------------------------------------------------------------------------
// Number of elements in the mean of output (oh, ow).
static __device__ inline float divisor(const Planes &s, int64_t oh, int64_t ow) {
    return (float)(window_count(&s.window, 0, oh, s.flags) *
                   window_count(&s.window, 1, ow, s.flags));
}

// y (planes, ho, wo) from x (planes, h, w)
__global__ static void mean(const float *x, float *y, Planes s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.out_height, s.out_width);
        const float *image = x + at.plane * s.height * s.width;
        float sum = 0.0f;
        for (int64_t i = 0; i < s.window.kernel[0]; i++) {
            int64_t ih = window_place(&s.window, 0, at.row, i);
            if (ih < 0 || ih >= s.height) continue;
            for (int64_t j = 0; j < s.window.kernel[1]; j++) {
                int64_t iw = window_place(&s.window, 1, at.column, j);
                if (iw >= 0 && iw < s.width) sum += image[ih * s.width + iw];
            }
        }
        y[e] = sum / divisor(s, at.row, at.column);
    }
}

CUDA_OP(avg_pool2d) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(mean, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call, 0),
                       planes_of(call, call->in[0], call->out[0]), n);
}

// dx (planes, h, w) = the shares of dy (planes, ho, wo) of the windows over it; dilation is 1
__global__ static void mean_gradient(const float *dy, float *dx, Planes s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.height, s.width);
        Range rows = windows_over(&s.window, 0, at.row, s.out_height);
        Range columns = windows_over(&s.window, 1, at.column, s.out_width);
        const float *grad = dy + at.plane * s.out_height * s.out_width;
        float sum = 0.0f;
        for (int64_t oh = rows.begin; oh < rows.end; oh++)
            for (int64_t ow = columns.begin; ow < columns.end; ow++)
                sum += grad[oh * s.out_width + ow] / divisor(s, oh, ow);
        dx[e] = sum;
    }
}

CUDA_OP(avg_pool2d_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(mean_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), planes_of(call, call->out[0], call->in[0]), n);
}

// ---- mean of regions --------------------------------------------------------------------------
// y (planes, ho, wo) from x (planes, h, w); adds in double, as a region may be the whole plane
__global__ static void region_mean(const float *x, float *y, Planes s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.out_height, s.out_width);
        Range rows = window_region(&s.window, 0, at.row);
        Range columns = window_region(&s.window, 1, at.column);
        const float *image = x + at.plane * s.height * s.width;
        double sum = 0.0;
        for (int64_t r = rows.begin; r < rows.end; r++)
            for (int64_t c = columns.begin; c < columns.end; c++)
                sum += (double)image[r * s.width + c];
        y[e] = (float)(sum / (double)((rows.end - rows.begin) * (columns.end - columns.begin)));
    }
}

CUDA_OP(adaptive_avg_pool2d) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(region_mean, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), planes_of(call, call->in[0], call->out[0]), n);
}

// The outputs along dimension d whose regions contain `place`.
static __device__ inline Range regions_over(const OpWindow *w, int d, int64_t place) {
    int64_t n = w->kernel[d], size = w->input[d];
    Range range = {place * n / size, ((place + 1) * n + size - 1) / size};
    return range;
}

// dx (planes, h, w) = the shares of dy (planes, ho, wo) of the regions that contain it
__global__ static void region_gradient(const float *dy, float *dx, Planes s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        Place at = place_of(e, s.height, s.width);
        Range rows = regions_over(&s.window, 0, at.row);
        Range columns = regions_over(&s.window, 1, at.column);
        const float *grad = dy + at.plane * s.out_height * s.out_width;
        float sum = 0.0f;
        for (int64_t oh = rows.begin; oh < rows.end; oh++)
            for (int64_t ow = columns.begin; ow < columns.end; ow++) {
                Range r = window_region(&s.window, 0, oh), c = window_region(&s.window, 1, ow);
                sum += grad[oh * s.out_width + ow] / (float)((r.end - r.begin) * (c.end - c.begin));
            }
        dx[e] = sum;
    }
}

CUDA_OP(adaptive_avg_pool2d_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(region_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), planes_of(call, call->out[0], call->in[0]), n);
}
