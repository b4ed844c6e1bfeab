// batch_norm.c -- normalises each channel: in training by the batch, and in evaluation by the
// running statistics that training kept
#include <math.h>

#include "layers/layers2d.h"
#include "layers/parts.h"

typedef struct BatchNorm {
    Layer layer;
    int64_t features;
    float epsilon, momentum;
    bool affine, tracks;
} BatchNorm;

BatchNormOptions batch_norm_defaults(void) {
    return (BatchNormOptions){
        .epsilon = 1e-5f, .momentum = 0.1f, .affine = true, .track_running_stats = true};
}

static const LayerAttribute attributes[] = {
    {"num_features", ATTRIBUTE_NAMELESS, offsetof(BatchNorm, features)},
    {"eps", ATTRIBUTE_REAL, offsetof(BatchNorm, epsilon)},
    {"momentum", ATTRIBUTE_REAL, offsetof(BatchNorm, momentum)},
    {"affine", ATTRIBUTE_FLAG, offsetof(BatchNorm, affine)},
    {"track_running_stats", ATTRIBUTE_FLAG, offsetof(BatchNorm, tracks)},
};

// ---- forward -----------------------------------------------------------------------------------
static Tensor *normalise(Layer *self, Tensor *x) {
    const BatchNorm *norm = (BatchNorm *)self;
    Tensor *weight = norm->affine ? self->parameters[0].tensor : NULL;
    Tensor *bias = norm->affine ? self->parameters[1].tensor : NULL;
    RunningStatistics running = {.momentum = norm->momentum};
    bool evaluates = norm->tracks && !self->training;
    bool follow = norm->tracks && !autograd_recomputing(); // else the first time updated them
    if (evaluates || follow) {
        running.mean = self->buffers[0].tensor;
        running.variance = self->buffers[1].tensor;
        running.batches = self->buffers[2].tensor;
    }
    if (evaluates) return tensor_batch_norm_eval(x, weight, bias, norm->epsilon, running);
    return tensor_batch_norm(x, weight, bias, norm->epsilon, running);
}

static Tensor *refuse(const Layer *self, const Tensor *x, const char *wanted) {
    char text[SHAPE_TEXT];
    const BatchNorm *norm = (const BatchNorm *)self;
    error_set(STATUS_SHAPE, "%s of %lld channels: x is %s. HINT: it takes %s", self->type->name,
              (long long)norm->features, shape_text(x->shape, text), wanted);
    return NULL;
}

static bool has_channels(const Layer *self, const Tensor *x) {
    return x->shape.dims[1] == ((const BatchNorm *)self)->features;
}

static Tensor *forward_1d(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    int ndim = in[0]->shape.ndim;
    if ((ndim == 2 || ndim == 3) && has_channels(self, in[0])) return normalise(self, in[0]);
    return refuse(self, in[0], "(n, channels) or (n, channels, length)");
}

static Tensor *forward_2d(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    if (in[0]->shape.ndim == 4 && has_channels(self, in[0])) return normalise(self, in[0]);
    return refuse(self, in[0], "(n, channels, height, width)");
}

#define BATCH_NORM_TYPE(text, function)                                                            \
    {                                                                                              \
        .name = text, .size = sizeof(BatchNorm), .attributes = attributes,                         \
        .n_attributes = sizeof(attributes) / sizeof(attributes[0]), .forward = function            \
    }
static const LayerType type_1d = BATCH_NORM_TYPE("BatchNorm1d", forward_1d);
static const LayerType type_2d = BATCH_NORM_TYPE("BatchNorm2d", forward_2d);

// ---- making ------------------------------------------------------------------------------------
static Status check(const char *name, int64_t features, BatchNormOptions options) {
    if (features < 0)
        return error_set(STATUS_INVALID_ARGUMENT, "%s: %lld features. HINT: at least 0", name,
                         (long long)features);
    if (layer_check_epsilon(name, options.epsilon)) return error_status();
    if (!isinf(options.momentum)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: momentum is %g. HINT: what the newest batch counts, such as 0.1, or "
                     "NAN for all batches alike",
                     name, (double)options.momentum);
}

static Layer *batch_norm_new(const LayerType *type, int64_t features, BatchNormOptions options) {
    if (check(type->name, features, options)) return NULL;
    BatchNorm *self = (BatchNorm *)layer_new(type);
    if (!self) return NULL;
    self->features = features;
    self->epsilon = options.epsilon;
    self->momentum = options.momentum;
    self->affine = options.affine;
    self->tracks = options.track_running_stats;
    Layer *layer = &self->layer;
    if (self->affine) {
        layer_add_parameter(layer, "weight", layer_filled_new(SHAPE(features), 1.0f));
        layer_add_parameter(layer, "bias", layer_filled_new(SHAPE(features), 0.0f));
    }
    if (self->tracks) {
        layer_add_buffer(layer, "running_mean", tensor_full_new(SHAPE(features), 0.0f));
        layer_add_buffer(layer, "running_var", tensor_full_new(SHAPE(features), 1.0f));
        layer_add_buffer(layer, "num_batches_tracked",
                         tensor_from_labels_new(SHAPE_SCALAR, (int64_t[]){0}));
    }
    return layer_finished(layer);
}

Layer *batch_norm1d_new(int64_t features, BatchNormOptions options) {
    return batch_norm_new(&type_1d, features, options);
}

Layer *batch_norm2d_new(int64_t features, BatchNormOptions options) {
    return batch_norm_new(&type_2d, features, options);
}
