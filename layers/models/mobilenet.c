// mobilenet.c -- MobileNetV2 (Sandler et al. 2018) and V3 (Howard et al. 2019) as torchvision has
// them, with its names ("features.1.conv.0.0"): inverted residuals of a wide depthwise convolution
// between narrow ends
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/op.h"

static Layer *finished(Layer *features, Layer *classifier) {
    Layer *model = sequential_new();
    layer_add_child(model, "features", features);
    add_average(model);
    layer_add_child(model, "classifier", classifier);
    return model_finished(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT},
                                             .linear = {.gain = 0.01f},
                                             .zero_bias = true});
}

// ---- the second version ------------------------------------------------------------------------
static Layer *conv_norm_relu6(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                              int64_t groups) {
    return conv_norm_new((ConvNorm){.in = in,
                                    .out = out,
                                    .kernel = kernel,
                                    .stride = stride,
                                    .groups = groups,
                                    .activation = &op_relu6});
}

// Widens x, convolves it channel by channel, and narrows it; adds x where the shape stays.
static Layer *v2_block_new(int64_t in, int64_t out, int64_t stride, int64_t expansion) {
    int64_t hidden = in * expansion;
    Layer *self = stride == 1 && in == out ? residual_new() : sequential_new();
    Layer *conv = sequential_new();
    if (expansion != 1) layer_append(conv, conv_norm_relu6(in, hidden, 1, 1, 1));
    layer_append(conv, conv_norm_relu6(hidden, hidden, 3, stride, hidden));
    append_conv_norm(conv, (ConvNorm){.in = hidden, .out = out, .kernel = 1});
    layer_add_child(self, "conv", conv);
    return self;
}

static int64_t widened(int64_t channels, float width) {
    return rounded_to((double)((float)channels * width), 8);
}

Layer *mobilenet_v2_new(float width, int64_t classes) {
    static const struct {
        int64_t expansion, channels;
        int blocks;
        int64_t stride; // of the first block
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    if (!(width > 0.0f && width <= 64.0f)) {
        error_set(STATUS_INVALID_ARGUMENT, "mobilenet_v2_new: width %g. HINT: such as 1",
                  (double)width);
        return NULL;
    }
    int64_t in = widened(32, width), last = widened(1280, width > 1.0f ? width : 1.0f);
    Layer *features = sequential_new(), *classifier = sequential_new();
    layer_append(features, conv_norm_relu6(3, in, 3, 2, 1));
    for (size_t s = 0; s < sizeof(stages) / sizeof(stages[0]); s++) {
        int64_t out = widened(stages[s].channels, width);
        for (int i = 0; i < stages[s].blocks; i++, in = out)
            layer_append(features,
                         v2_block_new(in, out, i == 0 ? stages[s].stride : 1, stages[s].expansion));
    }
    layer_append(features, conv_norm_relu6(in, last, 1, 1, 1));
    layer_append(classifier, dropout_new(0.2f));
    layer_append(classifier, linear_new(last, classes, true));
    return finished(features, classifier);
}

// ---- the third version -------------------------------------------------------------------------
enum { MOST_BLOCKS = 15 };
static const float epsilon = 1e-3f, momentum = 0.01f; // of its norms

typedef struct Block {
    int64_t kernel, hidden, out;
    bool squeezes, hard_swish; // squeeze and excitation; hardswish in place of ReLU
    int64_t stride;            // 0: no such block
} Block;

static const Block large_blocks[MOST_BLOCKS] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};
static const Block small_blocks[MOST_BLOCKS] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};

typedef struct Variant {
    const char *name;
    const Block *blocks;
    int64_t hidden; // of the classifier
} Variant;

static Layer *v3_conv_new(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return conv_norm_new((ConvNorm){.in = in,
                                    .out = out,
                                    .kernel = kernel,
                                    .stride = stride,
                                    .activation = &op_hardswish,
                                    .epsilon = epsilon,
                                    .momentum = momentum});
}

static Layer *v3_block_new(int64_t in, const Block *block) {
    int64_t squeezed = rounded_to((double)(block->hidden / 4), 8);
    return inverted_residual_new(
        (InvertedResidual){.in = in,
                           .hidden = block->hidden,
                           .out = block->out,
                           .kernel = block->kernel,
                           .stride = block->stride,
                           .squeezed = block->squeezes ? squeezed : 0,
                           .activation = block->hard_swish ? &op_hardswish : &op_relu,
                           .squeeze_activation = &op_relu,
                           .gate = &op_hardsigmoid,
                           .epsilon = epsilon,
                           .momentum = momentum});
}

Layer *mobilenet_v3_new(const char *size, int64_t classes) {
    static const Variant variants[] = {{"small", small_blocks, 1024},
                                       {"large", large_blocks, 1280}};
    const Variant *variant = VARIANT_OF("mobilenet_v3_new", size, variants);
    if (!variant) return NULL;
    Layer *features = sequential_new(), *classifier = sequential_new();
    int64_t in = 16;
    layer_append(features, v3_conv_new(3, in, 3, 2));
    for (int i = 0; i < MOST_BLOCKS && variant->blocks[i].stride > 0; i++) {
        layer_append(features, v3_block_new(in, &variant->blocks[i]));
        in = variant->blocks[i].out;
    }
    layer_append(features, v3_conv_new(in, 6 * in, 1, 1));
    layer_append(classifier, linear_new(6 * in, variant->hidden, true));
    layer_append(classifier, activation_new(&op_hardswish));
    layer_append(classifier, dropout_new(0.2f));
    layer_append(classifier, linear_new(variant->hidden, classes, true));
    return finished(features, classifier);
}
