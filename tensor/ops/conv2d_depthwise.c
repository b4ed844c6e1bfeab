// conv2d_depthwise.c -- convolution of each channel by itself: a product would have an inner size
// of the few taps, so loops over rows of outputs do it, without unfolding.
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/ops/conv.h"
#include "tensor/ops/reduce.h"

// One tap along one row of outputs: y[o] meets x[o * stride].
typedef struct TapRow {
    float *y, *x;
    int64_t n, stride;
} TapRow;

// Of tap (i, j) and the output row oh of the planes y and x; n = 0 where all of it is padding.
MATH_INLINE TapRow tap_row(const ConvSizes *s, float *y, float *x, int64_t oh, int64_t i,
                           Range inside, int64_t j) {
    const OpWindow *w = &s->window;
    int64_t ih = window_place(w, 0, oh, i), n = inside.end - inside.begin;
    if (ih < 0 || ih >= s->height || n == 0) return (TapRow){0};
    return (TapRow){.y = y + oh * s->out_width + inside.begin,
                    .x = x + ih * s->width + window_place(w, 1, inside.begin, j),
                    .n = n,
                    .stride = w->stride[1]};
}

// The plane of x that feeds plane `out` (image x output) of y.
static int64_t plane_of(const ConvSizes *s, int64_t out) { return out / s->outputs; }

static float *plane(const Tensor *t, int64_t index) {
    return (float *)(void *)tensor_raw(t) + index * pool_plane_size(t);
}

// y (out height, out width) = the sum over taps of weight * shifted x (height, width), + bias
KERNEL static void forward_plane(const ConvSizes *s, const float *weight, float bias, float *x,
                                 float *y) {
    int64_t columns = s->window.kernel[1];
    for (int64_t i = 0; i < s->p; i++) y[i] = bias;
    for (int64_t oh = 0; oh < s->out_height; oh++)
        for (int64_t t = 0; t < s->taps; t++) {
            Range inside = window_range(&s->window, 1, t % columns, s->out_width);
            TapRow row = tap_row(s, y, x, oh, t / columns, inside, t % columns);
            float scale = weight[t];
            if (row.stride == 1)
                for (int64_t o = 0; o < row.n; o++) row.y[o] += scale * row.x[o];
            else
                for (int64_t o = 0; o < row.n; o++) row.y[o] += scale * row.x[o * row.stride];
        }
}

// dx (height, width) += the sum over taps of weight * shifted dy (out height, out width)
KERNEL static void backward_plane(const ConvSizes *s, const float *weight, float *dy, float *dx) {
    int64_t columns = s->window.kernel[1];
    for (int64_t oh = 0; oh < s->out_height; oh++)
        for (int64_t t = 0; t < s->taps; t++) {
            Range inside = window_range(&s->window, 1, t % columns, s->out_width);
            TapRow row = tap_row(s, dy, dx, oh, t / columns, inside, t % columns);
            float scale = weight[t];
            if (row.stride == 1)
                for (int64_t o = 0; o < row.n; o++) row.x[o] += scale * row.y[o];
            else
                for (int64_t o = 0; o < row.n; o++) row.x[o * row.stride] += scale * row.y[o];
        }
}

// The sum over a plane of dy * shifted x, for tap t.
KERNEL static double plane_dot(const ConvSizes *s, float *dy, float *x, int64_t t) {
    int64_t i = t / s->window.kernel[1], j = t % s->window.kernel[1];
    Range inside = window_range(&s->window, 1, j, s->out_width);
    double sum = 0.0;
    for (int64_t oh = 0; oh < s->out_height; oh++) {
        TapRow row = tap_row(s, dy, x, oh, i, inside, j);
        float part = 0.0f;
        if (row.stride == 1)
            part = reduce_dot(row.y, row.x, row.n);
        else
            for (int64_t o = 0; o < row.n; o++) part += row.y[o] * row.x[o * row.stride];
        sum += (double)part;
    }
    return sum;
}

// ---- over planes -----------------------------------------------------------------------------
static void forward_planes(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_forward(call);
    int64_t outputs = s.groups * s.outputs;
    for (int64_t out = begin; out < end; out++)
        forward_plane(&s, call_in(call, 1) + out % outputs * s.taps,
                      call->in[2] ? call_in(call, 2)[out % outputs] : 0.0f,
                      plane(call->in[0], plane_of(&s, out)), plane(call->out[0], out));
}

void depthwise_forward(const OpCall *call, const ConvSizes *s) {
    pool_planes(call, pool_plane_count(call->out[0]), s->p * s->taps, forward_planes);
}

static void input_planes(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_backward_input(call);
    for (int64_t in = begin; in < end; in++) {
        float *dx = plane(call->out[0], in);
        memset(dx, 0, (size_t)(s.height * s.width) * sizeof(float));
        for (int64_t o = 0; o < s.outputs; o++)
            backward_plane(&s, call_in(call, 1) + (in % s.groups * s.outputs + o) * s.taps,
                           plane(call->in[0], in * s.outputs + o), dx);
    }
}

void depthwise_backward_input(const OpCall *call, const ConvSizes *s) {
    pool_planes(call, pool_plane_count(call->out[0]), s->outputs * s->p * s->taps, input_planes);
}

static void weight_outputs(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    ConvSizes s = conv_sizes_backward_weight(call);
    int64_t outputs = s.groups * s.outputs;
    for (int64_t o = begin; o < end; o++)
        for (int64_t t = 0; t < s.taps; t++) {
            double sum = 0.0;
            for (int64_t n = 0; n < s.images; n++)
                sum += plane_dot(&s, plane(call->in[0], n * outputs + o),
                                 plane(call->in[1], plane_of(&s, n * outputs + o)), t);
            call_out(call, 0)[o * s.taps + t] = (float)sum;
        }
}

void depthwise_backward_weight(const OpCall *call, const ConvSizes *s) {
    pool_planes(call, s->groups * s->outputs, s->images * s->p * s->taps, weight_outputs);
}
