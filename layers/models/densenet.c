// densenet.c -- DenseNet (Huang et al. 2017) as torchvision has it, with its names
// ("features.denseblock1.denselayer1.conv1"): each layer reads all earlier results in its block
#include <stdio.h>

#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a layer: x and its result, concatenated ---------------------------------------------------
static Tensor *dense_forward(Layer *self, Tensor *const in[], int n_in) {
    Tensor *y = in[0]; // (n, c, h, w)
    (void)n_in;
    for (int i = 0; i < self->n_children; i++) y = layer_forward(self->children[i], y);
    return tensor_concat((Tensor *[]){in[0], y}, 2, 1); // (n, c + growth, h, w)
}

static const LayerType dense_type = {.name = "DenseLayer",
                                     .size = sizeof(Layer),
                                     .forward = dense_forward};

static Layer *norm_new(int64_t channels) {
    return batch_norm2d_new(channels, batch_norm_defaults());
}

static Layer *dense_layer_new(int64_t in, int64_t growth) {
    Layer *self = layer_new(&dense_type);
    int64_t between = 4 * growth; // channels of the bottleneck before the 3 x 3
    layer_add_child(self, "norm1", norm_new(in));
    layer_add_child(self, "relu1", relu_new());
    layer_add_child(self, "conv1", conv_padded_new(in, between, 1, 1, 1));
    layer_add_child(self, "norm2", norm_new(between));
    layer_add_child(self, "relu2", relu_new());
    layer_add_child(self, "conv2", conv_padded_new(between, growth, 3, 1, 1));
    return self;
}

static Layer *dense_block_new(int64_t in, int layers, int64_t growth) {
    Layer *self = sequential_new();
    for (int i = 0; i < layers; i++) {
        char name[24];
        snprintf(name, sizeof(name), "denselayer%d", i + 1);
        layer_add_child(self, name, dense_layer_new(in + i * growth, growth));
    }
    return self;
}

// Halves channels and image between two blocks.
static Layer *transition_new(int64_t in) {
    Layer *self = sequential_new();
    layer_add_child(self, "norm", norm_new(in));
    layer_add_child(self, "relu", relu_new());
    layer_add_child(self, "conv", conv_padded_new(in, in / 2, 1, 1, 1));
    layer_add_child(self, "pool", avg_pool2d_new(pool2d_defaults(2)));
    return self;
}

// ---- the network -------------------------------------------------------------------------------
enum { BLOCKS = 4 };
typedef struct Variant {
    int depth;
    int64_t growth, first; // channels that a layer adds; channels before the first block
    int layers[BLOCKS];
} Variant;

static Layer *features_new(const Variant *variant, int64_t *channels) {
    Layer *self = sequential_new();
    int64_t in = variant->first;
    layer_add_child(self, "conv0", conv_padded_new(3, in, 7, 2, 1)); // (n, in, 112, 112)
    layer_add_child(self, "norm0", norm_new(in));
    layer_add_child(self, "relu0", relu_new());
    layer_add_child(self, "pool0", max_pool_new(3, 2, 1, false)); // (n, in, 56, 56)
    for (int b = 0; b < BLOCKS; b++) {
        char name[24];
        snprintf(name, sizeof(name), "denseblock%d", b + 1);
        layer_add_child(self, name, dense_block_new(in, variant->layers[b], variant->growth));
        in += variant->layers[b] * variant->growth;
        if (b + 1 == BLOCKS) break;
        snprintf(name, sizeof(name), "transition%d", b + 1);
        layer_add_child(self, name, transition_new(in));
        in /= 2;
    }
    layer_add_child(self, "norm5", norm_new(in)); // (n, in, 7, 7)
    *channels = in;
    return self;
}

Layer *densenet_new(int depth, int64_t classes) {
    static const Variant variants[] = {{121, 32, 64, {6, 12, 24, 16}},
                                       {161, 48, 96, {6, 12, 36, 24}},
                                       {169, 32, 64, {6, 12, 32, 32}},
                                       {201, 32, 64, {6, 12, 48, 32}}};
    const Variant *variant = NULL;
    for (int i = 0; i < 4; i++)
        if (variants[i].depth == depth) variant = &variants[i];
    if (!variant) {
        error_set(STATUS_INVALID_ARGUMENT, "densenet_new: %d layers. HINT: 121, 161, 169 or 201",
                  depth);
        return NULL;
    }
    int64_t channels;
    Layer *model = sequential_new();
    layer_add_child(model, "features", features_new(variant, &channels));
    layer_add_child(model, "relu", relu_new());
    add_average(model);
    layer_add_child(model, "classifier", linear_new(channels, classes, true));
    return model_finished(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_IN},
                                             .zero_bias = true});
}
