// rotary.cu -- rotates pairs of each row by the angle of its position: tensor/ops/rotary.c.
#include "cuda/cuda.h"
#include "tensor/math.h"

// y (rows, 2 half): one thread per pair
__global__ static void rotary(const float *x, const float *cosines, const float *sines, float *y,
                              int64_t pairs, int64_t half, int64_t positions, float sign) {
    for (int64_t i = GLOBAL_INDEX; i < pairs; i += GRID_STRIDE) {
        int64_t row = i / half, j = i - row * half, at = row * 2 * half + j;
        float c = cosines[row % positions * half + j], s = sines[row % positions * half + j];
        float first = x[at], second = x[at + half];
        y[at] = math_rotate(first, second, c, -sign * s);
        y[at + half] = math_rotate(second, first, c, sign * s);
    }
}

CUDA_OP(rotary) {
    const Tensor *table = call->in[1];
    int64_t pairs = call_numel(call) / 2, positions = table->shape.dims[0];
    if (pairs == 0) return STATUS_OK;
    return CUDA_LAUNCH(rotary, cuda_grid(pairs), CUDA_BLOCK, 0, call_in(call, 0), call_in(call, 1),
                       call_in(call, 2), call_out(call, 0), pairs, table->shape.dims[1], positions,
                       call->params.flags ? -1.0f : 1.0f);
}
