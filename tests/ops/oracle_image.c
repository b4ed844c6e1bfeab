// oracle_image.c -- padding, flips and resizing, one output at a time.
#include "tests/ops/oracle.h"

// The coordinates of element `position` of a shape.
static void coordinates_of(Shape shape, int64_t position, int64_t at[TENSOR_MAX_DIMS]) {
    for (int d = shape.ndim - 1; d >= 0; d--) {
        at[d] = position % shape.dims[d];
        position /= shape.dims[d];
    }
}

static int64_t position_of(Shape shape, const int64_t at[TENSOR_MAX_DIMS]) {
    int64_t position = 0;
    for (int d = 0; d < shape.ndim; d++) position = position * shape.dims[d] + at[d];
    return position;
}

// ---- pad: walks from the edge, a step at a time ------------------------------------------------
static int64_t walked(int64_t at, int64_t size, unsigned mode) {
    int64_t step = at < 0 ? -1 : 1, i = at < 0 ? 0 : size - 1;
    if (at >= 0 && at < size) return at;
    if (mode == PAD_CONSTANT) return -1;
    for (int64_t left = at < 0 ? -at : at - (size - 1); left > 0; left--) {
        if (mode == PAD_CIRCULAR) i = i + step < 0 ? size - 1 : i + step == size ? 0 : i + step;
        if (mode == PAD_REFLECT) i -= step;
    }
    return i;
}

// Index in x of the value at `position` of the padded shape; -1: none.
static int64_t read_by(const OpParams *params, Shape x, Shape padded, int64_t position) {
    int64_t at[TENSOR_MAX_DIMS] = {0};
    bool inside = true;
    coordinates_of(padded, position, at);
    for (int d = 0; d < x.ndim; d++) {
        at[d] = walked(at[d] - params->pads.before[d], x.dims[d], params->flags);
        inside = inside && at[d] >= 0;
    }
    return inside ? position_of(x, at) : -1;
}

static Shape padded(Shape x, const OpParams *params, int sign) {
    for (int d = 0; d < x.ndim; d++)
        x.dims[d] += sign * (params->pads.before[d] + params->pads.after[d]);
    return x;
}

static bool pad(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, padded(x->shape, &call->params, 1))) return false;
    for (int64_t i = 0; i < y->numel; i++) {
        int64_t from = read_by(&call->params, x->shape, y->shape, i);
        y->values[i] = from < 0 ? (double)call->params.value[0] : x->values[from];
    }
    return true;
}

static bool pad_backward(OracleCall *call) {
    const OracleTensor *dy = &call->in[0];
    OracleTensor *dx = &call->out[0];
    bool repeats = call->params.flags != PAD_CONSTANT;
    if (!oracle_expects(call, 0, padded(dy->shape, &call->params, -1))) return false;
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    for (int64_t i = 0; i < dy->numel; i++) {
        int64_t to = read_by(&call->params, dx->shape, dy->shape, i);
        if (to < 0) continue;
        dx->values[to] =
            repeats ? plus(&call->counted, dx->values[to], dy->values[i]) : dy->values[i];
    }
    return true;
}

static bool flip(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t at[TENSOR_MAX_DIMS] = {0};
        coordinates_of(x->shape, i, at);
        for (int d = 0; d < x->shape.ndim; d++)
            if (call->params.flags >> d & 1) at[d] = x->shape.dims[d] - 1 - at[d];
        y->values[position_of(x->shape, at)] = x->values[i];
    }
    return true;
}

// ---- resize ----------------------------------------------------------------------------------
typedef struct Made { // the inputs of one output, along one side
    int taps;
    int64_t at[4];
    double weight[4];
} Made;

// Place of output o in the input. The quotient by sizes is exact when it is an integer.
static double place_of(const OpParams *p, int d, int64_t o) {
    double size = p->window.input[d], out = p->window.kernel[d], given = (double)p->value[d];
    unsigned mode = p->flags & 15, coordinates = p->flags >> 4 & 15;
    double half = coordinates == RESIZE_HALF_PIXEL || coordinates == RESIZE_PYTORCH_HALF_PIXEL;
    bool still = size == out && (mode == RESIZE_LINEAR || p->flags == RESIZE_NEAREST);
    if (coordinates == RESIZE_ALIGN_CORNERS)
        return out > 1 ? (double)o * (size - 1) / (out - 1) : 0.0;
    if (coordinates == RESIZE_PYTORCH_HALF_PIXEL && out == 1) return 0.0;
    double place = (double)o + half / 2, scale = rint(64 / given) / 64; // the scales that cases use
    return (given != 0.0 && !still ? place / scale : place * size / out) - half / 2;
}

static double cubic(double distance) { // Keys 1981, a = -0.75
    double d = fabs(distance), a = -0.75;
    if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
}

static Made made_of(const OpParams *p, int d, int64_t o) {
    static const int taps_of[] = {1, 2, 4};
    unsigned mode = p->flags & 15, rounding = p->flags >> 8;
    Made made = {.taps = taps_of[mode]};
    double place = place_of(p, d, o), whole = floor(place);
    if (mode == RESIZE_NEAREST && rounding == RESIZE_CEIL) whole = ceil(place);
    if (mode == RESIZE_NEAREST && rounding == RESIZE_ROUND_PREFER_FLOOR) whole = ceil(place - 0.5);
    if (mode == RESIZE_NEAREST && rounding == RESIZE_ROUND_PREFER_CEIL) whole = floor(place + 0.5);
    for (int t = 0; t < made.taps; t++) {
        double at = whole + t - (made.taps == 4);
        made.weight[t] = mode == RESIZE_NEAREST  ? 1.0
                         : mode == RESIZE_LINEAR ? 1.0 - fabs(place - at)
                                                 : cubic(place - at);
        made.at[t] = at < 0.0                        ? 0
                     : at > p->window.input[d] - 1.0 ? p->window.input[d] - 1
                                                     : (int64_t)at;
    }
    return made;
}

static Shape resized(Shape x, const int32_t size[2]) {
    return SHAPE(x.dims[0], x.dims[1], size[0], size[1]);
}

static bool resize(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OracleTensor *y = &call->out[0];
    const OpWindow *w = &call->params.window;
    if (!oracle_expects(call, 0, resized(x->shape, w->kernel))) return false;
    for (int64_t i = 0; i < y->numel; i++) {
        Made rows = made_of(&call->params, 0, i / w->kernel[1] % w->kernel[0]);
        Made columns = made_of(&call->params, 1, i % w->kernel[1]);
        int64_t plane = i / w->kernel[1] / w->kernel[0] * w->input[0];
        OpCost none = {0}, *n = rows.taps > 1 ? &call->counted : &none;
        double sum = 0.0;
        for (int t = 0; t < rows.taps; t++) {
            double along = 0.0;
            for (int k = 0; k < columns.taps; k++) {
                double part = times(n, columns.weight[k],
                                    x->values[(plane + rows.at[t]) * w->input[1] + columns.at[k]]);
                along = k ? plus(n, along, part) : part;
            }
            double part = times(n, rows.weight[t], along);
            sum = t ? plus(n, sum, part) : part;
        }
        y->values[i] = sum;
    }
    return true;
}

static bool resize_backward(OracleCall *call) {
    const OracleTensor *dy = &call->in[0];
    OracleTensor *dx = &call->out[0];
    const OpWindow *w = &call->params.window;
    if (!oracle_expects(call, 0, resized(dy->shape, w->input))) return false;
    for (int64_t i = 0; i < dx->numel; i++) dx->values[i] = 0.0;
    for (int64_t i = 0; i < dy->numel; i++) {
        Made rows = made_of(&call->params, 0, i / w->kernel[1] % w->kernel[0]);
        Made columns = made_of(&call->params, 1, i % w->kernel[1]);
        int64_t plane = i / w->kernel[1] / w->kernel[0] * w->input[0];
        OpCost none = {0}, *n = rows.taps > 1 ? &call->counted : &none;
        for (int t = 0; t < rows.taps; t++) {
            double share = times(n, rows.weight[t], dy->values[i]);
            for (int k = 0; k < columns.taps; k++) {
                double *to = &dx->values[(plane + rows.at[t]) * w->input[1] + columns.at[k]];
                *to = plus(&call->counted, *to, times(n, columns.weight[k], share));
            }
        }
    }
    return true;
}

const OracleFunction oracle_images[OP_COUNT] = {
    [OP_pad] = pad,       [OP_pad_backward] = pad_backward,       [OP_flip] = flip,
    [OP_resize] = resize, [OP_resize_backward] = resize_backward,
};
