// conv_transpose.c -- transposed convolution of images and of sequences, as layers
#include "layers/layers1d.h"
#include "layers/layers2d.h"
#include "layers/parts.h"

typedef struct ConvTranspose {
    Layer layer;
    int64_t in_channels, out_channels, kernel_h, kernel_w;
    ConvTranspose2dOptions options; // for sequences: those along the width
    bool has_bias;
} ConvTranspose;

#define FIELD(name)                                                                                \
    { #name, ATTRIBUTE_INTEGER, offsetof(ConvTranspose, name) }
#define OPTION(name, field)                                                                        \
    { name, ATTRIBUTE_INTEGER, offsetof(ConvTranspose, options.field) }
static const LayerAttribute attributes[] = {
    FIELD(in_channels),
    FIELD(out_channels),
    FIELD(kernel_h),
    FIELD(kernel_w),
    OPTION("stride_h", conv.stride_h),
    OPTION("stride_w", conv.stride_w),
    OPTION("padding_top", conv.padding_top),
    OPTION("padding_bottom", conv.padding_bottom),
    OPTION("padding_left", conv.padding_left),
    OPTION("padding_right", conv.padding_right),
    OPTION("dilation_h", conv.dilation_h),
    OPTION("dilation_w", conv.dilation_w),
    OPTION("groups", conv.groups),
    OPTION("output_padding_h", output_padding_h),
    OPTION("output_padding_w", output_padding_w),
    {"bias", ATTRIBUTE_FLAG, offsetof(ConvTranspose, has_bias)},
};
static const LayerAttribute attributes1d[] = {
    FIELD(in_channels),
    FIELD(out_channels),
    {"kernel", ATTRIBUTE_INTEGER, offsetof(ConvTranspose, kernel_w)},
    OPTION("stride", conv.stride_w),
    OPTION("padding_left", conv.padding_left),
    OPTION("padding_right", conv.padding_right),
    OPTION("dilation", conv.dilation_w),
    OPTION("groups", conv.groups),
    OPTION("output_padding", output_padding_w),
    {"bias", ATTRIBUTE_FLAG, offsetof(ConvTranspose, has_bias)},
};
#undef OPTION
#undef FIELD

static void print(const Layer *self, FILE *file) {
    const ConvTranspose *conv = (const ConvTranspose *)self;
    const int64_t over[2] = {conv->options.output_padding_h, conv->options.output_padding_w};
    layer_print_convolution(file, (const int64_t[]){conv->in_channels, conv->out_channels},
                            (const int64_t[]){conv->kernel_h, conv->kernel_w}, &conv->options.conv,
                            over, conv->has_bias, self->type->attributes == attributes1d ? 1 : 2);
}

static Tensor *bias_of(const Layer *self) {
    return self->n_parameters > 1 ? self->parameters[1].tensor : NULL;
}

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const ConvTranspose *conv = (ConvTranspose *)self;
    (void)n_in;
    return tensor_conv_transpose2d(in[0], self->parameters[0].tensor, bias_of(self), conv->options);
}

static Tensor *forward1d(Layer *self, Tensor *const in[], int n_in) {
    const ConvTranspose2dOptions *o = &((ConvTranspose *)self)->options;
    ConvTranspose1dOptions options = {{o->conv.stride_w, o->conv.padding_left,
                                       o->conv.padding_right, o->conv.dilation_w, o->conv.groups},
                                      o->output_padding_w};
    (void)n_in;
    return tensor_conv_transpose1d(in[0], self->parameters[0].tensor, bias_of(self), options);
}

static const LayerType transpose_type = {.name = "ConvTranspose2d",
                                         .size = sizeof(ConvTranspose),
                                         .attributes = attributes,
                                         .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                         .forward = forward,
                                         .print = print};
static const LayerType transpose1d_type = {.name = "ConvTranspose1d",
                                           .size = sizeof(ConvTranspose),
                                           .attributes = attributes1d,
                                           .n_attributes =
                                               sizeof(attributes1d) / sizeof(attributes1d[0]),
                                           .forward = forward1d,
                                           .print = print,
                                           .mixes_positions = true};

// As in PyTorch, the weight's fan in comes from its second size.
static Layer *transpose_new(const LayerType *type, ConvTranspose of, Shape weight) {
    int64_t groups = of.options.conv.groups;
    if (layer_check_convolution(type->name, (const int64_t[]){of.in_channels, of.out_channels},
                                (const int64_t[]){of.kernel_h, of.kernel_w}, groups))
        return NULL;
    ConvTranspose *self = (ConvTranspose *)layer_new(type);
    if (!self) return NULL;
    of.layer = self->layer;
    *self = of;
    weight.dims[1] = of.out_channels / groups;
    return layer_finished_with(&self->layer, weight, of.has_bias ? of.out_channels : -1);
}

Layer *conv_transpose2d_new(int64_t in_channels, int64_t out_channels, int64_t kernel_h,
                            int64_t kernel_w, ConvTranspose2dOptions options, bool bias) {
    ConvTranspose of = {.in_channels = in_channels,
                        .out_channels = out_channels,
                        .kernel_h = kernel_h,
                        .kernel_w = kernel_w,
                        .options = options,
                        .has_bias = bias};
    return transpose_new(&transpose_type, of, SHAPE(in_channels, 0, kernel_h, kernel_w));
}

Layer *conv_transpose1d_new(int64_t in_channels, int64_t out_channels, int64_t kernel,
                            ConvTranspose1dOptions o, bool bias) {
    ConvTranspose of = {.in_channels = in_channels,
                        .out_channels = out_channels,
                        .kernel_h = 1,
                        .kernel_w = kernel,
                        .options = {.conv = {.stride_h = 1,
                                             .stride_w = o.conv.stride,
                                             .padding_left = o.conv.padding_left,
                                             .padding_right = o.conv.padding_right,
                                             .dilation_h = 1,
                                             .dilation_w = o.conv.dilation,
                                             .groups = o.conv.groups},
                                    .output_padding_w = o.output_padding},
                        .has_bias = bias};
    return transpose_new(&transpose1d_type, of, SHAPE(in_channels, 0, kernel));
}
