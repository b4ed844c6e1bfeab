// conv.cuh -- internal to cuda/: shared by conv.cu and depthwise.cu.
#ifndef CUDA_CONV_CUH
#define CUDA_CONV_CUH

#include "cuda/cuda.h"

extern "C" {
#include "tensor/ops/conv.h"
}

// A 64-bit division takes several times as long as a 32-bit one, and few images need it.
static __device__ inline int64_t conv_quotient(int64_t a, int64_t b) {
    return a <= UINT32_MAX ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

// The output along dimension d whose tap t reads input `place`; -1: no output.
static __device__ inline int64_t conv_output_along(const ConvSizes *s, int d, int64_t place,
                                                   int64_t t, int64_t outputs) {
    int64_t from = place + s->window.before[d] - t * s->window.dilation[d];
    int64_t stride = s->window.stride[d], o = stride == 1 ? from : from / stride;
    return from >= 0 && o < outputs && o * stride == from ? o : -1;
}

// Index in p of the output whose tap t reads (ih, iw); negative: no output.
static __device__ inline int64_t conv_output_of(const ConvSizes *s, int64_t ih, int64_t iw,
                                                int64_t t) {
    int64_t i = t / s->window.kernel[1], j = t - i * s->window.kernel[1];
    int64_t oh = conv_output_along(s, 0, ih, i, s->out_height);
    int64_t ow = conv_output_along(s, 1, iw, j, s->out_width);
    return oh < 0 || ow < 0 ? -s->p - 1 : oh * s->out_width + ow;
}

// ---- depthwise.cu ------------------------------------------------------------------------------
Status cuda_depthwise_forward(CudaDevice *cuda, const OpCall *call, const ConvSizes *s);
Status cuda_depthwise_backward_input(CudaDevice *cuda, const OpCall *call, const ConvSizes *s);
Status cuda_depthwise_backward_weight(CudaDevice *cuda, const OpCall *call, const ConvSizes *s);

#endif
