// regnet.c -- RegNet (Radosavovic et al. 2020), with squeeze and excitation (Y) and without (X), as
// torchvision has it, with its names ("trunk_output.block1.block1-0.f.a.0")
#include <math.h>
#include <stdio.h>

#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/ops.h"

// ---- a block: relu(x + f(x)), with x through "proj" where the shape changes --------------------
typedef struct ResBlock {
    Layer layer;
    bool projects;
} ResBlock;

static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    int f = ((ResBlock *)self)->projects ? 1 : 0; // the activation is the child after f
    (void)n_in;
    Tensor *x = f > 0 ? layer_run_child(self, 0, in[0]) : in[0];
    Tensor *y = tensor_add(x, layer_run_child(self, f, in[0]));
    return layer_run_child(self, f + 1, y);
}

static const LayerType block_type = {.name = "ResBottleneckBlock",
                                     .size = sizeof(ResBlock),
                                     .forward = block_forward};

typedef struct Block {
    int64_t in, out, stride, groups;
    bool squeezes;
} Block;

static Layer *bottleneck_new(Block form) {
    Layer *self = sequential_new();
    ConvNorm a = {.in = form.in, .out = form.out, .kernel = 1, .activation = &op_relu}, b = a, c;
    b.in = form.out;
    b.kernel = 3;
    b.stride = form.stride;
    b.groups = form.groups;
    c = (ConvNorm){.in = form.out, .out = form.out, .kernel = 1};
    layer_add_child(self, "a", conv_norm_new(a));
    layer_add_child(self, "b", conv_norm_new(b));
    if (form.squeezes) { // to a quarter of the block's input channels
        int64_t squeezed = (int64_t)nearbyint(0.25 * (double)form.in);
        layer_add_child(self, "se",
                        squeeze_excitation_new(form.out, squeezed, &op_relu, &op_sigmoid));
    }
    layer_add_child(self, "c", conv_norm_new(c));
    return self;
}

static Layer *block_new(Block form) {
    Layer *self = layer_new(&block_type);
    if (!self) return NULL;
    ConvNorm proj = {.in = form.in, .out = form.out, .kernel = 1, .stride = form.stride};
    bool projects = form.in != form.out || form.stride != 1;
    ((ResBlock *)self)->projects = projects;
    if (projects) layer_add_child(self, "proj", conv_norm_new(proj));
    layer_add_child(self, "f", bottleneck_new(form));
    layer_add_child(self, "activation", relu_new());
    return self;
}

// ---- the design: widths along a line, in steps -------------------------------------------------
typedef struct Variant {
    const char *name;
    int depth;            // number of all blocks
    double w_0, w_a, w_m; // the line w_0 + w_a i; widths are powers of w_m times w_0
    int64_t group_width;
} Variant;

static const Variant variants[] = {
    {"y_400mf", 16, 48, 27.89, 2.09, 8},    {"y_800mf", 14, 56, 38.84, 2.4, 16},
    {"y_1_6gf", 27, 48, 20.71, 2.65, 24},   {"y_3_2gf", 21, 80, 42.63, 2.66, 24},
    {"y_8gf", 17, 192, 76.82, 2.19, 56},    {"y_16gf", 18, 200, 106.23, 2.48, 112},
    {"y_32gf", 20, 232, 115.89, 2.53, 232}, {"y_128gf", 27, 456, 160.83, 2.52, 264},
    {"x_400mf", 22, 24, 24.48, 2.54, 16},   {"x_800mf", 16, 56, 35.73, 2.28, 16},
    {"x_1_6gf", 18, 80, 34.01, 2.25, 24},   {"x_3_2gf", 25, 88, 26.31, 2.25, 48},
    {"x_8gf", 23, 80, 49.56, 2.88, 120},    {"x_16gf", 22, 216, 55.59, 2.1, 128},
    {"x_32gf", 23, 320, 69.86, 2.0, 168}};

// Width of block i, a multiple of 8. Consecutive blocks of the same width form a stage.
static int64_t width_of(const Variant *v, int i) {
    double steps = nearbyint(log((v->w_0 + v->w_a * i) / v->w_0) / log(v->w_m));
    return 8 * (int64_t)nearbyint(v->w_0 * pow(v->w_m, steps) / 8.0);
}

// Adds the stage that begins with block i, and returns the index after its last block.
static int add_stage(Layer *trunk, const Variant *variant, int i, int64_t *channels) {
    char name[32];
    Layer *stage = sequential_new();
    int number = trunk ? trunk->n_children + 1 : 1, first = i;
    int64_t width = width_of(variant, i);
    int64_t group_width = width < variant->group_width ? width : variant->group_width;
    int64_t out = rounded_to((double)width, group_width);
    for (; i < variant->depth && width_of(variant, i) == width; i++, *channels = out) {
        snprintf(name, sizeof(name), "block%d-%d", number, i - first);
        layer_add_child(stage, name,
                        block_new((Block){.in = *channels,
                                          .out = out,
                                          .stride = i == first ? 2 : 1,
                                          .groups = out / group_width,
                                          .squeezes = variant->name[0] == 'y'}));
    }
    snprintf(name, sizeof(name), "block%d", number);
    layer_add_child(trunk, name, stage);
    return i;
}

Layer *regnet_new(const char *name, int64_t classes) {
    const Variant *variant = VARIANT_OF("regnet_new", name, variants);
    if (!variant) return NULL;
    int64_t channels = 32;
    Layer *model = sequential_new(), *trunk = sequential_new();
    ConvNorm stem = {.in = 3, .out = channels, .kernel = 3, .stride = 2, .activation = &op_relu};
    layer_add_child(model, "stem", conv_norm_new(stem));
    for (int i = 0; i < variant->depth;) i = add_stage(trunk, variant, i, &channels);
    layer_add_child(model, "trunk_output", trunk);
    add_average(model);
    Layer *fc = linear_new(channels, classes, true);
    init_by_rules(fc, (InitRules){.linear = {.gain = 0.01f}, .zero_bias = true});
    // Biases of convolutions, which only squeeze and excitation have, keep their values.
    init_by_rules(model, (InitRules){.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT}});
    layer_add_child(model, "fc", fc);
    return layer_finished(model);
}
