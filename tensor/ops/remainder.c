// remainder.c -- the exact remainder of a after whole multiples of b are taken off: fmod has the
// sign of a, as C's fmod; remainder has the sign of b, as Python's %.
#include "tensor/ops/elementwise.h"

Tensor *tensor_fmod(Tensor *a, Tensor *b) { return OP_RUN(op_fmod, NULL, a, b); }
Tensor *tensor_remainder(Tensor *a, Tensor *b) { return OP_RUN(op_remainder, NULL, a, b); }

KERNEL static Status fmod_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_fmod);
}

KERNEL static Status fmod_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_fmod, false);
}

KERNEL static Status remainder_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_remainder);
}

KERNEL static Status remainder_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_remainder, false);
}

// dy/da = 1, dy/db = -n, with n = (a - y) / b the number of multiples taken off.
static Status remainder_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *a = saved->in[0], *b = saved->in[1], *grad = grad_out[0];
    if (call_needs(saved, 0) && backward_sum_to(&grad_in[0], grad, a)) return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *multiples = tensor_div(tensor_sub(saved->out[0], a), b);
    return backward_binary_to(&grad_in[1], &op_mul, grad, multiples, b);
}

static unsigned remainder_saves(const OpCall *call) {
    return call_needs(call, 1) ? SAVE_IN(0) | SAVE_IN(1) | SAVE_OUT(0) : 0;
}

// Counts a division, a rounding, a product and a difference.
const Op op_fmod = {.id = OP_fmod,
                    .name = "fmod",
                    .kernel = fmod_cpu,
                    .whole = fmod_whole,
                    NUMBERS,
                    .check = check_divisor,
                    ELEMENTWISE_BINARY,
                    .backward = remainder_backward,
                    .saves = remainder_saves,
                    .story = STORY(.formula = "y = a - b trunc(a / b)", .out = "y",
                                   .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 4})};
const Op op_remainder = {.id = OP_remainder,
                         .name = "remainder",
                         .kernel = remainder_cpu,
                         .whole = remainder_whole,
                         NUMBERS,
                         .check = check_divisor,
                         ELEMENTWISE_BINARY,
                         .backward = remainder_backward,
                         .saves = remainder_saves,
                         .story = STORY(.formula = "y = a - b floor(a / b)", .out = "y",
                                        .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 4})};
