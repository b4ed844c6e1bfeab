// linear.c -- y = activation(x . weight^T + bias): one product; the rest is done while each block
// is still in cache. params: activation, and value with the activation's parameters.
#include "tensor/gemm.h"
#include "tensor/ops/elementwise.h"
#include "tensor/ops/product.h"

Tensor *tensor_linear(Tensor *x, Tensor *weight, Tensor *bias, const Op *activation) {
    if (!activation) return OP_RUN(op_linear, NULL, x, weight, bias);
    OpParams params = activation_params(activation);
    params.activation = activation;
    return OP_RUN(op_linear, &params, x, weight, bias);
}

// The call that the activation would be by itself: from its input z, which may share y's memory, to
// y.
static OpCall activation_call(const OpCall *call, Tensor **z, Tensor *y) {
    OpCall alone = {.op = call->params.activation,
                    .in = z,
                    .n_in = 1,
                    .out = {y},
                    .n_out = 1,
                    .needs_grad = call->needs_grad != 0,
                    .params = call->params};
    alone.params.activation = NULL; // its backward passes them on
    return alone;
}

// SAVE bits of the activation's backward; if they include its input, z is an extra output.
static unsigned activation_saves(const OpCall *call) {
    const Op *activation = call->params.activation;
    if (!call->needs_grad || !activation || !activation->saves) return 0;
    Tensor *z = call->out[0];
    OpCall alone = activation_call(call, &z, z);
    return activation->saves(&alone);
}

static bool can_be_fused(const Op *activation) {
    const unsigned others = OP_VIEW | OP_RANDOM | OP_STRIDED | OP_WORKSPACE;
    return activation->module && activation->row && activation->n_inputs == 1 &&
           !(activation->flags & others) && !activation->mutates && !activation->check;
}

static Status linear_infer(OpCall *call) {
    const Tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    if (x->shape.ndim < 1 || weight->shape.ndim != 2 ||
        x->shape.dims[x->shape.ndim - 1] != weight->shape.dims[1])
        return op_error(call, STATUS_SHAPE,
                        "x (..., in) against weight (out, in). HINT: the last "
                        "size of x must be the weight's last size");
    if (bias && (bias->shape.ndim != 1 || bias->shape.dims[0] != weight->shape.dims[0]))
        return op_error(call, STATUS_SHAPE,
                        "the bias must have shape (%lld,). HINT: one for each output",
                        (long long)weight->shape.dims[0]);
    const Op *activation = call->params.activation;
    if (activation && !can_be_fused(activation))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "%s cannot be fused. HINT: an op of one input with a row, such as op_relu",
                        activation->name);
    if (activation && call->needs_grad && !activation->backward)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "%s, fused in, has no gradient. HINT: such as op_relu", activation->name);
    Shape shape = x->shape;
    shape.dims[shape.ndim - 1] = weight->shape.dims[0];
    Status status = op_output_of(call, 0, DTYPE_FLOAT32, &shape);
    int64_t n = weight->shape.dims[0], m = !status && n ? call_numel(call) / n : 0;
    if (!status && !product_countable(call, m, n, weight->shape.dims[1])) status = STATUS_OVERFLOW;
    if (!status && (activation_saves(call) & SAVE_IN(0)))
        status = op_output(call, 1, DTYPE_FLOAT32, shape);
    return status;
}

typedef struct Epilogue {
    const float *bias; // (n) or NULL
    float *y, *before; // (m, n); before: for the pre-activation, or NULL
    int64_t n;
    const OpParams *params;
} Epilogue;

KERNEL static void add_bias_row(float *y, const float *bias, int64_t n) {
    for (int64_t j = 0; j < n; j++) y[j] += bias[j];
}

static void finish_block(void *argument, int64_t row, int64_t rows, int64_t column,
                         int64_t columns) {
    const Epilogue *e = argument;
    const Op *activation = e->params->activation;
    for (int64_t i = row; i < row + rows; i++) {
        float *y = e->y + i * e->n + column;
        if (e->bias) add_bias_row(y, e->bias + column, columns);
        if (e->before)
            for (int64_t j = 0; j < columns; j++) e->before[i * e->n + column + j] = y[j];
        if (activation) activation->row(y, y, columns, e->params);
    }
}

// y (m, n) = x (m, k) . weight (n, k)^T
static Gemm product_of(const OpCall *call) {
    int64_t n = call->in[1]->shape.dims[0], k = call->in[1]->shape.dims[1];
    return (Gemm){.m = n ? call_numel(call) / n : 0,
                  .n = n,
                  .k = k,
                  .lda = k > 0 ? k : 1,
                  .ldb = k > 0 ? k : 1,
                  .trans_b = true,
                  .ldc = n > 0 ? n : 1};
}

static int64_t linear_handoffs(const OpCall *call) {
    Gemm gemm = product_of(call);
    return gemm_handoffs(&gemm);
}

// Runs the product, then adds bias (n) to each row and applies the activation.
static Status linear_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    Gemm gemm = product_of(call);
    Epilogue e = {.bias = call->in[2] ? call_in(call, 2) : NULL,
                  .y = call_out(call, 0),
                  .before = call->n_out > 1 ? call_out(call, 1) : NULL,
                  .n = gemm.n,
                  .params = &call->params};
    gemm.a = call_in(call, 0);
    gemm.b = call_in(call, 1);
    gemm.c = e.y;
    bool plain = !e.bias && !e.before && !call->params.activation;
    gemm_run(&gemm, plain ? NULL : finish_block, &e);
    return STATUS_OK;
}

// Computes the gradient before the activation by the activation's rule; NULL: zero.
static Status through_activation(const OpCall *saved, Tensor **grad) {
    const Op *activation = saved->params.activation;
    if (!activation) return STATUS_OK;
    Tensor *z = saved->n_out > 1 ? saved->out[1] : saved->out[0], *before = NULL;
    OpCall alone = activation_call(saved, &z, saved->out[0]);
    Status status = activation->backward(&alone, grad, &before);
    *grad = before;
    return status;
}

// *slot = a product of matrices, viewed in the shape of `like`; a tensor already in *slot is
// written through a view.
static Status product_like(Tensor **slot, Tensor *a, Tensor *b, const Tensor *like) {
    if (like->shape.ndim == 2) return OP_ADDING(slot, op_matmul, NULL, a, b);
    if (*slot && !(*slot = tensor_reshape(*slot, product_flat(like)))) return error_status();
    if (OP_INTO(slot, op_matmul, NULL, a, b)) return error_status();
    *slot = tensor_reshape(*slot, like->shape);
    return *slot ? STATUS_OK : error_status();
}

// With the leading dims as rows: dx = g . weight, dweight = g^T . x, dbias = g summed over rows.
static Status linear_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    static const OpParams transposed = {.flags = MATMUL_TRANS_A}, over_rows = {.dim = 0};
    Tensor *x = saved->in[0];
    Tensor *grad = grad_out[0];
    Status status = through_activation(saved, &grad);
    if (status || !grad) return status;
    if (x->shape.ndim != 2) grad = tensor_reshape(grad, product_flat(grad));
    grad = product_operand(grad);
    if (!grad) return error_status();
    if (call_needs(saved, 0) && product_like(&grad_in[0], grad, saved->in[1], x))
        return error_status();
    if (call_needs(saved, 1)) {
        Tensor *rows = x->shape.ndim == 2 ? x : tensor_reshape(x, product_flat(x));
        if (OP_ADDING(&grad_in[1], op_matmul, &transposed, grad, rows)) return error_status();
    }
    if (!saved->in[2] || !call_needs(saved, 2)) return STATUS_OK;
    return OP_INTO(&grad_in[2], op_sum, &over_rows, grad);
}

static unsigned linear_saves(const OpCall *call) {
    unsigned activation = activation_saves(call);
    return save_factors(call) | (activation & SAVE_IN(0) ? SAVE_OUT(1) : 0) |
           (activation & SAVE_OUT(0));
}

static void linear_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (given & SAVE_IN(2)) {
        story->formula = "y = x . weight^T + bias";
        story->bias = (OpRule){PER_OUTPUT, .each = 1};
    }
    if (given & SAVE_OUT(1)) {
        story->extra = "z";
        story->extra_elements = (OpRule){PER_OUTPUT, .each = 1};
    }
}

static int linear_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)out, (void)params;
    factor[0] = 1;
    for (int i = 0; i < in[0].ndim - 1; i++) factor[0] *= in[0].dims[i];
    factor[1] = in[1].dims[1];
    factor[2] = in[1].dims[0];
    return 3;
}

const Op op_linear = {
    .id = OP_linear,
    .name = "linear",
    .kernel = linear_cpu,
    .handoffs = linear_handoffs,
    .n_inputs = 3,
    .optional = SAVE_IN(2),
    .infer = linear_infer,
    .backward = linear_backward,
    .saves = linear_saves,
    .story = STORY(.formula = "y = x . weight^T", .out = "y", .in = {"x", "weight", "bias"},
                   .products = "rows x in x out", .factors = linear_factors, .keeps = KEEP_X,
                   .gradients = {{"dx = dy . weight", "dx", {"dy", "weight"}},
                                 {"dweight = dy^T . x", "dweight", {"dy", "x"}},
                                 {"dbias = dy, summed over its rows", "dbias", {"dy"}}},
                   .vary = linear_vary, .kind = KIND_LINEAR)};
