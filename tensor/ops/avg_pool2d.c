// avg_pool2d.c -- the mean of each window; padding is 0, and counts unless POOL_EXCLUDE_PAD is set.
// The part of a last window beyond the padding (POOL_CEIL) never counts. params: window, flags
#include "tensor/ops/elementwise.h"
#include "tensor/ops/window.h"

Tensor *tensor_avg_pool2d(Tensor *x, Pool2dOptions options) {
    OpParams params = pool_params(options);
    if (options.exclude_pad) params.flags |= POOL_EXCLUDE_PAD;
    return OP_RUN(op_avg_pool2d, &params, x);
}

static Status avg_pool2d_infer(OpCall *call) {
    const OpWindow *w = &call->params.window;
    if (w->dilation[0] != 1 || w->dilation[1] != 1)
        return op_error(call, STATUS_INVALID_ARGUMENT, "has no dilation. HINT: a dilation of 1");
    return pool_infer(call);
}

// ---- parts of rows, as in max_pool2d.c ---------------------------------------------------------
enum { PART = 256 };

typedef struct Part { // outputs (oh, begin..) of one plane
    int64_t oh, begin, n;
    float sum[PART];
} Part;

// Walks the taps (i, j) over a part: sum += x, or in backward x += sum. `x` is a plane.
MATH_INLINE void walk_taps(const OpWindow *w, Part *part, float *x, bool backward) {
    for (int64_t i = 0; i < w->kernel[0]; i++) {
        int64_t ih = window_place(w, 0, part->oh, i), stride = w->stride[1];
        if (ih < 0 || ih >= w->input[0]) continue;
        for (int64_t j = 0; j < w->kernel[1]; j++) {
            Range range = window_range(w, 1, j, part->begin + part->n);
            range = range_within(range, part->begin, part->begin + part->n);
            float *at = x + ih * w->input[1] + window_place(w, 1, range.begin, j);
            float *sum = part->sum + range.begin - part->begin;
            int64_t n = range.end - range.begin;
            if (backward)
                for (int64_t o = 0; o < n; o++) at[o * stride] += sum[o];
            else if (stride == 1)
                for (int64_t o = 0; o < n; o++) sum[o] += at[o];
            else if (stride == 2)
                for (int64_t o = 0; o < n; o++) sum[o] += at[o * 2];
            else
                for (int64_t o = 0; o < n; o++) sum[o] += at[o * stride];
        }
    }
}

// to = from / number of elements of its window that count
MATH_INLINE void divide_part(const OpWindow *w, unsigned flags, const Part *part, const float *from,
                             float *to) {
    int64_t rows = window_count(w, 0, part->oh, flags);
    for (int64_t o = 0; o < part->n; o++)
        to[o] = from[o] / (float)(rows * window_count(w, 1, part->begin + o, flags));
}

// y (planes, ho, wo) from x (planes, h, w); in backward, dx from dy
MATH_INLINE void pool_range(const OpCall *call, const Tensor *image, const Tensor *outputs,
                            int64_t begin, int64_t end, bool backward) {
    const OpWindow *w = &call->params.window;
    int64_t height = outputs->shape.dims[2], width = outputs->shape.dims[3],
            plane = pool_plane_size(image);
    float *y = tensor_floats(outputs) + begin * height * width;
    Part part;
    for (int64_t p = begin; p < end; p++) {
        float *x = tensor_floats(image) + p * plane;
        if (backward) memset(x, 0, (size_t)plane * sizeof(float));
        for (part.oh = 0; part.oh < height; part.oh++)
            for (part.begin = 0; part.begin < width; part.begin += part.n, y += part.n) {
                part.n = width - part.begin < PART ? width - part.begin : PART;
                if (backward)
                    divide_part(w, call->params.flags, &part, y, part.sum);
                else
                    memset(part.sum, 0, (size_t)part.n * sizeof(float));
                walk_taps(w, &part, x, backward);
                if (!backward) divide_part(w, call->params.flags, &part, part.sum, y);
            }
    }
}

KERNEL static Status avg_pool2d_cpu(const OpCall *call, int64_t begin, int64_t end) {
    pool_range(call, call->in[0], call->out[0], begin, end, false);
    return STATUS_OK;
}

static Status avg_pool2d_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_avg_pool2d_backward, &saved->params, grad_out[0]);
}

static void avg_pool2d_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    story->elementwise = (OpRule){PER_OUTPUT, .each = window_taps(&params->window)};
}

// Per output kh kw - 1 adds, padded taps included, and one division.
const Op op_avg_pool2d = {.id = OP_avg_pool2d,
                          .name = "avg_pool2d",
                          .kernel = avg_pool2d_cpu,
                          .n_inputs = 1,
                          .infer = avg_pool2d_infer,
                          .work = pool_work,
                          .backward = avg_pool2d_backward,
                          .story =
                              STORY(.formula = "y = the mean under each window of x", .out = "y",
                                    .in = {"x"}, .kind = KIND_POOL, .vary = avg_pool2d_vary)};

// ---- backward: zeros, plus each gradient's share over its window -------------------------------
KERNEL static Status avg_pool2d_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    pool_range(call, call->out[0], call->in[0], begin, end, true);
    return STATUS_OK;
}

static void backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    story->elementwise = (OpRule){PER_INPUT, .each = window_taps(&params->window) + 1};
}

// Per gradient one division and kh kw adds, padded taps included.
const Op op_avg_pool2d_backward = {
    .id = OP_avg_pool2d_backward,
    .name = "avg_pool2d_backward",
    .kernel = avg_pool2d_backward_cpu,
    .n_inputs = 1,
    .infer = pool_backward_infer,
    .work = pool_backward_work,
    .story = STORY(.formula = "dx = each dy's share, added up under its window", .out = "dx",
                   .in = {"dy"}, .vary = backward_vary)};
