// conv2d.c -- y = x * weight + bias over images: shapes, costs and gradients. The kernels are in
// conv2d_product.c and conv2d_depthwise.c. params.window: strides, padding, dilation, groups; for
// backward also the sizes of kernel and input.
#include "tensor/ops/conv.h"
#include "tensor/ops/product.h"
#include "tensor/ops/reduce.h"

Conv2dOptions conv2d_defaults(void) {
    return (
        Conv2dOptions){.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1};
}

OpWindow conv_window(Conv2dOptions o) {
    return (OpWindow){.stride = {window_narrow(o.stride_h), window_narrow(o.stride_w)},
                      .dilation = {window_narrow(o.dilation_h), window_narrow(o.dilation_w)},
                      .before = {window_narrow(o.padding_top), window_narrow(o.padding_left)},
                      .after = {window_narrow(o.padding_bottom), window_narrow(o.padding_right)},
                      .groups = window_narrow(o.groups)};
}

Tensor *tensor_conv2d(Tensor *x, Tensor *weight, Tensor *bias, Conv2dOptions options) {
    OpParams params = {.window = conv_window(options)};
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
        return op_error(call, STATUS_SHAPE,
                        "the bias must have shape (%lld,). HINT: one for each output",
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

// ---- gradients -------------------------------------------------------------------------------
static Status conv2d_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *grad = tensor_contiguous(grad_out[0]);
    const OpParams *params = &saved->params;
    if (!grad) return error_status();
    if (call_needs(saved, 0) &&
        OP_INTO(&grad_in[0], op_conv2d_backward_input, params, grad, saved->in[1]))
        return error_status();
    if (call_needs(saved, 1) &&
        OP_ADDING(&grad_in[1], op_conv2d_backward_weight, params, grad, saved->in[0]))
        return error_status();
    if (!saved->in[2] || !call_needs(saved, 2)) return STATUS_OK;
    return OP_INTO(&grad_in[2], op_conv2d_backward_bias, NULL, grad);
}

// Every output sums over the taps of its group's channels; taps in the padding count, too.
#define CONV_PRODUCTS "n x out x ho x wo x in x kh x kw"
static int conv_factors(const Shape *y, const Shape *weight, int64_t factor[]) {
    int n = 0;
    for (int i = 0; i < 4; i++) factor[n++] = y->dims[i];
    for (int i = 1; i < 4; i++) factor[n++] = weight->dims[i];
    return n;
}

static int forward_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)params;
    return conv_factors(&out, &in[1], factor);
}

static void conv2d_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(2))) return;
    story->formula = "y = the window of x under each output, times the weight, + bias";
    story->bias = (OpRule){PER_OUTPUT, .each = 1};
}

const Op op_conv2d = {
    .id = OP_conv2d,
    .name = "conv2d",
    .kernel = conv2d_cpu,
    .workspace = conv_forward_workspace,
    .handoffs = conv_forward_handoffs,
    .flags = OP_WORKSPACE,
    .n_inputs = 3,
    .optional = SAVE_IN(2),
    .infer = conv2d_infer,
    .backward = conv2d_backward,
    .saves = save_factors,
    .story =
        STORY(.formula = "y = the window of x under each output, times the weight", .out = "y",
              .in = {"x", "weight", "bias"}, .products = CONV_PRODUCTS, .factors = forward_factors,
              .keeps = KEEP_X, .vary = conv2d_vary, .kind = KIND_CONVOLUTION)};

// ---- dx (n, c, h, w) from dy (n, o, ho, wo) and the weight -------------------------------------
static Status input_infer(OpCall *call) {
    const OpWindow *w = &call->params.window;
    const Tensor *grad = call->in[0], *weight = call->in[1];
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[0], weight->shape.dims[1] * w->groups, w->input[0],
                           w->input[1]));
}

static int input_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)params, (void)out;
    return conv_factors(&in[0], &in[1], factor);
}

const Op op_conv2d_backward_input = {
    .id = OP_conv2d_backward_input,
    .name = "conv2d_backward_input",
    .kernel = conv2d_backward_input_cpu,
    .workspace = conv_backward_input_workspace,
    .handoffs = conv_backward_input_handoffs,
    .flags = OP_WORKSPACE,
    .n_inputs = 2,
    .infer = input_infer,
    .story = STORY(.formula = "dx = dy times the weight, added up where its taps read", .out = "dx",
                   .in = {"dy", "weight"}, .products = CONV_PRODUCTS, .factors = input_factors,
                   .kind = KIND_CONVOLUTION)};

// ---- dweight (o, c / groups, kh, kw) from dy and x ---------------------------------------------
static Status weight_infer(OpCall *call) {
    const OpWindow *w = &call->params.window;
    const Tensor *grad = call->in[0], *x = call->in[1];
    return op_output(call, 0, DTYPE_FLOAT32,
                     SHAPE(grad->shape.dims[1], x->shape.dims[1] / w->groups, w->kernel[0],
                           w->kernel[1]));
}

static int weight_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)params;
    return conv_factors(&in[0], &out, factor);
}

const Op op_conv2d_backward_weight = {
    .id = OP_conv2d_backward_weight,
    .name = "conv2d_backward_weight",
    .kernel = conv2d_backward_weight_cpu,
    .workspace = conv_backward_weight_workspace,
    .handoffs = conv_backward_weight_handoffs,
    .flags = OP_WORKSPACE | OP_ADDS,
    .n_inputs = 2,
    .infer = weight_infer,
    .story = STORY(.formula =
                       "dweight = dy times what the taps read of x, summed over images and places",
                   .out = "dweight", .in = {"dy", "x"}, .products = CONV_PRODUCTS,
                   .factors = weight_factors, .kind = KIND_CONVOLUTION)};

// ---- dbias (o) from dy: the sum of each channel ------------------------------------------------
static Status bias_infer(OpCall *call) {
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE(call->in[0]->shape.dims[1]));
}

static OpWork bias_work(const OpCall *call) { // items: channels
    const Tensor *grad = call->in[0];
    return (OpWork){.items = grad->shape.dims[1],
                    .cost = 1.0 + (double)grad->shape.dims[0] * (double)pool_plane_size(grad)};
}

// dbias[o] = the sum over n and p of dy (n, channels, p), each plane in lanes, planes in order
KERNEL static Status conv2d_backward_bias_cpu(const OpCall *call, int64_t begin, int64_t end) {
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

// n - 1 adds for n elements of a channel
const Op op_conv2d_backward_bias = {
    .id = OP_conv2d_backward_bias,
    .name = "conv2d_backward_bias",
    .kernel = conv2d_backward_bias_cpu,
    .n_inputs = 1,
    .infer = bias_infer,
    .work = bias_work,
    .story = STORY(.formula = "dbias = dy, summed over images and places", .out = "dbias",
                   .in = {"dy"}, .elementwise = {.basis = PER_SUM})};
