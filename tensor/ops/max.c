// max.c -- the largest and the smallest element of each row, and their places: max, argmax, min,
// argmin. binary.c has the maximum of two tensors, element by element.
#include "tensor/ops/reduce.h"

Tensor *tensor_max(Tensor *x, int dim, bool keep_dim) {
    return rows_reduce_along(&op_max, NULL, x, dim, keep_dim);
}

Tensor *tensor_argmax(Tensor *x, int dim, bool keep_dim) {
    return rows_reduce_along(&op_argmax, NULL, x, dim, keep_dim);
}

Tensor *tensor_min(Tensor *x, int dim, bool keep_dim) {
    return rows_reduce_along(&op_min, NULL, x, dim, keep_dim);
}

Tensor *tensor_argmin(Tensor *x, int dim, bool keep_dim) {
    return rows_reduce_along(&op_argmin, NULL, x, dim, keep_dim);
}

static Status check_row(OpCall *call) {
    if (row_length(call->in[0]) > 0) return STATUS_OK;
    return op_error(call, STATUS_SHAPE,
                    "nothing has no largest or smallest. HINT: the reduced dimension is empty");
}

static Status max_infer(OpCall *call) {
    if (check_row(call)) return error_status();
    Shape shape = rows_shape(call->in[0]);
    Status status = op_output(call, 0, (DType)call->in[0]->dtype, shape);
    return status ? status : op_output(call, 1, DTYPE_INT64, shape);
}

static Status argmax_infer(OpCall *call) {
    if (check_row(call)) return error_status();
    return op_output(call, 0, DTYPE_INT64, rows_shape(call->in[0]));
}

// Finds the value in lanes, then its first place: y, an output only of max and min, and where
// (rows) of x (rows, n)
MATH_INLINE Status find_extremes(const OpCall *call, int64_t begin, int64_t end, bool smallest) {
    int64_t n = row_length(call->in[0]);
    int64_t *where = tensor_indices(call->out[call->n_out - 1]);
    float *y = call->n_out > 1 ? call_out(call, 0) : NULL;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * n;
        float found = reduce_extreme(x, n, smallest);
        int64_t i = 0;
        while (i < n - 1 && !(x[i] == found || x[i] != x[i])) i++;
        where[r] = i;
        if (y) y[r] = found;
    }
    return STATUS_OK;
}

// The int64 version of find_extremes.
MATH_INLINE Status find_whole(const OpCall *call, int64_t begin, int64_t end, bool smallest) {
    int64_t n = row_length(call->in[0]);
    int64_t *where = tensor_indices(call->out[call->n_out - 1]);
    int64_t *y = call->n_out > 1 ? tensor_indices(call->out[0]) : NULL;
    for (int64_t r = begin; r < end; r++) {
        const int64_t *x = tensor_indices(call->in[0]) + r * n;
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            if (smallest ? x[i] < x[best] : x[i] > x[best]) best = i;
        where[r] = best;
        if (y) y[r] = x[best];
    }
    return STATUS_OK;
}

KERNEL static Status max_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return find_extremes(call, begin, end, false);
}

KERNEL static Status min_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return find_extremes(call, begin, end, true);
}

static Status max_whole(const OpCall *call, int64_t begin, int64_t end) {
    return find_whole(call, begin, end, false);
}

static Status min_whole(const OpCall *call, int64_t begin, int64_t end) {
    return find_whole(call, begin, end, true);
}

static Status max_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.shape = saved->in[0]->shape};
    return OP_INTO(&grad_in[0], op_max_backward, &params, grad_out[0], saved->out[1]);
}

// Zeros, plus each row's gradient at its element. params: shape = the input's
static OpWork max_backward_work(const OpCall *call) { // items: rows of the result
    return (OpWork){.items = call->in[0]->numel, .cost = (double)row_length(call->out[0])};
}

static Status max_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->out[0]);
    const float *grad = call_in(call, 0);
    const int64_t *where = tensor_indices(call->in[1]);
    float *y = call_out(call, 0);
    for (int64_t i = begin * n; i < end * n; i++) y[i] = 0.0f;
    for (int64_t r = begin; r < end; r++) y[r * n + where[r]] = grad[r];
    return STATUS_OK;
}

#define OF_ROWS .work = op_work_rows, .n_inputs = 1, NUMBERS

// n - 1 comparisons per output
const Op op_max = {.id = OP_max,
                   .name = "max",
                   .kernel = max_cpu,
                   .whole = max_whole,
                   OF_ROWS,
                   .infer = max_infer,
                   .backward = max_backward,
                   .saves = save_second_output,
                   .story =
                       STORY(.formula = "y = the largest along the last dimension of x", .out = "y",
                             .in = {"x"}, .elementwise = {.basis = PER_SUM}, .extra = "where",
                             .extra_elements = {PER_OUTPUT, .each = 1}, .extra_type = DTYPE_INT64)};
const Op op_min = {.id = OP_min,
                   .name = "min",
                   .kernel = min_cpu,
                   .whole = min_whole,
                   OF_ROWS,
                   .infer = max_infer,
                   .backward = max_backward,
                   .saves = save_second_output,
                   .story = STORY(.formula = "y = the smallest along the last dimension of x",
                                  .out = "y", .in = {"x"}, .elementwise = {.basis = PER_SUM},
                                  .extra = "where", .extra_elements = {PER_OUTPUT, .each = 1},
                                  .extra_type = DTYPE_INT64)};
const Op op_argmax = {.id = OP_argmax,
                      .name = "argmax",
                      .kernel = max_cpu,
                      .whole = max_whole,
                      OF_ROWS,
                      .infer = argmax_infer,
                      .story = STORY(.formula = "y = where the largest is", .out = "y", .in = {"x"},
                                     .elementwise = {.basis = PER_SUM})};
const Op op_argmin = {.id = OP_argmin,
                      .name = "argmin",
                      .kernel = min_cpu,
                      .whole = min_whole,
                      OF_ROWS,
                      .infer = argmax_infer,
                      .story = STORY(.formula = "y = where the smallest is", .out = "y",
                                     .in = {"x"}, .elementwise = {.basis = PER_SUM})};
// For max and min alike.
const Op op_max_backward = {.id = OP_max_backward,
                            .name = "max_backward",
                            .kernel = max_backward_cpu,
                            .n_inputs = 2,
                            .dtypes = floats_and_indices,
                            .n_dtypes = 1,
                            .infer = op_infer_shape,
                            .work = max_backward_work,
                            .story = STORY(.formula = "dx = dy where y was found, else 0",
                                           .out = "dx", .in = {"dy", "where"})};
