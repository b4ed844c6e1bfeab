// fold_places.c -- constants read and written at places that other constants name.
#include <string.h>

#include "layers/files/onnx/import.h"

// Rows of whole numbers that name places in the first dimensions of `in`: in how many, how many
// rows there are, and how many numbers stand at each place. An error where they do not fit.
typedef struct Places {
    int depth;
    int64_t rows, inner;
} Places;

static Status find_places(const Import *import, const Value *in, const Value *indices, Places *at) {
    int ndim = indices->shape.ndim;
    *at = (Places){.rows = 1, .inner = 1};
    int64_t depth = ndim > 0 ? indices->shape.dims[ndim - 1] : -1;
    if (depth < 0 || depth > in->shape.ndim)
        return import_error(import, STATUS_SHAPE, "indices of %lld numbers", (long long)depth);
    at->depth = (int)depth;
    for (int i = 0; i + 1 < ndim; i++) at->rows *= indices->shape.dims[i];
    for (int i = at->depth; i < in->shape.ndim; i++) at->inner *= in->shape.dims[i];
    return STATUS_OK;
}

static int64_t place(const Import *import, const Value *in, const Value *indices, Places at,
                     int64_t row) {
    int64_t offset = 0;
    for (int k = 0; k < at.depth; k++) {
        int64_t index = fold_index(import, indices, row * at.depth + k, in->shape.dims[k]);
        if (index < 0) return -1;
        offset = offset * in->shape.dims[k] + index;
    }
    return offset * at.inner;
}

static Status fold_gather_nd(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *indices = node_input(import, node, 1);
    Value *out = node_output(import, node, 0);
    Places at;
    if (attribute_int(node, "batch_dims", 0) != 0)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "batch_dims");
    if (find_places(import, in, indices, &at)) return error_status();
    Shape shape = indices->shape;
    if (shape.ndim - 1 + in->shape.ndim - at.depth > TENSOR_MAX_DIMS)
        return import_error(import, STATUS_NOT_IMPLEMENTED, "so many dimensions");
    shape.ndim--;
    for (int i = at.depth; i < in->shape.ndim; i++) shape.dims[shape.ndim++] = in->shape.dims[i];
    if (value_fold(import, out, in->type, shape)) return error_status();
    for (int64_t row = 0; row < at.rows; row++) {
        int64_t from = place(import, in, indices, at, row);
        if (from < 0) return error_status();
        memcpy(out->data + row * at.inner, in->data + from, (size_t)at.inner * sizeof(double));
    }
    return STATUS_OK;
}

static Status fold_scatter_nd(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0), *indices = node_input(import, node, 1);
    const Value *updates = node_input(import, node, 2);
    Value *out = node_output(import, node, 0);
    Places at;
    if (!attribute_is(node, "reduction", "none", true))
        return import_error(import, STATUS_NOT_IMPLEMENTED, "a reduction");
    if (find_places(import, in, indices, &at)) return error_status();
    if (shape_numel(updates->shape) != at.rows * at.inner)
        return import_error(import, STATUS_SHAPE, "updates that do not fit");
    if (value_fold(import, out, in->type, in->shape)) return error_status();
    memcpy(out->data, in->data, (size_t)shape_numel(in->shape) * sizeof(double));
    for (int64_t row = 0; row < at.rows; row++) {
        int64_t to = place(import, in, indices, at, row);
        if (to < 0) return error_status();
        memcpy(out->data + to, updates->data + row * at.inner, (size_t)at.inner * sizeof(double));
    }
    return STATUS_OK;
}

const Folder onnx_fold_places[] = {{"GatherND", fold_gather_nd, 2},
                                   {"ScatterND", fold_scatter_nd, 3},
                                   {NULL, NULL, 0}};
