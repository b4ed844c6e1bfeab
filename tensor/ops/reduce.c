// reduce.c -- how reductions over any dimension become reductions over the last one: by views.
#include "tensor/ops/reduce.h"

static bool find_dim(const char *op, const Tensor *x, int dim, int *found) {
    *found = dim < 0 ? dim + x->shape.ndim : dim;
    if (*found >= 0 && *found < x->shape.ndim) return true;
    char text[SHAPE_TEXT];
    if (x->shape.ndim == 0)
        error_set(STATUS_SHAPE, "%s of (): no dimension %d. HINT: a scalar has none", op, dim);
    error_set(STATUS_SHAPE, "%s of %s: no dimension %d. HINT: 0 to %d, or negative from the end",
              op, shape_text(x->shape, text), dim, x->shape.ndim - 1);
    return false;
}

Tensor *reduce_move_last(const char *op, Tensor *x, int dim) {
    int d;
    if (!x || !find_dim(op, x, dim, &d)) return NULL;
    if (d == x->shape.ndim - 1) return x;
    int dims[TENSOR_MAX_DIMS], n = 0;
    for (int i = 0; i < x->shape.ndim; i++)
        if (i != d) dims[n++] = i;
    dims[n] = d;
    return tensor_permute(x, dims);
}

Tensor *reduce_flatten_or_move(const char *op, Tensor *x, int dim) {
    return x && dim == DIM_ALL ? tensor_reshape(x, SHAPE(x->numel)) : reduce_move_last(op, x, dim);
}

Tensor *reduce_move_back(Tensor *y, int dim) {
    if (!y) return NULL;
    int d = dim < 0 ? dim + y->shape.ndim : dim;
    if (d == y->shape.ndim - 1) return y;
    int dims[TENSOR_MAX_DIMS];
    for (int i = 0; i < y->shape.ndim; i++)
        dims[i] = i < d ? i : i == d ? y->shape.ndim - 1 : i - 1;
    return tensor_permute(y, dims);
}

Tensor *reduce_finish(Tensor *reduced, const Tensor *x, int dim, bool keep_dim) {
    if (!reduced || !keep_dim) return reduced;
    Shape shape = x->shape;
    for (int i = 0; i < shape.ndim; i++)
        if (dim == DIM_ALL || i == (dim < 0 ? dim + shape.ndim : dim)) shape.dims[i] = 1;
    return tensor_reshape(reduced, shape);
}
