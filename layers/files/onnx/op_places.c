// op_places.c -- ONNX's GatherND, ScatterND, ScatterElements and OneHot: elements at indices in one
// or more dimensions. An index becomes a row of x as a table; rows of a constant index are computed
// when the file is loaded.
#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// An index (..., depth) selects elements in x's dimensions [batch, batch + depth), within the
// sample given by the dimensions before them.
typedef struct Places {
    int batch, depth;
    int64_t n;      // number of indices
    int64_t sample; // rows of one sample of the batch
    int64_t rows;   // rows of all samples
} Places;

static Places places_of(Shape x, Shape index, int batch) {
    Places places = {.batch = batch, .depth = 0, .n = 1, .sample = 1, .rows = 1};
    if (index.ndim > 0) places.depth = (int)index.dims[index.ndim - 1];
    for (int i = 0; i + 1 < index.ndim; i++) places.n *= index.dims[i];
    for (int i = batch; i < batch + places.depth; i++) places.sample *= x.dims[i];
    places.rows = places.sample;
    for (int i = 0; i < batch; i++) places.rows *= x.dims[i];
    return places;
}

// The row of element i of a constant index; -1 with an error pending.
static int64_t row_of(const Import *import, const Value *index, Shape x, const Places *places,
                      int64_t i) {
    int64_t row = 0, samples = places->sample ? places->rows / places->sample : 0;
    for (int k = 0; k < places->depth; k++) {
        int64_t size = x.dims[places->batch + k];
        int64_t at = import_index(import, index, i * places->depth + k, size);
        if (at < 0) return -1;
        row = row * size + at;
    }
    return row + i / (places->n / samples) * places->sample;
}

// ---- GatherND -----------------------------------------------------------------------------------
// dim: number of batch dimensions; sizes: depth; flags[0]: the index already has rows
static Status build_gather(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    Value *index = node_input(import, node, 1);
    Shape at = index->shape;
    int64_t batch = attribute_int(node, "batch_dims", 0);
    int64_t depth = at.ndim > 0 ? at.dims[at.ndim - 1] : 0;
    bool fits = batch >= 0 && batch < at.ndim && depth >= 1 && depth <= in->shape.ndim - batch;
    for (int i = 0; i < (fits ? batch : 0); i++) fits = fits && at.dims[i] == in->shape.dims[i];
    if (!fits)
        return import_error(
            import, STATUS_SHAPE,
            "its indices do not fit: %lld numbers each, behind %lld dimensions of a "
            "batch, for an input of %d",
            (long long)depth, (long long)batch, in->shape.ndim);
    step->params.plain.dim = (int)batch;
    step->params.plain.sizes = depth;
    if (index->kind != VALUE_CONSTANT) return step_inputs(import, node, step, 2);
    Places places = places_of(in->shape, at, (int)batch);
    at.ndim--;
    int rows = value_data(import, index) ? import_constant(import, ONNX_INT64, at) : VALUE_ABSENT;
    for (int64_t i = 0; i < places.n && !error_pending(); i++)
        value_integers(import->values[rows])[i] = row_of(import, index, in->shape, &places, i);
    step->params.plain.flags[0] = true;
    if (error_pending() || step_inputs(import, node, step, 1)) return error_status();
    return step_input(import, step, rows);
}

static Tensor *times(Tensor *x, int64_t number) {
    Tensor *row = tensor_arange_new(number, number + 1, 1);
    Tensor *y = tensor_mul(x, tensor_reshape(row, SHAPE_SCALAR));
    tensor_free(row);
    return y;
}

// Multiplies indices of a dimension, negative from the end, by `each`; an index out of range is
// refused, whatever row it would give.
static Tensor *times_each(Tensor *index, int64_t size, int64_t each) {
    int64_t step = each > 0 ? each : 1;
    Tensor *numbers = tensor_arange_new(0, size * step, step);
    Tensor *rows = tensor_embedding_signed(index, tensor_reshape(numbers, SHAPE(size, 1)));
    tensor_free(numbers);
    return rows ? tensor_reshape(rows, index->shape) : NULL;
}

// Turns an index of several numbers each into one of rows; with one number each it is one already.
static Tensor *rows_of(const Places *places, Tensor *x, Tensor *index) {
    int last = index->shape.ndim - 1;
    Shape shape = index->shape; // of the result: (...)
    shape.ndim--;
    Tensor *sum = NULL;
    if (places->depth == 1 && places->batch == 0) return tensor_reshape(index, shape);
    for (int k = 0; k < places->depth; k++) {
        int64_t size = x->shape.dims[places->batch + k], within = 1;
        for (int d = k + 1; d < places->depth; d++) within *= x->shape.dims[places->batch + d];
        Tensor *at = tensor_reshape(tensor_slice(index, last, k, k + 1, 1), shape);
        at = at ? times_each(at, size, within) : NULL;
        sum = sum ? tensor_add(sum, at) : at;
    }
    int64_t each = places->sample;
    for (int i = places->batch - 1; i >= 0 && sum; i--) {
        Shape row = shape;
        for (int d = 0; d < row.ndim; d++) row.dims[d] = d == i ? shape.dims[d] : 1;
        Tensor *numbers = tensor_arange_new(0, shape.dims[i], 1);
        sum = tensor_add(sum, times(tensor_reshape(numbers, row), each));
        tensor_free(numbers);
        each *= x->shape.dims[i];
    }
    return sum;
}

// Takes x as a table (rows, rest); rows at the index (...) give (..., rest).
static Status run_gather(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int batch = step->params.plain.dim, depth = (int)step->params.plain.sizes;
    Tensor *x = step_number(step, in[0]), *index = onnx_as_index(in[1]);
    if (!x || !index) return error_status();
    Shape at = SHAPE(depth);
    Places places = places_of(x->shape, step->params.plain.flags[0] ? at : index->shape, batch);
    if (!step->params.plain.flags[0]) index = rows_of(&places, x, index);
    if (!index) return error_status();
    Shape shape = index->shape;
    if (shape.ndim + x->shape.ndim - batch - depth > TENSOR_MAX_DIMS)
        return error_set(STATUS_SHAPE, "gather_nd: more than %d dimensions", TENSOR_MAX_DIMS);
    for (int i = batch + depth; i < x->shape.ndim; i++) shape.dims[shape.ndim++] = x->shape.dims[i];
    int64_t rest = places.rows ? x->numel / places.rows : 0;
    Tensor *table = tensor_reshape(x, SHAPE(places.rows, rest));
    Tensor *found = tensor_embedding_signed(tensor_reshape(index, SHAPE(index->numel)), table);
    return done(tensor_reshape(found, shape), out);
}

// ---- ScatterND ----------------------------------------------------------------------------------
// For a constant index: picks each row from x and, appended to it, the updates.
static Status build_scatter(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    Value *index = node_input(import, node, 1);
    if (!value_data(import, index)) return error_status();
    Shape at = index->shape;
    int64_t depth = at.ndim > 0 ? at.dims[at.ndim - 1] : 0;
    if (depth < 1 || depth > in->shape.ndim)
        return import_error(import, STATUS_SHAPE, "places of %lld numbers in x of %d dimensions",
                            (long long)depth, in->shape.ndim);
    Places places = places_of(in->shape, at, 0);
    int rows = import_constant(import, ONNX_INT64, SHAPE(places.rows));
    for (int64_t i = 0; i < places.rows && !error_pending(); i++)
        value_integers(import->values[rows])[i] = i;
    for (int64_t i = 0; i < places.n && !error_pending(); i++) {
        int64_t row = row_of(import, index, in->shape, &places, i);
        if (row >= 0) value_integers(import->values[rows])[row] = places.rows + i;
    }
    step->params.plain.sizes = places.rows;
    if (error_pending() || step_inputs(import, node, step, 1) || step_input(import, step, rows))
        return error_status();
    return step_input(import, step, node_input_index(import, node, 2));
}

static Status run_scatter(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t rows = step->params.plain.sizes, each = rows ? in[0]->numel / rows : 0;
    Tensor *both[2] = {tensor_reshape(step_number(step, in[0]), SHAPE(rows, each)),
                       tensor_reshape(step_number(step, in[2]),
                                      SHAPE(each ? in[2]->numel / each : 0, each))};
    Tensor *y = tensor_embedding(in[1], tensor_concat(both, 2, 0));
    return done(tensor_reshape(y, in[0]->shape), out);
}

// ---- OneHot: dim: the new dimension; count: depth; value: off and on --------------------------
static Status build_one_hot(Import *import, const Node *node, Step *step) {
    const Value *index = node_input(import, node, 0);
    Value *depth = node_input(import, node, 1), *values = node_input(import, node, 2);
    if (shape_numel(depth->shape) != 1 || shape_numel(values->shape) != 2)
        return import_error(import, STATUS_FORMAT, "it has no indices, one depth and two values");
    if (!value_data(import, depth) || !value_data(import, values)) return error_status();
    int axis = import_axis(import, attribute_int(node, "axis", -1), index->shape.ndim + 1);
    step->params.plain.dim = axis;
    step->params.plain.sizes = value_integer(depth, 0);
    for (int i = 0; i < 2; i++) step->params.plain.value[i] = (float)value_number(values, i);
    step->type = values->type;
    if (axis < 0 || step_inputs(import, node, step, 1)) return error_status();
    bool integers = onnx_dtype(values->type) == DTYPE_INT64;
    return integers ? step_input(import, step, node_input_index(import, node, 2)) : STATUS_OK;
}

static Status run_one_hot(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t depth = step->params.plain.sizes;
    float off = step->params.plain.value[0], on = step->params.plain.value[1];
    Tensor *y = tensor_one_hot_signed(onnx_as_index(in[0]), depth);
    if (!y) return error_status();
    if (step->n_in > 1) { // integers, which float32 would round
        y = tensor_where(y, tensor_slice(in[1], 0, 1, 2, 1), tensor_slice(in[1], 0, 0, 1, 1));
    } else {
        if (on - off != 1.0f) y = tensor_mul_scalar(y, on - off);
        if (off != 0.0f) y = tensor_add_scalar(y, off);
    }
    int order[TENSOR_MAX_DIMS], last = y ? y->shape.ndim - 1 : 0, dim = step->params.plain.dim;
    for (int i = 0; i <= last; i++) order[i] = i < dim ? i : i == dim ? last : i - 1;
    if (dim != last) y = tensor_permute(y, order);
    return done(y, out);
}

// ---- ScatterElements ----------------------------------------------------------------------------
// Refuses two updates of one element, because ONNX does not define which one stays.
static void check_once(Import *import, Value *index, int axis, int64_t size) {
    int64_t n = shape_numel(index->shape), k = index->shape.dims[axis], inner = 1;
    if (!value_data(import, index) || n == 0 || import_work(import, n * k)) return;
    for (int d = axis + 1; d < index->shape.ndim; d++) inner *= index->shape.dims[d];
    for (int64_t i = 0; i < n && !error_pending(); i++)
        for (int64_t j = i / inner % k + 1; j < k; j++) {
            int64_t other = i + (j - i / inner % k) * inner;
            int64_t a = import_index(import, index, i, size),
                    b = import_index(import, index, other, size);
            if (a == b && a >= 0)
                import_error(import, STATUS_FORMAT,
                             "two updates of index %lld. HINT: reduction=\"add\" takes both",
                             (long long)a);
            if (error_pending()) return;
        }
}

// dim; flags[0]: add
static Status build_spread(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0), *index = node_input(import, node, 1);
    const Value *updates = node_input(import, node, 2);
    if (in->shape.ndim != index->shape.ndim || !shape_equal(index->shape, updates->shape))
        return import_error(import, STATUS_SHAPE,
                            "its input, indices and updates are not of as many dimensions, or the "
                            "last two not of one shape");
    int axis = import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim);
    bool adds = attribute_is(node, "reduction", "add", false),
         fits = in->shape.ndim < TENSOR_MAX_DIMS;
    for (int i = 0; i < in->shape.ndim; i++)
        fits = fits && (i == axis || in->shape.dims[i] == index->shape.dims[i]);
    if (!fits)
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "its indices leave out places of dimensions other than %d, or it has more "
            "than %d dimensions. HINT: ScatterND",
            axis, TENSOR_MAX_DIMS - 1);
    if (!adds && axis >= 0 && index->kind == VALUE_CONSTANT)
        check_once(import, node_input(import, node, 1), axis, in->shape.dims[axis]);
    step->params.plain.dim = axis;
    step->params.plain.flags[0] = adds;
    return axis < 0 ? error_status() : step_inputs(import, node, step, 3);
}

// The sums (..., n) of updates (..., k); places (..., k, n) has a 1 where an update belongs.
static Tensor *sums_of(const Step *step, Tensor *places, Tensor *updates) {
    Shape each = updates->shape; // (..., k, 1)
    each.dims[each.ndim++] = 1;
    // Selects in place of multiplying, because 0 times -infinity, which filters write, is not 0.
    Tensor *zero = step->whole ? tensor_arange_new(0, 1, 1) : tensor_zeros_new(SHAPE(1));
    Tensor *chosen = tensor_where(places, tensor_reshape(updates, each), zero);
    tensor_free(zero);
    return tensor_sum(chosen, updates->shape.ndim - 1, false);
}

// The first update of each place; a place without one gets any, and the caller discards it.
static Tensor *first_of_each(Tensor *places, Tensor *updates) {
    int last = updates->shape.ndim - 1;
    return tensor_gather(updates, last, tensor_argmax(places, last, false));
}

// With the axis last, index (..., k) selects elements of x (..., n). If several updates at run time
// have one place, the last one counts, as in onnxruntime: ONNX does not define it.
static Status run_spread(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int dim = step->params.plain.dim, last = in[0]->shape.ndim - 1;
    bool adds = step->params.plain.flags[0];
    Tensor *x = tensor_transpose(step_number(step, in[0]), dim, last);
    Tensor *index = tensor_transpose(onnx_as_index(in[1]), dim, last);
    Tensor *updates = tensor_transpose(step_number(step, in[2]), dim, last);
    if (!adds) index = tensor_flip(index, &last, 1), updates = tensor_flip(updates, &last, 1);
    if (!x || !index || !updates) return error_status();
    Tensor *places = tensor_one_hot_signed(tensor_contiguous(index), x->shape.dims[last]);
    if (!places) return error_status();
    bool sums = adds || index->shape.dims[last] == 0;
    Tensor *given = sums ? sums_of(step, places, updates) : first_of_each(places, updates);
    Tensor *y =
        adds ? tensor_add(x, given) : tensor_where(tensor_sum(places, last, false), given, x);
    return done(tensor_transpose(y, dim, last), out);
}

const Operator onnx_places[] = {
    {.name = "GatherND", .build = build_gather, .run = run_gather, .whole = WHOLE_MOVED},
    {.name = "ScatterND", .build = build_scatter, .run = run_scatter, .whole = WHOLE_MOVED},
    {.name = "OneHot", .build = build_one_hot, .run = run_one_hot, .whole = WHOLE_MOVED},
    {.name = "ScatterElements", .build = build_spread, .run = run_spread, .whole = WHOLE_MOVED},
    {.name = NULL},
};
