// layer_norm.c -- normalises each row of x, a row being its last sizes, and scales and shifts it
#include "layers/parts.h"

typedef struct LayerNorm {
    Layer layer;
    Shape row;
    int64_t normalized_size; // elements of a row
    float epsilon;
    bool affine;
} LayerNorm;

static const LayerAttribute attributes[] = {
    {"normalized_size", ATTRIBUTE_INTEGER, offsetof(LayerNorm, normalized_size)},
    {"epsilon", ATTRIBUTE_REAL, offsetof(LayerNorm, epsilon)},
    {"affine", ATTRIBUTE_FLAG, offsetof(LayerNorm, affine)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const LayerNorm *norm = (LayerNorm *)self;
    (void)n_in;
    Tensor *weight = norm->affine ? self->parameters[0].tensor : NULL;
    Tensor *bias = self->n_parameters > 1 ? self->parameters[1].tensor : NULL;
    return tensor_layer_norm(in[0], norm->row, weight, bias, norm->epsilon);
}

static const LayerType layer_norm_type = {.name = "LayerNorm",
                                          .size = sizeof(LayerNorm),
                                          .attributes = attributes,
                                          .n_attributes =
                                              sizeof(attributes) / sizeof(attributes[0]),
                                          .forward = forward};

Status layer_check_epsilon(const char *who, float epsilon) {
    if (epsilon >= 0.0f) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: epsilon is %g. HINT: a small number, such as 1e-5", who, (double)epsilon);
}

Status layer_check_row(const char *who, Shape row, float epsilon) {
    if (row.ndim < 1 || row.ndim > TENSOR_MAX_DIMS)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: a row of %d dimensions. HINT: at least one, such as SHAPE(768)", who,
                         row.ndim);
    if (layer_check_epsilon(who, epsilon)) return error_status();
    int64_t numel = 1;
    char text[SHAPE_TEXT];
    for (int i = 0; i < row.ndim; i++)
        if (row.dims[i] < 0 || __builtin_mul_overflow(numel, row.dims[i], &numel))
            return error_set(STATUS_INVALID_ARGUMENT, "%s: rows of %s. HINT: sizes are at least 0",
                             who, shape_text(row, text));
    return STATUS_OK;
}

static Layer *norm_new(const char *who, Shape row, float epsilon, bool affine, bool bias) {
    if (layer_check_row(who, row, epsilon)) return NULL;
    LayerNorm *self = (LayerNorm *)layer_new(&layer_norm_type);
    if (!self) return NULL;
    self->row = row;
    self->normalized_size = shape_numel(row);
    self->epsilon = epsilon;
    self->affine = affine;
    if (!affine) return &self->layer;
    layer_add_parameter(&self->layer, "weight", layer_filled_new(row, 1.0f));
    if (bias) layer_add_parameter(&self->layer, "bias", layer_filled_new(row, 0.0f));
    return layer_finished(&self->layer);
}

Layer *layer_norm_new(Shape row, float epsilon, bool affine) {
    return norm_new("layer_norm_new", row, epsilon, affine, affine);
}

Layer *layer_norm_new_unbiased(Shape row, float epsilon) {
    return norm_new("layer_norm_new_unbiased", row, epsilon, true, false);
}
