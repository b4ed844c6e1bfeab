// mnasnet.c -- MNASNet (Tan et al. 2019, the form B1) as torchvision has it, with its names
// ("layers.8.0.layers.3"): inverted residuals found by a search
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/op.h"

// Appends three layers directly, or two without the ReLU.
static void append(Layer *layers, ConvNorm part, bool relu) {
    part.momentum = 3e-4f;
    part.activation = relu ? &op_relu : NULL;
    append_conv_norm(layers, part);
}

static Layer *block_new(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                        int64_t expansion) {
    Layer *self = stride == 1 && in == out ? residual_new() : sequential_new();
    Layer *layers = sequential_new();
    int64_t hidden = in * expansion;
    ConvNorm depthwise = {
        .in = hidden, .out = hidden, .kernel = kernel, .stride = stride, .groups = hidden};
    append(layers, (ConvNorm){.in = in, .out = hidden, .kernel = 1}, true);
    append(layers, depthwise, true);
    append(layers, (ConvNorm){.in = hidden, .out = out, .kernel = 1}, false);
    layer_add_child(self, "layers", layers);
    return self;
}

static Layer *layers_new(double width, int64_t last) {
    static const struct {
        int64_t channels, kernel, stride, expansion; // stride: of the first block
        int blocks;
    } stacks[] = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                  {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};
    int64_t first = rounded_to(32.0 * width, 8), in = rounded_to(16.0 * width, 8);
    Layer *self = sequential_new();
    append(self, (ConvNorm){.in = 3, .out = first, .kernel = 3, .stride = 2}, true);
    append(self, (ConvNorm){.in = first, .out = first, .kernel = 3, .groups = first}, true);
    append(self, (ConvNorm){.in = first, .out = in, .kernel = 1}, false);
    for (size_t s = 0; s < sizeof(stacks) / sizeof(stacks[0]); s++) {
        Layer *stack = sequential_new();
        int64_t out = rounded_to((double)stacks[s].channels * width, 8);
        for (int i = 0; i < stacks[s].blocks; i++, in = out)
            layer_append(stack, block_new(in, out, stacks[s].kernel, i ? 1 : stacks[s].stride,
                                          stacks[s].expansion));
        layer_append(self, stack);
    }
    append(self, (ConvNorm){.in = in, .out = last, .kernel = 1}, true);
    return self;
}

typedef struct Variant {
    const char *name;
    double width; // factor for the channels
} Variant;

Layer *mnasnet_new(const char *width, int64_t classes) {
    enum { LAST = 1280 };
    static const Variant variants[] = {{"0_5", 0.5}, {"0_75", 0.75}, {"1_0", 1.0}, {"1_3", 1.3}};
    const Variant *variant = VARIANT_OF("mnasnet_new", width, variants);
    if (!variant) return NULL;
    Layer *model = sequential_new(), *classifier = sequential_new();
    layer_add_child(model, "layers", layers_new(variant->width, LAST));
    add_mean(model);
    layer_append(classifier, dropout_new(0.2f));
    layer_append(classifier, linear_new(LAST, classes, true));
    layer_add_child(model, "classifier", classifier);
    InitRule linear = {.gain = 1.0f, .fan = BY_FAN_OUT, .uniform = true};
    return model_finished(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT},
                                             .linear = linear,
                                             .zero_bias = true});
}
