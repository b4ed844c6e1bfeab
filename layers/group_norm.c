// group_norm.c -- normalises groups of channels of x (n, channels, ...), or each channel by itself,
// and scales and shifts each channel
#include "layers/layers2d.h"
#include "layers/parts.h"

typedef struct ChannelNorm {
    Layer layer;
    int64_t groups, channels; // groups: for a group norm
    int ndim;                 // of x, in an instance norm
    float epsilon;
    bool affine;
} ChannelNorm;

static const LayerAttribute group_attributes[] = {
    {"num_groups", ATTRIBUTE_INTEGER, offsetof(ChannelNorm, groups)},
    {"num_channels", ATTRIBUTE_INTEGER, offsetof(ChannelNorm, channels)},
    {"eps", ATTRIBUTE_REAL, offsetof(ChannelNorm, epsilon)},
    {"affine", ATTRIBUTE_FLAG, offsetof(ChannelNorm, affine)},
};
static const LayerAttribute instance_attributes[] = {
    {"num_features", ATTRIBUTE_INTEGER, offsetof(ChannelNorm, channels)},
    {"eps", ATTRIBUTE_REAL, offsetof(ChannelNorm, epsilon)},
    {"affine", ATTRIBUTE_FLAG, offsetof(ChannelNorm, affine)},
};

static Tensor *refuse(const ChannelNorm *norm, Shape x) {
    char text[SHAPE_TEXT];
    error_set(STATUS_SHAPE, "%s of %s: x has not the %lld channels. HINT: x is (n, %lld, %s)",
              norm->layer.type->name, shape_text(x, text), (long long)norm->channels,
              (long long)norm->channels,
              norm->ndim == 0   ? "..."
              : norm->ndim == 3 ? "length"
                                : "height, width");
    return NULL;
}

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const ChannelNorm *norm = (ChannelNorm *)self;
    (void)n_in;
    Tensor *weight = norm->affine ? self->parameters[0].tensor : NULL;
    Tensor *bias = norm->affine ? self->parameters[1].tensor : NULL;
    Shape x = tensor_shape(in[0]);
    bool fits = norm->ndim ? x.ndim == norm->ndim : x.ndim >= 2;
    if (!fits || x.dims[1] != norm->channels) return refuse(norm, x);
    return norm->ndim ? tensor_instance_norm(in[0], weight, bias, norm->epsilon)
                      : tensor_group_norm(in[0], norm->groups, weight, bias, norm->epsilon);
}

static const LayerType group_type = {.name = "GroupNorm",
                                     .size = sizeof(ChannelNorm),
                                     .attributes = group_attributes,
                                     .n_attributes = 4,
                                     .forward = forward};
static const LayerType instance1d_type = {.name = "InstanceNorm1d",
                                          .size = sizeof(ChannelNorm),
                                          .attributes = instance_attributes,
                                          .n_attributes = 3,
                                          .forward = forward};
static const LayerType instance2d_type = {.name = "InstanceNorm2d",
                                          .size = sizeof(ChannelNorm),
                                          .attributes = instance_attributes,
                                          .n_attributes = 3,
                                          .forward = forward};

static Layer *norm_new(const LayerType *type, ChannelNorm of) {
    if (layer_check_epsilon(type->name, of.epsilon)) return NULL;
    if (of.channels < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: %lld channels. HINT: 1, or more", type->name,
                  (long long)of.channels);
        return NULL;
    }
    ChannelNorm *self = (ChannelNorm *)layer_new(type);
    if (!self) return NULL;
    of.layer = self->layer;
    *self = of;
    if (!of.affine) return &self->layer;
    layer_add_parameter(&self->layer, "weight", layer_filled_new(SHAPE(of.channels), 1.0f));
    layer_add_parameter(&self->layer, "bias", layer_filled_new(SHAPE(of.channels), 0.0f));
    return layer_finished(&self->layer);
}

Layer *group_norm_new(int64_t groups, int64_t channels, float epsilon, bool affine) {
    if (groups < 1 || channels % groups) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "GroupNorm: %lld groups of %lld channels. HINT: 1, or more, that divide them",
                  (long long)groups, (long long)channels);
        return NULL;
    }
    return norm_new(&group_type, (ChannelNorm){.groups = groups,
                                               .channels = channels,
                                               .epsilon = epsilon,
                                               .affine = affine});
}

Layer *instance_norm1d_new(int64_t features, float epsilon, bool affine) {
    return norm_new(
        &instance1d_type,
        (ChannelNorm){.channels = features, .ndim = 3, .epsilon = epsilon, .affine = affine});
}

Layer *instance_norm2d_new(int64_t features, float epsilon, bool affine) {
    return norm_new(
        &instance2d_type,
        (ChannelNorm){.channels = features, .ndim = 4, .epsilon = epsilon, .affine = affine});
}
