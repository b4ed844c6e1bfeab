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

static void print(const Layer *self, FILE *file) {
    const Conv2d *conv = (const Conv2d *)self;
    layer_print_convolution(file, (const int64_t[]){conv->in_channels, conv->out_channels},
                            (const int64_t[]){conv->kernel_h, conv->kernel_w}, &conv->options,
                            (const int64_t[]){0, 0}, conv->has_bias, 2);
}

static const LayerType conv2d_type = {.name = "Conv2d",
                                      .size = sizeof(Conv2d),
                                      .attributes = attributes,
                                      .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                      .forward = forward,
                                      .print = print};

Conv2dOptions conv2d_padded(Conv2dOptions options, int64_t padding) {
    options.padding_top = options.padding_bottom = padding;
    options.padding_left = options.padding_right = padding;
    return options;
}

Layer *conv2d_new(int64_t in_channels, int64_t out_channels, int64_t kernel_h, int64_t kernel_w,
                  Conv2dOptions options, bool bias) {
    if (layer_check_convolution("Conv2d", (const int64_t[]){in_channels, out_channels},
                                (const int64_t[]){kernel_h, kernel_w}, options.groups))
        return NULL;
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
