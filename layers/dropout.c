// dropout.c -- zeroes elements at random while training; passes its input through otherwise
#include "layers/layer.h"

typedef struct Dropout {
    Layer layer;
    float p;
} Dropout;

static const LayerAttribute attributes[] = {{"p", ATTRIBUTE_REAL, offsetof(Dropout, p)}};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    float p = ((Dropout *)self)->p;
    (void)n_in;
    return self->training && p > 0.0f ? tensor_dropout(in[0], p) : in[0];
}

static const LayerType dropout_type = {.name = "Dropout",
                                       .size = sizeof(Dropout),
                                       .attributes = attributes,
                                       .n_attributes = 1,
                                       .forward = forward};

Layer *dropout_new(float p) {
    if (!(p >= 0.0f && p <= 1.0f)) {
        error_set(STATUS_INVALID_ARGUMENT, "dropout_new: p = %g is not a probability", (double)p);
        return NULL;
    }
    Layer *self = layer_new(&dropout_type);
    if (self) ((Dropout *)self)->p = p;
    return self;
}
