// model_text_layers.c -- the layers that a model text may name, one line each, and Mystery, which
// exists nowhere else. How a text is read is model_text.c's.
#include "exercises/support/model_text_parts.h"
#include "layers/layers2d.h"

// ---- Mystery ---------------------------------------------------------------------------------
// A layer that nobody was told about: it multiplies by a learned factor per feature.
typedef struct Mystery {
    Layer layer;
    int64_t size;
} Mystery;

static const LayerAttribute mystery_attributes[] = {
    {"size", ATTRIBUTE_INTEGER, offsetof(Mystery, size)},
};

static Tensor *mystery_forward(Layer *self, Tensor *const in[], int n_in) {
    if (n_in == 1) return tensor_mul(in[0], self->parameters[0].tensor);
    error_set(STATUS_INVALID_ARGUMENT, "%s: Mystery takes one input, got %d", self->name, n_in);
    return NULL;
}

static const LayerType mystery_type = {.name = "Mystery",
                                       .size = sizeof(Mystery),
                                       .attributes = mystery_attributes,
                                       .n_attributes = 1,
                                       .forward = mystery_forward};

static Layer *mystery_new(int64_t size) {
    Mystery *self = (Mystery *)layer_new(&mystery_type);
    if (!self) return NULL;
    self->size = size;
    Tensor *scale = tensor_new_as(SHAPE(size), DTYPE_FLOAT32, MEM_PARAMETER);
    if (scale && tensor_fill_uniform(scale, 0.5f, 1.5f)) {
        tensor_free(scale);
        scale = NULL;
    }
    if (!layer_add_parameter(&self->layer, "scale", scale)) return &self->layer;
    layer_free(&self->layer);
    return NULL;
}

// ---- the table -------------------------------------------------------------------------------
static Layer *make_linear(const double *a) {
    return linear_new((int64_t)a[0], (int64_t)a[1], a[2] != 0.0);
}
static Layer *make_relu(const double *a) { return (void)a, relu_new(); }
static Layer *make_sigmoid(const double *a) { return (void)a, activation_new(ACTIVATION_SIGMOID); }
static Layer *make_tanh(const double *a) { return (void)a, activation_new(ACTIVATION_TANH); }
static Layer *make_gelu(const double *a) { return (void)a, gelu_new(); }
static Layer *make_dropout(const double *a) { return dropout_new((float)a[0]); }
static Layer *make_flatten(const double *a) { return (void)a, flatten_new(1, -1); }
static Layer *make_layer_norm(const double *a) {
    return layer_norm_new(SHAPE((int64_t)a[0]), 1e-5f, true);
}
static Layer *make_embedding(const double *a) {
    return embedding_new((int64_t)a[0], (int64_t)a[1]);
}
static Layer *make_conv2d(const double *a) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), (int64_t)a[4]);
    options.stride_h = options.stride_w = (int64_t)a[3];
    options.dilation_h = options.dilation_w = (int64_t)a[5];
    options.groups = (int64_t)a[6];
    return conv2d_new((int64_t)a[0], (int64_t)a[1], (int64_t)a[2], (int64_t)a[2], options,
                      a[7] != 0.0);
}
static Pool2dOptions pool(const double *a) {
    Pool2dOptions options = pool2d_padded(pool2d_defaults((int64_t)a[0]), (int64_t)a[2]);
    options.stride_h = options.stride_w = (int64_t)a[1];
    return options;
}
static Layer *make_max_pool2d(const double *a) { return max_pool2d_new(pool(a)); }
static Layer *make_avg_pool2d(const double *a) { return avg_pool2d_new(pool(a)); }
static Layer *make_mystery(const double *a) { return mystery_new((int64_t)a[0]); }

#define POOL                                                                                       \
    {                                                                                              \
        {"kernel", ATTRIBUTE_INTEGER, 0}, {"stride", ATTRIBUTE_INTEGER, 0},                        \
            {"padding", ATTRIBUTE_INTEGER, 0},                                                     \
    }
const LayerText layer_texts[] = {
    {"Linear",
     {{"in_features", ATTRIBUTE_INTEGER, 0},
      {"out_features", ATTRIBUTE_INTEGER, 0},
      {"bias", ATTRIBUTE_FLAG, 1.0}},
     2,
     make_linear},
    {"Conv2d",
     {{"in_channels", ATTRIBUTE_INTEGER, 0},
      {"out_channels", ATTRIBUTE_INTEGER, 0},
      {"kernel", ATTRIBUTE_INTEGER, 0},
      {"stride", ATTRIBUTE_INTEGER, 1},
      {"padding", ATTRIBUTE_INTEGER, 0},
      {"dilation", ATTRIBUTE_INTEGER, 1},
      {"groups", ATTRIBUTE_INTEGER, 1},
      {"bias", ATTRIBUTE_FLAG, 1}},
     3,
     make_conv2d},
    {"MaxPool2d", POOL, 1, make_max_pool2d},
    {"AvgPool2d", POOL, 1, make_avg_pool2d},
    {"Flatten", {{0}}, 0, make_flatten},
    {"LayerNorm", {{"features", ATTRIBUTE_INTEGER, 0}}, 1, make_layer_norm},
    {"Embedding",
     {{"count", ATTRIBUTE_INTEGER, 0}, {"features", ATTRIBUTE_INTEGER, 0}},
     2,
     make_embedding},
    {"ReLU", {{0}}, 0, make_relu},
    {"Sigmoid", {{0}}, 0, make_sigmoid},
    {"Tanh", {{0}}, 0, make_tanh},
    {"GELU", {{0}}, 0, make_gelu},
    {"Dropout", {{"p", ATTRIBUTE_REAL, 0}}, 1, make_dropout},
    {"Mystery", {{"size", ATTRIBUTE_INTEGER, 0}}, 1, make_mystery},
    {0},
};
#undef POOL
