// shufflenet.c -- ShuffleNetV2 (Ma et al. 2018) as torchvision has it, with its names
// ("stage2.0.branch1.0"): half the channels pass through, and a shuffle interleaves the halves
#include <stdio.h>

#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a block -----------------------------------------------------------------------------------
enum { BRANCH1, BRANCH2 }; // children

// Interleaves channels of (n, c, h, w): i of the first half comes before i of the second.
static Tensor *shuffle(Tensor *x) {
    if (!x) return NULL;
    Shape s = tensor_shape(x);
    x = tensor_reshape(x, SHAPE(s.dims[0], 2, s.dims[1] / 2, s.dims[2], s.dims[3]));
    return tensor_reshape(tensor_transpose(x, 1, 2), s);
}

static Tensor *joined(Tensor *first, Tensor *second) {
    return shuffle(tensor_concat((Tensor *[]){first, second}, 2, 1));
}

static Tensor *split_forward(Layer *self, Tensor *const in[], int n_in) {
    int64_t channels = tensor_shape(in[0]).dims[1];
    (void)n_in;
    Tensor *first = tensor_slice(in[0], 1, 0, channels / 2, 1);
    Tensor *second = tensor_slice(in[0], 1, channels / 2, channels, 1);
    return joined(first, layer_run_child(self, BRANCH2, second));
}

static Tensor *halving_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *first = layer_run_child(self, BRANCH1, in[0]);
    return joined(first, layer_run_child(self, BRANCH2, in[0]));
}

static const LayerType split_type = {.name = "InvertedResidual",
                                     .size = sizeof(Layer),
                                     .forward = split_forward};
static const LayerType halving_type = {.name = "InvertedResidual",
                                       .size = sizeof(Layer),
                                       .forward = halving_forward};

static void append_depthwise(Layer *branch, int64_t channels, int64_t stride) {
    append_conv_norm(branch, (ConvNorm){.in = channels,
                                        .out = channels,
                                        .kernel = 3,
                                        .stride = stride,
                                        .groups = channels});
}

static void append_pointwise(Layer *branch, int64_t in, int64_t out) {
    append_conv_norm(branch, (ConvNorm){.in = in, .out = out, .kernel = 1, .activation = &op_relu});
}

// A stage's first block halves the image, in both branches; the others keep its size.
static Layer *block_new(int64_t in, int64_t out, bool halves) {
    int64_t half = out / 2;
    Layer *self = layer_new(halves ? &halving_type : &split_type);
    Layer *branch1 = sequential_new(), *branch2 = sequential_new();
    if (halves) {
        append_depthwise(branch1, in, 2);
        append_pointwise(branch1, in, half);
    }
    append_pointwise(branch2, halves ? in : half, half);
    append_depthwise(branch2, half, halves ? 2 : 1);
    append_pointwise(branch2, half, half);
    layer_add_child(self, "branch1", branch1);
    layer_add_child(self, "branch2", branch2);
    return self;
}

// ---- the network -------------------------------------------------------------------------------
enum { STAGES = 3 };
typedef struct Variant {
    const char *name;
    int64_t channels[STAGES], last;
} Variant;

static Layer *stem_new(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return conv_norm_new((ConvNorm){
        .in = in, .out = out, .kernel = kernel, .stride = stride, .activation = &op_relu});
}

Layer *shufflenet_v2_new(const char *width, int64_t classes) {
    static const Variant variants[] = {{"x0_5", {48, 96, 192}, 1024},
                                       {"x1_0", {116, 232, 464}, 1024},
                                       {"x1_5", {176, 352, 704}, 1024},
                                       {"x2_0", {244, 488, 976}, 2048}};
    static const int blocks[STAGES] = {4, 8, 4};
    const Variant *variant = VARIANT_OF("shufflenet_v2_new", width, variants);
    if (!variant) return NULL;
    Layer *model = sequential_new();
    int64_t in = 24;
    layer_add_child(model, "conv1", stem_new(3, in, 3, 2)); // (n, 24, 112, 112)
    layer_add_child(model, "maxpool", max_pool_new(3, 2, 1, false));
    for (int s = 0; s < STAGES; s++) {
        char name[16];
        Layer *stage = sequential_new();
        for (int i = 0; i < blocks[s]; i++, in = variant->channels[s])
            layer_append(stage, block_new(in, variant->channels[s], i == 0));
        snprintf(name, sizeof(name), "stage%d", s + 2);
        layer_add_child(model, name, stage);
    }
    layer_add_child(model, "conv5", stem_new(in, variant->last, 1, 1)); // of (n, in, 7, 7)
    add_mean(model);
    layer_add_child(model, "fc", linear_new(variant->last, classes, true));
    return layer_finished(model);
}
