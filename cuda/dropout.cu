// dropout.cu -- random masks, bit for bit as on the CPU: element i is lane i % 4 of Philox block
// offset + i / 4, so a thread makes one block and handles four elements.
#include "cuda/cuda.h"
#include "tensor/philox.h"

static float scale_of(const OpCall *call) {
    float p = call->params.value[0];
    return p < 1.0f ? 1.0f / (1.0f - p) : 0.0f;
}

// Whether four floats and four bytes can be moved at a time.
static bool all_wide(const float *x, const float *y, const uint8_t *mask) {
    return is_wide(x) && is_wide(y) && (uintptr_t)mask % sizeof(uchar4) == 0;
}

// mask (n) = uniform (n) >= p; y (n) = x (n) scale where the mask is set, else x times 0
__global__ static void dropout(const float *x, float *y, uint8_t *mask, int64_t n, float p,
                               float scale, uint64_t seed, uint64_t offset, bool wide) {
    for (int64_t block = GLOBAL_INDEX; 4 * block < n; block += GRID_STRIDE) {
        uint32_t words[4];
        philox_block(offset + (uint64_t)block, seed, words);
        uint8_t keep[4];
        for (int k = 0; k < 4; k++) keep[k] = philox_uniform(words[k]) >= p;
        int64_t i = 4 * block;
        if (wide && n - i >= 4) {
            float4 v = ((const float4 *)x)[block];
            ((uchar4 *)mask)[block] = make_uchar4(keep[0], keep[1], keep[2], keep[3]);
            ((float4 *)y)[block] =
                make_float4(v.x * (keep[0] ? scale : 0.0f), v.y * (keep[1] ? scale : 0.0f),
                            v.z * (keep[2] ? scale : 0.0f), v.w * (keep[3] ? scale : 0.0f));
        } else {
            for (int k = 0; k < 4 && i + k < n; k++) {
                mask[i + k] = keep[k];
                y[i + k] = x[i + k] * (keep[k] ? scale : 0.0f);
            }
        }
    }
}

// mask (blocks) = uniform (blocks) >= p; a thread draws four of them
__global__ static void draw_mask(uint8_t *mask, int64_t blocks, float p, uint64_t seed,
                                 uint64_t offset) {
    for (int64_t four = GLOBAL_INDEX; 4 * four < blocks; four += GRID_STRIDE) {
        uint32_t words[4];
        philox_block(offset + (uint64_t)four, seed, words);
        for (int k = 0; k < 4 && 4 * four + k < blocks; k++)
            mask[4 * four + k] = philox_uniform(words[k]) >= p;
    }
}

// y (n) = x (n) scale where the mask (n / block) is set, else x times 0
__global__ static void scale_blocks(const float *x, const uint8_t *mask, float *y, int64_t n,
                                    int64_t block, float scale) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE)
        y[i] = x[i] * (mask[i / block] ? scale : 0.0f);
}

// Number of elements per decision.
static int64_t block_of(const OpCall *call) { return shape_numel(call->params.shape); }

CUDA_OP(dropout) {
    const OpParams *p = &call->params;
    int64_t n = call_numel(call), block = block_of(call);
    if (n == 0 && block > 0) return STATUS_OK;
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    uint8_t *mask = (uint8_t *)tensor_raw(call->out[1]);
    if (block != 1) {
        int64_t blocks = call->out[1]->numel;
        Status status = CUDA_LAUNCH(draw_mask, cuda_grid((blocks + 3) / 4), CUDA_BLOCK, 0, mask,
                                    blocks, p->value[0], p->seed, p->offset);
        if (status || n == 0) return status;
        return CUDA_LAUNCH(scale_blocks, cuda_grid(n), CUDA_BLOCK, 0, x, mask, y, n, block,
                           scale_of(call));
    }
    return CUDA_LAUNCH(dropout, cuda_grid((n + 3) / 4), CUDA_BLOCK, 0, x, y, mask, n, p->value[0],
                       scale_of(call), p->seed, p->offset, all_wide(x, y, mask));
}

// out (n) = grad (n) scale where the mask (n) is set, else 0
__global__ static void dropout_backward(const float *grad, const uint8_t *mask, float *out,
                                        int64_t n, float scale, bool wide) {
    for (int64_t four = GLOBAL_INDEX; 4 * four < n; four += GRID_STRIDE) {
        int64_t i = 4 * four;
        if (wide && n - i >= 4) {
            float4 g = ((const float4 *)grad)[four];
            uchar4 keep = ((const uchar4 *)mask)[four];
            ((float4 *)out)[four] =
                make_float4(g.x * (keep.x ? scale : 0.0f), g.y * (keep.y ? scale : 0.0f),
                            g.z * (keep.z ? scale : 0.0f), g.w * (keep.w ? scale : 0.0f));
        } else {
            for (int k = 0; k < 4 && i + k < n; k++)
                out[i + k] = grad[i + k] * (mask[i + k] ? scale : 0.0f);
        }
    }
}

CUDA_OP(dropout_backward) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    const float *grad = call_in(call, 0);
    float *out = call_out(call, 0);
    const uint8_t *mask = (const uint8_t *)tensor_raw(call->in[1]);
    if (block_of(call) != 1)
        return CUDA_LAUNCH(scale_blocks, cuda_grid(n), CUDA_BLOCK, 0, grad, mask, out, n,
                           block_of(call), scale_of(call));
    return CUDA_LAUNCH(dropout_backward, cuda_grid((n + 3) / 4), CUDA_BLOCK, 0, grad, mask, out, n,
                       scale_of(call), all_wide(grad, out, mask));
}
