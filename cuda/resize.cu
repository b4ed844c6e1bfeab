// resize.cu -- resizing images: one thread per output; and the gradient as a gather: one thread per
// element of the image adds up the gradients of the outputs that read it, in order.
#include "cuda/cuda.h"

extern "C" {
#include "tensor/ops/resize.h"
}

struct Sides {
    ResizeSide height, width;
    int taps;
};

static Sides sides_of(const OpCall *call) {
    return {resize_side(&call->params, 0), resize_side(&call->params, 1),
            resize_taps_of(call->params.flags & 15)};
}

__global__ static void resize(const float *x, float *y, Sides s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t line = e / s.width.out, plane = line / s.height.out;
        int64_t rows[RESIZE_TAPS], columns[RESIZE_TAPS];
        float of_row[RESIZE_TAPS], of_column[RESIZE_TAPS], sum = 0.0f;
        resize_taps(&s.height, line - plane * s.height.out, rows, of_row);
        resize_taps(&s.width, e - line * s.width.out, columns, of_column);
        const float *image = x + plane * s.height.size * s.width.size;
        if (s.taps == 1) {
            y[e] = image[rows[0] * s.width.size + columns[0]];
            continue;
        }
        for (int k = 0; k < s.taps; k++) {
            float across = of_row[0] * image[rows[0] * s.width.size + columns[k]];
            for (int t = 1; t < s.taps; t++)
                across += of_row[t] * image[rows[t] * s.width.size + columns[k]];
            sum = k ? sum + of_column[k] * across : of_column[k] * across;
        }
        y[e] = sum;
    }
}

CUDA_OP(resize) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(resize, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call, 0),
                       sides_of(call), n);
}

// Whether output o reads element i; if so, *share is the sum of the weights of its taps there.
static __device__ inline bool reads(const ResizeSide *side, int64_t o, int64_t i, int taps,
                                    float *share) {
    int64_t index[RESIZE_TAPS];
    float weight[RESIZE_TAPS];
    bool found = false;
    resize_taps(side, o, index, weight);
    *share = 0.0f;
    for (int t = 0; t < taps; t++) {
        if (index[t] != i) continue;
        *share += weight[t];
        found = true;
    }
    return found;
}

__global__ static void resize_gradient(const float *dy, float *dx, Sides s, int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t line = e / s.width.size, plane = line / s.height.size;
        int64_t row = line - plane * s.height.size, column = e - line * s.width.size;
        ResizeRange rows = resize_readers(&s.height, row);
        ResizeRange columns = resize_readers(&s.width, column);
        float total = 0.0f;
        for (int64_t oh = rows.begin; oh < rows.end; oh++) {
            float of_row, of_column, sum = 0.0f;
            if (!reads(&s.height, oh, row, s.taps, &of_row)) continue;
            const float *from = dy + (plane * s.height.out + oh) * s.width.out;
            for (int64_t ow = columns.begin; ow < columns.end; ow++)
                if (reads(&s.width, ow, column, s.taps, &of_column)) sum += of_column * from[ow];
            total += of_row * sum;
        }
        dx[e] = total;
    }
}

CUDA_OP(resize_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    return CUDA_LAUNCH(resize_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_out(call, 0), sides_of(call), n);
}
