// conv2d_unfold.c -- unfolds images into matrices of each tap's inputs, and back, in tiles.
#include <string.h>

#include "tensor/ops/conv.h"

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// to (columns) = row k of the unfolding of x (channels, height, width), from column p0 on
MATH_INLINE void unfold_row(const ConvSizes *s, const float *x, const float *end, int64_t k,
                            const ConvTile *tile, float *to) {
    const OpWindow *w = &s->window;
    int64_t channel = k / s->taps, i = k % s->taps / w->kernel[1], j = k % w->kernel[1];
    const float *plane = x + channel * s->height * s->width;
    Range inside = window_range(w, 1, j, s->out_width);
    int64_t p = tile->p0, last = tile->p0 + tile->columns, step = w->stride[1];
    while (p < last) { // one row of outputs, or the tile's part of it, at a time
        int64_t oh = p / s->out_width, begin = p - oh * s->out_width;
        int64_t stop = smaller(begin + last - p, s->out_width), ih = window_place(w, 0, oh, i);
        Range copied = range_within(inside, begin, stop);
        if (ih < 0 || ih >= s->height) copied.begin = copied.end = stop;
        const float *from = plane + ih * s->width + window_place(w, 1, copied.begin, j);
        for (int64_t o = begin; o < copied.begin; o++) to[o - begin] = 0.0f;
        if (step == 1)
            conv_copy_row(to + copied.begin - begin, from, copied.end - copied.begin, end);
        else
            for (int64_t o = 0; o < copied.end - copied.begin; o++)
                to[copied.begin - begin + o] = from[o * step];
        for (int64_t o = copied.end; o < stop; o++) to[o - begin] = 0.0f;
        to += stop - begin;
        p += stop - begin;
    }
}

KERNEL void conv_unfold(const ConvSizes *s, const float *x, const float *end, const ConvTile *tile,
                        float *to) {
    for (int64_t r = 0; r < tile->rows; r++)
        unfold_row(s, x, end, tile->k0 + r, tile, to + r * tile->columns);
}

KERNEL void conv_fill(float *x, int64_t n, float value) {
    for (int64_t i = 0; i < n; i++) x[i] = value;
}

// dx (channels, height, width) += the gradients of each tap's inputs, from (rows, columns)
KERNEL void conv_fold(const ConvSizes *s, const float *from, const ConvTile *tile, float *dx) {
    const OpWindow *w = &s->window;
    for (int64_t r = 0; r < tile->rows; r++) {
        int64_t k = tile->k0 + r, i = k % s->taps / w->kernel[1], j = k % w->kernel[1];
        float *plane = dx + k / s->taps * s->height * s->width;
        Range inside = window_range(w, 1, j, s->out_width);
        int64_t step = w->stride[1], last = tile->p0 + tile->columns, stop;
        for (int64_t p = tile->p0; p < last; p += stop, from += stop) {
            int64_t oh = p / s->out_width, begin = p - oh * s->out_width;
            stop = smaller(last - p, s->out_width - begin);
            Range added = range_within(inside, begin, begin + stop);
            int64_t ih = window_place(w, 0, oh, i), n = added.end - added.begin;
            if (ih < 0 || ih >= s->height || n == 0) continue;
            float *to = plane + ih * s->width + window_place(w, 1, added.begin, j);
            const float *at = from + added.begin - begin;
            if (step == 1)
                for (int64_t o = 0; o < n; o++) to[o] += at[o];
            else
                for (int64_t o = 0; o < n; o++) to[o * step] += at[o];
        }
    }
}
