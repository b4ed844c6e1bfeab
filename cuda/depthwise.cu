// depthwise.cu -- convolution of each channel by itself, without unfolding: one thread per output,
// or per element of the input, and one block per weight.
#include "cuda/conv.cuh"
#include "cuda/reduce.cuh"

// y (images, outputs, p) = the sum over taps of weight (outputs, taps) * x (images, groups, h, w)
__global__ static void forward(const float *x, const float *weight, const float *bias, float *y,
                               ConvSizes s, int64_t n) {
    int64_t outputs = s.groups * s.outputs;
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t plane = conv_quotient(e, s.p), p = e - plane * s.p;
        int64_t oh = conv_quotient(p, s.out_width), ow = p - oh * s.out_width;
        int64_t o = plane % outputs;
        const float *from = x + plane / s.outputs * s.height * s.width;
        const float *own = weight + o * s.taps;
        float sum = bias ? bias[o] : 0.0f;
        for (int64_t i = 0; i < s.window.kernel[0]; i++) {
            int64_t ih = window_place(&s.window, 0, oh, i);
            if (ih < 0 || ih >= s.height) continue;
            for (int64_t j = 0; j < s.window.kernel[1]; j++) {
                int64_t iw = window_place(&s.window, 1, ow, j);
                if (iw >= 0 && iw < s.width)
                    sum += own[i * s.window.kernel[1] + j] * from[ih * s.width + iw];
            }
        }
        y[e] = sum;
    }
}

Status cuda_depthwise_forward(CudaDevice *cuda, const OpCall *call, const ConvSizes *s) {
    int64_t n = call_numel(call);
    return CUDA_LAUNCH(forward, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_in(call, 1),
                       call->in[2] ? call_in(call, 2) : NULL, call_out(call, 0), *s, n);
}

// dx (images, groups, h, w) = the sum of weight * dy over the outputs that read it
__global__ static void input_gradient(const float *dy, const float *weight, float *dx, ConvSizes s,
                                      int64_t n) {
    for (int64_t e = GLOBAL_INDEX; e < n; e += GRID_STRIDE) {
        int64_t plane = conv_quotient(e, s.height * s.width), at = e - plane * s.height * s.width;
        int64_t ih = conv_quotient(at, s.width), iw = at - ih * s.width;
        float sum = 0.0f;
        for (int64_t o = 0; o < s.outputs; o++) {
            const float *own = weight + (plane % s.groups * s.outputs + o) * s.taps;
            const float *from = dy + (plane * s.outputs + o) * s.p;
            for (int64_t t = 0; t < s.taps; t++) {
                int64_t p = conv_output_of(&s, ih, iw, t);
                if (p >= 0) sum += own[t] * from[p];
            }
        }
        dx[e] = sum;
    }
}

Status cuda_depthwise_backward_input(CudaDevice *cuda, const OpCall *call, const ConvSizes *s) {
    int64_t n = call_numel(call);
    return CUDA_LAUNCH(input_gradient, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0),
                       call_in(call, 1), call_out(call, 0), *s, n);
}

// dweight (outputs, taps) = or += the sum over images and p of dy * shifted x; a block per weight
__global__ static void weight_gradient(const float *dy, const float *x, float *dweight, ConvSizes s,
                                       int64_t weights, bool add) {
    __shared__ double shared[REDUCE_WARPS];
    int64_t outputs = s.groups * s.outputs;
    for (int64_t at = blockIdx.x; at < weights; at += gridDim.x) {
        int64_t o = at / s.taps, t = at - o * s.taps;
        int64_t i = t / s.window.kernel[1], j = t - i * s.window.kernel[1];
        double sum = 0.0;
        for (int64_t e = threadIdx.x; e < s.images * s.p; e += blockDim.x) {
            int64_t n = conv_quotient(e, s.p), p = e - n * s.p;
            int64_t oh = conv_quotient(p, s.out_width), ow = p - oh * s.out_width;
            int64_t ih = window_place(&s.window, 0, oh, i), iw = window_place(&s.window, 1, ow, j);
            if (ih < 0 || ih >= s.height || iw < 0 || iw >= s.width) continue;
            const float *from = x + (n * s.groups + o / s.outputs) * s.height * s.width;
            sum += (double)(dy[(n * outputs + o) * s.p + p] * from[ih * s.width + iw]);
        }
        sum = block_sum(sum, shared);
        if (threadIdx.x == 0) dweight[at] = (float)(add ? (double)dweight[at] + sum : sum);
    }
}

Status cuda_depthwise_backward_weight(CudaDevice *cuda, const OpCall *call, const ConvSizes *s) {
    int64_t weights = call_numel(call);
    unsigned grid = (unsigned)(weights < CUDA_MOST_BLOCKS ? weights : (int64_t)CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(weight_gradient, grid, CUDA_BLOCK, 0, call_in(call, 0), call_in(call, 1),
                       call_out(call, 0), *s, weights, call->adds);
}
