// model_line.c -- the models of exercises' cases: model texts, with a size limit, and with layers
// unknown to students. One of those has a familiar name, one has three parameters, and one holds
// other layers and has a parameter itself.
#include "exercises/support/model_line.h"

#include "layers/files/model_text.h"
#include "tensor/context.h"

enum { MOST_PARAMETERS = 1 << 28 }; // a gibibyte of values

// Adds a parameter with uniform values between 0.5 and 1.5.
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
    (void)n_in; // always 1: layer_forward checks it
    return tensor_mul(in[0], self->parameters[0].tensor);
}

static const LayerType mystery_type = {.name = "Mystery",
                                       .size = sizeof(Mystery),
                                       .attributes = mystery_attributes,
                                       .n_attributes = 1,
                                       .forward = mystery_forward};

static Layer *mystery_new(int64_t size) {
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

static Layer *linear_gated_new(int64_t in_features, int64_t out_features) {
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

static Layer *scaled_new(void) {
    Layer *self = layer_new(&scaled_type);
    if (!self || !add_parameter(self, "factor", SHAPE(1))) return self;
    layer_free(self);
    return NULL;
}

// ---- the line ----------------------------------------------------------------------------------
static Layer *make_mystery(const double *a) { return mystery_new((int64_t)a[0]); }
static Layer *make_linear_gated(const double *a) {
    return linear_gated_new((int64_t)a[0], (int64_t)a[1]);
}
static Layer *make_scaled(const double *a) { return (void)a, scaled_new(); }

static const ModelTextLayer strange[] = {
    {"Mystery", "size", make_mystery, false},
    {"LinearGated", "in_features out_features", make_linear_gated, false},
    {"Scaled", "", make_scaled, true},
    {.name = NULL},
};

// A line can ask for more memory than a machine has. So it is read on the meta device first, in a
// context of its own, which leaves the caller's ledger and random numbers alone.
static Status check_size(const char *text) {
    Context *context = context_new();
    if (!context) return error_status();
    Shape input;
    context_push(context);
    context_set_device(device_meta());
    Layer *model = model_text_read_with(text, &input, strange);
    int64_t parameters = model ? layer_parameter_count(model) : 0;
    layer_free(model);
    if (parameters > MOST_PARAMETERS)
        error_set(
            STATUS_INVALID_ARGUMENT,
            "model text: %lld parameters in \"%.80s\". HINT: at most %lld have values; on the "
            "meta device there is no limit",
            (long long)parameters, text, (long long)MOST_PARAMETERS);
    context_pop();
    context_free(context);
    return error_status();
}

Layer *model_from_line(const char *text, Shape *input) {
    *input = (Shape){0};
    if (error_pending()) return NULL;
    bool values = context_current()->device->has_data;
    return values && check_size(text) ? NULL : model_text_read_with(text, input, strange);
}
