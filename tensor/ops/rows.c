// rows.c -- running ops of rows along any dimension, and softmax and log_softmax. Others are in
// max.c, var.c, cumsum.c. Kernels take rows of the last dimension; views move any other dimension
// there.
#include "tensor/ops/reduce.h"

bool rows_find_dim(const char *name, const Tensor *x, int dim, int *found) {
    *found = dim < 0 ? dim + x->shape.ndim : dim;
    if (*found >= 0 && *found < x->shape.ndim) return true;
    char text[SHAPE_TEXT];
    if (x->shape.ndim == 0)
        error_set(STATUS_SHAPE, "%s of (): no dimension %d. HINT: a scalar has none", name, dim);
    error_set(STATUS_SHAPE, "%s of %s: no dimension %d. HINT: 0 to %d, or negative from the end",
              name, shape_text(x->shape, text), dim, x->shape.ndim - 1);
    return false;
}

// Moves dimension `from` to position `to`; the others keep their order.
static Tensor *move_dim(Tensor *x, int from, int to) {
    if (!x || from == to) return x;
    int dims[TENSOR_MAX_DIMS], next = 0;
    for (int i = 0; i < x->shape.ndim; i++) {
        if (next == from) next++;
        dims[i] = i == to ? from : next++;
    }
    return tensor_permute(x, dims);
}

Tensor *rows_run_along(const Op *op, const OpParams *params, Tensor *x, int dim) {
    int d = 0, last = x ? x->shape.ndim - 1 : 0;
    Tensor *rows = x && rows_find_dim(op->name, x, dim, &d) ? move_dim(x, d, last) : NULL;
    return move_dim(OP_RUN(*op, params, rows), last, d);
}

Tensor *rows_reduce_along(const Op *op, const OpParams *params, Tensor *x, int dim, bool keep_dim) {
    int d = 0;
    Tensor *rows = NULL;
    if (x && dim == DIM_ALL)
        rows = tensor_reshape(x, SHAPE(x->numel));
    else if (x && rows_find_dim(op->name, x, dim, &d))
        rows = move_dim(x, d, x->shape.ndim - 1);
    Tensor *reduced = OP_RUN(*op, params, rows);
    if (!reduced || !keep_dim) return reduced;
    Shape shape = x->shape;
    for (int i = 0; i < shape.ndim; i++)
        if (dim == DIM_ALL || i == d) shape.dims[i] = 1;
    return tensor_reshape(reduced, shape);
}

Shape rows_shape(const Tensor *x) {
    Shape shape = x->shape;
    if (shape.ndim) shape.ndim--;
    return shape;
}

// ---- softmax: e^(x - max) / sum; the maximum of a row keeps e^x from overflowing ----------------
Tensor *tensor_softmax(Tensor *x, int dim) { return rows_run_along(&op_softmax, NULL, x, dim); }

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
    return rows_run_along(&op_log_softmax, NULL, x, dim);
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
