// unary.c -- ops of one tensor, element by element: neg, abs, exp, log, sqrt. Activations are in
// relu.c, activations.c and gelu.c; what takes a number beside the tensor is in scalar.c.
#include "tensor/ops/elementwise.h"

// ---- neg: -x; a sign is no arithmetic, so it costs traffic only --------------------------------
Tensor *tensor_neg(Tensor *x) { return OP_RUN(op_neg, NULL, x); }

KERNEL Status neg_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_negate);
    return STATUS_OK;
}

static Status neg_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    return OP_INTO(&grad_in[0], op_neg, NULL, grad_out[0]);
}

const Op op_neg = {.id = OP_neg,
                   .name = "neg",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(op_cost_traffic),
                   .backward = neg_backward};

// ---- abs: |x| ----------------------------------------------------------------------------------
Tensor *tensor_abs(Tensor *x) { return OP_RUN(op_abs, NULL, x); }

KERNEL Status abs_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_absolute);
    return STATUS_OK;
}

static Status abs_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_abs_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL Status abs_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    gradient_range(call, begin, end, math_absolute_backward);
    return STATUS_OK;
}

// Is x above 0, is it below?
static OpCost abs_backward_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_abs = {.id = OP_abs,
                   .name = "abs",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = abs_backward,
                   .saves = save_input};
const Op op_abs_backward = {.id = OP_abs_backward,
                            .name = "abs_backward",
                            ELEMENTWISE_BACKWARD,
                            .cost = COUNTED(abs_backward_cost)};

// ---- exp: e^x, its own derivative --------------------------------------------------------------
Tensor *tensor_exp(Tensor *x) { return OP_RUN(op_exp, NULL, x); }

KERNEL Status exp_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_exp);
    return STATUS_OK;
}

static Status exp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], saved->out[0]);
}

const Op op_exp = {.id = OP_exp,
                   .name = "exp",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = exp_backward,
                   .saves = save_output};

// ---- log: the natural one; log(0) is -inf, of a negative number NaN ----------------------------
Tensor *tensor_log(Tensor *x) { return OP_RUN(op_log, NULL, x); }

KERNEL Status log_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_log);
    return STATUS_OK;
}

static Status log_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_div, NULL, grad_out[0], saved->in[0]);
}

const Op op_log = {.id = OP_log,
                   .name = "log",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = log_backward,
                   .saves = save_input};

// ---- sqrt: of a negative number NaN ------------------------------------------------------------
Tensor *tensor_sqrt(Tensor *x) { return OP_RUN(op_sqrt, NULL, x); }

KERNEL Status sqrt_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_sqrt);
    return STATUS_OK;
}

// dy/dx = 1 / 2y
static Status sqrt_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *half = tensor_mul_scalar(grad_out[0], 0.5f);
    return half ? OP_INTO(&grad_in[0], op_div, NULL, half, saved->out[0]) : error_status();
}

const Op op_sqrt = {.id = OP_sqrt,
                    .name = "sqrt",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(cost_one_transcendental),
                    .backward = sqrt_backward,
                    .saves = save_output};
