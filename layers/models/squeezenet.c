// squeezenet.c -- SqueezeNet (Iandola et al. 2016) as torchvision has it, with its names
// ("features.3.expand3x3"): fire modules, which narrow the channels before two convolutions
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a fire module -----------------------------------------------------------------------------
enum { SQUEEZE = 0, EXPAND1 = 2, EXPAND3 = 4 }; // children, each followed by its ReLU

// Runs a convolution and the ReLU after it.
static Tensor *two(const Layer *self, int i, Tensor *x) {
    return layer_run_child(self, i + 1, layer_run_child(self, i, x));
}

// Squeezes x (n, in, h, w) to few channels, and concatenates their 1 x 1 and 3 x 3 convolutions.
static Tensor *fire_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = two(self, SQUEEZE, in[0]);
    Tensor *one = two(self, EXPAND1, x), *three = two(self, EXPAND3, x);
    return tensor_concat((Tensor *[]){one, three}, 2, 1);
}

static const LayerType fire_type = {.name = "Fire", .size = sizeof(Layer), .forward = fire_forward};

static Layer *fire_new(int64_t in, int64_t squeezed, int64_t expanded) {
    Layer *self = layer_new(&fire_type);
    Conv2dOptions plain = conv2d_defaults();
    layer_add_child(self, "squeeze", conv2d_new(in, squeezed, 1, 1, plain, true));
    layer_add_child(self, "squeeze_activation", relu_new());
    layer_add_child(self, "expand1x1", conv2d_new(squeezed, expanded, 1, 1, plain, true));
    layer_add_child(self, "expand1x1_activation", relu_new());
    layer_add_child(self, "expand3x3",
                    conv2d_new(squeezed, expanded, 3, 3, conv2d_padded(plain, 1), true));
    layer_add_child(self, "expand3x3_activation", relu_new());
    return self;
}

// ---- the network -------------------------------------------------------------------------------
typedef struct Variant {
    const char *name;
    int64_t channels, kernel; // of the first convolution
    int pools;                // bit i: there is a pool before fire module i
} Variant;

Layer *squeezenet_new(const char *version, int64_t classes) {
    static const Variant variants[] = {{"1_0", 96, 7, 1 << 0 | 1 << 3 | 1 << 7},
                                       {"1_1", 64, 3, 1 << 0 | 1 << 2 | 1 << 4}};
    enum { FIRES = 8 };
    static const int64_t squeezed[FIRES] = {16, 16, 32, 32, 48, 48, 64, 64};
    const Variant *variant = VARIANT_OF("squeezenet_new", version, variants);
    if (!variant) return NULL;
    Layer *features = sequential_new(), *classifier = sequential_new(), *model = sequential_new();
    Conv2dOptions first = conv2d_defaults();
    first.stride_h = first.stride_w = 2;
    int64_t in = variant->channels, kernel = variant->kernel;
    layer_append(features, conv2d_new(3, in, kernel, kernel, first, true));
    layer_append(features, relu_new());
    for (int i = 0; i < FIRES; i++) {
        if (variant->pools >> i & 1) layer_append(features, max_pool_new(3, 2, 0, true));
        layer_append(features, fire_new(in, squeezed[i], 4 * squeezed[i]));
        in = 8 * squeezed[i];
    }
    layer_append(classifier, dropout_new(0.5f));
    layer_append(classifier, conv2d_new(in, classes, 1, 1, conv2d_defaults(), true));
    layer_append(classifier, relu_new());
    layer_append(classifier, adaptive_avg_pool2d_new(1, 1));
    init_by_rules(features,
                  (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_IN, .uniform = true},
                              .zero_bias = true});
    init_by_rules(classifier, (InitRules){.conv = {.gain = 0.01f}, .zero_bias = true});
    layer_add_child(model, "features", features);
    layer_add_child(model, "classifier", classifier);
    layer_add_child(model, "flatten", flatten_new(1, -1));
    return layer_finished(model);
}
