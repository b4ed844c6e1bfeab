// op_norms.c -- ONNX's norms as the engine's.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

static const char *const affine[] = {NULL, "weight", "bias"};

// True for weights of ones and biases of zeros without a layer's name: the operator requires them
// as inputs, but the norm has none.
static bool all_are(Import *import, int at, double number) {
    Value *value = import_value(import, at);
    if (!value || value->kind != VALUE_CONSTANT) return !value;
    int64_t i = 0, n = shape_numel(value->shape);
    if (!value_data(import, value)) return false;
    while (i < n && value_number(value, i) == number) i++;
    return i == n;
}

static void count_norms(Import *import, const Step *step) {
    for (int i = 1; i < 3; i++) {
        Value *value = import_value(import, step->in[i]);
        if (value && value->kind == VALUE_CONSTANT && !import->computing) value->norms++;
    }
}

static Status norm_weights(Import *import, const Node *node, Step *step) {
    if (step_weights(import, node, step, 3, affine)) return error_status();
    count_norms(import, step);
    bool given = step->in[2] >= 0 || (step->op->optional >> 2 & 1) != 0;
    if (given && all_are(import, step->in[2], 0.0)) step->n_in = 2;
    if (step->n_in == 2 && step->in[1] >= 0 && all_are(import, step->in[1], 1.0)) step->n_in = 1;
    return error_status();
}

static Tensor *input_of(const Step *step, Tensor *const in[], int i) {
    return i < step->n_in ? in[i] : NULL;
}

static Status build_instance(Import *import, const Node *node, Step *step) {
    step->params.norm.epsilon = attribute_float(node, "epsilon", 1e-5f);
    step->params.norm.groups = attribute_int(node, "num_groups", 0);
    return norm_weights(import, node, step);
}

static Status run_instance(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_instance_norm(in[0], input_of(step, in, 1), input_of(step, in, 2),
                                     step->params.norm.epsilon),
                out);
}

// Up to opset 20 there is a weight per group, later one per channel.
static Status run_group(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t groups = step->params.norm.groups;
    int64_t channels = in[0]->shape.ndim > 1 ? in[0]->shape.dims[1] : 0;
    Tensor *weights[2] = {input_of(step, in, 1), input_of(step, in, 2)};
    for (int i = 0; i < 2; i++) {
        if (!weights[i] || groups == 0) continue;
        if (weights[i]->numel == channels) {
            weights[i] = tensor_reshape(weights[i], SHAPE(channels));
            continue;
        }
        Tensor *each = tensor_reshape(weights[i], SHAPE(groups, 1));
        each = tensor_expand(each, SHAPE(groups, channels / groups));
        weights[i] = tensor_reshape(each, SHAPE(channels));
    }
    return done(tensor_group_norm(in[0], groups, weights[0], weights[1], step->params.norm.epsilon),
                out);
}

// ---- over rows --------------------------------------------------------------------------------
static Status build_rows(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int axis = import_axis(import, attribute_int(node, "axis", -1), in->shape.ndim);
    if (axis < 0) return error_status();
    step->params.norm.epsilon = attribute_float(node, "epsilon", 1e-5f);
    for (int i = axis; i < in->shape.ndim; i++)
        step->params.norm.row.dims[step->params.norm.row.ndim++] = in->shape.dims[i];
    return norm_weights(import, node, step);
}

// Weights may broadcast to the row.
static Tensor *of_row(Tensor *weight, Shape row) {
    if (!weight || shape_equal(weight->shape, row)) return weight;
    return tensor_contiguous(tensor_expand(weight, row));
}

static Status run_layer(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Shape row = step->params.norm.row;
    return done(tensor_layer_norm(in[0], row, of_row(input_of(step, in, 1), row),
                                  of_row(input_of(step, in, 2), row), step->params.norm.epsilon),
                out);
}

static Status run_rms(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Shape row = step->params.norm.row;
    return done(tensor_rms_norm(in[0], row, of_row(input_of(step, in, 1), row),
                                step->params.norm.epsilon),
                out);
}

// ---- batch norm -------------------------------------------------------------------------------
// ONNX's momentum is the weight of the old statistics, PyTorch's that of the new ones.
static Status build_batch(Import *import, const Node *node, Step *step) {
    static const char *const states[] = {"running_mean", "running_var"};
    const char *const roles[] = {NULL, "weight", "bias", NULL, NULL};
    step->params.norm.epsilon = attribute_float(node, "epsilon", 1e-5f);
    step->params.norm.momentum = 1.0f - attribute_float(node, "momentum", 0.9f);
    step->params.norm.trains = attribute_int(node, "training_mode", 0) != 0;
    if (step_weights(import, node, step, 5, roles)) return error_status();
    count_norms(import, step);
    for (int i = 3; i < 5; i++) {
        const Value *state = node_input(import, node, i);
        if (!state || !node_input(import, node, 1) || !node_input(import, node, 2))
            return import_error(import, STATUS_FORMAT,
                                "it has not all of scale, bias, mean and variance");
        step->params.norm.computed = step->params.norm.computed || state->kind == VALUE_RUN;
        if (step_state(import, node, step, i, states[i - 3])) return error_status();
    }
    // Computed statistics with training_mode are the batch's own.
    if (step->params.norm.computed && step->params.norm.trains) step->n_in = 3;
    return STATUS_OK;
}

// Normalises by statistics that other steps compute, so that gradients pass through them.
static Tensor *by_computed(const Step *step, Tensor *const in[]) {
    Shape channels = in[0]->shape;
    for (int i = 0; i < channels.ndim; i++) channels.dims[i] = i == 1 ? in[1]->numel : 1;
    Tensor *rstd = tensor_rsqrt(tensor_add_scalar(in[4], step->params.norm.epsilon));
    Tensor *x = tensor_sub(in[0], tensor_reshape(in[3], channels));
    x = tensor_mul(x, tensor_reshape(tensor_mul(rstd, in[1]), channels));
    return tensor_add(x, tensor_reshape(in[2], channels));
}

static Status run_batch(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    float epsilon = step->params.norm.epsilon;
    if (step->n_in == 3)
        return done(tensor_batch_norm(in[0], in[1], in[2], epsilon, (RunningStatistics){0}), out);
    if (step->params.norm.computed) return done(by_computed(step, in), out);
    for (int i = 1; i < step->n_out && i < 3; i++) out[i] = in[2 + i]; // the same, updated in place
    RunningStatistics running = {.mean = in[3],
                                 .variance = in[4],
                                 .momentum = step->params.norm.momentum};
    if (!training && step->params.norm.trains) // its statistics are updated in training only
        return done(tensor_batch_norm(in[0], in[1], in[2], epsilon, (RunningStatistics){0}), out);
    if (training) return done(tensor_batch_norm(in[0], in[1], in[2], epsilon, running), out);
    return done(tensor_batch_norm_eval(in[0], in[1], in[2], epsilon, running), out);
}

const Operator onnx_norms[] = {
    {.name = "BatchNormalization", .build = build_batch, .run = run_batch, .module = "BatchNorm2d"},
    {.name = "InstanceNormalization",
     .build = build_instance,
     .run = run_instance,
     .module = "InstanceNorm2d"},
    {.name = "GroupNormalization",
     .build = build_instance,
     .run = run_group,
     .module = "GroupNorm"},
    {.name = "LayerNormalization",
     .build = build_rows,
     .run = run_layer,
     .module = "LayerNorm",
     .optional = 1 << 2},
    {.name = "RMSNormalization",
     .build = build_rows,
     .run = run_rms,
     .module = "RMSNorm",
     .optional = 1 << 2},
    {.name = NULL},
};
