// op_picks.c -- ONNX's operators that pick elements by an index along one dimension, most of them
// as rows of a table, like an embedding. Several dimensions: op_places.c.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// True if a constant index is a run of consecutive numbers; *begin is the first.
static bool is_run(const Value *index, int64_t size, int64_t *begin) {
    int64_t n = shape_numel(index->shape);
    if (n == 0) return false;
    *begin = value_integer(index, 0);
    if (*begin < 0) *begin += size;
    if (*begin < 0 || *begin > size || n > size - *begin) return false;
    for (int64_t i = 1; i < n; i++)
        if (value_integer(index, i) != *begin + i) return false;
    return true;
}

// ---- Gather -----------------------------------------------------------------------------------
// dim: the axis; flags[0]: a slice from `count` on, not rows; other: the index's dimensions
static Status build_gather(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int at = node_input_index(import, node, 1);
    Value *index = import_value(import, at);
    int axis = in ? import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim) : -1;
    if (axis < 0) return error_status();
    bool constant = index->kind == VALUE_CONSTANT;
    if (constant && !value_data(import, index)) return error_status();
    step->params.plain.dim = axis;
    step->params.plain.other = index->shape.ndim;
    step->params.plain.flags[0] = constant && index->shape.ndim <= 1 &&
                                  is_run(index, in->shape.dims[axis], &step->params.plain.count);
    if (step->params.plain.flags[0]) {
        step->params.plain.sizes = shape_numel(index->shape);
        return step_inputs(import, node, step, 1);
    }
    const char *const roles[] = {"weight"};
    if (step_weights(import, node, step, 1, roles)) return error_status();
    return error_pending() ? error_status() : step_input(import, step, at);
}

static Tensor *gather_run(const Step *step, Tensor *x) {
    int dim = step->params.plain.dim;
    int64_t begin = step->params.plain.count, n = step->params.plain.sizes;
    Tensor *y = tensor_slice(x, dim, begin, begin + n, 1);
    if (!y || step->params.plain.other == 1) return y;
    Shape shape = {.ndim = 0};
    for (int i = 0; i < y->shape.ndim; i++)
        if (i != dim) shape.dims[shape.ndim++] = y->shape.dims[i];
    return tensor_reshape(y, shape);
}

// Takes x (..., size, ...) with the axis first, as a table (size, rest), and moves the axis back.
static Status run_gather(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    if (step->params.plain.flags[0]) return done(gather_run(step, in[0]), out);
    int dim = step->params.plain.dim, ndim = in[0]->shape.ndim, order[TENSOR_MAX_DIMS];
    Tensor *index = onnx_as_index(in[1]), *table = step_number(step, in[0]);
    if (dim == 0 && ndim == 2) return done(tensor_embedding_signed(index, table), out);
    order[0] = dim;
    for (int i = 0; i < ndim - 1; i++) order[i + 1] = i < dim ? i : i + 1;
    int64_t size = in[0]->shape.dims[dim];
    Tensor *turned = dim == 0 ? table : tensor_permute(table, order);
    table = tensor_reshape(turned, SHAPE(size, size ? in[0]->numel / size : 0));
    Tensor *rows =
        tensor_embedding_signed(tensor_reshape(index, SHAPE(index ? index->numel : 0)), table);
    if (!rows || in[1]->shape.ndim + ndim - 1 > TENSOR_MAX_DIMS) {
        if (rows) error_set(STATUS_SHAPE, "gather: more than %d dimensions", TENSOR_MAX_DIMS);
        return error_status();
    }
    Shape shape = in[1]->shape; // (index's, x's without the axis)
    for (int i = 0; i < ndim; i++)
        if (i != dim) shape.dims[shape.ndim++] = in[0]->shape.dims[i];
    rows = tensor_reshape(rows, shape);
    if (dim == 0) return done(rows, out);
    for (int i = 0, k = in[1]->shape.ndim; i < shape.ndim; i++)
        order[i] = i < dim ? k + i : i < dim + k ? i - dim : i;
    return done(tensor_permute(rows, order), out);
}

// ---- GatherElements ---------------------------------------------------------------------------
static Status build_elements(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int axis = in ? import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim) : -1;
    if (axis < 0) return error_status();
    step->params.plain.dim = axis;
    return step_inputs(import, node, step, 2);
}

static Status run_elements(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int dim = step->params.plain.dim;
    return done(tensor_gather_signed(step_number(step, in[0]), dim, onnx_as_index(in[1])), out);
}

// ---- entries of the last dimension: a classifier of scikit-learn looks up its classes so --------
static Status build_entries(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (in->shape.ndim < 1 || !node_input(import, node, 1))
        return import_error(import, STATUS_SHAPE,
                            "its input has no dimensions, or it has no indices");
    return step_inputs(import, node, step, 2);
}

// x (..., n) and an index of k elements in any shape give (..., k); a vector gives (1, k).
static Status run_entries(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Shape shape = in[0]->shape;
    int64_t n = shape.dims[shape.ndim - 1], k = in[1]->numel;
    Tensor *x = tensor_reshape(step_number(step, in[0]), SHAPE(n ? in[0]->numel / n : 0, n));
    Tensor *index = tensor_reshape(onnx_as_index(in[1]), SHAPE(k));
    Tensor *y = tensor_embedding(index, tensor_contiguous(tensor_transpose(x, 0, 1)));
    if (shape.ndim == 1) shape = SHAPE(1, n);
    shape.dims[shape.ndim - 1] = k;
    return done(tensor_reshape(tensor_contiguous(tensor_transpose(y, 0, 1)), shape), out);
}

const Operator onnx_picks[] = {
    {.name = "Gather",
     .build = build_gather,
     .run = run_gather,
     .module = "Embedding",
     .whole = WHOLE_MOVED},
    {.name = "GatherElements", .build = build_elements, .run = run_elements, .whole = WHOLE_MOVED},
    {.name = "ArrayFeatureExtractor",
     .build = build_entries,
     .run = run_entries,
     .whole = WHOLE_MOVED},
    {.name = NULL},
};
