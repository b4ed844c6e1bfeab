// linear.c -- y = x . weight^T + bias, with an activation fused in where asked
#include "layers/parts.h"
#include "tensor/op.h"

typedef struct Linear {
    Layer layer;
    int64_t in_features, out_features;
    bool has_bias;
    const Op *activation;
} Linear;

static const LayerAttribute attributes[] = {
    {"in_features", ATTRIBUTE_INTEGER, offsetof(Linear, in_features)},
    {"out_features", ATTRIBUTE_INTEGER, offsetof(Linear, out_features)},
    {"bias", ATTRIBUTE_FLAG, offsetof(Linear, has_bias)},
    {"activation", ATTRIBUTE_ACTIVATION, offsetof(Linear, activation)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Linear *linear = (Linear *)self;
    (void)n_in; // layer_forward has checked that there is one
    Tensor *bias = linear->has_bias ? self->parameters[1].tensor : NULL;
    return tensor_linear(in[0], self->parameters[0].tensor, bias, linear->activation);
}

static const LayerType linear_type = {.name = "Linear",
                                      .size = sizeof(Linear),
                                      .attributes = attributes,
                                      .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                      .forward = forward};

Layer *linear_new_fused(int64_t in_features, int64_t out_features, bool bias,
                        const Op *activation) {
    if (in_features < 0 || out_features < 0) {
        error_set(STATUS_INVALID_ARGUMENT, "linear_new: sizes %lld -> %lld. HINT: at least 0",
                  (long long)in_features, (long long)out_features);
        return NULL;
    }
    if (activation && !activation->module) {
        error_set(STATUS_INVALID_ARGUMENT, "linear_new: %s is no activation. HINT: such as op_relu",
                  activation->name);
        return NULL;
    }
    Linear *self = (Linear *)layer_new(&linear_type);
    if (!self) return NULL;
    self->in_features = in_features;
    self->out_features = out_features;
    self->has_bias = bias;
    self->activation = activation;
    return layer_finished_product(&self->layer, SHAPE(out_features, in_features), bias);
}

Layer *linear_new(int64_t in_features, int64_t out_features, bool bias) {
    return linear_new_fused(in_features, out_features, bias, NULL);
}
