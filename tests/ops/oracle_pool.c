// oracle_pool.c -- pools and their gradients, output by output and tap by tap; padded taps are
// compared or added like any other.
#include "tensor/ops/window.h"
#include "tests/ops/oracle.h"

// ---- windows: max_pool2d, avg_pool2d ----------------------------------------------------------
// The number of windows along d. In ceil mode one more counts when the last one ends before the
// padded end and the next begins before the image's end.
static int64_t windows_along(const OpWindow *w, int d, bool ceil_mode) {
    int64_t span = w->dilation[d] * (w->kernel[d] - 1) + 1, count = 0;
    int64_t padded = w->before[d] + w->input[d] + w->after[d];
    for (;; count++) {
        int64_t begin = count * w->stride[d];
        bool fits = begin + span <= padded;
        bool more =
            ceil_mode && begin < w->before[d] + w->input[d] &&
            (count == 0 ? padded + w->stride[d] > span : begin - w->stride[d] + span < padded);
        if (!fits && !more) return count;
    }
}

static Shape pooled(const OracleCall *call, Shape x) {
    OpWindow w = call->params.window;
    bool ceil_mode = (call->params.flags & POOL_CEIL) != 0;
    x.dims[2] = windows_along(&w, 0, ceil_mode);
    x.dims[3] = windows_along(&w, 1, ceil_mode);
    return x;
}

static Shape unpooled(const OracleCall *call, Shape y) {
    y.dims[2] = call->params.window.input[0];
    y.dims[3] = call->params.window.input[1];
    return y;
}

typedef struct Tap { // place of a window's tap in the plane
    int64_t row, column;
    bool inside; // lies in the image, not in padding
    bool counts; // counts in a mean: lies in the image or in declared padding
} Tap;

static Tap tap_of(const OpWindow *w, Shape y, int64_t out, int64_t tap) {
    int64_t oh = out / y.dims[3] % y.dims[2], ow = out % y.dims[3];
    Tap t = {.row = oh * w->stride[0] - w->before[0] + tap / w->kernel[1] * w->dilation[0],
             .column = ow * w->stride[1] - w->before[1] + tap % w->kernel[1] * w->dilation[1]};
    t.inside = t.row >= 0 && t.row < w->input[0] && t.column >= 0 && t.column < w->input[1];
    t.counts = t.row < w->input[0] + w->after[0] && t.column < w->input[1] + w->after[1];
    return t;
}

static int64_t place_of(const OpWindow *w, Shape y, int64_t out, Tap tap) {
    int64_t plane = out / (y.dims[2] * y.dims[3]);
    return (plane * w->input[0] + tap.row) * w->input[1] + tap.column;
}

static bool max_pool2d(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OpWindow w = call->params.window;
    Shape shape = pooled(call, x->shape);
    bool places = call->needs_grad != 0;
    if (!oracle_expects(call, 0, shape) || (places && !oracle_expects(call, 1, shape)))
        return false;
    for (int64_t out = 0; out < call->out[0].numel; out++) {
        double best = -HUGE_VAL, where = -1.0;
        for (int64_t t = 0; t < (int64_t)w.kernel[0] * w.kernel[1]; t++) {
            Tap tap = tap_of(&w, shape, out, t);
            double value = tap.inside ? x->values[place_of(&w, shape, out, tap)] : -HUGE_VAL;
            call->counted.elementwise_flops += t > 0;
            if (!tap.inside || !(where < 0.0 || value > best || isnan(value))) continue;
            best = value;
            where = (double)(tap.row * w.input[1] + tap.column);
        }
        call->out[0].values[out] = best;
        if (places) call->out[1].values[out] = where;
    }
    return true;
}

static bool max_pool2d_backward(OracleCall *call) {
    const OracleTensor *grad = &call->in[0], *where = &call->in[1];
    OracleTensor *dx = &call->out[0];
    Shape shape = unpooled(call, grad->shape);
    if (!oracle_expects(call, 0, shape)) return false;
    int64_t outputs = grad->shape.dims[2] * grad->shape.dims[3];
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    for (int64_t out = 0; out < grad->numel; out++) {
        double nowhere = 0.0, *to = &nowhere;
        if (where->values[out] >= 0.0)
            to = &dx->values[out / outputs * shape.dims[2] * shape.dims[3] +
                             (int64_t)where->values[out]];
        *to = plus(&call->counted, *to, grad->values[out]);
    }
    return true;
}

static double mean_divisor(const OracleCall *call, Shape y, int64_t out) {
    OpWindow w = call->params.window;
    double count = 0.0;
    for (int64_t t = 0; t < (int64_t)w.kernel[0] * w.kernel[1]; t++) {
        Tap tap = tap_of(&w, y, out, t);
        count += call->params.flags & POOL_EXCLUDE_PAD ? tap.inside : tap.counts;
    }
    return count;
}

static bool avg_pool2d(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OpWindow w = call->params.window;
    Shape shape = pooled(call, x->shape);
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t out = 0; out < call->out[0].numel; out++) {
        double sum = 0.0;
        for (int64_t t = 0; t < (int64_t)w.kernel[0] * w.kernel[1]; t++) {
            Tap tap = tap_of(&w, shape, out, t);
            double value = tap.inside ? x->values[place_of(&w, shape, out, tap)] : 0.0;
            sum = t > 0 ? plus(&call->counted, sum, value) : value;
        }
        call->out[0].values[out] = over(&call->counted, sum, mean_divisor(call, shape, out));
    }
    return true;
}

static bool avg_pool2d_backward(OracleCall *call) {
    const OracleTensor *grad = &call->in[0];
    OracleTensor *dx = &call->out[0];
    OpWindow w = call->params.window;
    if (!oracle_expects(call, 0, unpooled(call, grad->shape))) return false;
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    for (int64_t out = 0; out < grad->numel; out++) {
        double share =
            over(&call->counted, grad->values[out], mean_divisor(call, grad->shape, out));
        for (int64_t t = 0; t < (int64_t)w.kernel[0] * w.kernel[1]; t++) {
            Tap tap = tap_of(&w, grad->shape, out, t);
            double nowhere = 0.0;
            double *to = tap.inside ? &dx->values[place_of(&w, grad->shape, out, tap)] : &nowhere;
            *to = plus(&call->counted, *to, share);
        }
    }
    return true;
}

// ---- regions: adaptive_avg_pool2d -------------------------------------------------------------
// Element i of `size` belongs to region o of n when its span [i, i + 1) meets [o, o + 1) size / n.
static bool belongs(int64_t i, int64_t o, int64_t size, int64_t n) {
    return (i + 1) * n > o * size && i * n < (o + 1) * size;
}

// Iterates over the elements of output `out`: returns the next index in x or dx, at last -1.
static int64_t next_place(Shape x, Shape y, int64_t out, int64_t after) {
    int64_t plane = x.dims[2] * x.dims[3], first = out / (y.dims[2] * y.dims[3]) * plane;
    for (int64_t i = after < 0 ? 0 : after - first + 1; i < plane; i++)
        if (belongs(i / x.dims[3], out / y.dims[3] % y.dims[2], x.dims[2], y.dims[2]) &&
            belongs(i % x.dims[3], out % y.dims[3], x.dims[3], y.dims[3]))
            return first + i;
    return -1;
}

static int64_t region_size(Shape x, Shape y, int64_t out) {
    int64_t count = 0;
    for (int64_t i = next_place(x, y, out, -1); i >= 0; i = next_place(x, y, out, i)) count++;
    return count;
}

static bool adaptive_avg_pool2d(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OracleTensor *y = &call->out[0];
    Shape shape = x->shape;
    shape.dims[2] = call->params.window.kernel[0];
    shape.dims[3] = call->params.window.kernel[1];
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t out = 0; out < y->numel; out++) {
        int64_t at = next_place(x->shape, shape, out, -1);
        double sum = x->values[at];
        while ((at = next_place(x->shape, shape, out, at)) >= 0)
            sum = plus(&call->counted, sum, x->values[at]);
        y->values[out] = over(&call->counted, sum, (double)region_size(x->shape, shape, out));
    }
    return true;
}

static bool adaptive_avg_pool2d_backward(OracleCall *call) {
    const OracleTensor *grad = &call->in[0];
    OracleTensor *dx = &call->out[0];
    Shape shape = unpooled(call, grad->shape);
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    for (int64_t out = 0; out < grad->numel; out++) {
        double share =
            over(&call->counted, grad->values[out], (double)region_size(shape, grad->shape, out));
        for (int64_t at = next_place(shape, grad->shape, out, -1); at >= 0;
             at = next_place(shape, grad->shape, out, at))
            dx->values[at] = plus(&call->counted, dx->values[at], share);
    }
    return true;
}

const OracleFunction oracle_pools[OP_COUNT] = {
    [OP_max_pool2d] = max_pool2d,
    [OP_max_pool2d_backward] = max_pool2d_backward,
    [OP_avg_pool2d] = avg_pool2d,
    [OP_avg_pool2d_backward] = avg_pool2d_backward,
    [OP_adaptive_avg_pool2d] = adaptive_avg_pool2d,
    [OP_adaptive_avg_pool2d_backward] = adaptive_avg_pool2d_backward,
};
