// conv2d.c -- y = x * weight + bias over images: shapes, costs and gradients. The kernels are in
// conv2d_product.c and conv2d_depthwise.c. params.window: strides, padding, dilation, groups; of
// the backward ops also the sizes of kernel and input.
#include "tensor/ops/conv.h"
#include "tensor/ops/product.h"
#include "tensor/ops/reduce.h"

Conv2dOptions conv2d_defaults(void) {
    return (
        Conv2dOptions){.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1};
}

Tensor *tensor_conv2d(Tensor *x, Tensor *weight, Tensor *bias, Conv2dOptions o) {
    OpParams params = {
        .window = {.stride = {window_narrow(o.stride_h), window_narrow(o.stride_w)},
                   .dilation = {window_narrow(o.dilation_h), window_narrow(o.dilation_w)},
                   .before = {window_narrow(o.padding_top), window_narrow(o.padding_left)},
                   .after = {window_narrow(o.padding_bottom), window_narrow(o.padding_right)},
                   .groups = window_narrow(o.groups)}};
    return OP_RUN(op_conv2d, &params, x, weight, bias);
}

// ---- shapes ----------------------------------------------------------------------------------
static Status check_channels(const OpCall *call) {
    const Tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    int64_t groups = call->params.window.groups;
    if (x->shape.ndim != 4 || weight->shape.ndim != 4)
        return op_error(call, STATUS_SHAPE,
                        "needs x (n, c, h, w) and weight (o, c / groups, kernel h, kernel w). "
                        "HINT: tensor_reshape one image to (1, c, h, w)");
    if (groups < 1)
        return op_error(call, STATUS_INVALID_ARGUMENT, "%lld groups. HINT: from 1 to 2^31 - 1",
                        (long long)groups);
    if (x->shape.dims[1] % groups || weight->shape.dims[0] % groups)
        return op_error(call, STATUS_SHAPE,
                        "%lld groups do not divide %lld channels and %lld outputs. HINT: both "
                        "must be multiples of the groups",
                        (long long)groups, (long long)x->shape.dims[1],
                        (long long)weight->shape.dims[0]);
    if (x->shape.dims[1] / groups != weight->shape.dims[1])
        return op_error(call, STATUS_SHAPE,
                        "x has %lld channels in %lld groups, the weight takes %lld a group. HINT: "
                        "weight is (o, c / groups, kernel h, kernel w)",
                        (long long)x->shape.dims[1], (long long)groups,
                        (long long)weight->shape.dims[1]);
    if (bias && (bias->shape.ndim != 1 || bias->shape.dims[0] != weight->shape.dims[0]))
        return op_error(call, STATUS_SHAPE, "the bias must have shape (%lld,)",
                        (long long)weight->shape.dims[0]);
    return STATUS_OK;
}

static Status conv2d_infer(OpCall *call) {
    const Tensor *weight = call->in[1];
    OpWindow *w = &call->params.window;
    if (check_channels(call)) return error_status();
    w->kernel[0] = window_narrow(weight->shape.dims[2]);
    w->kernel[1] = window_narrow(weight->shape.dims[3]);
    if (window_infer(call, w, weight->shape.dims[0], 0)) return error_status();
    ConvSizes s = conv_sizes_forward(call);
    return product_countable(call, s.outputs, s.p, s.k) ? STATUS_OK : STATUS_OVERFLOW;
}

// Every output is a sum over the taps of its group's channels; padded ones count, too.
static uint64_t macs_of(const Tensor *y, const ConvSizes *s) {
    return (uint64_t)y->numel * (uint64_t)s->k;
}

static OpCost conv2d_cost(const OpCall *call) {
    ConvSizes s = conv_sizes_forward(call);
    OpCost cost = op_cost_traffic(call);
    cost.macs = macs_of(call->out[0], &s);
    cost.bias_flops = call->in[2] ? (uint64_t)call_numel(call) : 0;
    return cost;
}

// ---- gradients -------------------------------------------------------------------------------
static Status conv2d_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *grad = tensor_contiguous(grad_out[0]);
    const OpParams *params = &saved->params;
    if (!grad) return error_status();
    if (call_needs(saved, 0) &&
        OP_INTO(&grad_in[0], op_conv2d_backward_input, params, grad, saved->in[1]))
        return error_status();
    if (call_needs(saved, 1) &&
        OP_INTO(&grad_in[1], op_conv2d_backward_weight, params, grad, saved->in[0]))
        return error_status();
    if (!saved->in[2] || !call_needs(saved, 2)) return STATUS_OK;
    return OP_INTO(&grad_in[2], op_conv2d_backward_bias, NULL, grad);
}

static unsigned conv2d_saves(const OpCall *call) {
    return (call_needs(call, 0) ? SAVE_IN(1) : 0) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
}

const Op op_conv2d = {.id = OP_conv2d,
                      .name = "conv2d",
                      .flags = OP_WORKSPACE,
                      .min_inputs = 3,
                      .max_inputs = 3,
                      .optional = SAVE_IN(2),
                      .dtypes = dtypes_float,
                      .n_dtypes = 1,
                      .infer = conv2d_infer,
                      .cost = COUNTED(conv2d_cost),
                      .backward = conv2d_backward,
                      .saves = conv2d_saves,
                      .formula = COUNTED("macs = n x out x ho x wo x in x kh x kw")};

// ---- dx (n, c, h, w) of dy (n, o, ho, wo) and the weight
// -----------------------------------------
static Status input_infer(OpCall *call) {
    const OpWindow *w = &call->params.window;
    const Tensor *grad = call->in[0], *weight = call->in[1];
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[0], weight->shape.dims[1] * w->groups, w->input[0],
                           w->input[1]));
}

static OpCost input_cost(const OpCall *call) {
    ConvSizes s = conv_sizes_backward_input(call);
    OpCost cost = op_cost_traffic(call);
    cost.macs = macs_of(call->in[0], &s);
    return cost;
}

const Op op_conv2d_backward_input = {.id = OP_conv2d_backward_input,
                                     .name = "conv2d_backward_input",
                                     .flags = OP_WORKSPACE,
                                     .min_inputs = 2,
                                     .max_inputs = 2,
                                     .dtypes = dtypes_float,
                                     .n_dtypes = 1,
                                     .infer = input_infer,
                                     .cost = COUNTED(input_cost),
                                     .formula = COUNTED("macs = n x out x ho x wo x in x kh x kw")};

// ---- dweight (o, c / groups, kh, kw) of dy and x
// -------------------------------------------------
static Status weight_infer(OpCall *call) {
    const OpWindow *w = &call->params.window;
    const Tensor *grad = call->in[0], *x = call->in[1];
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[1], x->shape.dims[1] / w->groups, w->kernel[0],
                           w->kernel[1]));
}

static OpCost weight_cost(const OpCall *call) {
    ConvSizes s = conv_sizes_backward_weight(call);
    OpCost cost = op_cost_traffic(call);
    cost.macs = macs_of(call->in[0], &s);
    return cost;
}

const Op op_conv2d_backward_weight = {.id = OP_conv2d_backward_weight,
                                      .name = "conv2d_backward_weight",
                                      .flags = OP_WORKSPACE,
                                      .min_inputs = 2,
                                      .max_inputs = 2,
                                      .dtypes = dtypes_float,
                                      .n_dtypes = 1,
                                      .infer = weight_infer,
                                      .cost = COUNTED(weight_cost),
                                      .formula =
                                          COUNTED("macs = n x out x ho x wo x in x kh x kw")};

// ---- dbias (o) of dy: the sum of each channel
// ----------------------------------------------------
static Status bias_infer(OpCall *call) {
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE(call->in[0]->shape.dims[1]));
}

static OpCost bias_cost(const OpCall *call) { // n - 1 adds for n elements of a channel
    OpCost cost = op_cost_traffic(call);
    int64_t in = call->in[0]->numel, out = call_numel(call);
    cost.elementwise_flops = (uint64_t)(in > out ? in - out : 0);
    return cost;
}

static OpWork bias_work(const OpCall *call) { // channels
    const Tensor *grad = call->in[0];
    return (OpWork){.items = grad->shape.dims[1],
                    .cost = 1.0 + (double)grad->shape.dims[0] * (double)pool_plane_size(grad)};
}

// dbias[o] = the sum over n and p of dy (n, channels, p), each plane in lanes, planes in order
KERNEL Status conv2d_backward_bias_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *grad = call->in[0];
    int64_t channels = grad->shape.dims[1], p = pool_plane_size(grad);
    for (int64_t o = begin; o < end; o++) {
        double sum = 0.0;
        for (int64_t n = 0; n < grad->shape.dims[0]; n++)
            sum += (double)reduce_sum(call_in(call, 0) + (n * channels + o) * p, p);
        call_out(call, 0)[o] = (float)sum;
    }
    return STATUS_OK;
}

const Op op_conv2d_backward_bias = {.id = OP_conv2d_backward_bias,
                                    .name = "conv2d_backward_bias",
                                    .min_inputs = 1,
                                    .max_inputs = 1,
                                    .dtypes = dtypes_float,
                                    .n_dtypes = 1,
                                    .infer = bias_infer,
                                    .cost = COUNTED(bias_cost),
                                    .work = bias_work};
