// pow_tensor.c -- a to the power of b, element by element, broadcast; scalar.c has pow with a
// number as exponent
#include "tensor/ops/elementwise.h"

Tensor *tensor_pow_tensor(Tensor *a, Tensor *b) { return OP_RUN(op_pow_tensor, NULL, a, b); }

KERNEL static Status pow_tensor_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_pow);
}

// x where the condition is true, else 0, summed to the shape of `like`
static Status chosen_to(Tensor **slot, Tensor *condition, Tensor *x, const Tensor *like) {
    return backward_sum_to(slot, OP_RUN(op_where, NULL, condition, x, NULL), like);
}

// dy/da = b a^(b - 1), but 0 where b is 0: a^0 is constant, even if a^-1 is infinite.
// dy/db = y log(a), but 0 where a is 0 and b >= 0.
static Status pow_tensor_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *a = saved->in[0], *b = saved->in[1], *grad = grad_out[0];
    if (call_needs(saved, 0)) {
        Tensor *power = tensor_pow_tensor(a, tensor_add_scalar(b, -1.0f));
        Tensor *slope = tensor_mul(grad, tensor_mul(b, power));
        if (chosen_to(&grad_in[0], b, slope, a)) return error_status();
    }
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *slope = tensor_mul(grad, tensor_mul(saved->out[0], tensor_log(a)));
    Tensor *moves = tensor_logical_or(a, tensor_relu(tensor_neg(b)));
    return chosen_to(&grad_in[1], moves, slope, b);
}

static unsigned pow_tensor_saves(const OpCall *call) {
    return SAVE_IN(0) | SAVE_IN(1) | (call_needs(call, 1) ? SAVE_OUT(0) : 0);
}

const Op op_pow_tensor = {.id = OP_pow_tensor,
                          .name = "pow_tensor",
                          .kernel = pow_tensor_cpu,
                          ELEMENTWISE_BINARY,
                          .backward = pow_tensor_backward,
                          .saves = pow_tensor_saves,
                          .story = STORY(.formula = "y = a^b", .out = "y", .in = {"a", "b"},
                                         .transcendental = {PER_OUTPUT, .each = 1})};
