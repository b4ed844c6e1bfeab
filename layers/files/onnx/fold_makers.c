// fold_makers.c -- constants that nodes make: written out in the file, ranges, filled ones,
// triangles, running sums, places of what is not zero.
#include <math.h>
#include <string.h>

#include "layers/files/onnx/import.h"

static Status one_number(Import *import, Value *out, int type, double x) {
    if (!value_fold(import, out, type, SHAPE_SCALAR)) out->data[0] = x;
    return error_status();
}

static Status fold_constant(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    const Onnx__Attribute *a;
    if ((a = attribute_find(node, "value")) && a->t) {
        out->kind = VALUE_CONSTANT;
        out->type = a->t->data_type;
        out->stored = a->t;
        return onnx_stored_shape(a->t, &out->shape);
    }
    if ((a = attribute_find(node, "value_int")))
        return one_number(import, out, ONNX_INT64, (double)a->i);
    if ((a = attribute_find(node, "value_float")))
        return one_number(import, out, ONNX_FLOAT, (double)a->f);
    if ((a = attribute_find(node, "value_ints"))) {
        if (value_fold(import, out, ONNX_INT64, SHAPE((int64_t)a->n_ints))) return error_status();
        for (size_t i = 0; i < a->n_ints; i++) out->data[i] = (double)a->ints[i];
        return STATUS_OK;
    }
    if ((a = attribute_find(node, "value_floats"))) {
        if (value_fold(import, out, ONNX_FLOAT, SHAPE((int64_t)a->n_floats))) return error_status();
        for (size_t i = 0; i < a->n_floats; i++) out->data[i] = (double)a->floats[i];
        return STATUS_OK;
    }
    return import_error(import, STATUS_NOT_IMPLEMENTED, "it holds no numbers");
}

static Status fold_filled(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    const Onnx__Attribute *a = attribute_find(node, "value");
    int64_t sizes[TENSOR_MAX_DIMS];
    double value = 0.0;
    int type = a && a->t ? a->t->data_type : ONNX_FLOAT;
    int n = import_ints(import, node, NULL, 0, sizes, TENSOR_MAX_DIMS);
    if (a && a->t && !error_pending()) onnx_stored_doubles(import, a->t, 1, &value);
    Shape shape = {.ndim = n};
    for (int i = 0; i < n && !error_pending(); i++) shape.dims[i] = sizes[i];
    if (error_pending() || value_fold(import, out, type, shape)) return error_status();
    for (int64_t i = 0; i < shape_numel(shape) && value != 0.0; i++) out->data[i] = value;
    return STATUS_OK;
}

static Status fold_range(Import *import, const Node *node) {
    const Value *begin = node_input(import, node, 0), *end = node_input(import, node, 1);
    const Value *step = node_input(import, node, 2);
    Value *out = node_output(import, node, 0);
    double first = begin->data[0], each = step->data[0], n = ceil((end->data[0] - first) / each);
    if (!(each != 0.0 && n < 0x1p53))
        return import_error(import, STATUS_FORMAT, "a range without an end");
    if (value_fold(import, out, begin->type, SHAPE(n > 0.0 ? (int64_t)n : 0)))
        return error_status();
    for (int64_t i = 0; i < out->shape.dims[0]; i++)
        out->data[i] = fold_round(out->type, first + (double)i * each);
    return STATUS_OK;
}

static Status fold_triangle(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *k = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    bool upper = attribute_int(node, "upper", 1) != 0;
    double diagonal = k ? k->data[0] : 0.0;
    int ndim = in->shape.ndim;
    if (ndim < 2) return import_error(import, STATUS_SHAPE, "%d dimensions", ndim);
    if (value_fold(import, out, in->type, in->shape)) return error_status();
    int64_t rows = in->shape.dims[ndim - 2], columns = in->shape.dims[ndim - 1];
    for (int64_t i = 0; i < shape_numel(in->shape); i++) {
        double behind = (double)(i % columns) - (double)(i / columns % rows) - diagonal;
        if (upper ? behind >= 0.0 : behind <= 0.0) out->data[i] = in->data[i];
    }
    return STATUS_OK;
}

static Status fold_running_sum(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *dim = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    int axis = import_axis(import, value_integer(dim, 0), in->shape.ndim);
    if (axis < 0) return error_status();
    if (attribute_int(node, "exclusive", 0) || attribute_int(node, "reverse", 0))
        return import_error(import, STATUS_NOT_IMPLEMENTED, "exclusive or reverse");
    if (value_fold(import, out, in->type, in->shape)) return error_status();
    int64_t stride[TENSOR_MAX_DIMS], size = in->shape.dims[axis];
    fold_strides(in->shape, in->shape, stride);
    int64_t each = stride[axis] ? stride[axis] : 1;
    for (int64_t i = 0; i < shape_numel(in->shape); i++) {
        bool first = size == 1 || i / each % size == 0;
        out->data[i] = fold_round(in->type, in->data[i] + (first ? 0.0 : out->data[i - each]));
    }
    return STATUS_OK;
}

// (ndim, n): the indices of the n elements that are not 0.
static Status fold_nonzero(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t n = 0, count = shape_numel(in->shape), column = 0;
    if (import_work(import, count)) return error_status();
    for (int64_t i = 0; i < count; i++) n += in->data[i] != 0.0;
    if (value_fold(import, out, ONNX_INT64, SHAPE(in->shape.ndim, n))) return error_status();
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        if (in->data[i] == 0.0) continue;
        for (int d = in->shape.ndim - 1; d >= 0; d--) {
            out->data[d * n + column] = (double)(rest % in->shape.dims[d]);
            rest /= in->shape.dims[d];
        }
        column++;
    }
    return STATUS_OK;
}

static Status fold_eye(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t k = attribute_int(node, "k", 0);
    if (in->shape.ndim != 2) return import_error(import, STATUS_SHAPE, "it is no matrix");
    if (value_fold(import, out, (int)attribute_int(node, "dtype", in->type), in->shape))
        return error_status();
    int64_t columns = in->shape.dims[1];
    for (int64_t i = 0; i < shape_numel(in->shape); i++)
        out->data[i] = i % columns - i / columns == k;
    return STATUS_OK;
}

const Folder onnx_fold_makers[] = {
    {"Constant", fold_constant, 0},  {"ConstantOfShape", fold_filled, 1},
    {"Range", fold_range, 3},        {"Trilu", fold_triangle, 1},
    {"CumSum", fold_running_sum, 2}, {"NonZero", fold_nonzero, 1},
    {"EyeLike", fold_eye, 1},        {NULL, NULL, 0}};
