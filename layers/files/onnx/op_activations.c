// op_activations.c -- ONNX's activations as the engine's, with their parameters.
#include <float.h>
#include <math.h>

#include "layers/files/onnx/import.h"
#include "tensor/op.h"
#include "tensor/ops.h"

static Status run_one(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    out[0] = step->op->of_one(onnx_as_float(in[0]));
    return error_status();
}

// Reads two attributes of the node.
static Status build_numbers(Import *import, const Node *node, Step *step, const char *first,
                            float otherwise, const char *second, float also) {
    step->params.plain.value[0] = attribute_float(node, first, otherwise);
    if (second) step->params.plain.value[1] = attribute_float(node, second, also);
    return step_inputs(import, node, step, 1);
}

// 0 up to the threshold; beyond it, x moved towards 0 by the bias.
static Tensor *shrunk(Tensor *x, float threshold, float bias) {
    if (bias != 0.0f && bias == threshold) return tensor_softshrink(x, threshold);
    Tensor *y = tensor_hardshrink(x, threshold);
    return bias == 0.0f ? y : tensor_sub(y, tensor_mul_scalar(tensor_sign(y), bias));
}

// Klambauer et al. 2017; with other constants it is a scaled ELU.
#define SELU_ALPHA 1.67326319217681884765625f
#define SELU_GAMMA 1.05070102214813232421875f
static Tensor *scaled_elu(Tensor *x, float alpha, float gamma) {
    bool theirs = fabsf(alpha - SELU_ALPHA) < 1e-6f && fabsf(gamma - SELU_GAMMA) < 1e-6f;
    return theirs ? tensor_selu(x) : tensor_mul_scalar(tensor_elu(x, alpha), gamma);
}

#define NUMBERS(of, first, otherwise, second, also, expression)                                    \
    static Status build_##of(Import *import, const Node *node, Step *step) {                       \
        return build_numbers(import, node, step, first, otherwise, second, also);                  \
    }                                                                                              \
    static Status run_##of(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {   \
        (void)training;                                                                            \
        const float *number = step->params.plain.value;                                            \
        Tensor *x = onnx_as_float(in[0]);                                                          \
        out[0] = expression;                                                                       \
        return error_status();                                                                     \
    }

NUMBERS(leaky, "alpha", 0.01f, NULL, 0.0f, tensor_leaky_relu(x, number[0]))
NUMBERS(elu, "alpha", 1.0f, NULL, 0.0f, tensor_elu(x, number[0]))
NUMBERS(celu, "alpha", 1.0f, NULL, 0.0f, tensor_celu(x, number[0]))
NUMBERS(thresholded, "alpha", 1.0f, NULL, 0.0f, tensor_threshold(x, number[0], 0.0f))
NUMBERS(selu, "alpha", SELU_ALPHA, "gamma", SELU_GAMMA, scaled_elu(x, number[0], number[1]))
NUMBERS(swish, "alpha", 1.0f, NULL, 0.0f,
        number[0] == 1.0f ? tensor_silu(x)
                          : tensor_mul(x, tensor_sigmoid(tensor_mul_scalar(x, number[0]))))
#undef NUMBERS

static Status build_shrink(Import *import, const Node *node, Step *step) {
    if (attribute_float(node, "lambd", 0.5f) < 0.0f)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "a \"lambd\" below 0 is not read");
    return build_numbers(import, node, step, "lambd", 0.5f, "bias", 0.0f);
}

static Status run_shrink(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const float *number = step->params.plain.value;
    out[0] = shrunk(onnx_as_float(in[0]), number[0], number[1]);
    return error_status();
}

static Tensor *softplus(Tensor *x) { return tensor_softplus(x, 1.0f, 20.0f); }

// max(0, min(1, alpha x + beta)); PyTorch's has alpha 1/6 and beta 1/2.
static Status build_hard_sigmoid(Import *import, const Node *node, Step *step) {
    return build_numbers(import, node, step, "alpha", 0.2f, "beta", 0.5f);
}

static Status run_hard_sigmoid(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const float *number = step->params.plain.value;
    Tensor *x = onnx_as_float(in[0]);
    if (fabsf(number[0] - 1.0f / 6.0f) < 1e-6f && number[1] == 0.5f) {
        out[0] = tensor_hardsigmoid(x);
    } else {
        Tensor *line = tensor_add_scalar(tensor_mul_scalar(x, number[0]), number[1]);
        out[0] = tensor_clamp(line, 0.0f, 1.0f);
    }
    return error_status();
}

static Status build_gelu(Import *import, const Node *node, Step *step) {
    step->params.plain.flags[0] = attribute_is(node, "approximate", "tanh", false);
    return step_inputs(import, node, step, 1);
}

static Status run_gelu(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    out[0] = step->params.plain.flags[0] ? tensor_gelu_tanh(in[0]) : tensor_gelu(in[0]);
    return error_status();
}

static float bound(Import *import, const Node *node, const char *name, int i, float otherwise) {
    Value *value = node_input(import, node, i);
    if (!value) return attribute_float(node, name, otherwise);
    return value_is_one(import, value, name) ? (float)value_number(value, 0) : otherwise;
}

// Floats have the bounds as numbers; integers, which float32 would round, as inputs.
static Status build_clip(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    float *number = step->params.plain.value;
    if (onnx_dtype(in->type) == DTYPE_INT64) return step_inputs(import, node, step, 3);
    float most = import->opset < 11 ? FLT_MAX : INFINITY; // without a bound
    number[0] = bound(import, node, "min", 1, -most);
    number[1] = bound(import, node, "max", 2, most);
    return error_pending() ? error_status() : step_inputs(import, node, step, 1);
}

static Status run_clip(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const float *number = step->params.plain.value;
    if (step->whole) {
        out[0] = in[1] ? tensor_maximum(in[0], in[1]) : in[0];
        if (in[2]) out[0] = tensor_minimum(out[0], in[2]);
        return error_status();
    }
    Tensor *x = onnx_as_float(in[0]);
    bool six = number[0] == 0.0f && number[1] == 6.0f;
    out[0] = six ? tensor_relu6(x) : tensor_clamp(x, number[0], number[1]);
    return error_status();
}

// The slopes broadcast to x (n, c, ...). flags[0]: there is one slope, or one per channel.
static Status build_prelu(Import *import, const Node *node, Step *step) {
    const char *const roles[] = {NULL, "weight"};
    if (step_weights(import, node, step, 2, roles)) return error_status();
    const Value *x = import_value(import, step->in[0]);
    Value *slopes = import_value(import, step->in[1]);
    if (!x || !slopes) return STATUS_OK; // a later check reports it
    int64_t n = shape_numel(slopes->shape);
    int place = 1 - (x->shape.ndim - slopes->shape.ndim); // dimension of the channels in `slopes`
    bool channels = place >= 0 && place < slopes->shape.ndim && x->shape.ndim >= 2 &&
                    n == x->shape.dims[1] && slopes->shape.dims[place] == n;
    step->params.plain.flags[0] = n == 1 || channels;
    if (step->params.plain.flags[0]) value_flatten(slopes);
    return STATUS_OK;
}

static Status run_prelu(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    if (step->params.plain.flags[0]) {
        out[0] = tensor_prelu(in[0], tensor_reshape(in[1], SHAPE(in[1]->numel)));
    } else {
        Tensor *below = tensor_mul(tensor_clamp(in[0], -INFINITY, 0.0f), in[1]);
        out[0] = tensor_add(tensor_relu(in[0]), below);
    }
    return error_status();
}

// ---- along a dimension ------------------------------------------------------------------------
// Up to opset 12 all dimensions from the axis on are treated as one.
static Status build_softmax(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    bool old = import->opset < 13;
    int axis = import_axis(import, attribute_int(node, "axis", old ? 1 : -1), in->shape.ndim);
    step->params.plain.dim = axis;
    step->params.plain.flags[0] = old && axis != in->shape.ndim - 1;
    return axis < 0 ? error_status() : step_inputs(import, node, step, 1);
}

static Status run_softmax(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *x = in[0];
    int dim = step->params.plain.dim;
    bool logs = step->op->name[0] == 'L', flat = step->params.plain.flags[0];
    Shape shape = x->shape;
    if (flat) {
        int64_t rows = 1;
        for (int i = 0; i < dim; i++) rows *= shape.dims[i];
        x = tensor_reshape(x, SHAPE(rows, -1));
        dim = 1;
    }
    Tensor *y = logs ? tensor_log_softmax(x, dim) : tensor_softmax(x, dim);
    out[0] = flat ? tensor_reshape(y, shape) : y;
    return error_status();
}

#define ONE(text, of, layer)                                                                       \
    { .name = text, .build = step_build_one, .run = run_one, .of_one = of, .module = layer }
const Operator onnx_activations[] = {
    ONE("Relu", tensor_relu, "ReLU"),
    ONE("Sigmoid", tensor_sigmoid, "Sigmoid"),
    ONE("Tanh", tensor_tanh, "Tanh"),
    ONE("HardSwish", tensor_hardswish, "Hardswish"),
    {.name = "Selu", .build = build_selu, .run = run_selu, .module = "SELU"},
    ONE("Softsign", tensor_softsign, "Softsign"),
    ONE("Softplus", softplus, "Softplus"),
    ONE("Mish", tensor_mish, "Mish"),
    {.name = "Swish", .build = build_swish, .run = run_swish, .module = "SiLU"},
    {.name = "LeakyRelu", .build = build_leaky, .run = run_leaky, .module = "LeakyReLU"},
    {.name = "Elu", .build = build_elu, .run = run_elu, .module = "ELU"},
    {.name = "Celu", .build = build_celu, .run = run_celu, .module = "CELU"},
    {.name = "ThresholdedRelu",
     .build = build_thresholded,
     .run = run_thresholded,
     .module = "Threshold"},
    {.name = "Shrink", .build = build_shrink, .run = run_shrink, .module = "Hardshrink"},
    {.name = "HardSigmoid",
     .build = build_hard_sigmoid,
     .run = run_hard_sigmoid,
     .module = "Hardsigmoid"},
    {.name = "Gelu", .build = build_gelu, .run = run_gelu, .module = "GELU"},
    {.name = "Clip",
     .build = build_clip,
     .run = run_clip,
     .module = "ReLU6",
     .whole = WHOLE_COMPUTED,
     .optional = 1 << 1 | 1 << 2},
    {.name = "PRelu", .build = build_prelu, .run = run_prelu, .module = "PReLU"},
    {.name = "Softmax", .build = build_softmax, .run = run_softmax, .module = "Softmax"},
    {.name = "LogSoftmax", .build = build_softmax, .run = run_softmax, .module = "LogSoftmax"},
    {.name = NULL},
};
