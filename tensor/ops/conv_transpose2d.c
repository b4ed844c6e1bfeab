// conv_transpose2d.c -- the transposed convolution: conv2d's input gradient as an op of its own,
// with a bias. The kernel is that of conv2d_backward_input. params.window: of the convolution that
// is transposed, so its input is our output; begin, step: rows and columns of the output beyond the
// windows (output_padding).
#include "tensor/ops/conv.h"
#include "tensor/ops/elementwise.h"

ConvTranspose2dOptions conv_transpose2d_defaults(void) {
    return (ConvTranspose2dOptions){.conv = conv2d_defaults()};
}

Tensor *tensor_conv_transpose2d(Tensor *x, Tensor *weight, Tensor *bias,
                                ConvTranspose2dOptions options) {
    OpParams params = {.window = conv_window(options.conv),
                       .begin = options.output_padding_h,
                       .step = options.output_padding_w};
    return OP_RUN(op_conv_transpose2d, &params, x, weight, bias);
}

// ---- shapes ----------------------------------------------------------------------------------
static Status check_channels(const OpCall *call) {
    const Tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    int64_t groups = call->params.window.groups;
    if (x->shape.ndim != 4 || weight->shape.ndim != 4)
        return op_error(call, STATUS_SHAPE,
                        "needs x (n, c, h, w) and weight (c, o / groups, kernel h, kernel w). "
                        "HINT: tensor_reshape one image to (1, c, h, w)");
    if (groups < 1)
        return op_error(call, STATUS_INVALID_ARGUMENT, "%lld groups. HINT: from 1 to 2^31 - 1",
                        (long long)groups);
    if (x->shape.dims[1] != weight->shape.dims[0] || x->shape.dims[1] % groups)
        return op_error(call, STATUS_SHAPE,
                        "x has %lld channels, the weight takes %lld, in %lld groups. HINT: weight "
                        "is (c, o / groups, kernel h, kernel w), and the groups divide c",
                        (long long)x->shape.dims[1], (long long)weight->shape.dims[0],
                        (long long)groups);
    int64_t outputs;
    if (__builtin_mul_overflow(weight->shape.dims[1], groups, &outputs))
        return op_error(call, STATUS_OVERFLOW, "too many outputs. HINT: fewer groups");
    if (bias && (bias->shape.ndim != 1 || bias->shape.dims[0] != outputs))
        return op_error(call, STATUS_SHAPE,
                        "the bias must have shape (%lld,). HINT: one for each output",
                        (long long)outputs);
    return STATUS_OK;
}

static Status check_output_padding(const OpCall *call) {
    const OpWindow *w = &call->params.window;
    const int64_t over[2] = {call->params.begin, call->params.step};
    for (int d = 0; d < 2; d++) {
        int64_t least = w->stride[d] > w->dilation[d] ? w->stride[d] : w->dilation[d];
        if (over[d] < 0 || over[d] >= least)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "output padding (%lld, %lld). HINT: from 0, and less than the stride "
                            "or the dilation",
                            (long long)over[0], (long long)over[1]);
    }
    return STATUS_OK;
}

// Computes the output size as the windows' reach, one window per element of x, minus padding.
static Status find_size(OpCall *call, int d, int64_t over) {
    OpWindow *w = &call->params.window;
    int64_t windows = call->in[0]->shape.dims[2 + d];
    int64_t span = (int64_t)(w->kernel[d] - 1) * w->dilation[d] + 1;
    if (windows < 1)
        return op_error(call, STATUS_SHAPE, "an image of nothing. HINT: x is (n, c, h, w)");
    if (windows > INT32_MAX)
        return op_error(call, STATUS_OVERFLOW, "sizes end at 2^31 - 1. HINT: slice it");
    int64_t size = (windows - 1) * w->stride[d] + span - w->before[d] - w->after[d] + over;
    if (size < 1)
        return op_error(call, STATUS_SHAPE, "the padding leaves nothing. HINT: less padding");
    if (size > INT32_MAX)
        return op_error(call, STATUS_OVERFLOW, "sizes end at 2^31 - 1. HINT: a smaller stride");
    w->input[d] = (int32_t)size;
    return STATUS_OK;
}

static Status conv_transpose2d_infer(OpCall *call) {
    const Tensor *x = call->in[0], *weight = call->in[1];
    OpWindow *w = &call->params.window;
    if (check_channels(call)) return error_status();
    for (int d = 0; d < 2; d++) w->kernel[d] = window_narrow(weight->shape.dims[2 + d]);
    if (window_check(call, w) || check_output_padding(call) ||
        find_size(call, 0, call->params.begin) || find_size(call, 1, call->params.step) ||
        op_output(call, 0, DTYPE_FLOAT32,
                  SHAPE(x->shape.dims[0], weight->shape.dims[1] * w->groups, w->input[0],
                        w->input[1])))
        return error_status();
    ConvSizes s = conv_sizes_backward_input(call);
    double taps = (double)s.channels * (double)s.taps;
    if (taps <= INT32_MAX && s.outputs <= INT32_MAX && (double)pool_plane_size(x) <= INT32_MAX &&
        (double)x->numel * taps < 0x1p60)
        return STATUS_OK;
    return op_error(call, STATUS_OVERFLOW,
                    "more than 2^31 - 1 taps or places, or 2^60 multiply-adds. HINT: slice it");
}

// ---- gradients -------------------------------------------------------------------------------
// Convolves dy. Output padding, which extends dy beyond the last window, is taken off the window's
// padding, or, if that is too small, cut off dy.
static Status input_gradient(const OpCall *saved, Tensor *grad, Tensor **slot) {
    OpParams params = saved->params;
    OpWindow *w = &params.window;
    const int64_t over[2] = {params.begin, params.step};
    for (int d = 0; d < 2; d++) {
        if (over[d] < w->stride[d]) continue; // too small for another window
        int64_t less = over[d] < w->after[d] ? over[d] : w->after[d];
        w->after[d] -= (int32_t)less;
        if (less < over[d])
            grad = tensor_slice(grad, 2 + d, 0, (int64_t)w->input[d] - (over[d] - less), 1);
        if (!grad) return error_status();
    }
    return OP_INTO(slot, op_conv2d, &params, grad, saved->in[1], (Tensor *)NULL);
}

static Status conv_transpose2d_backward(const OpCall *saved, Tensor *grad_out[],
                                        Tensor *grad_in[]) {
    Tensor *grad = tensor_contiguous(grad_out[0]);
    if (!grad) return error_status();
    if (call_needs(saved, 0) && input_gradient(saved, grad, &grad_in[0])) return error_status();
    if (call_needs(saved, 1) &&
        OP_ADDING(&grad_in[1], op_conv2d_backward_weight, &saved->params, saved->in[0], grad))
        return error_status();
    if (!saved->in[2] || !call_needs(saved, 2)) return STATUS_OK;
    return OP_INTO(&grad_in[2], op_conv2d_backward_bias, NULL, grad);
}

// Every input is spread over the taps of its group's outputs; taps that are cut off count, too.
static int transpose_factors(const Shape in[], Shape out, const OpParams *params,
                             int64_t factor[]) {
    int n = 0;
    (void)out, (void)params;
    for (int i = 0; i < 4; i++) factor[n++] = in[0].dims[i];
    for (int i = 1; i < 4; i++) factor[n++] = in[1].dims[i];
    return n;
}

static void transpose_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(2))) return;
    story->formula = "y = x times the weight, added up where its taps fall, + bias";
    story->bias = (OpRule){PER_OUTPUT, .each = 1};
}

const Op op_conv_transpose2d = {
    .id = OP_conv_transpose2d,
    .name = "conv_transpose2d",
    .kernel = conv2d_backward_input_cpu,
    .workspace = conv_backward_input_workspace,
    .handoffs = conv_backward_input_handoffs,
    .flags = OP_WORKSPACE,
    .n_inputs = 3,
    .optional = SAVE_IN(2),
    .infer = conv_transpose2d_infer,
    .backward = conv_transpose2d_backward,
    .saves = save_factors,
    .story = STORY(.formula = "y = x times the weight, added up where its taps fall", .out = "y",
                   .in = {"x", "weight", "bias"}, .products = "n x in x h x w x out x kh x kw",
                   .factors = transpose_factors, .keeps = KEEP_X, .vary = transpose_vary,
                   .kind = KIND_CONVOLUTION)};
