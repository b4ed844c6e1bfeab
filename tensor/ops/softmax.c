// softmax.c -- softmax and log_softmax along one dimension; the maximum of a row keeps e^x from
// overflowing.
#include "tensor/ops/reduce.h"

// ---- softmax: e^(x - max) / sum -----------------------------------------------------------------
Tensor *tensor_softmax(Tensor *x, int dim) {
    Tensor *rows = reduce_move_last("softmax", x, dim);
    return reduce_move_back(OP_RUN(op_softmax, NULL, rows), dim);
}

KERNEL static Status softmax_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t c = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * c;
        float *y = call_out(call, 0) + r * c;
        float largest = reduce_max(x, c);
        for (int64_t j = 0; j < c; j++) y[j] = math_exp_falling(x[j] - largest);
        float scale = 1.0f / reduce_sum(y, c);
        for (int64_t j = 0; j < c; j++) y[j] *= scale;
    }
    return STATUS_OK;
}

static Status softmax_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_softmax_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL static Status softmax_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t c = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const float *grad = call_in(call, 0) + r * c, *y = call_in(call, 1) + r * c;
        float *out = call_out(call, 0) + r * c;
        float dot = reduce_dot(grad, y, c);
        for (int64_t j = 0; j < c; j++) out[j] = y[j] * (grad[j] - dot);
    }
    return STATUS_OK;
}

// Per row of C: C - 1 comparisons, C subtractions, C exponentials, C - 1 adds, C divisions.
const Op op_softmax = {.id = OP_softmax,
                       .name = "softmax",
                       .kernel = softmax_cpu,
                       .work = op_work_rows,
                       .n_inputs = 1,
                       .infer = op_infer_same,
                       .backward = softmax_backward,
                       .saves = save_output,
                       .story =
                           STORY(.formula = "y = e^(x - max) / sum", .out = "y", .in = {"x"},
                                 .elementwise = {PER_ROW, .each = 4, .more = -2},
                                 .transcendental = {PER_ROW, .each = 1}, .kind = KIND_RECTIFIER)};
// dx = y (g - sum(g y)): per row C products, C - 1 adds, C subtractions, C products
const Op op_softmax_backward = {.id = OP_softmax_backward,
                                .name = "softmax_backward",
                                .kernel = softmax_backward_cpu,
                                .work = op_work_rows,
                                .n_inputs = 2,
                                .infer = op_infer_same,
                                .story = STORY(.formula = "dx = y (dy - sum(dy y))", .out = "dx",
                                               .in = {"dy", "y"},
                                               .elementwise = {PER_ROW, .each = 4, .more = -1})};

// ---- log_softmax: x - max - log(sum(e^(x - max))) -----------------------------------------------
Tensor *tensor_log_softmax(Tensor *x, int dim) {
    Tensor *rows = reduce_move_last("log_softmax", x, dim);
    return reduce_move_back(OP_RUN(op_log_softmax, NULL, rows), dim);
}

KERNEL static Status log_softmax_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t c = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * c;
        float *y = call_out(call, 0) + r * c;
        float largest = reduce_max(x, c);
        for (int64_t j = 0; j < c; j++) y[j] = math_exp_falling(x[j] - largest);
        float shift = math_log(reduce_sum(y, c));
        for (int64_t j = 0; j < c; j++) y[j] = x[j] - largest - shift;
    }
    return STATUS_OK;
}

static Status log_softmax_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_log_softmax_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL static Status log_softmax_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t c = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const float *grad = call_in(call, 0) + r * c, *y = call_in(call, 1) + r * c;
        float *out = call_out(call, 0) + r * c;
        float total = reduce_sum(grad, c);
        for (int64_t j = 0; j < c; j++) out[j] = grad[j] - math_exp_falling(y[j]) * total;
    }
    return STATUS_OK;
}

// Per row of C: C - 1 comparisons, C subtractions, C exponentials, C - 1 adds, a logarithm, C more
// subtractions.
const Op op_log_softmax = {.id = OP_log_softmax,
                           .name = "log_softmax",
                           .kernel = log_softmax_cpu,
                           .work = op_work_rows,
                           .n_inputs = 1,
                           .infer = op_infer_same,
                           .backward = log_softmax_backward,
                           .saves = save_output,
                           .story =
                               STORY(.formula = "y = x - max - log(sum)", .out = "y", .in = {"x"},
                                     .elementwise = {PER_ROW, .each = 4, .more = -2},
                                     .transcendental = {PER_ROW, .each = 1, .more = 1},
                                     .kind = KIND_OTHER_ACTIVATION)};
// dx = g - e^y sum(g): per row C - 1 adds, C exponentials, C products, C subtractions
const Op op_log_softmax_backward = {.id = OP_log_softmax_backward,
                                    .name = "log_softmax_backward",
                                    .kernel = log_softmax_backward_cpu,
                                    .work = op_work_rows,
                                    .n_inputs = 2,
                                    .infer = op_infer_same,
                                    .story = STORY(.formula = "dx = dy - e^y sum(dy)", .out = "dx",
                                                   .in = {"dy", "y"},
                                                   .elementwise = {PER_ROW, .each = 3, .more = -1},
                                                   .transcendental = {PER_ROW, .each = 1})};
