// rms_norm.c -- scales each row of x, a row being its last sizes, to a root mean square of 1
#include "layers/parts.h"

typedef struct RmsNorm {
    Layer layer;
    Shape row;
    int64_t normalized_size; // elements of a row
    float epsilon;
    bool affine;
} RmsNorm;

static const LayerAttribute attributes[] = {
    {"normalized_size", ATTRIBUTE_INTEGER, offsetof(RmsNorm, normalized_size)},
    {"eps", ATTRIBUTE_REAL, offsetof(RmsNorm, epsilon)},
    {"elementwise_affine", ATTRIBUTE_FLAG, offsetof(RmsNorm, affine)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const RmsNorm *norm = (RmsNorm *)self;
    (void)n_in;
    Tensor *weight = norm->affine ? self->parameters[0].tensor : NULL;
    return tensor_rms_norm(in[0], norm->row, weight, norm->epsilon);
}

static const LayerType rms_norm_type = {.name = "RMSNorm",
                                        .size = sizeof(RmsNorm),
                                        .attributes = attributes,
                                        .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                        .forward = forward};

Layer *rms_norm_new(Shape row, float epsilon, bool affine) {
    if (layer_check_row("rms_norm_new", row, epsilon)) return NULL;
    RmsNorm *self = (RmsNorm *)layer_new(&rms_norm_type);
    if (!self) return NULL;
    self->row = row;
    self->normalized_size = shape_numel(row);
    self->epsilon = epsilon;
    self->affine = affine;
    if (affine) layer_add_parameter(&self->layer, "weight", layer_filled_new(row, 1.0f));
    return layer_finished(&self->layer);
}
