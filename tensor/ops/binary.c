// binary.c -- element-wise ops of two tensors, broadcast as in NumPy: add, sub, mul, div, maximum,
// minimum; for int64, too. Not here: remainder.c, pow_tensor.c, and comparisons in compare.c.
#include "tensor/ops/elementwise.h"

// ---- add: a + b ---------------------------------------------------------------------------------
Tensor *tensor_add(Tensor *a, Tensor *b) { return OP_RUN(op_add, NULL, a, b); }

KERNEL static Status add_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_add);
}

KERNEL static Status add_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_add, false);
}

static Status add_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++)
        if (call_needs(saved, i) && backward_sum_to(&grad_in[i], grad_out[0], saved->in[i]))
            return error_status();
    return STATUS_OK;
}

const Op op_add = {.id = OP_add,
                   .name = "add",
                   .kernel = add_cpu,
                   .whole = add_whole,
                   NUMBERS,
                   ELEMENTWISE_BINARY,
                   .backward = add_backward,
                   .story = STORY(.formula = "y = a + b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- sub: a - b ---------------------------------------------------------------------------------
Tensor *tensor_sub(Tensor *a, Tensor *b) { return OP_RUN(op_sub, NULL, a, b); }

KERNEL static Status sub_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_sub);
}

KERNEL static Status sub_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_sub, false);
}

static Status sub_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (call_needs(saved, 0) && backward_sum_to(&grad_in[0], grad_out[0], saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *reduced = NULL; // sum before negating fewer elements
    if (backward_sum_to(&reduced, grad_out[0], saved->in[1])) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

const Op op_sub = {.id = OP_sub,
                   .name = "sub",
                   .kernel = sub_cpu,
                   .whole = sub_whole,
                   NUMBERS,
                   ELEMENTWISE_BINARY,
                   .backward = sub_backward,
                   .story = STORY(.formula = "y = a - b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- mul: a * b ---------------------------------------------------------------------------------
Tensor *tensor_mul(Tensor *a, Tensor *b) { return OP_RUN(op_mul, NULL, a, b); }

KERNEL static Status mul_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_mul);
}

KERNEL static Status mul_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_mul, false);
}

// The gradient of each factor is grad times the other factor.
static Status mul_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++)
        if (call_needs(saved, i) &&
            backward_binary_to(&grad_in[i], &op_mul, grad_out[0], saved->in[1 - i], saved->in[i]))
            return error_status();
    return STATUS_OK;
}

const Op op_mul = {.id = OP_mul,
                   .name = "mul",
                   .kernel = mul_cpu,
                   .whole = mul_whole,
                   NUMBERS,
                   ELEMENTWISE_BINARY,
                   .backward = mul_backward,
                   .saves = save_factors,
                   .story = STORY(.formula = "y = a b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- div: a / b ---------------------------------------------------------------------------------
Tensor *tensor_div(Tensor *a, Tensor *b) { return OP_RUN(op_div, NULL, a, b); }

KERNEL static Status div_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_div);
}

KERNEL static Status div_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_div, false);
}

// y = a / b: dy/da = 1/b, dy/db = -y/b
static Status div_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *b = saved->in[1], *y = saved->out[0];
    if (call_needs(saved, 0) &&
        backward_binary_to(&grad_in[0], &op_div, grad_out[0], b, saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *scaled = tensor_div(tensor_mul(grad_out[0], y), b), *reduced = NULL;
    if (backward_sum_to(&reduced, scaled, b)) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

static unsigned div_saves(const OpCall *call) {
    return SAVE_IN(1) | (call_needs(call, 1) ? SAVE_OUT(0) : 0);
}

const Op op_div = {.id = OP_div,
                   .name = "div",
                   .kernel = div_cpu,
                   .whole = div_whole,
                   NUMBERS,
                   .check = check_divisor,
                   ELEMENTWISE_BINARY,
                   .backward = div_backward,
                   .saves = div_saves,
                   .story = STORY(.formula = "y = a / b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1},
                                  .divisions = {PER_OUTPUT, .each = 1})};

// ---- maximum: the larger one; NaN wins ----------------------------------------------------------
Tensor *tensor_maximum(Tensor *a, Tensor *b) { return OP_RUN(op_maximum, NULL, a, b); }

KERNEL static Status maximum_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_max);
}

KERNEL static Status maximum_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_max, false);
}

// A minimum gives an input its gradient where a maximum would give it to the other one.
static Status choice_backward(const OpCall *saved, Tensor *grad, Tensor *grad_in[], bool smaller) {
    for (int i = 0; i < 2; i++) {
        if (!call_needs(saved, i)) continue;
        Tensor *mine = saved->in[i], *whole = NULL;
        Tensor *larger = saved->in[smaller ? 1 - i : i], *less = saved->in[smaller ? i : 1 - i];
        bool direct = shape_equal(grad->shape, mine->shape);
        if (OP_INTO(direct ? &grad_in[i] : &whole, op_maximum_backward, NULL, grad, larger, less))
            return error_status();
        if (!direct && backward_sum_to(&grad_in[i], whole, mine)) return error_status();
    }
    return STATUS_OK;
}

static Status maximum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return choice_backward(saved, grad_out[0], grad_in, false);
}

// ---- backward: grad where mine is larger, half of it if both are equal --------------------------
KERNEL static Status maximum_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Broadcast rows = broadcast_of(call, 3);
    const int64_t *step = rows.step;
    for (int64_t n; begin < end; begin += n) {
        const float *from[3];
        n = broadcast_row(&rows, 3, begin, end, from);
        const float *grad = from[0], *mine = from[1], *other = from[2];
        float *to = call_out(call, 0) + begin;
        if (step[0] == 1 && step[1] == 1 && step[2] == 1)
            for (int64_t i = 0; i < n; i++) to[i] = math_max_backward(grad[i], mine[i], other[i]);
        else
            for (int64_t i = 0; i < n; i++)
                to[i] = math_max_backward(grad[i * step[0]], mine[i * step[1]], other[i * step[2]]);
    }
    return STATUS_OK;
}

const Op op_maximum = {.id = OP_maximum,
                       .name = "maximum",
                       .kernel = maximum_cpu,
                       .whole = maximum_whole,
                       NUMBERS,
                       ELEMENTWISE_BINARY,
                       .backward = maximum_backward,
                       .saves = save_inputs,
                       .story = STORY(.formula = "y = max(a, b)", .out = "y", .in = {"a", "b"},
                                      .elementwise = {PER_OUTPUT, .each = 1})};
// Inputs: grad, with the result's shape; mine and other, which may be broadcast to it. Counts: two
// comparisons, and a product with 0, 1/2 or 1.
const Op op_maximum_backward = {
    .id = OP_maximum_backward,
    .name = "maximum_backward",
    .kernel = maximum_backward_cpu,
    .flags = OP_STRIDED,
    .work = op_work_elements,
    .n_inputs = 3,
    .infer = op_infer_same,
    .story = STORY(.formula = "da = dy where a > b, half of it where both are equal", .out = "da",
                   .in = {"dy", "a", "b"}, .elementwise = {PER_OUTPUT, .each = 3})};

// ---- minimum: the smaller one; NaN wins ---------------------------------------------------------
Tensor *tensor_minimum(Tensor *a, Tensor *b) { return OP_RUN(op_minimum, NULL, a, b); }

KERNEL static Status minimum_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_min);
}

KERNEL static Status minimum_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_min, false);
}

static Status minimum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return choice_backward(saved, grad_out[0], grad_in, true);
}

const Op op_minimum = {.id = OP_minimum,
                       .name = "minimum",
                       .kernel = minimum_cpu,
                       .whole = minimum_whole,
                       NUMBERS,
                       ELEMENTWISE_BINARY,
                       .backward = minimum_backward,
                       .saves = save_inputs,
                       .story = STORY(.formula = "y = min(a, b)", .out = "y", .in = {"a", "b"},
                                      .elementwise = {PER_OUTPUT, .each = 1})};
