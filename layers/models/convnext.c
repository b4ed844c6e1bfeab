// convnext.c -- ConvNeXt (Liu et al. 2022) as torchvision has it, with its names
// ("features.1.0.block.3"): depthwise convolutions, and linear layers over the channels
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- channels last and first: views ------------------------------------------------------------
static Tensor *permuted(Tensor *x, const int dims[4]) {
    char text[SHAPE_TEXT];
    if (!x || x->shape.ndim == 4) return tensor_permute(x, dims);
    error_set(STATUS_SHAPE, "ConvNeXt: x is %s. HINT: (n, channels, height, width)",
              shape_text(x->shape, text));
    return NULL;
}

static Tensor *to_last(Tensor *x) { // (n, c, h, w) -> (n, h, w, c)
    return permuted(x, (int[4]){0, 2, 3, 1});
}

static Tensor *to_first(Tensor *x) { // (n, h, w, c) -> (n, c, h, w)
    return permuted(x, (int[4]){0, 3, 1, 2});
}

static Tensor *to_last_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return to_last(in[0]);
}

static Tensor *to_first_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return to_first(in[0]);
}

static const LayerType to_last_type = {.name = "Permute",
                                       .size = sizeof(Layer),
                                       .forward = to_last_forward};
static const LayerType to_first_type = {.name = "Permute",
                                        .size = sizeof(Layer),
                                        .forward = to_first_forward};

// ---- layer norm over the channels of each pixel ------------------------------------------------
static const float epsilon = 1e-6f;

static Tensor *norm_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *weight = self->parameters[0].tensor, *bias = self->parameters[1].tensor;
    return to_first(tensor_layer_norm(to_last(in[0]), weight->shape, weight, bias, epsilon));
}

static const LayerType norm_type = {.name = "LayerNorm2d",
                                    .size = sizeof(Layer),
                                    .forward = norm_forward};

static Layer *norm_new(int64_t channels) {
    Layer *self = layer_new(&norm_type);
    layer_add_parameter(self, "weight", layer_filled_new(SHAPE(channels), 1.0f));
    layer_add_parameter(self, "bias", layer_filled_new(SHAPE(channels), 0.0f));
    return self;
}

// ---- a block -----------------------------------------------------------------------------------
// x (n, c, h, w) + stochastic depth of layer_scale (c, 1, 1) * block(x)
static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *y = tensor_mul(self->parameters[0].tensor, layer_run_child(self, 0, in[0]));
    return tensor_add(layer_run_child(self, 1, y), in[0]);
}

static const LayerType block_type = {.name = "CNBlock",
                                     .size = sizeof(Layer),
                                     .forward = block_forward};

static Layer *block_new(int64_t channels, float drop) {
    Layer *self = layer_new(&block_type), *block = sequential_new();
    Conv2dOptions depthwise = conv2d_padded(conv2d_defaults(), 3);
    depthwise.groups = channels;
    layer_append(block, conv2d_new(channels, channels, 7, 7, depthwise, true));
    layer_append(block, layer_new(&to_last_type)); // (n, h, w, c)
    layer_append(block, layer_norm_new(SHAPE(channels), epsilon, true));
    layer_append(block, linear_new(channels, 4 * channels, true));
    layer_append(block, gelu_new());
    layer_append(block, linear_new(4 * channels, channels, true));
    layer_append(block, layer_new(&to_first_type));
    layer_add_parameter(self, "layer_scale", layer_filled_new(SHAPE(channels, 1, 1), 1e-6f));
    layer_add_child(self, "block", block);
    layer_add_child(self, "stochastic_depth", stochastic_depth_new(drop));
    return self;
}

// ---- the network -------------------------------------------------------------------------------
enum { STAGES = 4 };
typedef struct Variant {
    const char *name;
    int64_t channels; // of the first stage; each next one has twice as many
    int blocks[STAGES];
    double drop; // of the last block; it grows towards it from 0
} Variant;

// A convolution that turns `kernel` x `kernel` pixels into one.
static Layer *patches_new(int64_t in, int64_t out, int64_t kernel) {
    Conv2dOptions options = conv2d_defaults();
    options.stride_h = options.stride_w = kernel;
    return conv2d_new(in, out, kernel, kernel, options, true);
}

static Layer *features_new(const Variant *variant) {
    Layer *self = sequential_new(), *stem = sequential_new();
    int total = 0, before = 0;
    for (int s = 0; s < STAGES; s++) total += variant->blocks[s];
    layer_append(stem, patches_new(3, variant->channels, 4)); // (n, c, 56, 56) of 224 x 224
    layer_append(stem, norm_new(variant->channels));
    layer_append(self, stem);
    for (int s = 0; s < STAGES; s++) {
        int64_t channels = variant->channels << s;
        Layer *stage = sequential_new();
        for (int i = 0; i < variant->blocks[s]; i++, before++)
            layer_append(stage, block_new(channels, (float)(variant->drop * before / (total - 1))));
        layer_append(self, stage);
        if (s + 1 == STAGES) break;
        Layer *halved = sequential_new();
        layer_append(halved, norm_new(channels));
        layer_append(halved, patches_new(channels, 2 * channels, 2));
        layer_append(self, halved);
    }
    return self;
}

Layer *convnext_new(const char *name, int64_t classes) {
    static const Variant variants[] = {{"tiny", 96, {3, 3, 9, 3}, 0.1},
                                       {"small", 96, {3, 3, 27, 3}, 0.4},
                                       {"base", 128, {3, 3, 27, 3}, 0.5},
                                       {"large", 192, {3, 3, 27, 3}, 0.5}};
    const Variant *variant = VARIANT_OF("convnext_new", name, variants);
    if (!variant) return NULL;
    int64_t channels = variant->channels << (STAGES - 1);
    Layer *model = sequential_new(), *classifier = sequential_new();
    layer_add_child(model, "features", features_new(variant));
    layer_add_child(model, "avgpool", adaptive_avg_pool2d_new(1, 1));
    layer_append(classifier, norm_new(channels));
    layer_append(classifier, flatten_new(1, -1));
    layer_append(classifier, linear_new(channels, classes, true));
    layer_add_child(model, "classifier", classifier);
    return model_finished(
        model, (InitRules){.conv = {.gain = 0.02f}, .linear = {.gain = 0.02f}, .zero_bias = true});
}
