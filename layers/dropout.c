// dropout.c -- zeroes elements, channels or samples at random while training, and scales the rest;
// passes its input through otherwise
#include "layers/containers.h"

typedef struct Dropout {
    Layer layer;
    float p;
} Dropout;

static const LayerAttribute attributes[] = {{"p", ATTRIBUTE_REAL, offsetof(Dropout, p)}};

static float active(const Layer *self) {
    return self->training ? ((const Dropout *)self)->p : 0.0f;
}

static Tensor *drop_elements(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return active(self) > 0.0f ? tensor_dropout(in[0], active(self)) : in[0];
}

static Tensor *drop_samples(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return active(self) > 0.0f ? tensor_dropout_blocks(in[0], 1, active(self)) : in[0];
}

static Tensor *drop_channels(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return active(self) > 0.0f ? tensor_dropout_blocks(in[0], 2, active(self)) : in[0];
}

#define DROPOUT(module, function)                                                                  \
    {                                                                                              \
        .name = module, .size = sizeof(Dropout), .attributes = attributes, .n_attributes = 1,      \
        .forward = function                                                                        \
    }
static const LayerType elements_type = DROPOUT("Dropout", drop_elements);
static const LayerType channels_type = DROPOUT("Dropout2d", drop_channels);
static const LayerType samples_type = DROPOUT("StochasticDepth", drop_samples);
#undef DROPOUT

static Layer *new_of(const LayerType *type, const char *who, float p) {
    if (!(p >= 0.0f && p <= 1.0f)) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: p = %g is not a probability. HINT: from 0 to 1",
                  who, (double)p);
        return NULL;
    }
    Layer *self = layer_new(type);
    if (self) ((Dropout *)self)->p = p;
    return self;
}

Layer *dropout_new(float p) { return new_of(&elements_type, "dropout_new", p); }
Layer *dropout2d_new(float p) { return new_of(&channels_type, "dropout2d_new", p); }
Layer *stochastic_depth_new(float p) { return new_of(&samples_type, "stochastic_depth_new", p); }
