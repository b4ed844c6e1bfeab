// resize.c -- resizes images: each output is made of the nearest elements of the image
// params.window: kernel, the new size, and input, the old one; value[0], value[1]: steps along
// height and width, 0: from the sizes; flags: resize_flags
#include "tensor/ops/resize.h"
#include "tensor/ops/elementwise.h"
#include "tensor/ops/window.h"

static int64_t size_of(int64_t out, double scale, int64_t size) {
    double scaled = floor((double)size * scale);
    return out ? out : scaled >= 1.0 && scaled <= INT32_MAX ? (int64_t)scaled : -1;
}

Tensor *tensor_resize(Tensor *x, ResizeOptions o) {
    if (!x) return OP_RUN(op_resize, NULL, x);
    bool sequence = x->shape.ndim == 3;
    const int64_t *dims = x->shape.dims;
    if (sequence) {
        o.out_h = 1;
        o.scale_h = 0.0;
        x = tensor_reshape(x, SHAPE(dims[0], dims[1], 1, dims[2]));
        if (!x) return NULL;
        dims = x->shape.dims;
    }
    OpParams params = {.flags = resize_flags(o)};
    if (x->shape.ndim == 4) {
        params.window.kernel[0] = window_narrow(size_of(o.out_h, o.scale_h, dims[2]));
        params.window.kernel[1] = window_narrow(size_of(o.out_w, o.scale_w, dims[3]));
    }
    params.value[0] = o.scale_h > 0.0 ? (float)(1.0 / o.scale_h) : 0.0f;
    params.value[1] = o.scale_w > 0.0 ? (float)(1.0 / o.scale_w) : 0.0f;
    Tensor *y = OP_RUN(op_resize, &params, x);
    return y && sequence ? tensor_reshape(y, SHAPE(dims[0], dims[1], y->shape.dims[3])) : y;
}

static Status resize_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    OpWindow *w = &call->params.window;
    uint32_t flags = call->params.flags;
    if (x->shape.ndim != 4)
        return op_error(call, STATUS_SHAPE,
                        "needs images or sequences. HINT: x is (n, c, h, w) or (n, c, length)");
    if ((flags & 15) > RESIZE_CUBIC || (flags >> 4 & 15) > RESIZE_PYTORCH_HALF_PIXEL ||
        flags >> 8 > RESIZE_ROUND_PREFER_CEIL)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "no such mode, coordinates or rounding. HINT: see ResizeOptions");
    for (int d = 0; d < 2; d++) {
        if (x->shape.dims[2 + d] < 1 || x->shape.dims[2 + d] > INT32_MAX)
            return op_error(call, STATUS_SHAPE,
                            "a side has from 1 to 2^31 - 1 elements. HINT: x "
                            "is (n, c, h, w)");
        if (w->kernel[d] < 1)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "a size that is none. HINT: out_h and out_w from 1 to 2^31 - 1, or "
                            "scales that give such");
        if (!(call->params.value[d] <= (float)INT32_MAX)) // positions must fit an int64
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "a scale that is next to 0. HINT: from 2^-31 on, or 0 where sizes say");
        w->input[d] = (int32_t)x->shape.dims[2 + d];
    }
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(x->shape.dims[0], x->shape.dims[1], w->kernel[0], w->kernel[1]));
}

static Status resize_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_resize_backward, &saved->params, grad_out[0]);
}

// ---- chunks of columns: their taps are found once for all rows and planes ----------------------
enum { CHUNK = 256, BAND = 1024 };

typedef struct Columns { // outputs [begin, begin + n)
    ResizeSide side;
    int64_t begin, n, low, width;      // they read columns [low, low + width) of the image
    int32_t index[RESIZE_TAPS][CHUNK]; // relative to low
    float weight[RESIZE_TAPS][CHUNK];
} Columns;

static void columns_find(Columns *c, int taps) {
    int64_t found[CHUNK][RESIZE_TAPS], high = 0;
    c->n = c->side.out - c->begin < CHUNK ? c->side.out - c->begin : CHUNK;
    c->low = c->side.size;
    for (int64_t o = 0; o < c->n; o++) {
        float weight[RESIZE_TAPS];
        resize_taps(&c->side, c->begin + o, found[o], weight);
        for (int t = 0; t < taps; t++) {
            if (found[o][t] < c->low) c->low = found[o][t];
            if (found[o][t] > high) high = found[o][t];
            c->weight[t][o] = weight[t];
        }
    }
    c->width = high + 1 - c->low;
    for (int64_t o = 0; o < c->n; o++)
        for (int t = 0; t < taps; t++) c->index[t][o] = (int32_t)(found[o][t] - c->low);
}

typedef struct Rows { // rows of the image that make up one row of outputs
    const float *x[RESIZE_TAPS];
    float weight[RESIZE_TAPS];
} Rows;

// Sum over taps of weight * x, at column i of the rows.
MATH_INLINE float across(const Rows *rows, int64_t i, int taps) {
    float sum = rows->weight[0] * rows->x[0][i];
    for (int t = 1; t < taps; t++) sum += rows->weight[t] * rows->x[t][i];
    return sum;
}

MATH_INLINE void make_row(const Columns *c, const Rows *rows, float *band, float *y, int taps) {
    bool fits = c->width <= BAND;
    for (int64_t i = 0; fits && i < c->width; i++) band[i] = across(rows, i, taps);
    for (int64_t o = 0; o < c->n; o++) {
        float sum = 0.0f;
        for (int t = 0; t < taps; t++) {
            int64_t i = c->index[t][o];
            float part = c->weight[t][o] * (fits ? band[i] : across(rows, i, taps));
            sum = t ? sum + part : part;
        }
        y[o] = sum;
    }
}

MATH_INLINE void pick_row(const Columns *c, const Rows *rows, float *y) {
    for (int64_t o = 0; o < c->n; o++) y[o] = rows->x[0][c->index[0][o]];
}

KERNEL static Status resize_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const ResizeSide height = resize_side(&call->params, 0);
    int taps = resize_taps_of(height.mode);
    int64_t plane = height.size * call->params.window.input[1];
    Columns c = {.side = resize_side(&call->params, 1)};
    float band[BAND];
    for (; c.begin < c.side.out; c.begin += c.n) {
        columns_find(&c, taps);
        for (int64_t r = begin * height.out; r < end * height.out; r++) {
            const float *x = call_in(call, 0) + r / height.out * plane + c.low;
            float *y = call_out(call, 0) + r * c.side.out + c.begin;
            int64_t index[RESIZE_TAPS];
            Rows rows = {0};
            resize_taps(&height, r % height.out, index, rows.weight);
            for (int t = 0; t < taps; t++) rows.x[t] = x + index[t] * c.side.size;
            if (taps == 1)
                pick_row(&c, &rows, y);
            else if (taps == 2)
                make_row(&c, &rows, band, y, 2);
            else
                make_row(&c, &rows, band, y, 4);
        }
    }
    return STATUS_OK;
}

static OpWork work_of(const Tensor *outputs, const Tensor *image) {
    return (OpWork){.items = pool_plane_count(outputs),
                    .cost =
                        4.0 * (double)pool_plane_size(outputs) + (double)pool_plane_size(image)};
}
static OpWork resize_work(const OpCall *call) { return work_of(call->out[0], call->in[0]); }
static OpWork backward_work(const OpCall *call) { return work_of(call->in[0], call->out[0]); }

// An output sums over taps columns for each of taps rows, then over these; positions depend on
// sizes alone and are not counted.
static void resize_vary(OpStory *story, const OpParams *params, unsigned given) {
    int64_t taps = resize_taps_of(params->flags & 15);
    (void)given;
    if (taps == 1) return;
    story->formula = taps == 2 ? "y = the two nearest of the two nearest rows of x, weighted"
                               : "y = the four nearest of the four nearest rows of x, weighted";
    story->elementwise = (OpRule){PER_OUTPUT, .each = (taps + 1) * (2 * taps - 1)};
}

const Op op_resize = {.id = OP_resize,
                      .name = "resize",
                      .kernel = resize_cpu,
                      .work = resize_work,
                      .n_inputs = 1,
                      .infer = resize_infer,
                      .backward = resize_backward,
                      .story = STORY(.formula = "y = the nearest element of x", .out = "y",
                                     .in = {"x"}, .vary = resize_vary)};

// ---- backward: adds each gradient, weighted, to the elements its output came from --------------
static Status resize_backward_infer(OpCall *call) {
    const Tensor *grad = call->in[0];
    const OpWindow *w = &call->params.window;
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[0], grad->shape.dims[1], w->input[0], w->input[1]));
}

// dx, at the rows' taps, += dy (n), spread along the row first
static void spread_row(const Columns *c, const float *dy, const int64_t *index, const float *weight,
                       float *band, float *dx, int taps) {
    bool fits = c->width <= BAND;
    if (fits) memset(band, 0, (size_t)c->width * sizeof *band);
    for (int64_t o = 0; o < c->n; o++)
        for (int k = 0; k < taps; k++) {
            float share = c->weight[k][o] * dy[o];
            if (fits) band[c->index[k][o]] += share;
            for (int t = 0; !fits && t < taps; t++)
                dx[index[t] * c->side.size + c->index[k][o]] += weight[t] * share;
        }
    for (int t = 0; fits && t < taps; t++)
        for (int64_t i = 0; i < c->width; i++)
            dx[index[t] * c->side.size + i] += weight[t] * band[i];
}

KERNEL static Status resize_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const ResizeSide height = resize_side(&call->params, 0);
    int taps = resize_taps_of(height.mode);
    int64_t plane = height.size * call->params.window.input[1];
    Columns c = {.side = resize_side(&call->params, 1)};
    float band[BAND];
    memset(call_out(call, 0) + begin * plane, 0, (size_t)((end - begin) * plane) * sizeof(float));
    for (; c.begin < c.side.out; c.begin += c.n) {
        columns_find(&c, taps);
        for (int64_t r = begin * height.out; r < end * height.out; r++) {
            int64_t index[RESIZE_TAPS];
            float weight[RESIZE_TAPS];
            resize_taps(&height, r % height.out, index, weight);
            spread_row(&c, call_in(call, 0) + r * c.side.out + c.begin, index, weight, band,
                       call_out(call, 0) + r / height.out * plane + c.low, taps);
        }
    }
    return STATUS_OK;
}

static void resize_backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    int64_t taps = resize_taps_of(params->flags & 15);
    (void)given;
    if (taps > 1) story->elementwise = (OpRule){PER_INPUT, .each = taps + 2 * taps * taps};
}

const Op op_resize_backward = {
    .id = OP_resize_backward,
    .name = "resize_backward",
    .kernel = resize_backward_cpu,
    .work = backward_work,
    .n_inputs = 1,
    .infer = resize_backward_infer,
    .story =
        STORY(.formula = "dx = dy, weighted, added up where it came from", .out = "dx",
              .in = {"dy"}, .elementwise = {PER_INPUT, .each = 1}, .vary = resize_backward_vary)};
