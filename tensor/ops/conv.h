// conv.h -- internal: shared by the kernels of a convolution: its sizes, and the tiles that divide
// its work. CUDA uses the sizes, too.
//
// Unfolded, an image of c channels becomes a matrix (k, p): a row for each of the k = c/groups * kh
// * kw taps, a column for each of the p = ho * wo outputs. Then y (o, p) = weight (o, k) . (k, p).
#ifndef TENSOR_OPS_CONV_H
#define TENSOR_OPS_CONV_H

#include <string.h>

#include "tensor/ops/window.h"

typedef struct ConvSizes {
    OpWindow window;
    int64_t images, groups;
    int64_t channels, outputs; // per group
    int64_t height, width;     // size of the input
    int64_t out_height, out_width;
    int64_t taps; // kh * kw
    int64_t k, p; // channels * taps; out_height * out_width
} ConvSizes;

// The sizes, from the call's window, y (or a tensor of its shape) and the weight.
static inline ConvSizes conv_sizes(const OpCall *call, const Tensor *y, const Tensor *weight) {
    const OpWindow *w = &call->params.window;
    ConvSizes s; // member by member, as C++ requires
    s.window = *w;
    s.images = y->shape.dims[0];
    s.groups = w->groups;
    s.outputs = weight->shape.dims[0] / w->groups;
    s.channels = weight->shape.dims[1];
    s.height = w->input[0];
    s.width = w->input[1];
    s.out_height = y->shape.dims[2];
    s.out_width = y->shape.dims[3];
    s.taps = weight->shape.dims[2] * weight->shape.dims[3];
    s.k = s.channels * s.taps;
    s.p = s.out_height * s.out_width;
    return s;
}
static inline ConvSizes conv_sizes_forward(const OpCall *call) {
    return conv_sizes(call, call->out[0], call->in[1]);
}
static inline ConvSizes conv_sizes_backward_input(const OpCall *call) {
    return conv_sizes(call, call->in[0], call->in[1]);
}
static inline ConvSizes conv_sizes_backward_weight(const OpCall *call) {
    return conv_sizes(call, call->in[0], call->out[0]);
}

// The window of the options; its kernel and input are not set yet.
OpWindow conv_window(Conv2dOptions options);

// Initial value of an input gradient: 0, or the bias of a transposed convolution.
static inline bool conv_has_start(const OpCall *call) { return call->n_in > 2 && call->in[2]; }
static inline float conv_start(const OpCall *call, int64_t channel) {
    return conv_has_start(call) ? call_in(call, 2)[channel] : 0.0f;
}

// With one input channel per group only the taps are summed, so a product would be a waste. The
// taps of 16 adjacent outputs must fit a band of the image that lies in the nearest cache.
enum { CONV_DEPTHWISE_BAND = 1 << 13 };
static inline bool conv_is_depthwise(const ConvSizes *s) {
    const OpWindow *w = &s->window;
    int64_t height = (int64_t)(w->kernel[0] - 1) * w->dilation[0] + 1;
    int64_t width = (int64_t)(w->kernel[1] - 1) * w->dilation[1] + 15 * (int64_t)w->stride[1] + 1;
    return s->channels == 1 && s->groups > 1 && height <= CONV_DEPTHWISE_BAND &&
           width <= CONV_DEPTHWISE_BAND && height * width <= CONV_DEPTHWISE_BAND;
}

// A 1 x 1 kernel that reads every input once: the image is its own unfolding. (Output padding of a
// transposed convolution adds inputs that nobody reads, so it is excluded.)
static inline bool conv_is_plain(const ConvSizes *s) {
    const OpWindow *w = &s->window;
    return s->taps == 1 && s->p == s->height * s->width && w->stride[0] == 1 && w->stride[1] == 1 &&
           w->before[0] == 0 && w->before[1] == 0 && w->after[0] == 0 && w->after[1] == 0;
}

// ---- conv2d_unfold.c ---------------------------------------------------------------------------
enum { CONV_OVERSHOOT = 8 }; // floats past a tile, or a row, that a copy may write
typedef struct ConvTile {    // rows from k0 and columns from p0 of one group's unfolded image
    int64_t k0, rows, p0, columns;
} ConvTile;
// Copies n floats in steps of eight while both sides have room: rows are short, and the next row
// overwrites the excess.
MATH_INLINE void conv_copy_row(float *to, const float *from, int64_t n, const float *end) {
    int64_t i = 0;
    for (; i < n && from + i + CONV_OVERSHOOT <= end; i += CONV_OVERSHOOT)
        memcpy(to + i, from + i, CONV_OVERSHOOT * sizeof(float));
    for (; i < n; i++) to[i] = from[i];
}

// to (rows, columns) = the tile's part of the unfolding of x (channels, height, width), one group
// of an image; `end` is the end of the readable memory.
void conv_unfold(const ConvSizes *s, const float *x, const float *end, const ConvTile *tile,
                 float *to);
// x (n) = value
void conv_fill(float *x, int64_t n, float value);
// The inverse: dx (channels, height, width) += each tap's share, from (rows, columns).
void conv_fold(const ConvSizes *s, const float *from, const ConvTile *tile, float *dx);

// ---- conv2d_product.c: the three kernels, by unfolding and a product, on the CPU --------------
Status conv2d_cpu(const OpCall *call, int64_t begin, int64_t end);
Status conv2d_backward_input_cpu(const OpCall *call, int64_t begin, int64_t end);
Status conv2d_backward_weight_cpu(const OpCall *call, int64_t begin, int64_t end);
int64_t conv_forward_handoffs(const OpCall *call); // Op.handoffs
int64_t conv_backward_input_handoffs(const OpCall *call);
int64_t conv_backward_weight_handoffs(const OpCall *call);
int64_t conv_forward_workspace(const OpCall *call); // bytes, for the context's threads
int64_t conv_backward_input_workspace(const OpCall *call);
int64_t conv_backward_weight_workspace(const OpCall *call);

// ---- conv2d_depthwise.c ------------------------------------------------------------------------
OpWork depthwise_work(const ConvSizes *sizes, int64_t planes); // for any of the three kernels
void depthwise_forward(const OpCall *call, const ConvSizes *sizes);
void depthwise_backward_input(const OpCall *call, const ConvSizes *sizes);
void depthwise_backward_weight(const OpCall *call, const ConvSizes *sizes);

#endif
