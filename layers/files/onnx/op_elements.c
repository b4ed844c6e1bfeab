// op_elements.c -- ONNX's element-wise operators: arithmetic, functions, conditions, casts.
// Activations: op_activations.c.
#include <float.h>
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// Without an int64 op the engine computes in float32, which holds whole numbers up to 2^24.
Tensor *onnx_as_float(Tensor *x) {
    return x && x->dtype != DTYPE_FLOAT32 ? tensor_cast(x, DTYPE_FLOAT32) : x;
}

Tensor *onnx_as_index(Tensor *x) {
    return x && x->dtype != DTYPE_INT64 ? tensor_cast(x, DTYPE_INT64) : x;
}

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// ---- of one operand ---------------------------------------------------------------------------
static Status run_one(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(step->op->of_one(step_number(step, in[0])), out);
}

// ---- of two operands, one of which may be a number ---------------------------------------------
// True for the bias of a product with one output, as Keras stores it for Dense(1).
static bool is_bias_of_one(const Import *import, const Node *node, const Value *value, int other) {
    const Step *product = step_of(import, node_input_index(import, node, other));
    const Value *sum = node_input(import, node, other);
    return strcmp(node->op_type, "Add") == 0 && value->initial && !value->fixed &&
           value->shape.ndim == 1 && product && product->n_in == 2 && product->op->module &&
           strcmp(product->op->module, "Linear") == 0 && sum->shape.dims[sum->shape.ndim - 1] == 1;
}

// Reads a stored number that is no parameter, for the op of a tensor and a scalar.
static bool number_of(Import *import, const Node *node, int i, int other, float *number) {
    Value *value = node_input(import, node, i), *against = node_input(import, node, other);
    if (!value || value->kind != VALUE_CONSTANT || shape_numel(value->shape) != 1 || !against ||
        against->kind == VALUE_CONSTANT || value->shape.ndim > against->shape.ndim ||
        is_bias_of_one(import, node, value, other))
        return false;
    bool known = value_data(import, value) != NULL;
    if (known) *number = (float)value_number(value, 0);
    return known;
}

enum { NUMBER_NONE, NUMBER_SECOND, NUMBER_FIRST };

static bool has_integers(const Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    return onnx_dtype(in->type) == DTYPE_INT64;
}

static Status build_two(Import *import, const Node *node, Step *step) {
    float *number = &step->params.plain.value[0];
    bool turns = strcmp(node->op_type, "Add") == 0 || strcmp(node->op_type, "Mul") == 0;
    if (has_integers(import, node)) return step_inputs(import, node, step, 2);
    if (number_of(import, node, 1, 0, number)) {
        step->params.plain.dim = NUMBER_SECOND;
        return step_inputs(import, node, step, 1);
    }
    if (turns && number_of(import, node, 0, 1, number)) {
        step->params.plain.dim = NUMBER_FIRST;
        return step_input(import, step, node_input_index(import, node, 1));
    }
    if (error_pending()) return error_status();
    // Subtrahends and divisors are not learned: they are means and deviations.
    const char *role = !turns ? NULL : strcmp(node->op_type, "Mul") == 0 ? "weight" : "bias";
    const char *const roles[] = {role, role};
    return step_weights(import, node, step, 2, roles);
}

static Tensor *with_number(const Operator *op, Tensor *x, float s) {
    if (op->of_two == tensor_add) return tensor_add_scalar(x, s);
    if (op->of_two == tensor_sub) return tensor_sub_scalar(x, s);
    if (op->of_two == tensor_mul) return tensor_mul_scalar(x, s);
    if (op->of_two == tensor_div) return tensor_div_scalar(x, s);
    return tensor_pow(x, s);
}

static Status run_arithmetic(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *a = step_number(step, in[0]);
    if (step->params.plain.dim != NUMBER_NONE)
        return done(with_number(step->op, a, step->params.plain.value[0]), out);
    return done(step->op->of_two(a, step_number(step, in[1])), out);
}

// ---- powers; for integers `count` is the exponent, which must be a constant ---------------------
static Status build_power(Import *import, const Node *node, Step *step) {
    Value *exponent = node_input(import, node, 1);
    if (!has_integers(import, node) || !exponent) return build_two(import, node, step);
    bool one = shape_numel(exponent->shape) == 1 && exponent->kind == VALUE_CONSTANT &&
               exponent->shape.ndim <= node_input(import, node, 0)->shape.ndim;
    if (one && !value_data(import, exponent)) return error_status();
    step->params.plain.count = one ? value_integer(exponent, 0) : -1;
    if (step->params.plain.count < 0 ||
        value_number(exponent, 0) != (double)step->params.plain.count)
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "a power of integers by what is no constant whole number from 0 on, of no more "
            "dimensions than they. HINT: "
            "Cast to float before it, where no number is above 2^24");
    return step_inputs(import, node, step, 1);
}

// x^n by squaring, with the wrap-around of any product.
static Status run_power(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    if (!step->whole) return run_arithmetic(step, training, in, out);
    Tensor *one = tensor_arange_new(1, 2, 1), *square = in[0];
    Tensor *y = tensor_expand(tensor_reshape(one, SHAPE_SCALAR), in[0]->shape);
    tensor_free(one);
    for (int64_t n = step->params.plain.count; n > 0 && y; n /= 2) {
        if (n % 2 == 1) y = tensor_mul(y, square);
        if (n > 1) square = tensor_mul(square, square);
    }
    return done(y, out);
}

// ---- of two or more operands ------------------------------------------------------------------
static Status build_all(Import *import, const Node *node, Step *step) {
    return step_inputs(import, node, step, (int)node->n_input);
}

static Status run_all(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *y = step_number(step, in[0]);
    for (int i = 1; i < step->n_in; i++) y = step->op->of_two(y, step_number(step, in[i]));
    if (strcmp(step->op->name, "Mean") == 0) y = tensor_div_scalar(y, (float)step->n_in);
    return done(y, out);
}

static Status build_mod(Import *import, const Node *node, Step *step) {
    step->params.plain.flags[1] = attribute_int(node, "fmod", 0) != 0;
    return step_inputs(import, node, step, 2);
}

static Status run_mod(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *a = step_number(step, in[0]), *b = step_number(step, in[1]);
    return done(step->params.plain.flags[1] ? tensor_fmod(a, b) : tensor_remainder(a, b), out);
}

static Tensor *either(Tensor *a, Tensor *b) { return tensor_logical_or(a, b); }
static Tensor *one_of(Tensor *a, Tensor *b) {
    return tensor_not_equal(tensor_logical_not(a), tensor_logical_not(b));
}

static Status build_where(Import *import, const Node *node, Step *step) {
    const Value *chosen = node_input(import, node, 1);
    step->type = chosen ? chosen->type : ONNX_FLOAT;
    return step_inputs(import, node, step, 3);
}

static Status run_where(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_where(onnx_as_float(in[0]), step_number(step, in[1]),
                             step_number(step, in[2])),
                out);
}

// ---- infinities: flags[0], [1]: negative and positive ones count --------------------------------
static Status build_infinite(Import *import, const Node *node, Step *step) {
    step->params.plain.flags[0] = attribute_int(node, "detect_negative", 1) != 0;
    step->params.plain.flags[1] = attribute_int(node, "detect_positive", 1) != 0;
    return step_build_one(import, node, step);
}

// True for all numbers beyond the largest finite one.
static Status run_infinite(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const bool *counts = step->params.plain.flags;
    Tensor *x = onnx_as_float(in[0]), *most = tensor_full_new(SHAPE_SCALAR, FLT_MAX);
    if (counts[0] && counts[1]) x = tensor_abs(x);
    if (counts[0] && !counts[1]) x = tensor_neg(x);
    if (!counts[0] && !counts[1]) x = tensor_mul_scalar(x, 0.0f);
    out[0] = tensor_greater(x, most);
    tensor_free(most);
    return error_status();
}

// ---- casts ------------------------------------------------------------------------------------
static Status build_cast(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0), *like = node_input(import, node, 1);
    int to = like ? like->type : (int)attribute_int(node, "to", ONNX_FLOAT);
    if (!onnx_is_known(to) || !onnx_is_known(in->type))
        return import_error(import, STATUS_NOT_IMPLEMENTED, "from %s to %s",
                            onnx_type_name(in->type), onnx_type_name(to));
    step->type = to;
    step->params.plain.flags[0] = in->type == ONNX_UINT64;
    return step_inputs(import, node, step, 1);
}

static Status run_cast(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    if (step->type == ONNX_BOOL)
        return done(tensor_logical_not(tensor_logical_not(onnx_as_float(in[0]))), out);
    if (!onnx_is_float(step->type)) return done(onnx_as_index(in[0]), out);
    Tensor *y = onnx_as_float(in[0]);
    if (step->params.plain.flags[0]) { // uint64 from 2^63 on: held as 2^64 less
        Tensor *zero = tensor_zeros_new(SHAPE_SCALAR);
        y = tensor_where(tensor_less(y, zero), tensor_add_scalar(y, 0x1p64f), y);
        tensor_free(zero);
    }
    return done(y, out);
}

#define ONE(text, of, ...)                                                                         \
    { .name = text, .build = step_build_one, .run = run_one, .of_one = of, __VA_ARGS__ }
#define TWO(text, of, ...)                                                                         \
    { .name = text, .build = build_two, .run = run_arithmetic, .of_two = of, __VA_ARGS__ }
#define ALL(text, of, ...)                                                                         \
    { .name = text, .build = build_all, .run = run_all, .of_two = of, __VA_ARGS__ }
#define CONDITION(text, of, ...)                                                                   \
    {                                                                                              \
        .name = text, .build = build_all, .run = run_all, .of_two = of, .type = ONNX_BOOL,         \
        __VA_ARGS__                                                                                \
    }
const Operator onnx_elements[] = {
    TWO("Add", tensor_add, .whole = WHOLE_COMPUTED, .wraps = true),
    TWO("Sub", tensor_sub, .whole = WHOLE_COMPUTED, .wraps = true),
    TWO("Mul", tensor_mul, .whole = WHOLE_COMPUTED, .wraps = true),
    TWO("Div", tensor_div, .whole = WHOLE_COMPUTED, .wraps = true),
    {.name = "Pow",
     .build = build_power,
     .run = run_power,
     .of_two = tensor_pow_tensor,
     .whole = WHOLE_COMPUTED,
     .wraps = true},
    ALL("Min", tensor_minimum, .whole = WHOLE_COMPUTED),
    ALL("Max", tensor_maximum, .whole = WHOLE_COMPUTED),
    ALL("Sum", tensor_add, .whole = WHOLE_COMPUTED, .wraps = true),
    ALL("Mean", tensor_add, .whole = WHOLE_NOT),
    CONDITION("Equal", tensor_equal, .whole = WHOLE_COMPUTED),
    CONDITION("Less", tensor_less, .whole = WHOLE_COMPUTED),
    CONDITION("LessOrEqual", tensor_less_equal, .whole = WHOLE_COMPUTED),
    CONDITION("Greater", tensor_greater, .whole = WHOLE_COMPUTED),
    CONDITION("GreaterOrEqual", tensor_greater_equal, .whole = WHOLE_COMPUTED),
    CONDITION("And", tensor_logical_and, .whole = WHOLE_NOT),
    CONDITION("Or", either, .whole = WHOLE_NOT),
    CONDITION("Xor", one_of, .whole = WHOLE_NOT),
    ONE("Not", tensor_logical_not, .type = ONNX_BOOL),
    ONE("IsNaN", tensor_isnan, .type = ONNX_BOOL),
    ONE("Neg", tensor_neg, .whole = WHOLE_COMPUTED, .wraps = true),
    ONE("Abs", tensor_abs, .whole = WHOLE_COMPUTED, .wraps = true),
    ONE("Exp", tensor_exp, .type = 0),
    ONE("Log", tensor_log, .type = 0),
    ONE("Sqrt", tensor_sqrt, .type = 0),
    ONE("Erf", tensor_erf, .type = 0),
    ONE("Sin", tensor_sin, .type = 0),
    ONE("Cos", tensor_cos, .type = 0),
    ONE("Reciprocal", tensor_reciprocal, .type = 0),
    ONE("Sign", tensor_sign, .whole = WHOLE_COMPUTED),
    ONE("Floor", tensor_floor, .type = 0),
    ONE("Ceil", tensor_ceil, .type = 0),
    ONE("Round", tensor_round, .type = 0),
    {.name = "Mod", .build = build_mod, .run = run_mod, .whole = WHOLE_COMPUTED},
    {.name = "Where", .build = build_where, .run = run_where, .whole = WHOLE_MOVED, .data = 1},
    {.name = "IsInf", .build = build_infinite, .run = run_infinite, .type = ONNX_BOOL},
    {.name = "Cast", .build = build_cast, .run = run_cast, .whole = WHOLE_MOVED, .wraps = true},
    {.name = "CastLike", .build = build_cast, .run = run_cast, .whole = WHOLE_MOVED, .wraps = true},
    {.name = NULL},
};
