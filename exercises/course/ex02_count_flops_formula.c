// ex02_count_flops_formula.c -- FLOPs by hand: one formula per kind of layer, and in each the
// places where it is got wrong.
#include "exercises/course/ex02_count_flops_formula.h"

#include <string.h>

const char *const flop_slip_names[FLOP_RIGHT] = {
#define FLOP_SLIP_NAME(name) [FLOP_##name] = #name,
    FLOP_SLIP_LIST(FLOP_SLIP_NAME)
#undef FLOP_SLIP_NAME
};

typedef struct Walk {
    FlopSlip slip;
    Shape shape; // of what comes to the next layer
    int64_t total;
    char *text;
} Walk;

static int64_t attribute(const Layer *layer, const char *name, int64_t otherwise) {
    int64_t value = otherwise;
    layer_attribute(layer, name, &value);
    return value;
}

// Of the sizes first .. first + count - 1.
static int64_t product(Shape shape, int first, int count) {
    int64_t n = 1;
    for (int i = first; i < first + count && i < shape.ndim; i++) n *= shape.dims[i];
    return n;
}

static void add(Walk *walk, int64_t flops) {
    if (walk->slip == FLOP_sum_overwritten) walk->total = 0;
    walk->total += flops;
    if (walk->text && walk->text[0]) line_add(walk->text, " + ");
}

static void say(Walk *walk, int64_t factor, const char *before) {
    if (walk->text) line_add(walk->text, "%s%lld", before, (long long)factor);
}

static void linear(Walk *walk, const Layer *layer) {
    int64_t in = attribute(layer, "in_features", 0), out = attribute(layer, "out_features", 0);
    int64_t rows = product(walk->shape, 1, walk->shape.ndim - 2);
    if (walk->slip == FLOP_rows_ignored) rows = 1;
    int64_t flops = (walk->slip == FLOP_mac_vs_flop ? 1 : 2) * rows * in * out;
    if (walk->slip == FLOP_bias_counted && attribute(layer, "bias", 0)) flops += rows * out;
    add(walk, flops);
    say(walk, 2, "");
    if (rows > 1) say(walk, rows, "*");
    say(walk, in, "*");
    say(walk, out, "*");
    walk->shape.dims[walk->shape.ndim - 1] = out;
}

typedef struct Side { // one direction of a window: names of its attributes
    const char *before, *after, *kernel, *dilation, *stride;
} Side;
static const Side sides[2] = {
    {"padding_top", "padding_bottom", "kernel_h", "dilation_h", "stride_h"},
    {"padding_left", "padding_right", "kernel_w", "dilation_w", "stride_w"}};

static int64_t windows(const Walk *walk, const Layer *layer, Side side, int64_t size) {
    int64_t before = attribute(layer, side.before, 0), after = attribute(layer, side.after, 0);
    int64_t kernel = attribute(layer, side.kernel, 1), stride = attribute(layer, side.stride, 1);
    int64_t dilation = attribute(layer, side.dilation, 1);
    if (walk->slip == FLOP_padding_ignored) before = after = 0;
    if (walk->slip == FLOP_padding_on_one_side) after = 0;
    if (walk->slip == FLOP_dilation_ignored) dilation = 1;
    if (walk->slip == FLOP_output_in_over_stride) return size / stride;
    if (walk->slip == FLOP_stride_ignored) stride = 1;
    int64_t more = walk->slip == FLOP_plus_one_forgotten ? 0 : 1;
    return (size + before + after - dilation * (kernel - 1) - 1) / stride + more;
}

static void slide(Walk *walk, const Layer *layer) {
    for (int i = 0; i < 2; i++)
        walk->shape.dims[2 + i] = windows(walk, layer, sides[i], walk->shape.dims[2 + i]);
}

static void convolution(Walk *walk, const Layer *layer) {
    int64_t in = attribute(layer, "in_channels", 1), out = attribute(layer, "out_channels", 1);
    int64_t height = attribute(layer, "kernel_h", 1), width = attribute(layer, "kernel_w", 1);
    if (walk->slip != FLOP_groups_ignored) in /= attribute(layer, "groups", 1);
    slide(walk, layer);
    walk->shape.dims[1] = out;
    int64_t outputs = product(walk->shape, 1, 3);
    if (walk->slip == FLOP_output_channels_forgotten) outputs /= out;
    if (walk->slip == FLOP_input_channels_forgotten) in = 1;
    if (walk->slip == FLOP_kernel_not_squared) width = 1;
    int64_t flops = (walk->slip == FLOP_mac_vs_flop ? 1 : 2) * outputs * height * width * in;
    if (walk->slip == FLOP_bias_counted && attribute(layer, "bias", 0)) flops += outputs;
    add(walk, flops);
    const int64_t factors[] = {walk->shape.dims[2], walk->shape.dims[3], height, width, in, out};
    say(walk, 2, "");
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) say(walk, factors[i], "*");
}

static void activation(Walk *walk, const Layer *layer) {
    (void)layer;
    int64_t elements = product(walk->shape, 1, walk->shape.ndim - 1);
    if (walk->slip == FLOP_activation_free) elements = 0;
    if (walk->slip == FLOP_activation_of_batch) elements *= walk->shape.dims[0];
    add(walk, elements);
    say(walk, elements, "");
}

static void uncounted(Walk *walk) {
    int64_t elements = product(walk->shape, 1, walk->shape.ndim - 1);
    if (walk->slip == FLOP_views_counted) walk->total += elements;
    if (walk->slip == FLOP_sum_overwritten) walk->total = 0;
}

static void pool(Walk *walk, const Layer *layer) {
    uncounted(walk);
    slide(walk, layer);
}

static void flatten(Walk *walk, const Layer *layer) {
    (void)layer;
    uncounted(walk);
    walk->shape = SHAPE(walk->shape.dims[0], product(walk->shape, 1, walk->shape.ndim - 1));
}

static const struct {
    const char *type;
    void (*add)(Walk *walk, const Layer *layer);
} rules[] = {{"Linear", linear},   {"Conv2d", convolution}, {"ReLU", activation},
             {"Tanh", activation}, {"Sigmoid", activation}, {"GELU", activation},
             {"MaxPool2d", pool},  {"AvgPool2d", pool},     {"Flatten", flatten}};

static void visit(Walk *walk, const Layer *layer, int depth) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strcmp(layer->type->name, rules[i].type) == 0) rules[i].add(walk, layer);
    if (layer->n_children > 0 && walk->slip == FLOP_children_ignored) return;
    if (depth > 0 && walk->slip == FLOP_nested_ignored) return;
    Shape input = walk->shape;
    for (int i = 0; i < layer->n_children; i++) {
        if (walk->slip == FLOP_shape_not_propagated) walk->shape = input;
        visit(walk, layer->children[i], depth + 1);
    }
}

int64_t formula_flops(const Layer *model, Shape input, FlopSlip slip, char text[CASE_LINE]) {
    Walk walk = {.slip = slip, .shape = input, .text = text};
    visit(&walk, model, 0);
    if (slip == FLOP_batch_multiplied) walk.total *= input.dims[0];
    return slip == FLOP_integer_overflow ? (int32_t)walk.total : walk.total;
}
