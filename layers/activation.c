// activation.c -- an element-wise activation as a layer of its own: any op that has a `module`
#include "layers/layer.h"
#include "tensor/op.h"

// Name and parameters come from the op, so every layer has a type of its own.
typedef struct ActivationLayer {
    Layer layer;
    LayerType type;
    LayerAttribute attributes[OP_MAX_VALUES];
    const Op *op;
    OpParams params;
    char printed[32];
} ActivationLayer;

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    const ActivationLayer *activation = (ActivationLayer *)self;
    if (!activation->op) return in[0];
    return op_run(activation->op, &activation->params, in, n_in);
}

static void set_type(ActivationLayer *self, const Op *op) {
    self->type = (LayerType){.name = op ? op->module : "Identity",
                             .size = sizeof(ActivationLayer),
                             .attributes = self->attributes,
                             .forward = forward};
    self->layer.type = &self->type;
    for (int i = 0; op && i < OP_MAX_VALUES && op->values[i].name; i++) {
        size_t offset = offsetof(ActivationLayer, params.value) + (size_t)i * sizeof(float);
        self->attributes[i] = (LayerAttribute){op->values[i].name, ATTRIBUTE_REAL, offset};
        self->params.value[i] = op->values[i].value;
        self->type.n_attributes++;
    }
    self->op = op;
}

Layer *activation_new_with(const Op *op, const float *values) {
    static const LayerType any = {.name = "Activation", .size = sizeof(ActivationLayer)};
    if (op && !op->module) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "activation_new: %s is not an activation. HINT: such as op_relu", op->name);
        return NULL;
    }
    ActivationLayer *self = (ActivationLayer *)layer_new(&any);
    if (!self) return NULL;
    set_type(self, op);
    for (int i = 0; values && i < self->type.n_attributes; i++) self->params.value[i] = values[i];
    if (op && op->printed) {
        snprintf(self->printed, sizeof self->printed, op->printed, (double)self->params.value[0]);
        self->type.printed = self->printed;
    }
    return &self->layer;
}

Layer *activation_new(const Op *op) { return activation_new_with(op, NULL); }
Layer *relu_new(void) { return activation_new(&op_relu); }
Layer *gelu_new(void) { return activation_new(&op_gelu); }
