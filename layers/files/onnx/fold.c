// fold.c -- constants computed at import, element by element: arithmetic, comparisons,
// functions, reductions. Moves and makers of constants have files of their own.
#include <float.h>
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"

const Folder *onnx_folder(const char *op_type) {
    const Folder *const tables[] = {onnx_fold_elements, onnx_fold_moves, onnx_fold_makers,
                                    onnx_fold_places};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const Folder *folder = tables[t]; folder->name; folder++)
            if (strcmp(folder->name, op_type) == 0) return folder;
    return NULL;
}

double fold_round(int type, double x) {
    if (type == ONNX_BOOL) return x != 0.0;
    if (type == ONNX_DOUBLE) return x;
    if (onnx_is_float(type)) return (double)(float)x;
    return x == x ? trunc(x) : 0.0;
}

void fold_strides(Shape shape, Shape to, int64_t stride[]) {
    int64_t each = 1;
    for (int i = to.ndim - 1; i >= 0; i--) {
        int at = i - (to.ndim - shape.ndim);
        stride[i] = at >= 0 && shape.dims[at] != 1 ? each : 0;
        if (at >= 0) each *= shape.dims[at];
    }
}

// Steps `index` on to the next one of the shape, and `at` along with it.
static void next_index(Shape shape, int64_t index[], const int64_t stride[], int64_t *at) {
    for (int d = shape.ndim - 1; d >= 0; d--) {
        *at += stride[d];
        if (++index[d] < shape.dims[d]) return;
        *at -= stride[d] * shape.dims[d];
        index[d] = 0;
    }
}

void fold_strided(const Value *in, Value *out, const int64_t stride[], int64_t offset) {
    int64_t index[TENSOR_MAX_DIMS] = {0}, count = shape_numel(out->shape);
    for (int64_t i = 0; i < count; i++) {
        out->data[i] = in->data[offset];
        next_index(out->shape, index, stride, &offset);
    }
}

// ---- of two -----------------------------------------------------------------------------------
static double add(double a, double b) { return a + b; }
static double sub(double a, double b) { return a - b; }
static double mul(double a, double b) { return a * b; }
static double quotient(double a, double b) { return a / b; }
static double whole_quotient(double a, double b) { return b != 0.0 ? trunc(a / b) : 0.0; }
static double whole_remainder(double a, double b) { // with the sign of b
    double rest = b != 0.0 ? fmod(a, b) : 0.0;
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
static double smaller(double a, double b) { return a < b || a != a ? a : b; }
static double larger(double a, double b) { return a > b || a != a ? a : b; }
static double equal(double a, double b) { return a == b; }
static double less(double a, double b) { return a < b; }
static double less_equal(double a, double b) { return a <= b; }
static double greater(double a, double b) { return a > b; }
static double greater_equal(double a, double b) { return a >= b; }
static double both(double a, double b) { return a != 0.0 && b != 0.0; }
static double either(double a, double b) { return a != 0.0 || b != 0.0; }
static double one_of(double a, double b) { return (a != 0.0) != (b != 0.0); }

typedef struct Binary {
    const char *name;
    double (*of)(double, double);
    double (*of_integers)(double, double); // NULL: the same
    bool condition;
} Binary;

static const Binary binaries[] = {
    {"Add", add, NULL, false},
    {"Sub", sub, NULL, false},
    {"Mul", mul, NULL, false},
    {"Div", quotient, whole_quotient, false},
    {"Mod", fmod, whole_remainder, false},
    {"Pow", pow, NULL, false},
    {"Min", smaller, NULL, false},
    {"Max", larger, NULL, false},
    {"Sum", add, NULL, false},
    {"Equal", equal, NULL, true},
    {"Less", less, NULL, true},
    {"LessOrEqual", less_equal, NULL, true},
    {"Greater", greater, NULL, true},
    {"GreaterOrEqual", greater_equal, NULL, true},
    {"And", both, NULL, true},
    {"Or", either, NULL, true},
    {"Xor", one_of, NULL, true},
};

// Of one input, or of two and more, the shapes of all of which broadcast.
static Status fold_binary(Import *import, const Node *node) {
    const Binary *binary = binaries;
    while (strcmp(binary->name, node->op_type) != 0) binary++;
    Value *first = node_input(import, node, 0), *out = node_output(import, node, 0);
    bool integers = !onnx_is_float(first->type) && attribute_int(node, "fmod", 0) == 0;
    double (*of)(double, double) =
        integers && binary->of_integers ? binary->of_integers : binary->of;
    Shape shape = first->shape;
    for (int i = 1; i < (int)node->n_input; i++) {
        const Value *more = node_input(import, node, i);
        if (!more) return import_error(import, STATUS_FORMAT, "it has no input %d", i);
        if (shape_broadcast(import, shape, more->shape, &shape)) return error_status();
    }
    if (value_fold(import, out, binary->condition ? ONNX_BOOL : first->type, shape))
        return error_status();
    int64_t stride[TENSOR_MAX_DIMS], count = shape_numel(shape);
    fold_strides(first->shape, shape, stride);
    fold_strided(first, out, stride, 0);
    for (int k = 1; k < (int)node->n_input; k++) {
        const Value *more = node_input(import, node, k);
        int64_t index[TENSOR_MAX_DIMS] = {0}, at = 0;
        fold_strides(more->shape, shape, stride);
        for (int64_t i = 0; i < count; i++) {
            out->data[i] = fold_round(out->type, of(out->data[i], more->data[at]));
            next_index(shape, index, stride, &at);
        }
    }
    return STATUS_OK;
}

// ---- of one -----------------------------------------------------------------------------------
static double negative(double x) { return -x; }
static double inverse(double x) { return 1.0 / x; }
static double not(double x) { return x == 0.0; }
static double is_nan(double x) { return x != x; }
static double is_infinite(double x) { return isinf(x) != 0; }
static double sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }
static double relu(double x) { return x < 0.0 ? 0.0 : x; }
static double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

static const struct {
    const char *name;
    double (*of)(double);
} unaries[] = {{"Neg", negative},      {"Abs", fabs},   {"Sqrt", sqrt},
               {"Exp", exp},           {"Log", log},    {"Floor", floor},
               {"Ceil", ceil},         {"Round", rint}, {"Reciprocal", inverse},
               {"Sin", sin},           {"Cos", cos},    {"Tanh", tanh},
               {"Erf", erf},           {"Not", not },   {"IsNaN", is_nan},
               {"IsInf", is_infinite}, {"Sign", sign},  {"Relu", relu},
               {"Sigmoid", logistic}};

static Status fold_unary(Import *import, const Node *node) {
    size_t which = 0;
    while (strcmp(unaries[which].name, node->op_type) != 0) which++;
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    bool condition = strncmp(node->op_type, "Is", 2) == 0 || strcmp(node->op_type, "Not") == 0;
    if (value_fold(import, out, condition ? ONNX_BOOL : in->type, in->shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(in->shape); i++)
        out->data[i] = fold_round(out->type, unaries[which].of(in->data[i]));
    return STATUS_OK;
}

static Status fold_cast(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *like = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    int type = like ? like->type : (int)attribute_int(node, "to", ONNX_FLOAT);
    if (value_fold(import, out, type, in->shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(in->shape); i++)
        out->data[i] = fold_round(type, in->data[i]);
    return STATUS_OK;
}

static Status fold_clip(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *least = node_input(import, node, 1);
    const Value *most = node_input(import, node, 2);
    Value *out = node_output(import, node, 0);
    // Attributes, up to opset 10.
    double low =
        least && least->data ? least->data[0] : (double)attribute_float(node, "min", -INFINITY);
    double high =
        most && most->data ? most->data[0] : (double)attribute_float(node, "max", INFINITY);
    if (value_fold(import, out, in->type, in->shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(in->shape); i++)
        out->data[i] = smaller(larger(in->data[i], low), high);
    return STATUS_OK;
}

static Status fold_where(Import *import, const Node *node) {
    const Value *in[3];
    Shape shape = SHAPE_SCALAR;
    int64_t stride[3][TENSOR_MAX_DIMS], at[3] = {0}, index[TENSOR_MAX_DIMS] = {0};
    for (int k = 0; k < 3; k++) {
        in[k] = node_input(import, node, k);
        if (shape_broadcast(import, shape, in[k]->shape, &shape)) return error_status();
    }
    for (int k = 0; k < 3; k++) fold_strides(in[k]->shape, shape, stride[k]);
    Value *out = node_output(import, node, 0);
    if (value_fold(import, out, in[1]->type, shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(shape); i++) {
        int64_t same[TENSOR_MAX_DIMS];
        int chosen = in[0]->data[at[0]] != 0.0 ? 1 : 2;
        out->data[i] = in[chosen]->data[at[chosen]];
        for (int k = 2; k >= 0; k--) {
            memcpy(same, index, sizeof same);
            next_index(shape, same, stride[k], &at[k]);
        }
        memcpy(index, same, sizeof same);
    }
    return STATUS_OK;
}

// ---- reductions -------------------------------------------------------------------------------
static const struct {
    const char *name;
    double (*of)(double, double);
    double first;
} reductions[] = {{"ReduceSum", add, 0.0},
                  {"ReduceMean", add, 0.0},
                  {"ReduceProd", mul, 1.0},
                  {"ReduceMin", smaller, HUGE_VAL},
                  {"ReduceMax", larger, -HUGE_VAL}};

static Status fold_reduce(Import *import, const Node *node) {
    size_t which = 0;
    ReduceParams reduce;
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    while (strcmp(reductions[which].name, node->op_type) != 0) which++;
    if (shape_reduce(import, node, in->shape, &reduce)) return error_status();
    bool over[TENSOR_MAX_DIMS] = {false};
    Shape kept = in->shape, shape = {.ndim = 0};
    for (int i = 0; i < reduce.n_dims; i++) {
        over[reduce.dims[i]] = true;
        kept.dims[reduce.dims[i]] = 1;
    }
    for (int i = 0; i < kept.ndim; i++)
        if (reduce.keep || !over[i]) shape.dims[shape.ndim++] = kept.dims[i];
    if (value_fold(import, out, in->type, shape)) return error_status();
    int64_t stride[TENSOR_MAX_DIMS], index[TENSOR_MAX_DIMS] = {0}, at = 0;
    int64_t count = shape_numel(in->shape), results = shape_numel(shape);
    if (import_work(import, count)) return error_status(); // what it reads, however little it gives
    fold_strides(kept, in->shape, stride);
    for (int64_t i = 0; i < results; i++) out->data[i] = reductions[which].first;
    for (int64_t i = 0; i < count; i++) {
        out->data[at] = reductions[which].of(out->data[at], in->data[i]);
        next_index(in->shape, index, stride, &at);
    }
    bool mean = strcmp(node->op_type, "ReduceMean") == 0;
    for (int64_t i = 0; i < results; i++)
        out->data[i] = fold_round(in->type, mean ? out->data[i] / ((double)count / (double)results)
                                                 : out->data[i]);
    return STATUS_OK;
}

const Folder onnx_fold_elements[] = {
    {"Add", fold_binary, 1},        {"Sub", fold_binary, 1},
    {"Mul", fold_binary, 1},        {"Div", fold_binary, 1},
    {"Mod", fold_binary, 1},        {"Pow", fold_binary, 1},
    {"Min", fold_binary, 1},        {"Max", fold_binary, 1},
    {"Sum", fold_binary, 1},        {"Equal", fold_binary, 1},
    {"Less", fold_binary, 1},       {"LessOrEqual", fold_binary, 1},
    {"Greater", fold_binary, 1},    {"GreaterOrEqual", fold_binary, 1},
    {"And", fold_binary, 1},        {"Or", fold_binary, 1},
    {"Xor", fold_binary, 1},        {"Neg", fold_unary, 1},
    {"Abs", fold_unary, 1},         {"Sqrt", fold_unary, 1},
    {"Exp", fold_unary, 1},         {"Log", fold_unary, 1},
    {"Floor", fold_unary, 1},       {"Ceil", fold_unary, 1},
    {"Round", fold_unary, 1},       {"Reciprocal", fold_unary, 1},
    {"Sin", fold_unary, 1},         {"Cos", fold_unary, 1},
    {"Tanh", fold_unary, 1},        {"Erf", fold_unary, 1},
    {"Not", fold_unary, 1},         {"IsNaN", fold_unary, 1},
    {"IsInf", fold_unary, 1},       {"Sign", fold_unary, 1},
    {"Relu", fold_unary, 1},        {"Sigmoid", fold_unary, 1},
    {"Cast", fold_cast, 1},         {"CastLike", fold_cast, 1},
    {"Clip", fold_clip, 1},         {"Where", fold_where, 3},
    {"ReduceSum", fold_reduce, 1},  {"ReduceMean", fold_reduce, 1},
    {"ReduceProd", fold_reduce, 1}, {"ReduceMin", fold_reduce, 1},
    {"ReduceMax", fold_reduce, 1},  {NULL, NULL, 0}};
