// conv1d.c -- convolution of sequences, as a layer; printing and checks for all convolution layers
#include "layers/layers1d.h"
#include "layers/parts.h"

typedef struct Conv1d {
    Layer layer;
    int64_t in_channels, out_channels, kernel;
    Conv1dOptions options;
    bool has_bias;
} Conv1d;

#define FIELD(field)                                                                               \
    { #field, ATTRIBUTE_INTEGER, offsetof(Conv1d, field) }
#define OPTION(field)                                                                              \
    { #field, ATTRIBUTE_INTEGER, offsetof(Conv1d, options.field) }
static const LayerAttribute attributes[] = {
    FIELD(in_channels), FIELD(out_channels),  FIELD(kernel),
    OPTION(stride),     OPTION(padding_left), OPTION(padding_right),
    OPTION(dilation),   OPTION(groups),       {"bias", ATTRIBUTE_FLAG, offsetof(Conv1d, has_bias)},
};
#undef OPTION
#undef FIELD

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Conv1d *conv = (Conv1d *)self;
    (void)n_in;
    Tensor *bias = conv->has_bias ? self->parameters[1].tensor : NULL;
    return tensor_conv1d(in[0], self->parameters[0].tensor, bias, conv->options);
}

// Prints "name=(1, 2)", with the last `dims` of two numbers, unless all are `usual`.
static void print_pair(FILE *file, const char *name, const int64_t n[2], int dims, int64_t usual) {
    if (n[1] == usual && (dims == 1 || n[0] == usual)) return;
    if (dims == 1)
        fprintf(file, ", %s=(%lld,)", name, (long long)n[1]);
    else
        fprintf(file, ", %s=(%lld, %lld)", name, (long long)n[0], (long long)n[1]);
}

void layer_print_convolution(FILE *file, const int64_t channels[2], const int64_t kernel[2],
                             const Conv2dOptions *o, const int64_t output_padding[2], bool bias,
                             int dims) {
    fprintf(file, "%lld, %lld", (long long)channels[0], (long long)channels[1]);
    print_pair(file, "kernel_size", kernel, dims, -1);
    print_pair(file, "stride", (const int64_t[]){o->stride_h, o->stride_w}, dims, -1);
    print_pair(file, "padding", (const int64_t[]){o->padding_top, o->padding_left}, dims, 0);
    if (o->padding_bottom != o->padding_top || o->padding_right != o->padding_left)
        print_pair(file, "padding_after", (const int64_t[]){o->padding_bottom, o->padding_right},
                   dims, -1); // PyTorch's padding is the same on both sides
    print_pair(file, "dilation", (const int64_t[]){o->dilation_h, o->dilation_w}, dims, 1);
    print_pair(file, "output_padding", output_padding, dims, 0);
    if (o->groups != 1) fprintf(file, ", groups=%lld", (long long)o->groups);
    if (!bias) fputs(", bias=False", file);
}

static void print(const Layer *self, FILE *file) {
    const Conv1d *conv = (const Conv1d *)self;
    Conv2dOptions options = {.stride_w = conv->options.stride,
                             .padding_left = conv->options.padding_left,
                             .padding_right = conv->options.padding_right,
                             .dilation_w = conv->options.dilation,
                             .groups = conv->options.groups};
    layer_print_convolution(file, (const int64_t[]){conv->in_channels, conv->out_channels},
                            (const int64_t[]){1, conv->kernel}, &options, (const int64_t[]){0, 0},
                            conv->has_bias, 1);
}

static const LayerType conv1d_type = {.name = "Conv1d",
                                      .size = sizeof(Conv1d),
                                      .attributes = attributes,
                                      .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                      .forward = forward,
                                      .print = print,
                                      .mixes_positions = true};

Status layer_check_convolution(const char *name, const int64_t channels[2], const int64_t kernel[2],
                               int64_t groups) {
    if (channels[0] < 1 || channels[1] < 1 || kernel[0] < 1 || kernel[1] < 1 || groups < 1)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: %lld -> %lld channels, kernel %lld x %lld, %lld groups. HINT: each "
                         "at least 1",
                         name, (long long)channels[0], (long long)channels[1], (long long)kernel[0],
                         (long long)kernel[1], (long long)groups);
    if (channels[0] % groups == 0 && channels[1] % groups == 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: %lld groups do not divide %lld and %lld channels. HINT: both must be "
                     "multiples of the groups",
                     name, (long long)groups, (long long)channels[0], (long long)channels[1]);
}

Layer *conv1d_new(int64_t in_channels, int64_t out_channels, int64_t kernel, Conv1dOptions options,
                  bool bias) {
    if (layer_check_convolution("Conv1d", (const int64_t[]){in_channels, out_channels},
                                (const int64_t[]){1, kernel}, options.groups))
        return NULL;
    Conv1d *self = (Conv1d *)layer_new(&conv1d_type);
    if (!self) return NULL;
    self->in_channels = in_channels;
    self->out_channels = out_channels;
    self->kernel = kernel;
    self->options = options;
    self->has_bias = bias;
    Shape weight = SHAPE(out_channels, in_channels / options.groups, kernel);
    return layer_finished_product(&self->layer, weight, bias);
}
