// model_text_strange.c -- layers that nobody was told about: what exercises call unknown. Two are
// named as if they were known, one has three parameters, one holds others and has a parameter
// itself.
#include "exercises/support/model_text_parts.h"

// Uniform between 0.5 and 1.5.
static Status add_parameter(Layer *self, const char *name, Shape shape) {
    Tensor *tensor = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    if (tensor && tensor_fill_uniform(tensor, 0.5f, 1.5f)) {
        tensor_free(tensor);
        tensor = NULL;
    }
    return layer_add_parameter(self, name, tensor);
}

// ---- Mystery: a learned factor per feature -----------------------------------------------------
typedef struct Mystery {
    Layer layer;
    int64_t size;
} Mystery;

static const LayerAttribute mystery_attributes[] = {
    {"size", ATTRIBUTE_INTEGER, offsetof(Mystery, size)},
};

static Tensor *mystery_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in; // one, layer_forward has seen to it
    return tensor_mul(in[0], self->parameters[0].tensor);
}

static const LayerType mystery_type = {.name = "Mystery",
                                       .size = sizeof(Mystery),
                                       .attributes = mystery_attributes,
                                       .n_attributes = 1,
                                       .forward = mystery_forward};

Layer *mystery_new(int64_t size) {
    Mystery *self = (Mystery *)layer_new(&mystery_type);
    if (!self) return NULL;
    self->size = size;
    if (!add_parameter(&self->layer, "scale", SHAPE(size))) return &self->layer;
    layer_free(&self->layer);
    return NULL;
}

// ---- LinearGated: (weight x + bias) * (gate x), as in Dauphin et al. 2017 -----------------------
typedef struct LinearGated {
    Layer layer;
    int64_t in_features, out_features;
} LinearGated;

static const LayerAttribute gated_attributes[] = {
    {"in_features", ATTRIBUTE_INTEGER, offsetof(LinearGated, in_features)},
    {"out_features", ATTRIBUTE_INTEGER, offsetof(LinearGated, out_features)},
};

static Tensor *gated_forward(Layer *self, Tensor *const in[], int n_in) {
    const Parameter *own = self->parameters; // weight, gate, bias
    (void)n_in;
    Tensor *value = tensor_linear(in[0], own[0].tensor, own[2].tensor, NULL);
    return tensor_mul(value, tensor_linear(in[0], own[1].tensor, NULL, NULL));
}

static const LayerType gated_type = {.name = "LinearGated",
                                     .size = sizeof(LinearGated),
                                     .attributes = gated_attributes,
                                     .n_attributes = 2,
                                     .forward = gated_forward};

Layer *linear_gated_new(int64_t in_features, int64_t out_features) {
    LinearGated *self = (LinearGated *)layer_new(&gated_type);
    if (!self) return NULL;
    self->in_features = in_features;
    self->out_features = out_features;
    Shape matrix = SHAPE(out_features, in_features);
    Status status = add_parameter(&self->layer, "weight", matrix);
    if (!status) status = add_parameter(&self->layer, "gate", matrix);
    if (!status) status = add_parameter(&self->layer, "bias", SHAPE(out_features));
    if (!status) return &self->layer;
    layer_free(&self->layer);
    return NULL;
}

// ---- ReLU6: between 0 and 6 --------------------------------------------------------------------
static Tensor *relu6_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_clamp(in[0], 0.0f, 6.0f);
}

static const LayerType relu6_type = {.name = "ReLU6",
                                     .size = sizeof(Layer),
                                     .forward = relu6_forward};

Layer *relu6_new(void) { return layer_new(&relu6_type); }

// ---- Scaled: what its children make of x, times a learned factor -------------------------------
static Tensor *scaled_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *y = in[0];
    for (int i = 0; i < self->n_children && y; i++) y = layer_forward(self->children[i], y);
    return y ? tensor_mul(y, self->parameters[0].tensor) : NULL;
}

static const LayerType scaled_type = {.name = "Scaled",
                                      .size = sizeof(Layer),
                                      .forward = scaled_forward};

Layer *scaled_new(void) {
    Layer *self = layer_new(&scaled_type);
    if (!self || !add_parameter(self, "factor", SHAPE(1))) return self;
    layer_free(self);
    return NULL;
}
