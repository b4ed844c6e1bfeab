// linear.c -- y = activation(x . weight^T + bias): one product, with the rest done while each block
// is still in cache. params.flags: Activation.
#include "tensor/gemm.h"
#include "tensor/ops/elementwise.h"
#include "tensor/ops/product.h"

Tensor *tensor_linear(Tensor *x, Tensor *weight, Tensor *bias, Activation activation) {
    return OP_RUN(op_linear, (&(OpParams){.flags = activation}), x, weight, bias);
}

// The GELUs' slope needs what went in; the others' follows from the output.
static bool keeps_preactivation(const OpCall *call) {
    unsigned activation = call->params.flags;
    return call->needs_grad &&
           (activation == ACTIVATION_GELU || activation == ACTIVATION_GELU_TANH);
}

static Status linear_infer(OpCall *call) {
    const Tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    if (x->shape.ndim < 1 || weight->shape.ndim != 2 ||
        x->shape.dims[x->shape.ndim - 1] != weight->shape.dims[1])
        return op_error(call, STATUS_SHAPE,
                        "x (..., in) against weight (out, in). HINT: the last "
                        "size of x must be the weight's last size");
    if (bias && (bias->shape.ndim != 1 || bias->shape.dims[0] != weight->shape.dims[0]))
        return op_error(call, STATUS_SHAPE, "the bias must have shape (%lld,)",
                        (long long)weight->shape.dims[0]);
    if (call->params.flags >= ACTIVATION_COUNT)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "there is no activation %u. HINT: one of "
                        "enum Activation",
                        call->params.flags);
    Shape shape = x->shape;
    shape.dims[shape.ndim - 1] = weight->shape.dims[0];
    Status status = op_output(call, 0, DTYPE_FLOAT32, shape);
    int64_t n = weight->shape.dims[0], m = !status && n ? call_numel(call) / n : 0;
    if (!status && !product_countable(call, m, n, weight->shape.dims[1])) status = STATUS_OVERFLOW;
    if (!status && keeps_preactivation(call)) status = op_output(call, 1, DTYPE_FLOAT32, shape);
    return status;
}

// The activation's own FLOPs per element, as its op declares them.
static const struct {
    uint8_t elementwise, transcendental;
} activation_cost[ACTIVATION_COUNT] = {
    [ACTIVATION_RELU] = {1, 0}, [ACTIVATION_SIGMOID] = {2, 1},   [ACTIVATION_TANH] = {0, 1},
    [ACTIVATION_GELU] = {4, 1}, [ACTIVATION_GELU_TANH] = {8, 1},
};

static OpCost linear_cost(const OpCall *call) {
    unsigned activation = call->params.flags;
    OpCost cost = op_cost_elementwise(call, activation_cost[activation].elementwise,
                                      activation_cost[activation].transcendental);
    cost.macs = (uint64_t)call_numel(call) * (uint64_t)call->in[1]->shape.dims[1];
    cost.bias_flops = call->in[2] ? (uint64_t)call_numel(call) : 0;
    return cost;
}

typedef struct Epilogue {
    const float *bias; // (n) or NULL
    float *y, *before; // (m, n); before: where the pre-activation goes, or NULL
    int64_t n;
    unsigned activation;
} Epilogue;

KERNEL static void activate_row(float *y, int64_t n, unsigned activation) {
    switch (activation) {
    case ACTIVATION_RELU:
        for (int64_t j = 0; j < n; j++) y[j] = math_relu(y[j]);
        break;
    case ACTIVATION_SIGMOID:
        for (int64_t j = 0; j < n; j++) y[j] = math_sigmoid(y[j]);
        break;
    case ACTIVATION_TANH:
        for (int64_t j = 0; j < n; j++) y[j] = math_tanh(y[j]);
        break;
    case ACTIVATION_GELU:
        for (int64_t j = 0; j < n; j++) y[j] = math_gelu(y[j]);
        break;
    case ACTIVATION_GELU_TANH:
        for (int64_t j = 0; j < n; j++) y[j] = math_gelu_tanh(y[j]);
        break;
    default:
        break;
    }
}

KERNEL static void add_bias_row(float *y, const float *bias, int64_t n) {
    for (int64_t j = 0; j < n; j++) y[j] += bias[j];
}

static void finish_block(void *argument, int64_t row, int64_t rows, int64_t column,
                         int64_t columns) {
    const Epilogue *e = argument;
    for (int64_t i = row; i < row + rows; i++) {
        float *y = e->y + i * e->n + column;
        if (e->bias) add_bias_row(y, e->bias + column, columns);
        if (e->before)
            for (int64_t j = 0; j < columns; j++) e->before[i * e->n + column + j] = y[j];
        if (e->activation != ACTIVATION_NONE) activate_row(y, columns, e->activation);
    }
}

// y (m, n) = x (m, k) . weight (n, k)^T, then per row + bias (n) and the activation
Status linear_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    int64_t n = call->in[1]->shape.dims[0], k = call->in[1]->shape.dims[1];
    int64_t m = n ? call_numel(call) / n : 0;
    Epilogue e = {.bias = call->in[2] ? call_in(call, 2) : NULL,
                  .y = call_out(call, 0),
                  .before = call->n_out > 1 ? call_out(call, 1) : NULL,
                  .n = n,
                  .activation = call->params.flags};
    Gemm gemm = {.m = m,
                 .n = n,
                 .k = k,
                 .a = call_in(call, 0),
                 .lda = k > 0 ? k : 1,
                 .b = call_in(call, 1),
                 .ldb = k > 0 ? k : 1,
                 .trans_b = true,
                 .c = e.y,
                 .ldc = n > 0 ? n : 1};
    bool plain = !e.bias && !e.before && e.activation == ACTIVATION_NONE;
    gemm_run(&gemm, plain ? NULL : finish_block, &e);
    return STATUS_OK;
}

// The gradient before the activation.
static Tensor *through_activation(const OpCall *saved, Tensor *grad) {
    switch (saved->params.flags) {
    case ACTIVATION_RELU:
        return OP_RUN(op_relu_backward, NULL, grad, saved->out[0]);
    case ACTIVATION_SIGMOID:
        return OP_RUN(op_sigmoid_backward, NULL, grad, saved->out[0]);
    case ACTIVATION_TANH:
        return OP_RUN(op_tanh_backward, NULL, grad, saved->out[0]);
    case ACTIVATION_GELU:
    case ACTIVATION_GELU_TANH:
        return OP_RUN(op_gelu_backward, &saved->params, grad, saved->out[1]);
    default:
        return grad;
    }
}

// *slot = a product of matrices, seen under the shape of `like`; a tensor already in *slot is
// written through a view of it.
static Status product_like(Tensor **slot, Tensor *a, Tensor *b, const Tensor *like) {
    if (like->shape.ndim == 2) return OP_INTO(slot, op_matmul, NULL, a, b);
    if (*slot && !(*slot = tensor_reshape(*slot, product_flat(like)))) return error_status();
    if (OP_INTO(slot, op_matmul, NULL, a, b)) return error_status();
    *slot = tensor_reshape(*slot, like->shape);
    return *slot ? STATUS_OK : error_status();
}

// With the leading dims as rows: dx = g . weight, dweight = g^T . x, dbias = g summed over rows.
static Status linear_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0];
    Tensor *grad = through_activation(saved, grad_out[0]);
    if (grad && x->shape.ndim != 2) grad = tensor_reshape(grad, product_flat(grad));
    grad = product_operand(grad);
    if (!grad) return error_status();
    if (call_needs(saved, 0) && product_like(&grad_in[0], grad, saved->in[1], x))
        return error_status();
    if (call_needs(saved, 1)) {
        OpParams transposed = {.flags = MATMUL_TRANS_A};
        Tensor *rows = x->shape.ndim == 2 ? x : tensor_reshape(x, product_flat(x));
        if (OP_INTO(&grad_in[1], op_matmul, &transposed, grad, rows)) return error_status();
    }
    if (!saved->in[2] || !call_needs(saved, 2)) return STATUS_OK;
    return OP_INTO(&grad_in[2], op_sum, (&(OpParams){.dim = 0}), grad);
}

static unsigned linear_saves(const OpCall *call) {
    unsigned activation = call->params.flags;
    unsigned saves =
        (call_needs(call, 0) ? SAVE_IN(1) : 0) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
    if (keeps_preactivation(call)) return saves | SAVE_OUT(1);
    return activation == ACTIVATION_NONE ? saves : saves | SAVE_OUT(0);
}

const Op op_linear = {.id = OP_linear,
                      .name = "linear",
                      .min_inputs = 3,
                      .max_inputs = 3,
                      .optional = SAVE_IN(2),
                      .dtypes = dtypes_float,
                      .n_dtypes = 1,
                      .infer = linear_infer,
                      .cost = COUNTED(linear_cost),
                      .backward = linear_backward,
                      .saves = linear_saves,
                      .formula = COUNTED("macs = rows x in x out")};
