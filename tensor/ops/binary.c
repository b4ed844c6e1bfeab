// binary.c -- ops of two tensors, element by element, broadcast as NumPy does: add, sub, mul, div,
// maximum.
#include "tensor/ops/elementwise.h"

// ---- add: a + b ---------------------------------------------------------------------------------
Tensor *tensor_add(Tensor *a, Tensor *b) { return OP_RUN(op_add, NULL, a, b); }

KERNEL static Status add_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_add);
    return STATUS_OK;
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
                   ELEMENTWISE_BINARY,
                   .backward = add_backward,
                   .story = STORY(.formula = "y = a + b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- sub: a - b ---------------------------------------------------------------------------------
Tensor *tensor_sub(Tensor *a, Tensor *b) { return OP_RUN(op_sub, NULL, a, b); }

KERNEL static Status sub_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_sub);
    return STATUS_OK;
}

static Status sub_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (call_needs(saved, 0) && backward_sum_to(&grad_in[0], grad_out[0], saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    if (shape_equal(grad_out[0]->shape, saved->in[1]->shape))
        return OP_INTO(&grad_in[1], op_neg, NULL, grad_out[0]);
    Tensor *reduced = NULL; // sum first: there is less to negate
    if (backward_sum_to(&reduced, grad_out[0], saved->in[1])) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

const Op op_sub = {.id = OP_sub,
                   .name = "sub",
                   .kernel = sub_cpu,
                   ELEMENTWISE_BINARY,
                   .backward = sub_backward,
                   .story = STORY(.formula = "y = a - b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- mul: a * b ---------------------------------------------------------------------------------
Tensor *tensor_mul(Tensor *a, Tensor *b) { return OP_RUN(op_mul, NULL, a, b); }

KERNEL static Status mul_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_mul);
    return STATUS_OK;
}

// Each factor's gradient is the other factor.
static Status mul_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++)
        if (call_needs(saved, i) &&
            backward_binary_to(&grad_in[i], &op_mul, grad_out[0], saved->in[1 - i], saved->in[i]))
            return error_status();
    return STATUS_OK;
}

static unsigned mul_saves(const OpCall *call) {
    return (call_needs(call, 0) ? SAVE_IN(1) : 0) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
}

const Op op_mul = {.id = OP_mul,
                   .name = "mul",
                   .kernel = mul_cpu,
                   ELEMENTWISE_BINARY,
                   .backward = mul_backward,
                   .saves = mul_saves,
                   .story = STORY(.formula = "y = a b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- div: a / b ---------------------------------------------------------------------------------
Tensor *tensor_div(Tensor *a, Tensor *b) { return OP_RUN(op_div, NULL, a, b); }

KERNEL static Status div_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_div);
    return STATUS_OK;
}

// y = a / b: dy/da = 1/b, dy/db = -y/b
static Status div_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *b = saved->in[1], *y = saved->out[0];
    if (call_needs(saved, 0) &&
        backward_binary_to(&grad_in[0], &op_div, grad_out[0], b, saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *scaled = tensor_div(tensor_mul(grad_out[0], y), b);
    if (!scaled) return error_status();
    Tensor *reduced = NULL;
    if (backward_sum_to(&reduced, scaled, b)) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

static unsigned div_saves(const OpCall *call) {
    return SAVE_IN(1) | (call_needs(call, 1) ? SAVE_OUT(0) : 0);
}

const Op op_div = {.id = OP_div,
                   .name = "div",
                   .kernel = div_cpu,
                   ELEMENTWISE_BINARY,
                   .backward = div_backward,
                   .saves = div_saves,
                   .story = STORY(.formula = "y = a / b", .out = "y", .in = {"a", "b"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};

// ---- maximum: the larger one; NaN wins ----------------------------------------------------------
Tensor *tensor_maximum(Tensor *a, Tensor *b) { return OP_RUN(op_maximum, NULL, a, b); }

KERNEL static Status maximum_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_max);
    return STATUS_OK;
}

static Status maximum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++) {
        if (!call_needs(saved, i)) continue;
        Tensor *mine = saved->in[i], *other = saved->in[1 - i], *whole = NULL;
        bool direct = shape_equal(grad_out[0]->shape, mine->shape);
        if (OP_INTO(direct ? &grad_in[i] : &whole, op_maximum_backward, NULL, grad_out[0], mine,
                    other))
            return error_status();
        if (!direct && backward_sum_to(&grad_in[i], whole, mine)) return error_status();
    }
    return STATUS_OK;
}

static unsigned maximum_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0) | SAVE_IN(1);
}

// ---- backward: grad where mine is larger, half of it where both are equal -----------------------
// Elements [begin, end) of which the last dimension has `row` each, any strides.
static void maximum_strided_range(const OpCall *call, int64_t begin, int64_t end, int64_t row) {
    const Tensor *out = call->out[0];
    int last = out->shape.ndim - 1;
    int64_t stride[3][TENSOR_MAX_DIMS];
    for (int k = 0; k < 3; k++) broadcast_strides(call->in[k], out, stride[k]);
    while (begin < end) {
        int64_t column = begin % row, rest = begin / row, n = row - column;
        if (n > end - begin) n = end - begin;
        const float *from[3];
        for (int k = 0; k < 3; k++) from[k] = call_in(call, k) + column * stride[k][last];
        for (int d = last - 1; d >= 0; d--) {
            for (int k = 0; k < 3; k++) from[k] += rest % out->shape.dims[d] * stride[k][d];
            rest /= out->shape.dims[d];
        }
        float *to = call_out(call, 0) + begin;
        for (int64_t i = 0; i < n; i++)
            to[i] = math_max_backward(from[0][i * stride[0][last]], from[1][i * stride[1][last]],
                                      from[2][i * stride[2][last]]);
        begin += n;
    }
}

KERNEL static Status maximum_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *out = call->out[0];
    bool flat = true;
    for (int k = 0; k < 3; k++)
        flat = flat && tensor_is_contiguous(call->in[k]) && call->in[k]->numel == out->numel;
    if (!flat) {
        maximum_strided_range(call, begin, end, out->shape.dims[out->shape.ndim - 1]);
        return STATUS_OK;
    }
    const float *grad = call_in(call, 0), *mine = call_in(call, 1), *other = call_in(call, 2);
    float *to = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) to[i] = math_max_backward(grad[i], mine[i], other[i]);
    return STATUS_OK;
}

const Op op_maximum = {.id = OP_maximum,
                       .name = "maximum",
                       .kernel = maximum_cpu,
                       ELEMENTWISE_BINARY,
                       .backward = maximum_backward,
                       .saves = maximum_saves,
                       .story = STORY(.formula = "y = max(a, b)", .out = "y", .in = {"a", "b"},
                                      .elementwise = {PER_OUTPUT, .each = 1})};
// Inputs: grad, which has the shape of the result, and mine and other, which may be broadcast to
// it. Two comparisons, and a product with 0, 1/2 or 1.
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
