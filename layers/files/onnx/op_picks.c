// op_picks.c -- ONNX's operators that pick numbers by an index, most of them as rows of a
// table: an embedding, whatever it is called.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static const Value *first_of(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    if (!in || !node_input(import, node, 1))
        import_error(import, STATUS_FORMAT, "it has no indices");
    return error_pending() ? NULL : in;
}

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// Of a constant index, whether its numbers follow each other; *begin is the first one.
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

// A constant index with what counts from the end counted from the beginning.
static int from_begin(Import *import, int at, int64_t size) {
    Value *index = import->values[at];
    int64_t n = shape_numel(index->shape);
    bool below = false;
    for (int64_t i = 0; i < n; i++) below = below || index->data[i] < 0.0;
    if (!below) return at;
    int other = import_constant(import, ONNX_INT64, index->shape);
    for (int64_t i = 0; i < n && other >= 0; i++) {
        double x = import->values[at]->data[i];
        import->values[other]->data[i] = x < 0.0 ? x + (double)size : x;
    }
    return other;
}

// ---- Gather -----------------------------------------------------------------------------------
// dim: the axis; flags[0]: a slice from `count` on, and not rows; other: the index's dimensions
static Status build_gather(Import *import, const Node *node, Step *step) {
    const Value *in = first_of(import, node);
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
    if (constant) at = from_begin(import, at, in->shape.dims[axis]);
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

// Rows of x (..., size, ...): with the axis first, as a table (size, rest), and back.
static Status run_gather(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    if (step->params.plain.flags[0]) return done(gather_run(step, in[0]), out);
    int dim = step->params.plain.dim, ndim = in[0]->shape.ndim, order[TENSOR_MAX_DIMS];
    Tensor *index = onnx_as_index(in[1]), *table = onnx_as_float(in[0]);
    if (dim == 0 && ndim == 2) return done(tensor_embedding(index, table), out);
    order[0] = dim;
    for (int i = 0; i < ndim - 1; i++) order[i + 1] = i < dim ? i : i + 1;
    int64_t size = in[0]->shape.dims[dim];
    Tensor *turned = dim == 0 ? table : tensor_permute(table, order);
    table = tensor_reshape(turned, SHAPE(size, size ? in[0]->numel / size : 0));
    Tensor *rows = tensor_embedding(tensor_reshape(index, SHAPE(index ? index->numel : 0)), table);
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
    const Value *in = first_of(import, node);
    int axis = in ? import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim) : -1;
    if (axis < 0) return error_status();
    step->params.plain.dim = axis;
    return step_inputs(import, node, step, 2);
}

static Status run_elements(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_gather(onnx_as_float(in[0]), step->params.plain.dim, onnx_as_index(in[1])),
                out);
}

// ---- GatherND ---------------------------------------------------------------------------------
// Index
// (..., depth) names places in x's dimensions behind the first `dim`, its batch; sizes: depth
static Status build_nd(Import *import, const Node *node, Step *step) {
    const Value *in = first_of(import, node);
    if (!in) return error_status();
    Shape index = node_input(import, node, 1)->shape;
    int64_t batch = attribute_int(node, "batch_dims", 0);
    int64_t depth = index.ndim > 0 ? index.dims[index.ndim - 1] : 0;
    bool fits = batch >= 0 && batch < index.ndim && depth >= 1 && batch + depth <= in->shape.ndim;
    for (int i = 0; i < (fits ? batch : 0); i++) fits = fits && index.dims[i] == in->shape.dims[i];
    if (!fits) return import_error(import, STATUS_SHAPE, "indices that do not fit");
    step->params.plain.dim = (int)batch;
    step->params.plain.sizes = depth;
    return step_inputs(import, node, step, 2);
}

// Places as one number each: (..., depth) times the strides of x's dimensions, plus the batch's.
static Tensor *flat_places(const Step *step, Tensor *x, Tensor *index) {
    int batch = step->params.plain.dim, depth = (int)step->params.plain.sizes;
    int last = index->shape.ndim - 1;
    Tensor *sum = NULL;
    Shape shape = index->shape;
    shape.ndim--;
    index = onnx_as_float(index);
    for (int k = 0; k < depth; k++) {
        Tensor *at = tensor_reshape(tensor_slice(index, last, k, k + 1, 1), shape);
        sum = sum ? tensor_add(tensor_mul_scalar(sum, (float)x->shape.dims[batch + k]), at) : at;
    }
    int64_t each = 1; // of one sample of the batch
    for (int k = 0; k < depth; k++) each *= x->shape.dims[batch + k];
    for (int i = batch - 1; i >= 0 && sum; i--) {
        Shape row = shape;
        for (int d = 0; d < row.ndim; d++) row.dims[d] = d == i ? shape.dims[d] : 1;
        Tensor *numbers = tensor_arange_new(0, shape.dims[i], 1);
        Tensor *own = tensor_mul_scalar(tensor_cast(tensor_reshape(numbers, row), DTYPE_FLOAT32),
                                        (float)each);
        sum = tensor_add(sum, own);
        tensor_free(numbers);
        each *= x->shape.dims[i];
    }
    return tensor_cast(sum, DTYPE_INT64);
}

static Status run_nd(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int named = step->params.plain.dim + (int)step->params.plain.sizes;
    Tensor *x = onnx_as_float(in[0]);
    Tensor *places = x ? flat_places(step, x, in[1]) : NULL;
    if (!places) return error_status();
    int64_t rows = 1;
    for (int i = 0; i < named; i++) rows *= x->shape.dims[i];
    Shape shape = places->shape;
    if (shape.ndim + x->shape.ndim - named > TENSOR_MAX_DIMS)
        return error_set(STATUS_SHAPE, "gather_nd: more than %d dimensions", TENSOR_MAX_DIMS);
    for (int i = named; i < x->shape.ndim; i++) shape.dims[shape.ndim++] = x->shape.dims[i];
    Tensor *table = tensor_reshape(x, SHAPE(rows, rows ? x->numel / rows : 0));
    Tensor *found = tensor_embedding(tensor_reshape(places, SHAPE(places->numel)), table);
    return done(tensor_reshape(found, shape), out);
}

// ---- ScatterND --------------------------------------------------------------------------------
// With known places: rows of x and, below them, of the updates, picked by a constant index.
static Status build_scatter(Import *import, const Node *node, Step *step) {
    const Value *in = first_of(import, node), *updates = node_input(import, node, 2);
    Value *places = node_input(import, node, 1);
    if (!in || !updates || !value_data(import, places)) return error_status();
    Shape at = places->shape;
    int64_t depth = at.ndim > 0 ? at.dims[at.ndim - 1] : 0, rows = 1;
    if (depth < 1 || depth > in->shape.ndim || !attribute_is(node, "reduction", "none", true))
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "places of %lld numbers, or a reduction", (long long)depth);
    for (int i = 0; i < depth; i++) rows *= in->shape.dims[i];
    int index = import_constant(import, ONNX_INT64, SHAPE(rows));
    if (index < 0) return error_status();
    double *from = import->values[index]->data;
    for (int64_t i = 0; i < rows; i++) from[i] = (double)i;
    for (int64_t i = 0; i < shape_numel(at) / depth; i++) {
        int64_t row = 0;
        for (int64_t k = 0; k < depth; k++) {
            int64_t one = value_integer(places, i * depth + k), size = in->shape.dims[k];
            one = one < 0 ? one + size : one;
            if (one < 0 || one >= size)
                return import_error(import, STATUS_FORMAT, "the place %lld", (long long)one);
            row = row * size + one;
        }
        from[row] = (double)(rows + i);
    }
    step->params.plain.sizes = rows;
    if (step_input(import, step, node_input_index(import, node, 0)) ||
        step_input(import, step, index))
        return error_status();
    return step_input(import, step, node_input_index(import, node, 2));
}

static Status run_scatter(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t rows = step->params.plain.sizes, each = rows ? in[0]->numel / rows : 0;
    Tensor *both[2] = {tensor_reshape(onnx_as_float(in[0]), SHAPE(rows, each)),
                       tensor_reshape(onnx_as_float(in[2]),
                                      SHAPE(each ? in[2]->numel / each : 0, each))};
    Tensor *y = tensor_embedding(in[1], tensor_concat(both, 2, 0));
    return done(tensor_reshape(y, in[0]->shape), out);
}

// ---- entries of the last dimension: how a classifier of scikit-learn names its classes ----------
static Status build_entries(Import *import, const Node *node, Step *step) {
    const Value *in = first_of(import, node);
    if (!in) return error_status();
    if (in->shape.ndim < 1 || !node_input(import, node, 1))
        return import_error(import, STATUS_SHAPE, "it has no rows and no indices");
    return step_inputs(import, node, step, 2);
}

// x (..., n), any indices, k of them -> (..., k); of a vector (1, k).
static Status run_entries(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    Shape shape = in[0]->shape;
    int64_t n = shape.dims[shape.ndim - 1], k = in[1]->numel;
    Tensor *x = tensor_reshape(onnx_as_float(in[0]), SHAPE(n ? in[0]->numel / n : 0, n));
    Tensor *index = tensor_reshape(onnx_as_index(in[1]), SHAPE(k));
    Tensor *y = tensor_embedding(index, tensor_contiguous(tensor_transpose(x, 0, 1)));
    if (shape.ndim == 1) shape = SHAPE(1, n);
    shape.dims[shape.ndim - 1] = k;
    y = tensor_reshape(tensor_contiguous(tensor_transpose(y, 0, 1)), shape);
    return done(in[0]->dtype == DTYPE_INT64 ? onnx_as_index(y) : y, out);
}

const Operator onnx_picks[] = {
    {.name = "Gather", .build = build_gather, .run = run_gather, .module = "Embedding"},
    {.name = "GatherElements", .build = build_elements, .run = run_elements},
    {.name = "GatherND", .build = build_nd, .run = run_nd},
    {.name = "ArrayFeatureExtractor", .build = build_entries, .run = run_entries},
    {.name = "ScatterND", .build = build_scatter, .run = run_scatter},
    {.name = NULL},
};
