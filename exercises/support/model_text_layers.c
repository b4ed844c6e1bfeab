// model_text_layers.c -- the layers that a model text may name, and their arguments. How a text is
// read is model_text.c's.
#include "exercises/support/model_text_parts.h"
#include "layers/layers2d.h"

// ---- the table -------------------------------------------------------------------------------
static Layer *make_linear(const double *a) {
    return linear_new((int64_t)a[0], (int64_t)a[1], a[2] != 0.0);
}
static Layer *make_dropout(const double *a) { return dropout_new((float)a[0]); }
static Layer *make_flatten(const double *a) { return (void)a, flatten_new(1, -1); }
static Layer *make_layer_norm(const double *a) {
    return layer_norm_new(SHAPE((int64_t)a[0]), 1e-5f, true);
}
static Layer *make_embedding(const double *a) {
    return embedding_new((int64_t)a[0], (int64_t)a[1]);
}

// What has two sides stands in the order of these, behind the arguments that have places.
enum { KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, PADDING_H, PADDING_W };
enum { TOP = PADDING_W + 1, BOTTOM, LEFT, RIGHT, DILATION_H, DILATION_W };
#define INTEGER(name)                                                                              \
    { name, ATTRIBUTE_INTEGER, 0, NULL }
#define LIKE(name, other)                                                                          \
    { name, ATTRIBUTE_INTEGER, 0, other }
#define SIDES                                                                                      \
    LIKE("kernel_h", "kernel"), LIKE("kernel_w", "kernel"), LIKE("stride_h", "stride"),            \
        LIKE("stride_w", "stride"), LIKE("padding_h", "padding"), LIKE("padding_w", "padding"),    \
        LIKE("padding_top", "padding_h"), LIKE("padding_bottom", "padding_h"),                     \
        LIKE("padding_left", "padding_w"), LIKE("padding_right", "padding_w")
#define DILATIONS LIKE("dilation_h", "dilation"), LIKE("dilation_w", "dilation")

static Layer *make_conv2d(const double *a) {
    enum { PLACES = 8 };
    const double *side = a + PLACES;
    Conv2dOptions options = {.stride_h = (int64_t)side[STRIDE_H],
                             .stride_w = (int64_t)side[STRIDE_W],
                             .padding_top = (int64_t)side[TOP],
                             .padding_bottom = (int64_t)side[BOTTOM],
                             .padding_left = (int64_t)side[LEFT],
                             .padding_right = (int64_t)side[RIGHT],
                             .dilation_h = (int64_t)side[DILATION_H],
                             .dilation_w = (int64_t)side[DILATION_W],
                             .groups = (int64_t)a[6]};
    return conv2d_new((int64_t)a[0], (int64_t)a[1], (int64_t)side[KERNEL_H],
                      (int64_t)side[KERNEL_W], options, a[7] != 0.0);
}

static Pool2dOptions pool(const double *side) {
    return (Pool2dOptions){.kernel_h = (int64_t)side[KERNEL_H],
                           .kernel_w = (int64_t)side[KERNEL_W],
                           .stride_h = (int64_t)side[STRIDE_H],
                           .stride_w = (int64_t)side[STRIDE_W],
                           .padding_top = (int64_t)side[TOP],
                           .padding_bottom = (int64_t)side[BOTTOM],
                           .padding_left = (int64_t)side[LEFT],
                           .padding_right = (int64_t)side[RIGHT],
                           .dilation_h = 1,
                           .dilation_w = 1};
}
static Layer *make_max_pool2d(const double *a) {
    enum { PLACES = 4 };
    Pool2dOptions options = pool(a + PLACES);
    options.dilation_h = (int64_t)a[PLACES + DILATION_H];
    options.dilation_w = (int64_t)a[PLACES + DILATION_W];
    return max_pool2d_new(options);
}
static Layer *make_avg_pool2d(const double *a) {
    enum { PLACES = 3 };
    return avg_pool2d_new(pool(a + PLACES));
}
static Layer *make_adaptive_pool2d(const double *a) {
    return adaptive_avg_pool2d_new((int64_t)a[0], (int64_t)a[1]);
}
static Layer *make_mystery(const double *a) { return mystery_new((int64_t)a[0]); }
static Layer *make_linear_gated(const double *a) {
    return linear_gated_new((int64_t)a[0], (int64_t)a[1]);
}
static Layer *make_relu6(const double *a) { return (void)a, relu6_new(); }

const LayerText layer_texts[] = {
    {"Linear",
     {INTEGER("in_features"), INTEGER("out_features"), {"bias", ATTRIBUTE_FLAG, 1, NULL}},
     2,
     3,
     make_linear},
    {"Conv2d",
     {INTEGER("in_channels"),
      INTEGER("out_channels"),
      INTEGER("kernel"),
      {"stride", ATTRIBUTE_INTEGER, 1, NULL},
      INTEGER("padding"),
      {"dilation", ATTRIBUTE_INTEGER, 1, NULL},
      {"groups", ATTRIBUTE_INTEGER, 1, NULL},
      {"bias", ATTRIBUTE_FLAG, 1, NULL},
      SIDES,
      DILATIONS},
     2,
     8,
     make_conv2d},
    {"MaxPool2d",
     {INTEGER("kernel"),
      INTEGER("stride"),
      INTEGER("padding"),
      {"dilation", ATTRIBUTE_INTEGER, 1, NULL},
      SIDES,
      DILATIONS},
     0,
     3,
     make_max_pool2d},
    {"AvgPool2d",
     {INTEGER("kernel"), INTEGER("stride"), INTEGER("padding"), SIDES},
     0,
     3,
     make_avg_pool2d},
    {"AdaptiveAvgPool2d", {INTEGER("out_h"), INTEGER("out_w")}, 2, 2, make_adaptive_pool2d},
    {"Flatten", {{0}}, 0, 0, make_flatten},
    {"LayerNorm", {INTEGER("features")}, 1, 1, make_layer_norm},
    {"Embedding", {INTEGER("count"), INTEGER("features")}, 2, 2, make_embedding},
    {"Dropout", {{"p", ATTRIBUTE_REAL, 0, NULL}}, 1, 1, make_dropout},
    {"Mystery", {INTEGER("size")}, 1, 1, make_mystery},
    {"LinearGated", {INTEGER("in_features"), INTEGER("out_features")}, 2, 2, make_linear_gated},
    {"ReLU6", {{0}}, 0, 0, make_relu6},
    {0},
};
#undef INTEGER
#undef LIKE
#undef SIDES
#undef DILATIONS

// ---- activations: whatever the engine has ------------------------------------------------------
LayerText activation_text(const Op *op) {
    LayerText layer = {.name = op->module};
    for (int i = 0; i < OP_MAX_VALUES && op->values[i].name; i++, layer.places++)
        layer.arguments[i] =
            (TextArgument){op->values[i].name, ATTRIBUTE_REAL, (double)op->values[i].value, NULL};
    return layer;
}

Layer *activation_of_text(const Op *op, const double *arguments) {
    float values[OP_MAX_VALUES];
    for (int i = 0; i < OP_MAX_VALUES; i++) values[i] = (float)arguments[i];
    return activation_new_with(op, values);
}

// ---- containers --------------------------------------------------------------------------------
const ContainerText container_texts[] = {
    {"Sequential", sequential_new}, {"Residual", residual_new}, {"Scaled", scaled_new}, {0}};
