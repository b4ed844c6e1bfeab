// cumsum.c -- running sums along one dimension, from its start or, for the gradient, from its end:
// flags CUMSUM_FROM_END
#include "tensor/ops/reduce.h"

enum { CUMSUM_FROM_END = 1 };

Tensor *tensor_cumsum(Tensor *x, int dim) { return rows_run_along(&op_cumsum, NULL, x, dim); }

// Adds in double, so that the last of many sums is as accurate as the first.
static Status cumsum_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]);
    bool from_end = call->params.flags & CUMSUM_FROM_END;
    int64_t first = from_end ? n - 1 : 0, step = from_end ? -1 : 1;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * n + first;
        float *y = call_out(call, 0) + r * n + first;
        double total = 0.0;
        for (int64_t i = 0; i < n; i++) {
            total += (double)x[i * step];
            y[i * step] = (float)total;
        }
    }
    return STATUS_OK;
}

// The int64 version: int64 has no gradient, so it always goes from the start.
static Status cumsum_whole(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const int64_t *x = tensor_indices(call->in[0]) + r * n;
        int64_t *y = tensor_indices(call->out[0]) + r * n, total = 0;
        for (int64_t i = 0; i < n; i++) y[i] = total = math_whole_add(total, x[i]);
    }
    return STATUS_OK;
}

// x[i] is in every sum from the i-th on.
static Status cumsum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.flags = saved->params.flags ^ CUMSUM_FROM_END};
    return OP_INTO(&grad_in[0], op_cumsum, &params, grad_out[0]);
}

static void cumsum_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->flags & CUMSUM_FROM_END) story->formula = "dx = dy, running sums from the end";
}

// n - 1 adds per row of n
const Op op_cumsum = {.id = OP_cumsum,
                      .name = "cumsum",
                      .kernel = cumsum_cpu,
                      .whole = cumsum_whole,
                      NUMBERS,
                      .work = op_work_rows,
                      .n_inputs = 1,
                      .infer = op_infer_same,
                      .backward = cumsum_backward,
                      .story = STORY(.formula = "y = running sums along the last dimension of x",
                                     .out = "y", .in = {"x"},
                                     .elementwise = {PER_ROW, .each = 1, .more = -1},
                                     .vary = cumsum_vary)};
