// prelu.c -- x where it is positive, else weight * x, with one weight per channel or a single one
// in: x, weight, whose shape broadcasts to x's
#include "tensor/math_activation.h"
#include "tensor/ops/elementwise.h"

// Channels are dimension 1: the weight is viewed as (c, 1, 1 ...).
Tensor *tensor_prelu(Tensor *x, Tensor *weight) {
    if (!x || !weight) return OP_RUN(op_prelu, NULL, x, weight);
    bool channels = x->shape.ndim > 1 && weight->numel == x->shape.dims[1];
    if (weight->shape.ndim > 1 || (weight->numel != 1 && !channels)) {
        char of[SHAPE_TEXT], text[SHAPE_TEXT];
        error_set(STATUS_SHAPE,
                  "prelu of %s and a weight of %s. HINT: one for each channel, which x has along "
                  "dimension 1, or one for all",
                  shape_text(x->shape, of), shape_text(weight->shape, text));
        return NULL;
    }
    if (x->shape.ndim == 0) weight = tensor_reshape(weight, (Shape){0});
    if (channels) {
        Shape shape = {.ndim = x->shape.ndim - 1, .dims = {weight->numel}};
        for (int d = 1; d < shape.ndim; d++) shape.dims[d] = 1;
        weight = tensor_reshape(weight, shape);
    }
    return OP_RUN(op_prelu, NULL, x, weight);
}

KERNEL static Status prelu_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_leaky_relu);
}

static Status prelu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *weight = saved->in[1], *grad = grad_out[0];
    if (call_needs(saved, 0) && OP_INTO(&grad_in[0], op_prelu_backward, NULL, grad, x, weight))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    if (shape_equal(x->shape, weight->shape))
        return OP_INTO(&grad_in[1], op_prelu_backward_weight, NULL, grad, x);
    return backward_sum_to(&grad_in[1], OP_RUN(op_prelu_backward_weight, NULL, grad, x), weight);
}

static unsigned prelu_saves(const OpCall *call) {
    return SAVE_IN(0) | (call_needs(call, 0) ? SAVE_IN(1) : 0);
}

// ---- backward: of x, and of the weight before its sum ------------------------------------------
KERNEL static Status prelu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Broadcast rows = broadcast_of(call, 3);
    const int64_t *step = rows.step;
    for (int64_t n; begin < end; begin += n) {
        const float *from[3];
        n = broadcast_row(&rows, 3, begin, end, from);
        const float *grad = from[0], *x = from[1], *weight = from[2];
        float *to = call_out(call, 0) + begin;
        if (step[0] == 1 && step[1] == 1 && step[2] == 0)
            for (int64_t i = 0; i < n; i++)
                to[i] = math_leaky_relu_backward(grad[i], x[i], *weight);
        else
            for (int64_t i = 0; i < n; i++)
                to[i] = math_leaky_relu_backward(grad[i * step[0]], x[i * step[1]],
                                                 weight[i * step[2]]);
    }
    return STATUS_OK;
}

KERNEL static Status prelu_backward_weight_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_prelu_backward_weight);
}

// Counts a comparison and a product, forward and backward.
const Op op_prelu = {.id = OP_prelu,
                     .name = "prelu",
                     .kernel = prelu_cpu,
                     ELEMENTWISE_BINARY,
                     .backward = prelu_backward,
                     .saves = prelu_saves,
                     .story = STORY(.formula = "y = x where x > 0, else w x", .out = "y",
                                    .in = {"x", "w"}, .elementwise = {PER_OUTPUT, .each = 2},
                                    .keeps = KEEP_X, .kind = KIND_RECTIFIER)};
const Op op_prelu_backward = {.id = OP_prelu_backward,
                              .name = "prelu_backward",
                              .kernel = prelu_backward_cpu,
                              .flags = OP_STRIDED,
                              .work = op_work_elements,
                              .n_inputs = 3,
                              .infer = op_infer_same,
                              .story = STORY(.formula = "dx = dy where x > 0, else w dy",
                                             .out = "dx", .in = {"dy", "x", "w"},
                                             .elementwise = {PER_OUTPUT, .each = 2})};
const Op op_prelu_backward_weight = {.id = OP_prelu_backward_weight,
                                     .name = "prelu_backward_weight",
                                     .kernel = prelu_backward_weight_cpu,
                                     ELEMENTWISE_BACKWARD,
                                     .story = STORY(.formula = "dw = dy x where x <= 0, else 0",
                                                    .out = "dw", .in = {"dy", "x"},
                                                    .elementwise = {PER_OUTPUT, .each = 2})};
