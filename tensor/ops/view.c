// view.c -- views of the same data: reshape, permute, slice, expand, detach. They copy nothing and
// cost nothing; writes through one view are visible in all.
#include "tensor/handle.h"
#include "tensor/ops/elementwise.h"

// ---- reshape: the same elements in the same order under another shape ---------------------------
// Computes a dimension given as -1; infer reports any mismatch.
static Shape resolve(Shape shape, int64_t numel) {
    int64_t known = 1;
    int unknown = -1;
    for (int i = 0; i < shape.ndim && i < TENSOR_MAX_DIMS; i++) {
        if (shape.dims[i] == -1 && unknown < 0)
            unknown = i;
        else if (__builtin_mul_overflow(known, shape.dims[i], &known))
            return shape;
    }
    if (unknown >= 0 && known > 0 && numel % known == 0) shape.dims[unknown] = numel / known;
    return shape;
}

Tensor *tensor_reshape(Tensor *x, Shape shape) {
    if (shape.ndim < 0 || shape.ndim > TENSOR_MAX_DIMS) {
        error_set(STATUS_SHAPE, "reshape: %d dimensions. HINT: at most %d", shape.ndim,
                  TENSOR_MAX_DIMS);
        return NULL;
    }
    if (x) x = tensor_contiguous(x);
    if (x) shape = resolve(shape, x->numel);
    return OP_RUN(op_reshape, (&(OpParams){.shape = shape}), x);
}

static Status reshape_infer(OpCall *call) {
    Shape shape = call->params.shape;
    char text[SHAPE_TEXT];
    int64_t numel = 1;
    bool valid = true;
    for (int i = 0; i < shape.ndim; i++)
        valid =
            valid && shape.dims[i] >= 0 && !__builtin_mul_overflow(numel, shape.dims[i], &numel);
    if (!valid || numel != call->in[0]->numel)
        return op_error(call, STATUS_SHAPE,
                        "%lld elements cannot take shape %s. HINT: as many; one size may be -1",
                        (long long)call->in[0]->numel, shape_text(shape, text));
    if (op_output(call, 0, call->in[0]->dtype, shape)) return error_status();
    call->out[0]->offset = call->in[0]->offset;
    return STATUS_OK;
}

static Status reshape_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    grad_in[0] = tensor_reshape(grad_out[0], saved->in[0]->shape);
    return grad_in[0] ? STATUS_OK : error_status();
}

const Op op_reshape = {.id = OP_reshape,
                       .name = "reshape",
                       .flags = OP_VIEW,
                       .n_inputs = 1,
                       .dtypes = dtypes_any,
                       .n_dtypes = DTYPE_COUNT,
                       .infer = reshape_infer,
                       .backward = reshape_backward};

// ---- permute: dimensions in another order; transposing two is the common case -------------------
Tensor *tensor_permute(Tensor *x, const int *dims) {
    if (x && !dims)
        error_set(STATUS_INVALID_ARGUMENT, "permute: there are no dims. HINT: an array of them");
    OpParams params = {.shape.ndim = x && dims ? x->shape.ndim : 0};
    for (int i = 0; i < params.shape.ndim; i++) params.shape.dims[i] = dims[i];
    return OP_RUN(op_permute, &params, x);
}

Tensor *tensor_transpose(Tensor *x, int dim0, int dim1) {
    if (!x) return OP_RUN(op_permute, NULL, x);
    int a = dim0 < 0 ? dim0 + x->shape.ndim : dim0, b = dim1 < 0 ? dim1 + x->shape.ndim : dim1;
    if (a < 0 || b < 0 || a >= x->shape.ndim || b >= x->shape.ndim) {
        error_set(STATUS_SHAPE,
                  "transpose: no dimensions %d and %d in a %d-d tensor. HINT: negative ones count "
                  "from the end",
                  dim0, dim1, x->shape.ndim);
        return NULL;
    }
    int dims[TENSOR_MAX_DIMS];
    for (int i = 0; i < x->shape.ndim; i++) dims[i] = i == a ? b : i == b ? a : i;
    return tensor_permute(x, dims);
}

static Status permute_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = {.ndim = x->shape.ndim};
    unsigned seen = 0;
    for (int i = 0; i < x->shape.ndim; i++) {
        int64_t dim = call->params.shape.dims[i];
        if (dim < 0 || dim >= x->shape.ndim || (seen >> dim & 1))
            return op_error(call, STATUS_SHAPE,
                            "dims are not a permutation of 0..%d. HINT: each once",
                            x->shape.ndim - 1);
        seen |= 1u << dim;
        shape.dims[i] = x->shape.dims[dim];
    }
    if (op_output(call, 0, x->dtype, shape)) return error_status();
    Tensor *y = call->out[0];
    for (int i = 0; i < x->shape.ndim; i++) y->stride[i] = x->stride[call->params.shape.dims[i]];
    y->offset = x->offset;
    handle_update_contiguous(y);
    return STATUS_OK;
}

static Status permute_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    int inverse[TENSOR_MAX_DIMS] = {0};
    const Shape *dims = &saved->params.shape;
    for (int i = 0; i < dims->ndim; i++) inverse[dims->dims[i]] = i;
    grad_in[0] = tensor_permute(grad_out[0], inverse);
    return grad_in[0] ? STATUS_OK : error_status();
}

const Op op_permute = {.id = OP_permute,
                       .name = "permute",
                       .flags = OP_VIEW,
                       .n_inputs = 1,
                       .dtypes = dtypes_any,
                       .n_dtypes = DTYPE_COUNT,
                       .infer = permute_infer,
                       .backward = permute_backward};

// ---- slice: every step-th index in [begin, end) of one dimension --------------------------------
// params: dim, begin, step, count
Tensor *tensor_slice(Tensor *x, int dim, int64_t begin, int64_t end, int64_t step) {
    if (!x) return OP_RUN(op_slice, NULL, x);
    int d = dim < 0 ? dim + x->shape.ndim : dim;
    bool found = d >= 0 && d < x->shape.ndim;
    int64_t size = found ? x->shape.dims[d] : 0;
    int64_t first = begin < 0 ? begin + size : begin;
    int64_t last = end == SLICE_END ? size : end < 0 ? end + size : end;
    if (!found || first < 0 || last > size || first > last || step < 1) {
        char text[SHAPE_TEXT];
        error_set(
            STATUS_SHAPE,
            "slice of %s: [%lld, %lld) by %lld in dimension %d is outside. HINT: begin <= end "
            "<= size, or below 0 from the end; step >= 1 (tensor_flip turns round)",
            shape_text(x->shape, text), (long long)begin, (long long)end, (long long)step, dim);
        return NULL;
    }
    int64_t count = (last - first) / step + ((last - first) % step != 0);
    return OP_RUN(op_slice, (&(OpParams){.dim = d, .begin = first, .step = step, .count = count}),
                  x);
}

static Status slice_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    const OpParams *p = &call->params;
    Shape shape = x->shape;
    shape.dims[p->dim] = p->count;
    if (op_output(call, 0, x->dtype, shape)) return error_status();
    Tensor *y = call->out[0];
    for (int i = 0; i < x->shape.ndim; i++) y->stride[i] = x->stride[i];
    if (p->count > 1) y->stride[p->dim] *= p->step; // a single index has no step, however large
    y->offset = x->offset + (p->count ? p->begin * x->stride[p->dim] : 0);
    handle_update_contiguous(y);
    return STATUS_OK;
}

// The gradient of a tensor's second and later slices is added in place: writing a full tensor of
// zeros for each of many slices would take quadratic time.
static Status slice_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    params.shape = saved->in[0]->shape;
    return OP_ADDING(&grad_in[0], op_slice_backward, &params, grad_out[0]);
}

const Op op_slice = {.id = OP_slice,
                     .name = "slice",
                     .flags = OP_VIEW,
                     .n_inputs = 1,
                     .dtypes = dtypes_any,
                     .n_dtypes = DTYPE_COUNT,
                     .infer = slice_infer,
                     .backward = slice_backward};

// ---- expand: repeats dimensions of size 1, and new leading ones ---------------------------------
Tensor *tensor_expand(Tensor *x, Shape shape) {
    return OP_RUN(op_expand, (&(OpParams){.shape = shape}), x);
}

static Status expand_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = call->params.shape;
    char text[SHAPE_TEXT];
    if (shape.ndim < 0 || shape.ndim > TENSOR_MAX_DIMS)
        return op_error(call, STATUS_SHAPE, "cannot have %d dimensions. HINT: at most %d",
                        shape.ndim, TENSOR_MAX_DIMS);
    int missing = shape.ndim - x->shape.ndim;
    bool fits = missing >= 0;
    for (int i = 0; i < shape.ndim; i++) {
        int64_t size = i < missing ? 1 : x->shape.dims[i - (missing > 0 ? missing : 0)];
        fits = fits && (size == 1 || size == shape.dims[i]);
    }
    if (!fits)
        return op_error(call, STATUS_SHAPE,
                        "cannot be expanded to %s. HINT: only dimensions of "
                        "size 1 repeat",
                        shape_text(shape, text));
    if (op_output(call, 0, x->dtype, shape)) return error_status();
    broadcast_strides(x, call->out[0], call->out[0]->stride);
    call->out[0]->offset = x->offset;
    handle_update_contiguous(call->out[0]);
    return STATUS_OK;
}

static Status expand_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return backward_sum_to(&grad_in[0], grad_out[0], saved->in[0]);
}

const Op op_expand = {.id = OP_expand,
                      .name = "expand",
                      .flags = OP_VIEW,
                      .n_inputs = 1,
                      .dtypes = dtypes_any,
                      .n_dtypes = DTYPE_COUNT,
                      .infer = expand_infer,
                      .backward = expand_backward};

// ---- detach: cut off from the graph, not differentiable on purpose ------------------------------
Tensor *tensor_detach(Tensor *x) { return OP_RUN(op_detach, NULL, x); }

static Status detach_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    if (op_output_like(call, 0, x)) return error_status();
    for (int i = 0; i < x->shape.ndim; i++) call->out[0]->stride[i] = x->stride[i];
    call->out[0]->offset = x->offset;
    handle_update_contiguous(call->out[0]);
    return STATUS_OK;
}

const Op op_detach = {.id = OP_detach,
                      .name = "detach",
                      .flags = OP_VIEW,
                      .n_inputs = 1,
                      .dtypes = dtypes_any,
                      .n_dtypes = DTYPE_COUNT,
                      .infer = detach_infer};
