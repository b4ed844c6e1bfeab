// clamp.c -- x, but not below params.value[0] nor above params.value[1]; NaN stays NaN
#include "tensor/ops/elementwise.h"

Tensor *tensor_clamp(Tensor *x, float low, float high) {
    return OP_RUN(op_clamp, (&(OpParams){.value = {low, high}}), x);
}

static Status clamp_infer(OpCall *call) {
    float low = call->params.value[0], high = call->params.value[1];
    if (low <= high) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "nothing lies between %g and %g. HINT: low <= high, neither NaN", (double)low,
                    (double)high);
}

KERNEL Status clamp_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), low = call->params.value[0], high = call->params.value[1];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_clamp(x[i], low, high);
    return STATUS_OK;
}

// The slope is 1 from bound to bound, both included.
static Status clamp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_clamp_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status clamp_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float low = call->params.value[0], high = call->params.value[1], *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_clamp_backward(grad[i], x[i], low, high);
    return STATUS_OK;
}

// A comparison with each bound, forward and backward.
static OpCost cost_two_flops(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_clamp_backward = {.id = OP_clamp_backward,
                              .name = "clamp_backward",
                              ELEMENTWISE_BACKWARD,
                              .cost = COUNTED(cost_two_flops)};

const Op op_clamp = {.id = OP_clamp,
                     .name = "clamp",
                     .work = op_work_elements,
                     .min_inputs = 1,
                     .max_inputs = 1,
                     .dtypes = dtypes_float,
                     .n_dtypes = 1,
                     .infer = clamp_infer,
                     .cost = COUNTED(cost_two_flops),
                     .backward = clamp_backward,
                     .saves = save_input};
