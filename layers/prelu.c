// prelu.c -- a leaky ReLU that learns its slopes: one for each channel, or one for all
#include "layers/parts.h"

typedef struct PRelu {
    Layer layer;
    int64_t num_parameters; // slopes: channels, or 1
} PRelu;

static const LayerAttribute attributes[] = {
    {"num_parameters", ATTRIBUTE_INTEGER, offsetof(PRelu, num_parameters)}};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_prelu(in[0], self->parameters[0].tensor);
}

static const LayerType prelu_type = {.name = "PReLU",
                                     .size = sizeof(PRelu),
                                     .attributes = attributes,
                                     .n_attributes = 1,
                                     .forward = forward};

Layer *prelu_new(int64_t num_parameters, float slope) {
    if (num_parameters < 1) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "prelu_new: %lld slopes. HINT: as many as channels, or 1 for all",
                  (long long)num_parameters);
        return NULL;
    }
    PRelu *self = (PRelu *)layer_new(&prelu_type);
    if (!self) return NULL;
    self->num_parameters = num_parameters;
    layer_add_parameter(&self->layer, "weight", layer_filled_new(SHAPE(num_parameters), slope));
    return layer_finished(&self->layer);
}
