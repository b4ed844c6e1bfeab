// conv2d.c -- convolution as a layer
#include "layers/layers2d.h"
#include "layers/parts.h"

typedef struct Conv2d {
    Layer layer;
    int64_t in_channels, out_channels, kernel_h, kernel_w;
    Conv2dOptions options;
    bool has_bias;
} Conv2d;

#define OPTION(field)                                                                              \
    { #field, ATTRIBUTE_INTEGER, offsetof(Conv2d, options.field) }
static const LayerAttribute attributes[] = {
    {"in_channels", ATTRIBUTE_INTEGER, offsetof(Conv2d, in_channels)},
    {"out_channels", ATTRIBUTE_INTEGER, offsetof(Conv2d, out_channels)},
    {"kernel_h", ATTRIBUTE_INTEGER, offsetof(Conv2d, kernel_h)},
    {"kernel_w", ATTRIBUTE_INTEGER, offsetof(Conv2d, kernel_w)},
    OPTION(stride_h),
    OPTION(stride_w),
    OPTION(padding_top),
    OPTION(padding_bottom),
    OPTION(padding_left),
    OPTION(padding_right),
    OPTION(dilation_h),
    OPTION(dilation_w),
    OPTION(groups),
    {"bias", ATTRIBUTE_FLAG, offsetof(Conv2d, has_bias)},
};
#undef OPTION

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Conv2d *conv = (Conv2d *)self;
    (void)n_in;
    Tensor *bias = conv->has_bias ? self->parameters[1].tensor : NULL;
    return tensor_conv2d(in[0], self->parameters[0].tensor, bias, conv->options);
}

static const LayerType conv2d_type = {.name = "Conv2d",
                                      .size = sizeof(Conv2d),
                                      .attributes = attributes,
                                      .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                      .forward = forward};

Conv2dOptions conv2d_padded(Conv2dOptions options, int64_t padding) {
    options.padding_top = options.padding_bottom = padding;
    options.padding_left = options.padding_right = padding;
    return options;
}

static Status check(int64_t in, int64_t out, int64_t kernel_h, int64_t kernel_w, int64_t groups) {
    if (in < 1 || out < 1 || kernel_h < 1 || kernel_w < 1 || groups < 1)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "conv2d_new: %lld -> %lld channels, kernel %lld x %lld, %lld groups. "
                         "HINT: each at least 1",
                         (long long)in, (long long)out, (long long)kernel_h, (long long)kernel_w,
                         (long long)groups);
    if (in % groups == 0 && out % groups == 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "conv2d_new: %lld groups do not divide %lld and %lld channels. HINT: both "
                     "must be multiples of the groups",
                     (long long)groups, (long long)in, (long long)out);
}

Layer *conv2d_new(int64_t in_channels, int64_t out_channels, int64_t kernel_h, int64_t kernel_w,
                  Conv2dOptions options, bool bias) {
    if (check(in_channels, out_channels, kernel_h, kernel_w, options.groups)) return NULL;
    Conv2d *self = (Conv2d *)layer_new(&conv2d_type);
    if (!self) return NULL;
    self->in_channels = in_channels;
    self->out_channels = out_channels;
    self->kernel_h = kernel_h;
    self->kernel_w = kernel_w;
    self->options = options;
    self->has_bias = bias;
    Shape weight = SHAPE(out_channels, in_channels / options.groups, kernel_h, kernel_w);
    return layer_finished_product(&self->layer, weight, bias);
}
