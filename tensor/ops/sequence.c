// sequence.c -- convolutions and pools of sequences (n, c, l), each as an image of height 1: views
// around the ops of images, at the cost of those.
#include "tensor/op.h"
#include "tensor/ops.h"

Conv1dOptions conv1d_defaults(void) {
    return (Conv1dOptions){.stride = 1, .dilation = 1, .groups = 1};
}

ConvTranspose1dOptions conv_transpose1d_defaults(void) {
    return (ConvTranspose1dOptions){.conv = conv1d_defaults()};
}

Pool1dOptions pool1d_defaults(int64_t kernel) {
    return (Pool1dOptions){.kernel = kernel, .dilation = 1};
}

// Views (a, b, l) as (a, b, 1, l); NULL if it does not have 3 dimensions, or is NULL.
static Tensor *as_image(const char *op, Tensor *t) {
    char text[SHAPE_TEXT];
    if (!t) return OP_RUN(op_reshape, NULL, t);
    const int64_t *dims = t->shape.dims;
    if (t->shape.ndim == 3) return tensor_reshape(t, SHAPE(dims[0], dims[1], 1, dims[2]));
    error_set(STATUS_SHAPE,
              "%s: %s is no sequence. HINT: x is (n, c, length), a weight (o, c / groups, kernel)",
              op, shape_text(t->shape, text));
    return NULL;
}

static Tensor *as_sequence(Tensor *t) {
    if (!t) return NULL;
    const int64_t *dims = t->shape.dims;
    return tensor_reshape(t, SHAPE(dims[0], dims[1], dims[3]));
}

static Conv2dOptions conv_of(Conv1dOptions o) {
    return (Conv2dOptions){.stride_h = 1,
                           .stride_w = o.stride,
                           .padding_left = o.padding_left,
                           .padding_right = o.padding_right,
                           .dilation_h = 1,
                           .dilation_w = o.dilation,
                           .groups = o.groups};
}

Tensor *tensor_conv1d(Tensor *x, Tensor *weight, Tensor *bias, Conv1dOptions options) {
    Tensor *image = as_image("conv1d", x), *kernel = as_image("conv1d", weight);
    return as_sequence(tensor_conv2d(image, kernel, bias, conv_of(options)));
}

Tensor *tensor_conv_transpose1d(Tensor *x, Tensor *weight, Tensor *bias,
                                ConvTranspose1dOptions options) {
    Tensor *image = as_image("conv_transpose1d", x), *kernel = as_image("conv_transpose1d", weight);
    ConvTranspose2dOptions wide = {conv_of(options.conv), 0, options.output_padding};
    return as_sequence(tensor_conv_transpose2d(image, kernel, bias, wide));
}

static Pool2dOptions pool_of(Pool1dOptions o) {
    return (Pool2dOptions){.kernel_h = 1,
                           .kernel_w = o.kernel,
                           .stride_h = 1,
                           .stride_w = o.stride,
                           .padding_left = o.padding_left,
                           .padding_right = o.padding_right,
                           .dilation_h = 1,
                           .dilation_w = o.dilation,
                           .ceil_mode = o.ceil_mode,
                           .exclude_pad = o.exclude_pad};
}

Tensor *tensor_max_pool1d(Tensor *x, Pool1dOptions options) {
    return as_sequence(tensor_max_pool2d(as_image("max_pool1d", x), pool_of(options)));
}

Tensor *tensor_avg_pool1d(Tensor *x, Pool1dOptions options) {
    return as_sequence(tensor_avg_pool2d(as_image("avg_pool1d", x), pool_of(options)));
}

Tensor *tensor_adaptive_avg_pool1d(Tensor *x, int64_t out_length) {
    Tensor *image = as_image("adaptive_avg_pool1d", x);
    return as_sequence(tensor_adaptive_avg_pool2d(image, 1, out_length));
}
