// makers.c -- constants that nodes make without an operator: listed in the node, shapes, filled
// ones, ranges, diagonals, indices of nonzero elements. Computed ones: compute.c.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/op.h"

// ---- listed in the node -------------------------------------------------------------------------
// Takes a list as a tensor of the file, because it may be a parameter.
static Status take_listed(const Onnx__Attribute *a, Value *out) {
    out->count = (int64_t)a->n_floats;
    out->listed = (Onnx__Tensor)ONNX__TENSOR__INIT;
    out->listed.n_dims = 1;
    out->listed.dims = &out->count;
    out->listed.n_float_data = a->n_floats;
    out->listed.float_data = a->floats;
    out->listed.has_data_type = true;
    out->type = out->listed.data_type = ONNX_FLOAT;
    out->kind = VALUE_CONSTANT;
    out->stored = &out->listed;
    out->shape = SHAPE(out->count);
    return STATUS_OK;
}

static Status make_constant(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    const Onnx__Attribute *a;
    if ((a = attribute_find(node, "value")) && a->t) {
        out->kind = VALUE_CONSTANT;
        out->type = a->t->data_type;
        out->stored = a->t;
        return onnx_stored_shape(a->t, &out->shape);
    }
    if ((a = attribute_find(node, "value_floats"))) return take_listed(a, out);
    bool is_float = (a = attribute_find(node, "value_float")) != NULL;
    bool one_integer = !a && (a = attribute_find(node, "value_int")) != NULL;
    if (!a && !(a = attribute_find(node, "value_ints")))
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "it holds nothing that is read: neither a tensor nor numbers");
    Shape shape = is_float || one_integer ? SHAPE_SCALAR : SHAPE((int64_t)a->n_ints);
    if (value_make(import, out, is_float ? ONNX_FLOAT : ONNX_INT64, shape)) return error_status();
    if (is_float) value_floats(out)[0] = a->f;
    if (one_integer) value_integers(out)[0] = a->i;
    for (size_t i = 0; i < a->n_ints && !is_float && !one_integer; i++)
        value_integers(out)[i] = a->ints[i];
    return STATUS_OK;
}

// ---- from a shape -------------------------------------------------------------------------------
static Status make_shape(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t n = in->shape.ndim, begin = attribute_int(node, "start", 0);
    int64_t end = attribute_int(node, "end", n);
    begin = begin < 0 ? begin + n : begin;
    end = end < 0 ? end + n : end;
    begin = begin < 0 ? 0 : begin > n ? n : begin;
    end = end < begin ? begin : end > n ? n : end;
    if (value_make(import, out, ONNX_INT64, SHAPE(end - begin))) return error_status();
    for (int64_t i = begin; i < end; i++) value_integers(out)[i - begin] = in->shape.dims[i];
    return STATUS_OK;
}

static Status make_size(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    if (value_make(import, out, ONNX_INT64, SHAPE_SCALAR)) return error_status();
    value_integers(out)[0] = shape_numel(node_input(import, node, 0)->shape);
    return STATUS_OK;
}

// Fills the shape with one number, which is 0 unless the node gives one.
static Status make_filled(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    const Onnx__Attribute *a = attribute_find(node, "value");
    int64_t sizes[TENSOR_MAX_DIMS], whole = 0;
    float number = 0.0f;
    int type = a && a->t ? a->t->data_type : ONNX_FLOAT;
    bool integers = onnx_dtype(type) == DTYPE_INT64;
    int n = import_ints(import, node, NULL, 0, sizes, TENSOR_MAX_DIMS);
    if (a && a->t && !error_pending() && integers)
        onnx_stored_integers(import, a->t, 1, &whole);
    else if (a && a->t && !error_pending())
        onnx_stored_floats(import, a->t, 1, &number);
    Shape shape = {.ndim = n};
    for (int i = 0; i < n && !error_pending(); i++) shape.dims[i] = sizes[i];
    if (error_pending() || value_make(import, out, type, shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(shape) && integers; i++) value_integers(out)[i] = whole;
    for (int64_t i = 0; i < shape_numel(shape) && !integers; i++) value_floats(out)[i] = number;
    return STATUS_OK;
}

static Status make_diagonal(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t k = attribute_int(node, "k", 0);
    int type = (int)attribute_int(node, "dtype", in->type);
    if (in->shape.ndim != 2)
        return import_error(import, STATUS_SHAPE, "its input has %d dimensions and must have 2",
                            in->shape.ndim);
    if (value_make(import, out, type, in->shape)) return error_status();
    bool integers = out->data->dtype == DTYPE_INT64;
    int64_t rows = in->shape.dims[0], columns = in->shape.dims[1];
    if (k <= -rows || k >= columns) return STATUS_OK; // it is outside
    for (int64_t row = k < 0 ? -k : 0; row < rows && row + k < columns; row++) {
        int64_t at = row * columns + row + k;
        if (integers)
            value_integers(out)[at] = 1;
        else
            value_floats(out)[at] = 1.0f;
    }
    return STATUS_OK;
}

// ---- from numbers -------------------------------------------------------------------------------
// Count of numbers from `begin` to before `end`; -1: more than int64 holds, or endless.
static int64_t count_range(int64_t begin, int64_t end, int64_t delta) {
    int64_t span;
    if (delta == 0) return -1;
    if ((delta > 0) != (end > begin)) return 0;
    if (__builtin_sub_overflow(end, begin, &span) || delta == INT64_MIN) return -1;
    int64_t stride = delta > 0 ? delta : -delta;
    span = span > 0 ? span : -span;
    return span / stride + (span % stride != 0);
}

static Status make_range(Import *import, const Node *node) {
    const Value *begin = node_input(import, node, 0), *end = node_input(import, node, 1);
    const Value *delta = node_input(import, node, 2);
    Value *out = node_output(import, node, 0);
    if (shape_numel(begin->shape) != 1 || shape_numel(end->shape) != 1 ||
        shape_numel(delta->shape) != 1)
        return import_error(import, STATUS_SHAPE,
                            "its start, limit and delta must be one number each");
    bool integers = begin->data->dtype == DTYPE_INT64;
    int64_t n =
        count_range(value_integer(begin, 0), value_integer(end, 0), value_integer(delta, 0));
    if (!integers) {
        double first = value_number(begin, 0), each = value_number(delta, 0);
        double count = ceil((value_number(end, 0) - first) / each);
        n = each != 0.0 && count < 0x1p53 ? (count > 0.0 ? (int64_t)count : 0) : -1;
    }
    if (n < 0)
        return import_error(import, STATUS_FORMAT,
                            "its range never ends, or has more numbers than can be counted. HINT: "
                            "its delta must be a number other than 0");
    if (value_make(import, out, begin->type, SHAPE(n))) return error_status();
    for (int64_t i = 0; i < n && integers; i++)
        value_integers(out)[i] = value_integer(begin, 0) + i * value_integer(delta, 0);
    for (int64_t i = 0; i < n && !integers; i++)
        value_floats(out)[i] = (float)(value_number(begin, 0) + (double)i * value_number(delta, 0));
    return STATUS_OK;
}

// (ndim, n): the indices of the n elements that are not 0.
static Status make_places(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t n = 0, count = shape_numel(in->shape), column = 0;
    if (import_work(import, count)) return error_status();
    for (int64_t i = 0; i < count; i++) n += value_number(in, i) != 0.0;
    if (value_make(import, out, ONNX_INT64, SHAPE(in->shape.ndim, n))) return error_status();
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        if (value_number(in, i) == 0.0) continue;
        for (int d = in->shape.ndim - 1; d >= 0; d--) {
            value_integers(out)[d * n + column] = rest % in->shape.dims[d];
            rest /= in->shape.dims[d];
        }
        column++;
    }
    return STATUS_OK;
}

const Maker *onnx_maker(const char *op_type) {
    static const Maker makers[] = {
        {"Constant", make_constant, false}, {"ConstantOfShape", make_filled, false},
        {"EyeLike", make_diagonal, true},   {"NonZero", make_places, false},
        {"Range", make_range, false},       {"Shape", make_shape, true},
        {"Size", make_size, true}};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(makers[i].name, op_type) == 0) return &makers[i];
    return NULL;
}
