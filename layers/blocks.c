// blocks.c -- small blocks of modern networks: a learned scale per channel, and a gate per channel
// computed from the whole image
#include "layers/containers.h"
#include "layers/layers2d.h"
#include "layers/parts.h"
#include "tensor/op.h"

// ---- layer scale -------------------------------------------------------------------------------
typedef struct LayerScale {
    Layer layer;
    int64_t channels, spatial;
} LayerScale;

static const LayerAttribute scale_attributes[] = {
    {"channels", ATTRIBUTE_INTEGER, offsetof(LayerScale, channels)},
};

// x (n, ..., c) or (n, c, spatial ...) times gamma (c)
static Tensor *scale_forward(Layer *self, Tensor *const in[], int n_in) {
    const LayerScale *scale = (LayerScale *)self;
    (void)n_in;
    Shape shape = SHAPE(scale->channels);
    while (shape.ndim <= scale->spatial) shape.dims[shape.ndim++] = 1;
    return tensor_mul(in[0], tensor_reshape(self->parameters[0].tensor, shape));
}

static const LayerType scale_type = {.name = "LayerScale",
                                     .size = sizeof(LayerScale),
                                     .attributes = scale_attributes,
                                     .n_attributes = 1,
                                     .forward = scale_forward};

Layer *layer_scale_new(int64_t channels, int spatial, float value) {
    if (channels < 1 || spatial < 0 || spatial >= TENSOR_MAX_DIMS) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "layer_scale_new: %lld channels before %d dimensions. HINT: at least 1, before 0 "
                  "to %d",
                  (long long)channels, spatial, TENSOR_MAX_DIMS - 1);
        return NULL;
    }
    LayerScale *self = (LayerScale *)layer_new(&scale_type);
    if (!self) return NULL;
    self->channels = channels;
    self->spatial = spatial;
    layer_add_parameter(&self->layer, "gamma", layer_filled_new(SHAPE(channels), value));
    return layer_finished(&self->layer);
}

// ---- squeeze and excitation --------------------------------------------------------------------
enum { AVERAGE, FC1, ACTIVATION, FC2, GATE }; // children, in order

static Tensor *squeeze_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *gate = in[0]; // (n, c, h, w), and (n, c, 1, 1) from the first child on
    for (int i = AVERAGE; i <= GATE && gate; i++) gate = layer_run_child(self, i, gate);
    return gate ? tensor_mul(in[0], gate) : NULL;
}

static const LayerType squeeze_type = {.name = "SqueezeExcitation",
                                       .size = sizeof(Layer),
                                       .forward = squeeze_forward};

Layer *squeeze_excitation_new(int64_t channels, int64_t squeezed, const Op *activation,
                              const Op *gate) {
    Layer *self = layer_new(&squeeze_type);
    if (!self) return NULL;
    Conv2dOptions plain = conv2d_defaults();
    layer_add_child(self, "avgpool", adaptive_avg_pool2d_new(1, 1));
    layer_add_child(self, "fc1", conv2d_new(channels, squeezed, 1, 1, plain, true));
    layer_add_child(self, "activation", activation_new(activation));
    layer_add_child(self, "fc2", conv2d_new(squeezed, channels, 1, 1, plain, true));
    layer_add_child(self, "scale_activation", activation_new(gate));
    return layer_finished(self);
}
