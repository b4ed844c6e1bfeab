// adaptive_avg_pool2d.c -- means of a given number of regions that cover the image: output i of n
// is the mean from floor(i size / n) up to ceil((i + 1) size / n). params: window.kernel = the
// output's sizes; in backward also window.input
#include <string.h>

#include "tensor/ops/reduce.h"
#include "tensor/ops/window.h"

Tensor *tensor_adaptive_avg_pool2d(Tensor *x, int64_t out_h, int64_t out_w) {
    OpParams params = {.window.kernel = {window_narrow(out_h), window_narrow(out_w)}};
    return OP_RUN(op_adaptive_avg_pool2d, &params, x);
}

static Status infer(OpCall *call) {
    const Tensor *x = call->in[0];
    OpWindow *w = &call->params.window;
    if (x->shape.ndim != 4 || x->shape.dims[2] < 1 || x->shape.dims[3] < 1 ||
        x->shape.dims[2] > INT32_MAX || x->shape.dims[3] > INT32_MAX)
        return op_error(call, STATUS_SHAPE, "needs images. HINT: x is (n, c, h, w), h and w >= 1");
    if (w->kernel[0] < 1 || w->kernel[1] < 1)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "an output of %d x %d. HINT: from 1 to 2^31 - 1", w->kernel[0],
                        w->kernel[1]);
    for (int d = 0; d < 2; d++) w->input[d] = (int32_t)x->shape.dims[2 + d];
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(x->shape.dims[0], x->shape.dims[1], w->kernel[0], w->kernel[1]));
}

// y (planes, out h, out w) from x (planes, h, w): adds rows in lanes, and their sums in double
KERNEL static Status adaptive_avg_pool2d_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const OpWindow *w = &call->params.window;
    int64_t outputs = pool_plane_size(call->out[0]), plane = pool_plane_size(call->in[0]);
    for (int64_t i = begin * outputs; i < end * outputs; i++) {
        const float *x = call_in(call, 0) + i / outputs * plane;
        Range rows = window_region(w, 0, i % outputs / w->kernel[1]);
        Range columns = window_region(w, 1, i % w->kernel[1]);
        double sum = 0.0;
        for (int64_t r = rows.begin; r < rows.end; r++)
            sum += (double)reduce_sum(x + r * w->input[1] + columns.begin,
                                      columns.end - columns.begin);
        int64_t n = (rows.end - rows.begin) * (columns.end - columns.begin);
        call_out(call, 0)[i] = (float)(sum / (double)n);
    }
    return STATUS_OK;
}

static OpWork work(const OpCall *call) { // items: planes, whose elements are all in a region
    const OpWindow *w = &call->params.window;
    return (OpWork){.items = pool_plane_count(call->in[0]),
                    .cost = (double)op_window_held(w, 0) * (double)op_window_held(w, 1)};
}

static Status backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_adaptive_avg_pool2d_backward, &saved->params, grad_out[0]);
}

// Per output n - 1 adds for the n elements of its region, and one division.
const Op op_adaptive_avg_pool2d = {
    .id = OP_adaptive_avg_pool2d,
    .name = "adaptive_avg_pool2d",
    .kernel = adaptive_avg_pool2d_cpu,
    .n_inputs = 1,
    .infer = infer,
    .work = work,
    .backward = backward,
    .story = STORY(.formula = "y = the mean of each region of x", .out = "y", .in = {"x"},
                   .elementwise = {.basis = PER_REGION}, .kind = KIND_ADAPTIVE_POOL)};

// ---- backward: zeros, plus each gradient's share over its region -------------------------------
KERNEL static Status adaptive_avg_pool2d_backward_cpu(const OpCall *call, int64_t begin,
                                                      int64_t end) {
    const OpWindow *w = &call->params.window;
    int64_t outputs = pool_plane_size(call->in[0]), plane = pool_plane_size(call->out[0]);
    memset(call_out(call, 0) + begin * plane, 0, (size_t)((end - begin) * plane) * sizeof(float));
    for (int64_t i = begin * outputs; i < end * outputs; i++) {
        float *x = call_out(call, 0) + i / outputs * plane;
        Range rows = window_region(w, 0, i % outputs / w->kernel[1]);
        Range columns = window_region(w, 1, i % w->kernel[1]);
        int64_t n = (rows.end - rows.begin) * (columns.end - columns.begin);
        float share = call_in(call, 0)[i] / (float)n;
        for (int64_t r = rows.begin; r < rows.end; r++)
            for (int64_t c = columns.begin; c < columns.end; c++) x[r * w->input[1] + c] += share;
    }
    return STATUS_OK;
}

// Per gradient one division, and one add for each element of its region.
const Op op_adaptive_avg_pool2d_backward = {
    .id = OP_adaptive_avg_pool2d_backward,
    .name = "adaptive_avg_pool2d_backward",
    .kernel = adaptive_avg_pool2d_backward_cpu,
    .n_inputs = 1,
    .infer = pool_backward_infer,
    .work = work,
    .story = STORY(.formula = "dx = each dy's share, added up in its region", .out = "dx",
                   .in = {"dy"}, .elementwise = {PER_REGION, .more = 1})};
