// max.c -- largest element along the last dimension, and where it was; NaN wins, the first of
// equals
#include "tensor/ops/reduce.h"

Tensor *tensor_max(Tensor *x, int dim, bool keep_dim) {
    Tensor *rows = reduce_flatten_or_move("max", x, dim);
    return rows ? reduce_finish(OP_RUN(op_max, NULL, rows), x, dim, keep_dim)
                : OP_RUN(op_max, NULL, rows);
}

Tensor *tensor_argmax(Tensor *x, int dim, bool keep_dim) {
    Tensor *rows = reduce_flatten_or_move("argmax", x, dim);
    return rows ? reduce_finish(OP_RUN(op_argmax, NULL, rows), x, dim, keep_dim)
                : OP_RUN(op_argmax, NULL, rows);
}

static Shape without_last(const Tensor *x) {
    Shape shape = x->shape;
    if (shape.ndim) shape.ndim--;
    return shape;
}

static Status check(OpCall *call) {
    if (row_length(call->in[0]) > 0) return STATUS_OK;
    return op_error(call, STATUS_SHAPE,
                    "there is no largest of nothing. HINT: the reduced "
                    "dimension is empty");
}

static Status max_infer(OpCall *call) {
    if (check(call)) return error_status();
    Shape shape = without_last(call->in[0]);
    Status status = op_output(call, 0, DTYPE_FLOAT32, shape);
    return status ? status : op_output(call, 1, DTYPE_INT64, shape);
}

static Status argmax_infer(OpCall *call) {
    if (check(call)) return error_status();
    return op_output(call, 0, DTYPE_INT64, without_last(call->in[0]));
}

// The largest value by lanes, then the first place where it stands.
KERNEL static int64_t find_max(const float *x, int64_t n, float *value) {
    float largest = reduce_max(x, n);
    *value = largest;
    for (int64_t i = 0; i < n; i++)
        if (x[i] == largest || x[i] != x[i]) return i;
    return 0;
}

static Status max_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]);
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    int64_t *where = (int64_t *)(void *)tensor_raw(call->out[1]);
    for (int64_t r = begin; r < end; r++) where[r] = find_max(x + r * n, n, &y[r]);
    return STATUS_OK;
}

static Status argmax_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]);
    const float *x = call_in(call, 0);
    int64_t *where = (int64_t *)(void *)tensor_raw(call->out[0]);
    float ignored;
    for (int64_t r = begin; r < end; r++) where[r] = find_max(x + r * n, n, &ignored);
    return STATUS_OK;
}

static Status max_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.shape = saved->in[0]->shape};
    return OP_INTO(&grad_in[0], op_max_backward, &params, grad_out[0], saved->out[1]);
}

static unsigned max_saves(const OpCall *call) {
    (void)call;
    return SAVE_OUT(1);
}

// ---- backward: zeros, with each row's gradient where its largest element was -------------------
// params: shape = the input's
static OpWork backward_work(const OpCall *call) { // rows of the result
    return (OpWork){.items = call->in[0]->numel, .cost = (double)row_length(call->out[0])};
}

static Status max_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->out[0]);
    const float *grad = call_in(call, 0);
    const int64_t *where = (const int64_t *)(const void *)tensor_raw(call->in[1]);
    float *y = call_out(call, 0);
    for (int64_t i = begin * n; i < end * n; i++) y[i] = 0.0f;
    for (int64_t r = begin; r < end; r++) y[r * n + where[r]] = grad[r];
    return STATUS_OK;
}

// n - 1 comparisons per output
const Op op_max = {.id = OP_max,
                   .name = "max",
                   .kernel = max_cpu,
                   .work = op_work_rows,
                   .n_inputs = 1,
                   .infer = max_infer,
                   .backward = max_backward,
                   .saves = max_saves,
                   .story = STORY(.formula = "y = the largest along the last dimension of x",
                                  .out = "y", .in = {"x"}, .elementwise = {.basis = PER_SUM},
                                  .extra = "where", .extra_bytes = {PER_OUTPUT, .each = 8})};
const Op op_argmax = {.id = OP_argmax,
                      .name = "argmax",
                      .kernel = argmax_cpu,
                      .work = op_work_rows,
                      .n_inputs = 1,
                      .infer = argmax_infer,
                      .story = STORY(.formula = "y = where the largest is", .out = "y", .in = {"x"},
                                     .elementwise = {.basis = PER_SUM})};
static const DTypeSignature gradient_and_indices[1] = {{2, {DTYPE_FLOAT32, DTYPE_INT64}}};
const Op op_max_backward = {.id = OP_max_backward,
                            .name = "max_backward",
                            .kernel = max_backward_cpu,
                            .n_inputs = 2,
                            .dtypes = gradient_and_indices,
                            .n_dtypes = 1,
                            .infer = op_infer_shape,
                            .work = backward_work,
                            .story = STORY(.formula = "dx = dy where the largest was, else 0",
                                           .out = "dx", .in = {"dy", "where"})};
