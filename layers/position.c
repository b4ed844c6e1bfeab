// position.c -- encodings of positions: adds a row of a table to each position, from a learned
// table or one of sines and cosines
#include <math.h>

#include "layers/attention.h"
#include "layers/parts.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

typedef struct Positions {
    Layer layer;
    int64_t count, features; // of the table
} Positions;

static const LayerAttribute attributes[] = {
    {"count", ATTRIBUTE_INTEGER, offsetof(Positions, count)},
    {"features", ATTRIBUTE_INTEGER, offsetof(Positions, features)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const Positions *positions = (Positions *)self;
    const Shape *shape = &in[0]->shape;
    int64_t past = layer_past(self);
    (void)n_in;
    if (shape->ndim < 2 || shape->dims[shape->ndim - 1] != positions->features ||
        shape->dims[shape->ndim - 2] > positions->count - past) {
        char text[SHAPE_TEXT];
        error_set(STATUS_SHAPE, "%s: x is %s. HINT: (..., s, %lld), with at most %lld positions s",
                  self->type->name, shape_text(*shape, text), (long long)positions->features,
                  (long long)(positions->count - past));
        return NULL;
    }
    Tensor *table = self->n_parameters ? self->parameters[0].tensor : self->buffers[0].tensor;
    return tensor_add(in[0], tensor_slice(table, 0, past, past + shape->dims[shape->ndim - 2], 1));
}

#define POSITIONS_TYPE(word)                                                                       \
    {                                                                                              \
        .name = word, .size = sizeof(Positions), .attributes = attributes,                         \
        .n_attributes = sizeof(attributes) / sizeof(attributes[0]), .forward = forward             \
    }
static const LayerType embedding_type = POSITIONS_TYPE("PositionalEmbedding");
static const LayerType encoding_type = POSITIONS_TYPE("PositionalEncoding");

static Layer *positions_new(const LayerType *type, int64_t count, int64_t features) {
    if (count < 0 || features < 0) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: a table of %lld x %lld. HINT: sizes are at least 0",
                  type->name, (long long)count, (long long)features);
        return NULL;
    }
    Positions *self = (Positions *)layer_new(type);
    if (!self) return NULL;
    self->count = count;
    self->features = features;
    return &self->layer;
}

Layer *positional_embedding_new(int64_t count, int64_t features) {
    Layer *self = positions_new(&embedding_type, count, features);
    if (!self) return NULL;
    layer_add_parameter(self, "weight", layer_normal_new(SHAPE(count, features), 0.02f));
    return layer_finished(self);
}

// Column 2 i is a sine, 2 i + 1 the cosine of the same angle.
static Tensor *waves_new(int64_t count, int64_t features) {
    int64_t n;
    if (__builtin_mul_overflow(count, features, &n) || n > INT64_MAX / 8) {
        error_set(STATUS_OVERFLOW, "PositionalEncoding: a table of %lld x %lld is too large",
                  (long long)count, (long long)features);
        return NULL;
    }
    // A device without data needs no angles, so the table may have any size.
    if (!context_current()->device->has_data) return tensor_full_new(SHAPE(count, features), 0.0f);
    float *values = memory_new((size_t)n * sizeof *values + 1);
    if (!values) return NULL;
    for (int64_t p = 0; p < count; p++)
        for (int64_t j = 0; j < features; j++) {
            double angle = (double)p * pow(10000.0, -(double)(j / 2 * 2) / (double)features);
            values[p * features + j] = (float)(j % 2 ? cos(angle) : sin(angle));
        }
    Tensor *t = tensor_from_floats_new(SHAPE(count, features), values);
    memory_free(values);
    return t;
}

Layer *positional_encoding_new(int64_t count, int64_t features) {
    Layer *self = positions_new(&encoding_type, count, features);
    if (!self) return NULL;
    layer_add_buffer(self, "pe", waves_new(count, features));
    return layer_finished(self);
}
