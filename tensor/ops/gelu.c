// gelu.c -- Gaussian error linear unit: x * Phi(x), exactly or by the tanh approximation
// (Hendrycks and Gimpel 2016). params.flags: which ACTIVATION_ form.
#include "tensor/ops/elementwise.h"

static const char *const names[ACTIVATION_COUNT] = {
#define ACTIVATION_NAME(name, text) text,
    ACTIVATION_LIST(ACTIVATION_NAME)
#undef ACTIVATION_NAME
};

const char *activation_name(Activation activation) {
    return (unsigned)activation < ACTIVATION_COUNT ? names[activation] : "?";
}

Tensor *tensor_gelu(Tensor *x, Activation form) {
    return OP_RUN(op_gelu, (&(OpParams){.flags = form}), x);
}

static Status gelu_infer(OpCall *call) {
    unsigned form = call->params.flags;
    if (form == ACTIVATION_GELU || form == ACTIVATION_GELU_TANH) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "no GELU form %u. HINT: ACTIVATION_GELU or "
                    "ACTIVATION_GELU_TANH",
                    form);
}

Tensor *tensor_activation(Tensor *x, Activation activation) {
    switch (activation) {
    case ACTIVATION_NONE:
        if (!x) error_set(STATUS_INVALID_ARGUMENT, "activation: there is no tensor (NULL)");
        return error_pending() ? NULL : x;
    case ACTIVATION_RELU:
        return tensor_relu(x);
    case ACTIVATION_SIGMOID:
        return tensor_sigmoid(x);
    case ACTIVATION_TANH:
        return tensor_tanh(x);
    case ACTIVATION_GELU:
    case ACTIVATION_GELU_TANH:
        return tensor_gelu(x, activation);
    default:
        error_set(STATUS_INVALID_ARGUMENT,
                  "activation: there is no activation %d. HINT: one of "
                  "enum Activation",
                  (int)activation);
        return NULL;
    }
}

KERNEL Status gelu_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    if (call->params.flags == ACTIVATION_GELU_TANH)
        for (int64_t i = begin; i < end; i++) y[i] = math_gelu_tanh(x[i]);
    else
        for (int64_t i = begin; i < end; i++) y[i] = math_gelu(x[i]);
    return STATUS_OK;
}

// x * 0.5 * (1 + erf(x c)): 4 and an erf.  0.5 x (1 + tanh(k (x + a x^3))): 8 and a tanh.
static OpCost gelu_cost(const OpCall *call) {
    return op_cost_elementwise(call, call->params.flags == ACTIVATION_GELU_TANH ? 8 : 4, 1);
}

static Status gelu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_gelu_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status gelu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float *out = call_out(call, 0);
    if (call->params.flags == ACTIVATION_GELU_TANH)
        for (int64_t i = begin; i < end; i++) out[i] = grad[i] * math_gelu_tanh_derivative(x[i]);
    else
        for (int64_t i = begin; i < end; i++) out[i] = grad[i] * math_gelu_derivative(x[i]);
    return STATUS_OK;
}

// erf: grad * (0.5 (1 + erf(x c)) + x k exp(-0.5 x x)): 9, an erf and an exp.
// tanh, with t the tanh of the forward form:
//   grad * (0.5 (1 + t) + 0.5 x (1 - t t) k (1 + 3a x x)): 17 and a tanh.
static OpCost gelu_backward_cost(const OpCall *call) {
    bool by_tanh = call->params.flags == ACTIVATION_GELU_TANH;
    return op_cost_elementwise(call, by_tanh ? 17 : 9, by_tanh ? 1 : 2);
}

const Op op_gelu = {.id = OP_gelu,
                    .name = "gelu",
                    .work = op_work_elements,
                    .min_inputs = 1,
                    .max_inputs = 1,
                    .dtypes = dtypes_float,
                    .n_dtypes = 1,
                    .infer = gelu_infer,
                    .cost = COUNTED(gelu_cost),
                    .backward = gelu_backward,
                    .saves = save_input};
const Op op_gelu_backward = {.id = OP_gelu_backward,
                             .name = "gelu_backward",
                             ELEMENTWISE_BACKWARD,
                             .cost = COUNTED(gelu_backward_cost)};
