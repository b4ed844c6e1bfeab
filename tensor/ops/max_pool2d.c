// max_pool2d.c -- the largest element in each window, and its place; NaN wins (the last of several,
// as in PyTorch); of equals, the first wins. Padding is -infinity and never the place; -1 is the
// place in a window of only padding. params: window, flags (POOL_CEIL)
#include "tensor/ops/elementwise.h"
#include "tensor/ops/window.h"

Tensor *tensor_max_pool2d(Tensor *x, Pool2dOptions options) {
    OpParams params = pool_params(options);
    return OP_RUN(op_max_pool2d, &params, x);
}

// Makes the second output, for backward only: the place of the largest, in its plane.
static Status max_pool2d_infer(OpCall *call) {
    Status status = pool_infer(call);
    if (status || !call->needs_grad) return status;
    return op_output(call, 1, DTYPE_INT64, call->out[0]->shape);
}

// ---- takes a part of a row of outputs at a time, and all taps over it in turn ------------------
// Rows are short, and the odd outputs after the last whole vector would take longer than the rest
// of the row. So loops run over whole STEPs if the memory is readable: the excess goes to the slack
// behind the part, or is overwritten.
enum { PART = 256, STEP = 16 };

typedef struct Part { // outputs (oh, begin..) of one plane
    int64_t oh, begin, n;
    float best[PART + STEP];
    int32_t place[PART + STEP];
} Part;

MATH_INLINE int64_t whole_steps(int64_t n) { return (n + STEP - 1) / STEP * STEP; }

// best and place = the larger of them and x[o * stride], whose place is from + o * stride.
MATH_INLINE void compare(float *restrict best, int32_t *restrict place, const float *restrict x,
                         uint32_t from, int64_t n, int64_t stride) {
    for (int64_t o = 0; o < n; o++) {
        float value = x[o * stride];
        bool larger = (value > best[o]) | (value != value) | (place[o] < 0);
        best[o] = larger ? value : best[o];
        place[o] = larger ? (int32_t)(from + (uint32_t)o * (uint32_t)stride) : place[o];
    }
}

// x: the plane; end: end of the readable memory
MATH_INLINE void pool_part(const OpWindow *w, const float *x, const float *end, Part *part) {
    int64_t last = part->begin + part->n;
    for (int64_t o = 0; o < whole_steps(part->n); o++) {
        part->best[o] = -INFINITY;
        part->place[o] = -1;
    }
    for (int64_t i = 0; i < w->kernel[0]; i++) {
        int64_t ih = window_place(w, 0, part->oh, i), stride = w->stride[1];
        if (ih < 0 || ih >= w->input[0]) continue;
        for (int64_t j = 0; j < w->kernel[1]; j++) {
            Range range = range_within(window_range(w, 1, j, last), part->begin, last);
            int64_t at = ih * w->input[1] + window_place(w, 1, range.begin, j);
            int64_t first = range.begin - part->begin, n = range.end - range.begin;
            if (range.end == last && end - (x + at) > whole_steps(n) * stride) n = whole_steps(n);
            float *best = part->best + first;
            int32_t *place = part->place + first;
            uint32_t from = (uint32_t)at;
            if (stride == 1)
                compare(best, place, x + at, from, n, 1);
            else if (stride == 2)
                compare(best, place, x + at, from, n, 2);
            else
                compare(best, place, x + at, from, n, stride);
        }
    }
}

// The most common window, 2 x 2 without overlap, in one pass: best and place (n) of a row of
// outputs; upper taps start at `from`, lower ones `width` later.
MATH_INLINE void pool_2x2(const float *restrict upper, int64_t width, uint32_t from, int64_t n,
                          float *restrict best, int32_t *restrict place) {
    const float *restrict lower = upper + width;
    const uint32_t places[4] = {0, 1, (uint32_t)width, (uint32_t)width + 1};
    for (int64_t o = 0; o < n; o++) {
        float v[4] = {upper[2 * o], upper[2 * o + 1], lower[2 * o], lower[2 * o + 1]};
        float largest = v[0];
        uint32_t at = 0;
        for (int k = 1; k < 4; k++) {
            bool larger = (v[k] > largest) | (v[k] != v[k]);
            largest = larger ? v[k] : largest;
            at = larger ? places[k] : at;
        }
        best[o] = largest;
        place[o] = (int32_t)(from + 2 * (uint32_t)o + at);
    }
}

// Whether all windows are 2 x 2, without padding or overlap.
static bool is_2x2(const OpWindow *w, const Tensor *y) {
    bool is = true;
    for (int d = 0; d < 2; d++)
        is = is && w->kernel[d] == 2 && w->stride[d] == 2 && w->dilation[d] == 1 &&
             w->before[d] == 0 && 2 * y->shape.dims[2 + d] <= w->input[d];
    return is;
}

// y, where (planes, ho, wo) of x (planes, h, w); where may be NULL
KERNEL static Status max_pool2d_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const OpWindow *w = &call->params.window;
    int64_t height = call->out[0]->shape.dims[2], width = call->out[0]->shape.dims[3];
    int64_t plane = pool_plane_size(call->in[0]), row = w->input[1];
    float *y = call_out(call, 0) + begin * height * width;
    int64_t *where = call->n_out > 1 ? tensor_indices(call->out[1]) : NULL;
    if (where) where += begin * height * width;
    const float *stop = call_in(call, 0) + call->in[0]->numel;
    bool simple = is_2x2(w, call->out[0]);
    Part part;
    for (int64_t p = begin; p < end; p++)
        for (part.oh = 0; part.oh < height; part.oh++)
            for (part.begin = 0; part.begin < width; part.begin += part.n) {
                const float *x = call_in(call, 0) + p * plane;
                int64_t at = 2 * (part.oh * row + part.begin);
                part.n = width - part.begin < PART ? width - part.begin : PART;
                int64_t whole = whole_steps(part.n);
                if (!simple)
                    pool_part(w, x, stop, &part);
                else
                    pool_2x2(x + at, row, (uint32_t)at,
                             stop - (x + at) > row + 2 * whole ? whole : part.n, part.best,
                             part.place);
                for (int64_t o = 0; o < part.n; o++) y[o] = part.best[o];
                y += part.n;
                if (!where) continue;
                for (int64_t o = 0; o < part.n; o++) where[o] = part.place[o];
                where += part.n;
            }
    return STATUS_OK;
}

static Status max_pool2d_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_max_pool2d_backward, &saved->params, grad_out[0], saved->out[1]);
}

// A window's maximum takes one comparison fewer than it has elements.
static void max_pool2d_vary(OpStory *story, const OpParams *params, unsigned given) {
    story->elementwise = (OpRule){PER_OUTPUT, .each = window_taps(&params->window) - 1};
    if (!(given & SAVE_OUT(1))) return;
    story->extra = "where";
    story->extra_elements = (OpRule){PER_OUTPUT, .each = 1};
    story->extra_type = DTYPE_INT64;
}

// kh kw - 1 comparisons per output; padded taps count.
const Op op_max_pool2d = {.id = OP_max_pool2d,
                          .name = "max_pool2d",
                          .kernel = max_pool2d_cpu,
                          .n_inputs = 1,
                          .infer = max_pool2d_infer,
                          .work = pool_work,
                          .backward = max_pool2d_backward,
                          .saves = save_second_output,
                          .story = STORY(.formula = "y = the largest under each window of x",
                                         .out = "y", .in = {"x"}, .keeps = KEEP_EXTRA,
                                         .kind = KIND_POOL, .vary = max_pool2d_vary)};

// ---- backward: zeros, plus each gradient at its window's maximum -------------------------------
static OpWork backward_work(const OpCall *call) {
    return (OpWork){.items = pool_plane_count(call->in[0]),
                    .cost = (double)pool_plane_size(call->out[0])};
}

static Status max_pool2d_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t outputs = pool_plane_size(call->in[0]), plane = pool_plane_size(call->out[0]);
    for (int64_t p = begin; p < end; p++) {
        const float *grad = call_in(call, 0) + p * outputs;
        const int64_t *where = tensor_indices(call->in[1]) + p * outputs;
        float *dx = call_out(call, 0) + p * plane;
        memset(dx, 0, (size_t)plane * sizeof(float));
        for (int64_t o = 0; o < outputs; o++)
            if (where[o] >= 0) dx[where[o]] += grad[o];
    }
    return STATUS_OK;
}

const Op op_max_pool2d_backward = {
    .id = OP_max_pool2d_backward,
    .name = "max_pool2d_backward",
    .kernel = max_pool2d_backward_cpu,
    .n_inputs = 2,
    .dtypes = floats_and_indices,
    .n_dtypes = 1,
    .infer = pool_backward_infer,
    .work = backward_work,
    .story = STORY(.formula = "dx = dy where the largest was, added up, else 0", .out = "dx",
                   .in = {"dy", "where"}, .elementwise = {PER_INPUT, .each = 1})};
