// efficientnet.c -- EfficientNet (Tan and Le 2019, B0 to B7; 2021, the second version) as
// torchvision has them, with its names ("features.1.0.block.0.0")
#include <math.h>

#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/op.h"

enum { MOST_STAGES = 7 };

typedef struct Stage {
    bool fused; // no depthwise convolution, no squeeze and excitation
    int64_t expansion, kernel;
    int64_t stride; // of the first block
    int64_t channels;
    int blocks; // 0: no such stage
} Stage;

static const Stage b_stages[MOST_STAGES] = { // B0's: the others are wider and deeper
    {false, 1, 3, 1, 16, 1}, {false, 6, 3, 2, 24, 2},  {false, 6, 5, 2, 40, 2},
    {false, 6, 3, 2, 80, 3}, {false, 6, 5, 1, 112, 3}, {false, 6, 5, 2, 192, 4},
    {false, 6, 3, 1, 320, 1}};
static const Stage v2_s_stages[MOST_STAGES] = {{true, 1, 3, 1, 24, 2},   {true, 4, 3, 2, 48, 4},
                                               {true, 4, 3, 2, 64, 4},   {false, 4, 3, 2, 128, 6},
                                               {false, 6, 3, 1, 160, 9}, {false, 6, 3, 2, 256, 15}};
static const Stage v2_m_stages[MOST_STAGES] = {{true, 1, 3, 1, 24, 3},    {true, 4, 3, 2, 48, 5},
                                               {true, 4, 3, 2, 80, 5},    {false, 4, 3, 2, 160, 7},
                                               {false, 6, 3, 1, 176, 14}, {false, 6, 3, 2, 304, 18},
                                               {false, 6, 3, 1, 512, 5}};
static const Stage v2_l_stages[MOST_STAGES] = {{true, 1, 3, 1, 32, 4},    {true, 4, 3, 2, 64, 7},
                                               {true, 4, 3, 2, 96, 7},    {false, 4, 3, 2, 192, 10},
                                               {false, 6, 3, 1, 224, 19}, {false, 6, 3, 2, 384, 25},
                                               {false, 6, 3, 1, 640, 7}};

typedef struct Variant {
    const char *name;
    const Stage *stages;
    int64_t first, last; // channels before and after the stages; last 0: 4 x the stages'
    double width, depth; // factors for channels and blocks
    float dropout, epsilon, momentum; // epsilon, momentum: of norms; 0: PyTorch's
} Variant;

static const Variant variants[] = {{"b0", b_stages, 32, 0, 1.0, 1.0, 0.2f, 0.0f, 0.0f},
                                   {"b1", b_stages, 32, 0, 1.0, 1.1, 0.2f, 0.0f, 0.0f},
                                   {"b2", b_stages, 32, 0, 1.1, 1.2, 0.3f, 0.0f, 0.0f},
                                   {"b3", b_stages, 32, 0, 1.2, 1.4, 0.3f, 0.0f, 0.0f},
                                   {"b4", b_stages, 32, 0, 1.4, 1.8, 0.4f, 0.0f, 0.0f},
                                   {"b5", b_stages, 32, 0, 1.6, 2.2, 0.4f, 1e-3f, 0.01f},
                                   {"b6", b_stages, 32, 0, 1.8, 2.6, 0.5f, 1e-3f, 0.01f},
                                   {"b7", b_stages, 32, 0, 2.0, 3.1, 0.5f, 1e-3f, 0.01f},
                                   {"v2_s", v2_s_stages, 24, 1280, 1.0, 1.0, 0.2f, 1e-3f, 0.0f},
                                   {"v2_m", v2_m_stages, 24, 1280, 1.0, 1.0, 0.3f, 1e-3f, 0.0f},
                                   {"v2_l", v2_l_stages, 32, 1280, 1.0, 1.0, 0.4f, 1e-3f, 0.0f}};

static int blocks_of(const Variant *variant, int stage) {
    return (int)ceil(variant->stages[stage].blocks * variant->depth);
}

static Layer *conv_new(const Variant *variant, int64_t in, int64_t out, int64_t kernel,
                       int64_t stride) {
    return conv_norm_new((ConvNorm){.in = in,
                                    .out = out,
                                    .kernel = kernel,
                                    .stride = stride,
                                    .activation = &op_silu,
                                    .epsilon = variant->epsilon,
                                    .momentum = variant->momentum});
}

static Layer *block_new(const Variant *variant, const Stage *stage, int64_t in, int64_t out,
                        int64_t stride, float drop) {
    int64_t squeezed = in < 4 ? 1 : in / 4;
    return inverted_residual_new((InvertedResidual){.in = in,
                                                    .hidden = in * stage->expansion,
                                                    .out = out,
                                                    .kernel = stage->kernel,
                                                    .stride = stride,
                                                    .fused = stage->fused,
                                                    .squeezed = stage->fused ? 0 : squeezed,
                                                    .activation = &op_silu,
                                                    .squeeze_activation = &op_silu,
                                                    .gate = &op_sigmoid,
                                                    .epsilon = variant->epsilon,
                                                    .momentum = variant->momentum,
                                                    .drop = drop});
}

// Training skips later blocks with higher probability: from 0 up to a fifth.
static Layer *features_new(const Variant *variant, int64_t *channels) {
    Layer *self = sequential_new();
    int total = 0, before = 0;
    for (int s = 0; s < MOST_STAGES; s++) total += blocks_of(variant, s);
    int64_t in = rounded_to((double)variant->first * variant->width, 8);
    layer_append(self, conv_new(variant, 3, in, 3, 2));
    for (int s = 0; s < MOST_STAGES && variant->stages[s].blocks > 0; s++) {
        const Stage *stage = &variant->stages[s];
        Layer *blocks = sequential_new();
        int64_t out = rounded_to((double)stage->channels * variant->width, 8);
        for (int i = 0; i < blocks_of(variant, s); i++, before++, in = out)
            layer_append(blocks, block_new(variant, stage, in, out, i == 0 ? stage->stride : 1,
                                           (float)(0.2 * before / total)));
        layer_append(self, blocks);
    }
    *channels = variant->last ? variant->last : 4 * in;
    layer_append(self, conv_new(variant, in, *channels, 1, 1));
    return self;
}

Layer *efficientnet_new(const char *name, int64_t classes) {
    const Variant *variant = VARIANT_OF("efficientnet_new", name, variants);
    if (!variant) return NULL;
    int64_t channels;
    Layer *model = sequential_new(), *classifier = sequential_new();
    layer_add_child(model, "features", features_new(variant, &channels));
    add_average(model);
    layer_append(classifier, dropout_new(variant->dropout));
    layer_append(classifier, linear_new(channels, classes, true));
    layer_add_child(model, "classifier", classifier);
    // Linear weights are uniform in +-1/sqrt(out).
    InitRule linear = {.gain = 0.57735027f, .fan = BY_FAN_OUT, .uniform = true};
    return model_finished(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT},
                                             .linear = linear,
                                             .zero_bias = true});
}
