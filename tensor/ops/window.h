// window.h -- internal: the positions of a window's taps, for convolutions and pools, on the CPU
// and on CUDA. Index 0 is the height, 1 the width, everywhere.
#ifndef TENSOR_OPS_WINDOW_H
#define TENSOR_OPS_WINDOW_H

#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/ops.h"

enum { POOL_CEIL = 1, POOL_EXCLUDE_PAD = 2 }; // params.flags of pools

static inline int64_t window_taps(const OpWindow *w) {
    return (int64_t)w->kernel[0] * w->kernel[1];
}

// The input index that tap t of output o reads along dimension d; outside [0, input) is padding.
MATH_INLINE int64_t window_place(const OpWindow *w, int d, int64_t o, int64_t t) {
    return o * w->stride[d] - w->before[d] + t * w->dilation[d];
}

// a / b, rounded up or down; b > 0.
MATH_INLINE int64_t divide_up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }
MATH_INLINE int64_t divide_down(int64_t a, int64_t b) { return -divide_up(-a, b); }

typedef struct Range {
    int64_t begin, end;
} Range;

// The range of `outputs` outputs along dimension d whose tap t reads an input, not padding. Most
// taps touch no padding and skip the divisions.
MATH_INLINE Range window_range(const OpWindow *w, int d, int64_t t, int64_t outputs) {
    int64_t first = window_place(w, d, 0, t), over = w->input[d] - 1 - first;
    Range range = {0, outputs};
    if (first < 0) range.begin = divide_up(-first, w->stride[d]);
    if ((outputs - 1) * w->stride[d] > over) range.end = divide_down(over, w->stride[d]) + 1;
    if (range.begin > outputs) range.begin = outputs;
    if (range.end < range.begin) range.end = range.begin;
    return range;
}

MATH_INLINE Range range_within(Range range, int64_t begin, int64_t end) {
    if (range.begin < begin) range.begin = begin;
    if (range.end > end) range.end = end;
    if (range.end < range.begin) range.end = range.begin;
    return range;
}

// Number of elements along dimension d in the window of output o, for a mean (POOL_*).
MATH_INLINE int64_t window_count(const OpWindow *w, int d, int64_t o, unsigned flags) {
    int64_t begin = o * w->stride[d] - w->before[d], end = begin + w->kernel[d];
    int64_t last = w->input[d] + (int64_t)w->after[d];
    if (end > last) end = last;
    if (flags & POOL_EXCLUDE_PAD) {
        if (begin < 0) begin = 0;
        if (end > w->input[d]) end = w->input[d];
    }
    return end - begin;
}

// Input region of output o along dimension d, where w->kernel outputs share out the input.
MATH_INLINE Range window_region(const OpWindow *w, int d, int64_t o) {
    int64_t n = w->kernel[d], size = w->input[d];
    Range region = {o * size / n, ((o + 1) * size + n - 1) / n};
    return region;
}

// Narrows a 64-bit option to the 32 stored bits; out of range becomes -1, which is refused.
static inline int32_t window_narrow(int64_t value) {
    return value < 0 || value > INT32_MAX ? -1 : (int32_t)value;
}

// Checks that kernel, strides, dilation and padding are within bounds.
Status window_check(const OpCall *call, const OpWindow *w);
// Sets w->input from x (n, c, h, w), checks all of w, and makes the output (n, channels, ho, wo);
// or leaves an error pending. `flags`: POOL_CEIL.
Status window_infer(OpCall *call, OpWindow *w, int64_t channels, unsigned flags);

// As window_infer, and padding is at most half the kernel.
Status pool_infer(OpCall *call);
// Shapes of a pool's backward: the first input is a gradient (n, c, ho, wo); output (n, c, input).
Status pool_backward_infer(OpCall *call);
OpParams pool_params(Pool2dOptions options);
// The items are planes; each element of out[0], or in backward of in[0], costs a whole window.
OpWork pool_work(const OpCall *call);
OpWork pool_backward_work(const OpCall *call);
static inline int64_t pool_plane_count(const Tensor *t) {
    return t->shape.dims[0] * t->shape.dims[1];
}
static inline int64_t pool_plane_size(const Tensor *t) {
    return t->shape.dims[2] * t->shape.dims[3];
}

#endif
