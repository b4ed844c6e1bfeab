// fold_moves.c -- constants moved at import: reshaped, sliced, picked, joined. Computes
// nothing with them.
#include <string.h>

#include "layers/files/onnx/import.h"

static Status fold_shape(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t n = in->shape.ndim, begin = attribute_int(node, "start", 0);
    int64_t end = attribute_int(node, "end", n);
    begin = begin < 0 ? begin + n : begin;
    end = end < 0 ? end + n : end;
    begin = begin < 0 ? 0 : begin > n ? n : begin;
    end = end < begin ? begin : end > n ? n : end;
    if (value_fold(import, out, ONNX_INT64, SHAPE(end - begin))) return error_status();
    for (int64_t i = begin; i < end; i++) out->data[i - begin] = (double)in->shape.dims[i];
    return STATUS_OK;
}

static Status fold_size(Import *import, const Node *node) {
    Value *out = node_output(import, node, 0);
    if (value_fold(import, out, ONNX_INT64, SHAPE_SCALAR)) return error_status();
    out->data[0] = (double)shape_numel(node_input(import, node, 0)->shape);
    return STATUS_OK;
}

static Status fold_reshape(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    Shape shape;
    if (shape_reshape(import, node, in->shape, &shape) || value_fold(import, out, in->type, shape))
        return error_status();
    memcpy(out->data, in->data, (size_t)shape_numel(shape) * sizeof(double));
    return STATUS_OK;
}

static Status fold_transpose(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int order[TENSOR_MAX_DIMS];
    int64_t own[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
    Shape shape = in->shape;
    if (shape_permutation(import, node, in->shape, order)) return error_status();
    fold_strides(in->shape, in->shape, own);
    for (int i = 0; i < shape.ndim; i++) {
        shape.dims[i] = in->shape.dims[order[i]];
        stride[i] = own[order[i]];
    }
    if (!value_fold(import, out, in->type, shape)) fold_strided(in, out, stride, 0);
    return error_status();
}

static Status fold_slice(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    SliceParams slice;
    int64_t stride[TENSOR_MAX_DIMS], offset = 0;
    Shape shape = in->shape;
    if (shape_slice(import, node, in->shape, &slice)) return error_status();
    fold_strides(in->shape, in->shape, stride);
    for (int i = 0; i < shape.ndim; i++) {
        offset += slice.begin[i] * stride[i];
        stride[i] *= slice.step[i];
        shape.dims[i] = slice.count[i];
    }
    if (!value_fold(import, out, in->type, shape)) fold_strided(in, out, stride, offset);
    return error_status();
}

static Status fold_expand(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t stride[TENSOR_MAX_DIMS];
    Shape shape;
    if (shape_expand(import, node, in->shape, &shape) || value_fold(import, out, in->type, shape))
        return error_status();
    fold_strides(in->shape, shape, stride);
    fold_strided(in, out, stride, 0);
    return STATUS_OK;
}

static Status fold_split(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    int64_t sizes[64], stride[TENSOR_MAX_DIMS], begin = 0;
    int axis;
    if (node->n_output > 64) return import_error(import, STATUS_NOT_IMPLEMENTED, "over 64 parts");
    if (shape_split(import, node, in->shape, &axis, sizes)) return error_status();
    fold_strides(in->shape, in->shape, stride);
    int64_t each = stride[axis] ? stride[axis] : 1;
    for (int i = 0; i < (int)node->n_output; i++) {
        Value *out = node_output(import, node, i);
        Shape shape = in->shape;
        shape.dims[axis] = sizes[i];
        if (out && value_fold(import, out, in->type, shape)) return error_status();
        if (out) fold_strided(in, out, stride, begin * each);
        begin += sizes[i];
    }
    return STATUS_OK;
}

// Both of these as `outer` times `inner` rows of numbers around the axis.
static void around(Shape shape, int axis, int64_t *outer, int64_t *inner) {
    *outer = *inner = 1;
    for (int i = 0; i < shape.ndim; i++) {
        if (i < axis) *outer *= shape.dims[i];
        if (i > axis) *inner *= shape.dims[i];
    }
}

static Status fold_concat(Import *import, const Node *node) {
    const Value *first = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    Shape shape = first->shape;
    int axis = import_axis(import, attribute_int(node, "axis", 0), shape.ndim);
    if (axis < 0) return error_status();
    shape.dims[axis] = 0;
    for (int k = 0; k < (int)node->n_input; k++) {
        const Value *in = node_input(import, node, k);
        Shape cut = in ? in->shape : SHAPE_SCALAR;
        if (cut.ndim == shape.ndim) cut.dims[axis] = shape.dims[axis];
        if (!in || !shape_equal(cut, shape))
            return import_error(import, STATUS_SHAPE, "its inputs do not fit together");
        shape.dims[axis] += in->shape.dims[axis];
    }
    if (value_fold(import, out, first->type, shape)) return error_status();
    int64_t outer, inner, begin = 0, row;
    around(shape, axis, &outer, &inner);
    row = shape.dims[axis] * inner;
    for (int k = 0; k < (int)node->n_input; k++) {
        const Value *in = node_input(import, node, k);
        int64_t part = in->shape.dims[axis] * inner;
        for (int64_t o = 0; o < outer && part > 0; o++)
            memcpy(out->data + o * row + begin, in->data + o * part, (size_t)part * sizeof(double));
        begin += part;
    }
    return STATUS_OK;
}

static Status fold_tile(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    Value *out = node_output(import, node, 0);
    int64_t times[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS], index[TENSOR_MAX_DIMS] = {0};
    Shape shape = in->shape;
    int n = import_ints(import, node, NULL, 1, times, TENSOR_MAX_DIMS);
    if (!error_pending() && n != shape.ndim)
        import_error(import, STATUS_FORMAT, "%d repeats of %d dimensions", n, shape.ndim);
    for (int i = 0; i < shape.ndim && !error_pending(); i++)
        if (times[i] < 0 || __builtin_mul_overflow(shape.dims[i], times[i], &shape.dims[i]))
            import_error(import, STATUS_OVERFLOW, "%lld repeats", (long long)times[i]);
    if (error_pending() || value_fold(import, out, in->type, shape)) return error_status();
    fold_strides(in->shape, in->shape, stride);
    for (int64_t i = 0; i < shape_numel(shape); i++) {
        int64_t at = 0;
        for (int d = 0; d < shape.ndim; d++) at += index[d] % in->shape.dims[d] * stride[d];
        out->data[i] = in->data[at];
        for (int d = shape.ndim - 1; d >= 0 && ++index[d] == shape.dims[d]; d--) index[d] = 0;
    }
    return STATUS_OK;
}

int64_t fold_index(const Import *import, const Value *indices, int64_t i, int64_t size) {
    int64_t at = value_integer(indices, i);
    if (at < 0) at += size;
    if (at >= 0 && at < size) return at;
    import_error(import, STATUS_FORMAT, "the index %lld of %lld",
                 (long long)value_integer(indices, i), (long long)size);
    return -1;
}

static Status fold_gather(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *indices = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    int axis = import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim);
    if (axis < 0) return error_status();
    int ndim = in->shape.ndim - 1 + indices->shape.ndim;
    if (ndim > TENSOR_MAX_DIMS)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "%d dimensions", ndim);
    Shape shape = {.ndim = ndim};
    for (int i = 0; i < ndim; i++) {
        int behind = i - axis - indices->shape.ndim;
        shape.dims[i] = i < axis     ? in->shape.dims[i]
                        : behind < 0 ? indices->shape.dims[i - axis]
                                     : in->shape.dims[axis + 1 + behind];
    }
    if (value_fold(import, out, in->type, shape)) return error_status();
    int64_t outer, inner, size = in->shape.dims[axis], n = shape_numel(indices->shape);
    around(in->shape, axis, &outer, &inner);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = fold_index(import, indices, i, size);
        if (at < 0) return error_status();
        for (int64_t o = 0; o < outer && inner > 0; o++)
            memcpy(out->data + (o * n + i) * inner, in->data + (o * size + at) * inner,
                   (size_t)inner * sizeof(double));
    }
    return STATUS_OK;
}

static Status fold_gather_elements(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *indices = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    int axis = import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim);
    if (axis < 0) return error_status();
    bool fits = indices->shape.ndim == in->shape.ndim;
    for (int d = 0; d < in->shape.ndim && fits; d++)
        fits = d == axis || indices->shape.dims[d] <= in->shape.dims[d];
    if (!fits) return import_error(import, STATUS_SHAPE, "indices that do not fit");
    if (value_fold(import, out, in->type, indices->shape)) return error_status();
    int64_t stride[TENSOR_MAX_DIMS], index[TENSOR_MAX_DIMS] = {0};
    fold_strides(in->shape, in->shape, stride);
    for (int64_t i = 0; i < shape_numel(indices->shape); i++) {
        int64_t picked = fold_index(import, indices, i, in->shape.dims[axis]), at = 0;
        if (picked < 0) return error_status();
        for (int d = 0; d < in->shape.ndim; d++) at += (d == axis ? picked : index[d]) * stride[d];
        out->data[i] = in->data[at];
        for (int d = in->shape.ndim - 1; d >= 0 && ++index[d] == indices->shape.dims[d]; d--)
            index[d] = 0;
    }
    return STATUS_OK;
}

const Folder onnx_fold_moves[] = {{"Shape", fold_shape, 1},
                                  {"Size", fold_size, 1},
                                  {"Reshape", fold_reshape, 2},
                                  {"Flatten", fold_reshape, 1},
                                  {"Squeeze", fold_reshape, 1},
                                  {"Unsqueeze", fold_reshape, 1},
                                  {"Identity", fold_reshape, 1},
                                  {"Transpose", fold_transpose, 1},
                                  {"Slice", fold_slice, 1},
                                  {"Expand", fold_expand, 2},
                                  {"Split", fold_split, 1},
                                  {"Concat", fold_concat, 1},
                                  {"Tile", fold_tile, 2},
                                  {"Gather", fold_gather, 2},
                                  {"GatherElements", fold_gather_elements, 2},
                                  {NULL, NULL, 0}};
