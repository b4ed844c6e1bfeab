// ex02_count_flops.c -- exercise 02, solved: one formula per kind of layer, and a shape that is
// carried from layer to layer.
#include "exercises/ex02_count_flops.h"

#include <string.h>

static int64_t attribute(const Layer *layer, const char *name, int64_t otherwise) {
    int64_t value = otherwise;
    layer_attribute(layer, name, &value);
    return value;
}

// Number of elements of one sample, leaving out the last `less` dimensions.
static int64_t sample_elements(Shape shape, int less) {
    int64_t count = 1;
    for (int i = 1; i < shape.ndim - less; i++) count *= shape.dims[i];
    return count;
}

static Status linear(const Layer *layer, Shape *shape, int64_t *flops) {
    int64_t in = attribute(layer, "in_features", 0), out = attribute(layer, "out_features", 0);
    if (shape->dims[shape->ndim - 1] != in) return STATUS_SHAPE;
    *flops = 2 * sample_elements(*shape, 1) * in * out;
    shape->dims[shape->ndim - 1] = out;
    return STATUS_OK;
}

// How often a window fits into a padded size; 0 if it does not fit.
static int64_t windows(int64_t size, int64_t kernel, int64_t dilation, int64_t stride) {
    int64_t room = size - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
}

// (n, c, h, w) -> (n, c, Ho, Wo)
static Status slide(const Layer *layer, Shape *shape) {
    if (shape->ndim != 4) return STATUS_SHAPE;
    int64_t top = attribute(layer, "padding_top", 0), left = attribute(layer, "padding_left", 0);
    int64_t bottom = attribute(layer, "padding_bottom", 0);
    int64_t right = attribute(layer, "padding_right", 0);
    shape->dims[2] = windows(shape->dims[2] + top + bottom, attribute(layer, "kernel_h", 1),
                             attribute(layer, "dilation_h", 1), attribute(layer, "stride_h", 1));
    shape->dims[3] = windows(shape->dims[3] + left + right, attribute(layer, "kernel_w", 1),
                             attribute(layer, "dilation_w", 1), attribute(layer, "stride_w", 1));
    return shape->dims[2] > 0 && shape->dims[3] > 0 ? STATUS_OK : STATUS_SHAPE;
}

static Status convolution(const Layer *layer, Shape *shape, int64_t *flops) {
    int64_t in = attribute(layer, "in_channels", 0), out = attribute(layer, "out_channels", 0);
    if (shape->ndim != 4 || shape->dims[1] != in) return STATUS_SHAPE;
    Status status = slide(layer, shape);
    int64_t taps = attribute(layer, "kernel_h", 1) * attribute(layer, "kernel_w", 1);
    shape->dims[1] = out;
    int64_t channels = in / attribute(layer, "groups", 1);
    *flops = 2 * shape->dims[2] * shape->dims[3] * taps * channels * out;
    return status;
}

static Status activation(const Layer *layer, Shape *shape, int64_t *flops) {
    (void)layer;
    *flops = sample_elements(*shape, 0);
    return STATUS_OK;
}

static Status pool(const Layer *layer, Shape *shape, int64_t *flops) {
    *flops = 0;
    return slide(layer, shape);
}

static Status flatten(const Layer *layer, Shape *shape, int64_t *flops) {
    (void)layer;
    *flops = 0;
    *shape = SHAPE(shape->dims[0], sample_elements(*shape, 0));
    return STATUS_OK;
}

static Status nothing(const Layer *layer, Shape *shape, int64_t *flops) {
    (void)layer, (void)shape;
    *flops = 0;
    return STATUS_OK;
}

static Status count(const Layer *layer, Shape *shape, int64_t *flops);

static Status sequential(const Layer *layer, Shape *shape, int64_t *flops) {
    *flops = 0;
    for (int i = 0; i < layer->n_children; i++) {
        int64_t more;
        Status status = count(layer->children[i], shape, &more);
        if (status) return status;
        *flops += more;
    }
    return STATUS_OK;
}

// Each `count` stores the FLOPs of one sample and turns the input's shape into the output's.
static const struct {
    const char *type;
    Status (*count)(const Layer *layer, Shape *shape, int64_t *flops);
} rules[] = {{"Linear", linear},      {"Conv2d", convolution},    {"ReLU", activation},
             {"Sigmoid", activation}, {"Tanh", activation},       {"GELU", activation},
             {"MaxPool2d", pool},     {"AvgPool2d", pool},        {"Flatten", flatten},
             {"Dropout", nothing},    {"Sequential", sequential}, {NULL, NULL}};

static Status count(const Layer *layer, Shape *shape, int64_t *flops) {
    for (int i = 0; rules[i].type; i++)
        if (strcmp(layer->type->name, rules[i].type) == 0)
            return rules[i].count(layer, shape, flops);
    return STATUS_UNKNOWN_OP;
}

Status count_flops(const Layer *model, Shape input, int64_t *flops) {
    return count(model, &input, flops);
}
