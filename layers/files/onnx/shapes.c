// shapes.c -- the shapes that nodes which move numbers produce: for constants, which are moved at
// import, and for steps. It moves no numbers.
#include <string.h>

#include "layers/files/onnx/import.h"

// ---- reshapes ---------------------------------------------------------------------------------
static Status too_many(const Import *import, int n) {
    return import_error(import, STATUS_NOT_IMPLEMENTED, "%d dimensions, at most %d are possible", n,
                        TENSOR_MAX_DIMS);
}

static Status plain_reshape(Import *import, const Node *node, Shape in, Shape *out) {
    int64_t sizes[TENSOR_MAX_DIMS] = {0}, known = 1, numel = shape_numel(in);
    bool keeps_zero = attribute_int(node, "allowzero", 0) != 0;
    int n = import_ints(import, node, "shape", 1, sizes, TENSOR_MAX_DIMS), open = -1;
    if (n < 0) import_error(import, STATUS_FORMAT, "it has no shape");
    if (error_pending()) return error_status();
    *out = (Shape){.ndim = n};
    for (int i = 0; i < n; i++) {
        if (sizes[i] == 0 && !keeps_zero && wide_of(import, node_input_index(import, node, 0)))
            return import_error(
                import, STATUS_NOT_IMPLEMENTED,
                "a size that is as before, behind more than %d dimensions. HINT: the "
                "size itself",
                TENSOR_MAX_DIMS);
        if (sizes[i] == 0 && !keeps_zero) sizes[i] = i < in.ndim ? in.dims[i] : 0;
        if (sizes[i] == -1) open = i;
        out->dims[i] = sizes[i];
        if (sizes[i] < -1 || (i != open && __builtin_mul_overflow(known, sizes[i], &known)))
            return import_error(import, STATUS_FORMAT, "the size %lld", (long long)sizes[i]);
    }
    if (open >= 0) out->dims[open] = known > 0 ? numel / known : 0;
    if (open >= 0) known *= out->dims[open];
    for (int i = 0; i < n; i++)
        if (out->dims[i] < 0) known = -1;
    if (known == numel) return STATUS_OK;
    char from[SHAPE_TEXT], to[SHAPE_TEXT];
    return import_error(import, STATUS_SHAPE,
                        "%s cannot become %s. HINT: a file is for the shapes that it was exported "
                        "with; dynamic_shapes leaves them open",
                        shape_text(in, from), shape_text(*out, to));
}

static Status flatten(Import *import, const Node *node, Shape in, Shape *out) {
    int64_t axis = attribute_int(node, "axis", 1);
    if (axis < 0) axis += in.ndim;
    if (axis < 0 || axis > in.ndim)
        return import_error(import, STATUS_FORMAT, "axis %lld of %d dimensions", (long long)axis,
                            in.ndim);
    *out = SHAPE(1, 1);
    for (int i = 0; i < in.ndim; i++) out->dims[i >= axis] *= in.dims[i];
    return STATUS_OK;
}

static Status squeeze(Import *import, const Node *node, Shape in, Shape *out) {
    int64_t axes[TENSOR_MAX_DIMS];
    bool gone[TENSOR_MAX_DIMS] = {false};
    int n = import_ints(import, node, "axes", 1, axes, TENSOR_MAX_DIMS);
    for (int i = 0; i < n && !error_pending(); i++) {
        int axis = import_axis(import, axes[i], in.ndim);
        if (axis >= 0 && in.dims[axis] != 1)
            import_error(import, STATUS_SHAPE, "dimension %d is %lld, not 1", axis,
                         (long long)in.dims[axis]);
        if (axis >= 0) gone[axis] = true;
    }
    for (int i = 0; i < in.ndim && n <= 0; i++) gone[i] = in.dims[i] == 1;
    *out = (Shape){.ndim = 0};
    for (int i = 0; i < in.ndim; i++)
        if (!gone[i]) out->dims[out->ndim++] = in.dims[i];
    return error_status();
}

static Status unsqueeze(Import *import, const Node *node, Shape in, Shape *out) {
    int64_t axes[TENSOR_MAX_DIMS];
    bool added[TENSOR_MAX_DIMS] = {false};
    int n = import_ints(import, node, "axes", 1, axes, TENSOR_MAX_DIMS), from = 0;
    if (error_pending()) return error_status();
    if (n < 0 || in.ndim + n > TENSOR_MAX_DIMS) return too_many(import, in.ndim + n);
    *out = (Shape){.ndim = in.ndim + n};
    for (int i = 0; i < n; i++) {
        int axis = import_axis(import, axes[i], out->ndim);
        if (axis < 0) return error_status();
        if (added[axis]) return import_error(import, STATUS_FORMAT, "axis %d twice", axis);
        added[axis] = true;
    }
    for (int i = 0; i < out->ndim; i++) out->dims[i] = added[i] ? 1 : in.dims[from++];
    return STATUS_OK;
}

static Status same(Import *import, const Node *node, Shape in, Shape *out) {
    (void)import, (void)node;
    *out = in;
    return STATUS_OK;
}

static const struct {
    const char *name;
    Status (*shape)(Import *import, const Node *node, Shape in, Shape *out);
} reshapes[] = {{"Reshape", plain_reshape},
                {"Flatten", flatten},
                {"Squeeze", squeeze},
                {"Unsqueeze", unsqueeze},
                {"Identity", same}};

bool shape_reshapes(const char *op_type) {
    for (size_t i = 0; i < sizeof reshapes / sizeof reshapes[0]; i++)
        if (strcmp(reshapes[i].name, op_type) == 0) return true;
    return false;
}

Status shape_reshape(Import *import, const Node *node, Shape in, Shape *out) {
    size_t i = 0;
    while (strcmp(reshapes[i].name, node->op_type) != 0) i++;
    return reshapes[i].shape(import, node, in, out);
}

// ---- others -----------------------------------------------------------------------------------
Status shape_broadcast(Import *import, Shape a, Shape b, Shape *out) {
    char left[SHAPE_TEXT], right[SHAPE_TEXT];
    *out = (Shape){.ndim = a.ndim > b.ndim ? a.ndim : b.ndim};
    for (int i = 0; i < out->ndim; i++) {
        int in_a = i - (out->ndim - a.ndim), in_b = i - (out->ndim - b.ndim);
        int64_t x = in_a >= 0 ? a.dims[in_a] : 1, y = in_b >= 0 ? b.dims[in_b] : 1;
        if (x != y && x != 1 && y != 1)
            return import_error(import, STATUS_SHAPE, "%s does not broadcast with %s",
                                shape_text(a, left), shape_text(b, right));
        out->dims[i] = x == 1 ? y : x;
    }
    return STATUS_OK;
}

Status shape_expand(Import *import, const Node *node, Shape in, Shape *out) {
    int64_t sizes[TENSOR_MAX_DIMS] = {0};
    int n = import_ints(import, node, NULL, 1, sizes, TENSOR_MAX_DIMS);
    if (n < 0) import_error(import, STATUS_FORMAT, "it has no shape");
    if (error_pending()) return error_status();
    Shape wanted = {.ndim = n};
    for (int i = 0; i < n; i++) {
        wanted.dims[i] = sizes[i];
        if (sizes[i] < 0)
            return import_error(import, STATUS_FORMAT, "the size %lld", (long long)sizes[i]);
    }
    return shape_broadcast(import, in, wanted, out);
}

// Slices as Python does, except that steps and ends are always numbers.
static void slice_one(SliceParams *out, int dim, int64_t size, int64_t begin, int64_t end,
                      int64_t step) {
    int64_t first = step < 0 ? -1 : 0, last = step < 0 ? size - 1 : size;
    if (begin < 0) begin += size;
    if (end < 0 && end >= -size)
        end += size;
    else if (end < 0)
        end = first;
    begin = begin < 0 ? 0 : begin > last ? last : begin;
    end = end < first ? first : end > last ? last : end;
    int64_t span = step > 0 ? end - begin : begin - end;
    // Limits the step: larger ones give the same result, and this one cannot overflow.
    if (step > size + 1) step = size + 1;
    if (step < -(size + 1)) step = -(size + 1);
    int64_t stride = step > 0 ? step : -step;
    out->begin[dim] = begin;
    out->step[dim] = step;
    out->count[dim] = span > 0 ? (span + stride - 1) / stride : 0;
}

Status shape_slice(Import *import, const Node *node, Shape in, SliceParams *out) {
    int64_t begins[TENSOR_MAX_DIMS], ends[TENSOR_MAX_DIMS], axes[TENSOR_MAX_DIMS];
    int64_t steps[TENSOR_MAX_DIMS] = {1, 1, 1, 1, 1, 1};
    int n = import_ints(import, node, "starts", 1, begins, TENSOR_MAX_DIMS);
    int n_ends = import_ints(import, node, "ends", 2, ends, TENSOR_MAX_DIMS);
    int n_axes = import_ints(import, node, "axes", 3, axes, TENSOR_MAX_DIMS);
    int n_steps = import_ints(import, node, NULL, 4, steps, TENSOR_MAX_DIMS);
    if (error_pending()) return error_status();
    if (n < 0 || n_ends != n || (n_axes >= 0 && n_axes != n) || (n_steps >= 0 && n_steps != n) ||
        (n_axes < 0 && n > in.ndim))
        return import_error(import, STATUS_FORMAT, "%d starts, %d ends, %d axes, %d steps", n,
                            n_ends, n_axes, n_steps);
    for (int i = 0; i < in.ndim; i++) slice_one(out, i, in.dims[i], 0, in.dims[i], 1);
    for (int i = 0; i < n; i++) {
        int axis = import_axis(import, n_axes < 0 ? i : axes[i], in.ndim);
        if (axis < 0) return error_status();
        if (steps[i] == 0) return import_error(import, STATUS_FORMAT, "a step of 0");
        // The largest number means the end of the dimension, in either direction.
        if (steps[i] < 0 && ends[i] >= INT32_MAX) ends[i] = INT64_MIN;
        slice_one(out, axis, in.dims[axis], begins[i], ends[i], steps[i]);
    }
    return STATUS_OK;
}

Status shape_permutation(Import *import, const Node *node, Shape in, int out[]) {
    int64_t dims[TENSOR_MAX_DIMS];
    unsigned seen = 0;
    int n = attribute_ints(node, "perm", dims, TENSOR_MAX_DIMS);
    for (int i = 0; i < in.ndim && n < 0; i++) dims[i] = in.ndim - 1 - i;
    bool fits = n < 0 || n == in.ndim;
    for (int i = 0; i < in.ndim && fits; i++) {
        fits = dims[i] >= 0 && dims[i] < in.ndim && !(seen >> dims[i] & 1);
        if (fits) seen |= 1u << dims[i];
        out[i] = fits ? (int)dims[i] : 0;
    }
    if (fits) return STATUS_OK;
    return import_error(import, STATUS_FORMAT, "its perm is no order of %d dimensions", in.ndim);
}

Status shape_reduce(Import *import, const Node *node, Shape in, ReduceParams *out) {
    int64_t axes[TENSOR_MAX_DIMS];
    unsigned seen = 0;
    int n = import_ints(import, node, "axes", 1, axes, TENSOR_MAX_DIMS);
    if (error_pending()) return error_status();
    *out = (ReduceParams){.keep = attribute_int(node, "keepdims", 1) != 0};
    out->nothing = n <= 0 && attribute_int(node, "noop_with_empty_axes", 0) != 0;
    for (int i = 0; i < in.ndim && n <= 0 && !out->nothing; i++) out->dims[out->n_dims++] = i;
    for (int i = 0; i < n; i++) {
        int axis = import_axis(import, axes[i], in.ndim);
        if (axis < 0) return error_status();
        if (seen >> axis & 1) return import_error(import, STATUS_FORMAT, "axis %d twice", axis);
        seen |= 1u << axis;
        out->dims[out->n_dims++] = axis;
    }
    return STATUS_OK;
}

Status shape_split(Import *import, const Node *node, Shape in, int *axis, int64_t sizes[]) {
    int n = (int)node->n_output;
    *axis = import_axis(import, attribute_int(node, "axis", 0), in.ndim);
    if (*axis < 0) return error_status();
    if (attribute_int(node, "num_outputs", n) != n)
        return import_error(import, STATUS_FORMAT, "its num_outputs is %lld, and it has %d outputs",
                            (long long)attribute_int(node, "num_outputs", n), n);
    int64_t size = in.dims[*axis], sum = 0;
    int given = import_ints(import, node, "split", 1, sizes, n);
    if (error_pending()) return error_status();
    int64_t each = (size + n - 1) / n;
    for (int i = 0; i < n && given < 0; i++) { // the last part has the rest
        sizes[i] = size < each * (i + 1) ? size - each * i : each;
        if (sizes[i] < 0) sizes[i] = 0;
    }
    bool fits = given < 0 || given == n;
    for (int i = 0; i < n && fits; i++) {
        fits = sizes[i] >= 0 && sizes[i] <= size - sum;
        if (fits) sum += sizes[i];
    }
    if (fits && sum == size) return STATUS_OK;
    return import_error(import, STATUS_SHAPE, "%lld numbers along axis %d into %d parts",
                        (long long)size, *axis, n);
}
