// activations.h -- internal to ops/: shared by activations. Each one is a line of
// activation_list.h, and a descriptor for it and its gradient. relu.c is an expanded example.
#ifndef TENSOR_OPS_ACTIVATIONS_H
#define TENSOR_OPS_ACTIVATIONS_H

#include "tensor/ops/activation_list.h"
#include "tensor/ops/elementwise.h"

// For X of a list: the loops, and the backward call. Values are copied, because an output might
// alias them.
#define ACTIVATION_LOOPS(of, y_of_x, dx_of_grad)                                                   \
    KERNEL static void of##_row(const float *from, float *to, int64_t n, const OpParams *params) { \
        const float value[] = {params->value[0], params->value[1]};                                \
        (void)value;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = from[i];                                                                     \
            to[i] = y_of_x;                                                                        \
        }                                                                                          \
    }                                                                                              \
    KERNEL static Status of##_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {       \
        const float *grads = call_in(call, 0), *kepts = call_in(call, 1);                          \
        const float value[] = {call->params.value[0], call->params.value[1]};                      \
        float *to = call_out(call, 0);                                                             \
        (void)value;                                                                               \
        for (int64_t i = begin; i < end; i++) {                                                    \
            float grad = grads[i], kept = kepts[i];                                                \
            to[i] = dx_of_grad;                                                                    \
        }                                                                                          \
        return STATUS_OK;                                                                          \
    }                                                                                              \
    static Status of##_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {      \
        return activation_backward(saved, grad_out[0], &grad_in[0], &op_##of##_backward);          \
    }

// Runs `op` on the gradient and the saved tensor.
static inline Status activation_backward(const OpCall *saved, Tensor *grad, Tensor **slot,
                                         const Op *op) {
    Tensor *kept = saved->op->saves == save_output ? saved->out[0] : saved->in[0];
    return OP_INTO(slot, *op, &saved->params, grad, kept);
}

// The descriptors, except for module, values, infer, saves and story.
#define ACTIVATION(of)                                                                             \
    .id = OP_##of, .name = #of, .n_inputs = 1, .row = of##_row, .backward = of##_backward
#define ACTIVATION_BACKWARD(of)                                                                    \
    .id = OP_##of##_backward, .name = #of "_backward", .kernel = of##_backward_cpu,                \
    ELEMENTWISE_BACKWARD

#endif
