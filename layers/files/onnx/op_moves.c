// op_moves.c -- ONNX's operators that move numbers and compute none: views, slices, concatenation,
// padding. Picking by an index: op_picks.c.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// ---- views ------------------------------------------------------------------------------------
static Status build_reshape(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0), *sizes = node_input(import, node, 1);
    bool wide = strcmp(node->op_type, "Reshape") == 0 && sizes && sizes->shape.ndim == 1 &&
                sizes->shape.dims[0] > TENSOR_MAX_DIMS;
    if (wide) return wide_reshape(import, node, in->shape, step);
    if (shape_reshape(import, node, in->shape, &step->params.shape)) return error_status();
    return step_inputs(import, node, step, 1);
}

static Status run_reshape(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_reshape(in[0], step->params.shape), out);
}

static Status build_transpose(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    const WideParams *wide = wide_of(import, node_input_index(import, node, 0));
    if (wide) return wide_transpose(import, node, wide, step);
    if (shape_permutation(import, node, in->shape, step->params.reduce.dims)) return error_status();
    return step_inputs(import, node, step, 1);
}

static Status run_transpose(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_permute(in[0], step->params.reduce.dims), out);
}

static Status build_expand(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (shape_expand(import, node, in->shape, &step->params.shape)) return error_status();
    return step_inputs(import, node, step, 1);
}

static Status run_expand(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_expand(in[0], step->params.shape), out);
}

static Status build_tile(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int64_t *times = step->params.shape.dims;
    int n = in ? import_ints(import, node, NULL, 1, times, TENSOR_MAX_DIMS) : -1;
    if (error_pending()) return error_status();
    if (n != in->shape.ndim)
        return import_error(import, STATUS_FORMAT,
                            "it has %d repeats, not one for each of %d dimensions", n,
                            in->shape.ndim);
    for (int i = 0; i < n; i++)
        if (times[i] < 0 || times[i] > 1 << 16)
            return import_error(import, STATUS_FORMAT, "%lld repeats, and 0 to 65536 are read",
                                (long long)times[i]);
    return step_inputs(import, node, step, 1);
}

static Status run_tile(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *y = in[0];
    for (int dim = 0; dim < in[0]->shape.ndim && y; dim++) { // as (..., times, size, ...), expanded
        int64_t times = step->params.shape.dims[dim], size = y->shape.dims[dim];
        if (times == 1) continue;
        Shape shape = SHAPE(1, 1, size, 1), back = y->shape;
        for (int i = 0; i < y->shape.ndim; i++)
            if (i != dim) shape.dims[i < dim ? 0 : 3] *= y->shape.dims[i];
        y = tensor_reshape(y, shape);
        shape.dims[1] = times;
        back.dims[dim] = size * times;
        y = tensor_reshape(tensor_expand(y, shape), back);
    }
    return done(y, out);
}

// ---- parts ------------------------------------------------------------------------------------
static Status build_slice(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (shape_slice(import, node, in->shape, &step->params.slice)) return error_status();
    return step_inputs(import, node, step, 1);
}

// A negative step becomes a positive one on the flipped dimension.
static Status run_slice(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *y = in[0];
    const SliceParams *slice = &step->params.slice;
    for (int dim = 0; dim < in[0]->shape.ndim && y; dim++) {
        int64_t begin = slice->begin[dim], each = slice->step[dim], count = slice->count[dim];
        int64_t size = y->shape.dims[dim];
        if (each < 0) {
            y = tensor_flip(y, &dim, 1);
            begin = size - 1 - begin;
            each = -each;
        }
        if (count == size && each == 1) continue;
        int64_t end = count > 0 ? begin + (count - 1) * each + 1 : begin;
        y = tensor_slice(y, dim, count > 0 ? begin : 0, count > 0 ? end : 0, each);
    }
    return done(y == in[0] && y ? tensor_reshape(y, y->shape) : y, out);
}

enum { MOST_PARTS = STEP_OUTPUTS };

static Status build_split(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (node->n_output > MOST_PARTS)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "%zu parts", node->n_output);
    if (shape_split(import, node, in->shape, &step->params.split.dim, step->params.split.sizes))
        return error_status();
    step->params.split.count = (int)node->n_output;
    return step_inputs(import, node, step, 1);
}

static Status run_split(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int64_t begin = 0;
    for (int i = 0; i < step->params.split.count; i++) {
        int64_t size = step->params.split.sizes[i];
        out[i] = tensor_slice(in[0], step->params.split.dim, begin, begin + size, 1);
        begin += size;
    }
    return error_status();
}

// ---- concatenation ----------------------------------------------------------------------------
static Status build_concat(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int axis = in ? import_axis(import, attribute_int(node, "axis", 1), in->shape.ndim) : -1;
    if (axis < 0) return error_status();
    step->params.plain.dim = axis;
    return step_inputs(import, node, step, (int)node->n_input);
}

static Status run_concat(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_concat(in, step->n_in, step->params.plain.dim), out);
}

// ---- padding ----------------------------------------------------------------------------------
static bool pad_mode(const Node *node, PadMode *mode) {
    static const struct {
        const char *name;
        PadMode mode;
    } modes[] = {{"constant", PAD_CONSTANT},
                 {"reflect", PAD_REFLECT},
                 {"edge", PAD_REPLICATE},
                 {"wrap", PAD_CIRCULAR}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (attribute_is(node, "mode", modes[i].name, i == 0)) {
            *mode = modes[i].mode;
            return true;
        }
    return false;
}

static Status build_pad(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    Value *value = node_input(import, node, 2);
    int64_t pads[2 * TENSOR_MAX_DIMS], axes[TENSOR_MAX_DIMS];
    PadParams *pad = &step->params.pad;
    int n = import_ints(import, node, "pads", 1, pads, 2 * TENSOR_MAX_DIMS);
    int n_axes = import_ints(import, node, NULL, 3, axes, TENSOR_MAX_DIMS);
    if (value && !value_is_one(import, value, "constant")) return error_status();
    pad->value = value ? (float)value_number(value, 0) : attribute_float(node, "value", 0.0f);
    pad->whole = value ? value_integer(value, 0) : 0;
    if (error_pending()) return error_status();
    if (n_axes < 0)
        for (n_axes = 0; n_axes < in->shape.ndim; n_axes++) axes[n_axes] = n_axes;
    if (n != 2 * n_axes || !pad_mode(node, &pad->mode))
        return import_error(import, STATUS_FORMAT,
                            "it has %d pads for %d axes. HINT: two for each axis", n, n_axes);
    for (int i = 0; i < n_axes; i++) {
        int axis = import_axis(import, axes[i], in->shape.ndim);
        if (axis < 0) return error_status();
        pad->before[axis] = pads[i];
        pad->after[axis] = pads[n_axes + i];
    }
    return step_inputs(import, node, step, 1);
}

static Status run_pad(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const PadParams *pad = &step->params.pad;
    if (step->whole)
        return done(tensor_pad_whole(in[0], pad->before, pad->after, pad->mode, pad->whole), out);
    return done(tensor_pad(onnx_as_float(in[0]), pad->before, pad->after, pad->mode, pad->value),
                out);
}

static Status build_triangle(Import *import, const Node *node, Step *step) {
    Value *k = node_input(import, node, 1);
    if (k && !value_is_one(import, k, "diagonal")) return error_status();
    step->params.plain.count = k ? value_integer(k, 0) : 0;
    step->params.plain.flags[0] = attribute_int(node, "upper", 1) != 0;
    return step_inputs(import, node, step, 1);
}

static Status run_triangle(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *x = step_number(step, in[0]);
    int64_t k = step->params.plain.count;
    return done(step->params.plain.flags[0] ? tensor_triu(x, k) : tensor_tril(x, k), out);
}

const Operator onnx_moves[] = {
    {.name = "Reshape", .build = build_reshape, .run = run_reshape, .whole = WHOLE_MOVED},
    {.name = "Flatten",
     .build = build_reshape,
     .run = run_reshape,
     .whole = WHOLE_MOVED,
     .module = "Flatten"},
    {.name = "Squeeze", .build = build_reshape, .run = run_reshape, .whole = WHOLE_MOVED},
    {.name = "Unsqueeze", .build = build_reshape, .run = run_reshape, .whole = WHOLE_MOVED},
    {.name = "Transpose", .build = build_transpose, .run = run_transpose, .whole = WHOLE_MOVED},
    {.name = "Expand", .build = build_expand, .run = run_expand, .whole = WHOLE_MOVED},
    {.name = "Tile", .build = build_tile, .run = run_tile, .whole = WHOLE_MOVED},
    {.name = "Slice", .build = build_slice, .run = run_slice, .whole = WHOLE_MOVED},
    {.name = "Split", .build = build_split, .run = run_split, .whole = WHOLE_MOVED},
    {.name = "Concat", .build = build_concat, .run = run_concat, .whole = WHOLE_MOVED},
    {.name = "Pad", .build = build_pad, .run = run_pad, .whole = WHOLE_MOVED},
    {.name = "Trilu", .build = build_triangle, .run = run_triangle, .whole = WHOLE_MOVED},
    {.name = NULL},
};
