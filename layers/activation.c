// activation.c -- an element-wise activation as a layer of its own; one type per activation
#include "layers/layer.h"

typedef struct ActivationLayer {
    Layer layer;
    Activation activation;
} ActivationLayer;

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_activation(in[0], ((ActivationLayer *)self)->activation);
}

#define ACTIVATION_TYPE(text)                                                                      \
    { .name = text, .size = sizeof(ActivationLayer), .forward = forward }
static const LayerType types[ACTIVATION_COUNT] = {
    [ACTIVATION_NONE] = ACTIVATION_TYPE("Identity"),
    [ACTIVATION_RELU] = ACTIVATION_TYPE("ReLU"),
    [ACTIVATION_SIGMOID] = ACTIVATION_TYPE("Sigmoid"),
    [ACTIVATION_TANH] = ACTIVATION_TYPE("Tanh"),
    [ACTIVATION_GELU] = ACTIVATION_TYPE("GELU"),
    [ACTIVATION_GELU_TANH] = ACTIVATION_TYPE("GELU(tanh)"),
};
#undef ACTIVATION_TYPE

Layer *activation_new(Activation activation) {
    if ((unsigned)activation >= ACTIVATION_COUNT) {
        error_set(STATUS_INVALID_ARGUMENT, "activation_new: no activation %d", (int)activation);
        return NULL;
    }
    Layer *self = layer_new(&types[activation]);
    if (self) ((ActivationLayer *)self)->activation = activation;
    return self;
}

Layer *relu_new(void) { return activation_new(ACTIVATION_RELU); }
Layer *gelu_new(void) { return activation_new(ACTIVATION_GELU); }
