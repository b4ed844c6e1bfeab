// resnet.c -- residual networks as torchvision has them, with its names ("layer1.0.conv1"): ResNet
// (He et al. 2016; deep ones with the stride in the 3 x 3, "v1.5"), ResNeXt (Xie et al. 2017) and
// Wide ResNet (Zagoruyko and Komodakis 2016).
#include <stdio.h>

#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a block: convolutions, with the block's input added to the result -------------------------
// Children: "conv1", "bn1", "conv2" ..., "relu", and "downsample" if input and output differ in
// shape.
typedef struct Block {
    Layer layer;
    int n_convolutions;
    bool downsamples;
} Block;

// relu(norm(conv(... relu(norm(conv(x)))))) + x), x through `downsample` where the shape changes
static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    int convolutions = ((Block *)self)->n_convolutions, relu = 2 * convolutions;
    Tensor *y = in[0];
    (void)n_in;
    for (int i = 0; i < convolutions; i++) {
        y = layer_run_child(self, 2 * i + 1, layer_run_child(self, 2 * i, y));
        if (i + 1 < convolutions) y = layer_run_child(self, relu, y);
    }
    Tensor *x = ((Block *)self)->downsamples ? layer_run_child(self, relu + 1, in[0]) : in[0];
    return layer_run_child(self, relu, tensor_add(y, x));
}

static const LayerType basic_type = {.name = "BasicBlock",
                                     .size = sizeof(Block),
                                     .forward = block_forward};
static const LayerType bottleneck_type = {.name = "Bottleneck",
                                          .size = sizeof(Block),
                                          .forward = block_forward};

// Adds a pair, first "conv1" and "bn1".
static void add_convolution(Block *block, Layer *conv, int64_t channels) {
    char name[16];
    int number = ++block->n_convolutions;
    snprintf(name, sizeof(name), "conv%d", number);
    layer_add_child(&block->layer, name, conv);
    snprintf(name, sizeof(name), "bn%d", number);
    layer_add_child(&block->layer, name, batch_norm2d_new(channels, batch_norm_defaults()));
}

enum { EXPANSION = 4 }; // a bottleneck's output channels over its width

static Layer *block_new(ResNetOptions options, int64_t in, int64_t channels, int64_t stride) {
    Block *block = (Block *)layer_new(options.bottleneck ? &bottleneck_type : &basic_type);
    if (!block) return NULL;
    int64_t out = options.bottleneck ? EXPANSION * channels : channels;
    if (options.bottleneck) {
        int64_t width = channels * options.width_per_group / 64 * options.groups;
        add_convolution(block, conv_padded_new(in, width, 1, 1, 1), width);
        add_convolution(block, conv_padded_new(width, width, 3, stride, options.groups), width);
        add_convolution(block, conv_padded_new(width, out, 1, 1, 1), out);
    } else {
        add_convolution(block, conv_padded_new(in, channels, 3, stride, 1), channels);
        add_convolution(block, conv_padded_new(channels, channels, 3, 1, 1), channels);
    }
    layer_add_child(&block->layer, "relu", relu_new());
    block->downsamples = stride != 1 || in != out;
    if (block->downsamples) {
        ConvNorm part = {.in = in, .out = out, .kernel = 1, .stride = stride};
        layer_add_child(&block->layer, "downsample", conv_norm_new(part));
    }
    return layer_finished(&block->layer);
}

// ---- the network -------------------------------------------------------------------------------
ResNetOptions resnet_defaults(void) {
    return (
        ResNetOptions){.blocks = {2, 2, 2, 2}, .groups = 1, .width_per_group = 64, .classes = 1000};
}

enum { MOST_WIDTH = 1 << 16 }; // beyond any practical network, and products do not overflow

static Status check(ResNetOptions o) {
    bool fits = o.groups >= 1 && o.groups <= MOST_WIDTH && o.width_per_group >= 1 &&
                o.width_per_group <= MOST_WIDTH;
    if (fits || !o.bottleneck) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "resnet_new: %lld groups of width %lld. HINT: each from 1 to %d",
                     (long long)o.groups, (long long)o.width_per_group, MOST_WIDTH);
}

Layer *resnet_new(ResNetOptions options) {
    if (check(options)) return NULL;
    Layer *model = sequential_new();
    layer_add_child(model, "conv1", conv_padded_new(3, 64, 7, 2, 1)); // (n, 64, 112, 112)
    layer_add_child(model, "bn1", batch_norm2d_new(64, batch_norm_defaults()));
    layer_add_child(model, "relu", relu_new());
    layer_add_child(model, "maxpool", max_pool_new(3, 2, 1, false)); // (n, 64, 56, 56)
    int64_t in = 64;
    for (int stage = 0; stage < 4; stage++) {
        char name[16];
        Layer *blocks = sequential_new();
        int64_t channels = (int64_t)64 << stage;
        for (int i = 0; i < options.blocks[stage]; i++) {
            layer_append(blocks, block_new(options, in, channels, i == 0 && stage > 0 ? 2 : 1));
            in = options.bottleneck ? EXPANSION * channels : channels;
        }
        snprintf(name, sizeof(name), "layer%d", stage + 1);
        layer_add_child(model, name, blocks);
    }
    add_average(model); // of (n, c, 7, 7)
    layer_add_child(model, "fc", linear_new(in, options.classes, true));
    return model_finished(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT}});
}
