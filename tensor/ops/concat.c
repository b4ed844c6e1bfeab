// concat.c -- joins tensors along one dimension, or along a new one (stack)
// params: dim
#include "tensor/memory.h"
#include "tensor/ops/elementwise.h"

Tensor *tensor_concat(Tensor *const tensors[], int n_tensors, int dim) {
    if (n_tensors < 1) {
        error_set(STATUS_INVALID_ARGUMENT, "concat: got %d tensors. HINT: at least one", n_tensors);
        return NULL;
    }
    return op_run(&op_concat, &(OpParams){.dim = dim}, tensors, n_tensors);
}

// ---- stack: gives each a dimension of 1, and joins them along it --------------------------------
static Status check_stack(Tensor *const tensors[], int n_tensors, int dim) {
    if (n_tensors < 1 || !tensors)
        return error_set(STATUS_INVALID_ARGUMENT, "stack: got %d tensors. HINT: at least one",
                         n_tensors < 1 ? n_tensors : 0);
    char first[SHAPE_TEXT], text[SHAPE_TEXT];
    for (int i = 0; i < n_tensors; i++) {
        if (!tensors[i])
            return error_set(STATUS_INVALID_ARGUMENT,
                             "stack: tensor %d is NULL. HINT: all of them are needed", i);
        if (shape_equal(tensors[i]->shape, tensors[0]->shape)) continue;
        return error_set(STATUS_SHAPE,
                         "stack: tensor %d is %s, but tensor 0 is %s. HINT: all of one shape; "
                         "tensor_concat takes sizes that differ along one dimension",
                         i, shape_text(tensors[i]->shape, text),
                         shape_text(tensors[0]->shape, first));
    }
    int ndim = tensors[0]->shape.ndim + 1;
    if (ndim <= TENSOR_MAX_DIMS && dim >= -ndim && dim < ndim) return STATUS_OK;
    return error_set(STATUS_SHAPE,
                     "stack of %s: no new dimension %d. HINT: %d to %d, and at most %d in all",
                     shape_text(tensors[0]->shape, first), dim, -ndim, ndim - 1, TENSOR_MAX_DIMS);
}

Tensor *tensor_stack(Tensor *const tensors[], int n_tensors, int dim) {
    enum { FEW = 16 };
    Tensor *few[FEW], **thin = few, *result = NULL;
    if (error_pending() || check_stack(tensors, n_tensors, dim)) return NULL;
    Shape shape = tensors[0]->shape;
    if (dim < 0) dim += shape.ndim + 1;
    for (int i = shape.ndim++; i > dim; i--) shape.dims[i] = shape.dims[i - 1];
    shape.dims[dim] = 1;
    if (n_tensors > FEW) thin = memory_new((size_t)n_tensors * sizeof(Tensor *));
    if (!thin) return NULL;
    for (int i = 0; i < n_tensors; i++) thin[i] = tensor_reshape(tensors[i], shape);
    if (!error_pending()) result = tensor_concat(thin, n_tensors, dim);
    if (thin != few) memory_free(thin);
    return result;
}

// ---- concat -------------------------------------------------------------------------------------
// Adds input i's size to the result's; all its other sizes must equal the first input's.
static Status add_input(const OpCall *call, int i, Shape *shape) {
    const Tensor *x = call->in[i];
    int dim = call->params.dim;
    bool fits = x->shape.ndim == shape->ndim;
    for (int d = 0; fits && d < shape->ndim; d++)
        fits = d == dim || x->shape.dims[d] == shape->dims[d];
    char text[SHAPE_TEXT];
    if (!fits)
        return op_error(call, STATUS_SHAPE,
                        "input %d is %s. HINT: sizes may differ in dimension %d only", i,
                        shape_text(x->shape, text), dim);
    if (!__builtin_add_overflow(shape->dims[dim], x->shape.dims[dim], &shape->dims[dim]))
        return STATUS_OK;
    return op_error(call, STATUS_OVERFLOW,
                    "too large along dimension %d. HINT: fewer, or smaller ones", dim);
}

static Status infer(OpCall *call) {
    const Tensor *first = call->in[0];
    int dim = call->params.dim < 0 ? call->params.dim + first->shape.ndim : call->params.dim;
    if (dim < 0 || dim >= first->shape.ndim)
        return op_error(call, STATUS_SHAPE, "there is no dimension %d. HINT: %s", call->params.dim,
                        first->shape.ndim ? "negative ones count from the last"
                                          : "tensor_stack joins scalars");
    call->params.dim = dim;
    Shape shape = first->shape;
    shape.dims[dim] = 0;
    for (int i = 0; i < call->n_in; i++)
        if (add_input(call, i, &shape)) return error_status();
    return op_output(call, 0, first->dtype, shape);
}

// Counts each distinct input once: there may be many, and one may occur often.
static OpCost cost(const OpCall *call) {
    OpCost c = {.bytes_written = (uint64_t)tensor_bytes(call->out[0])};
    for (int i = 0; i < call->n_in; i++) {
        int k = 0;
        while (call->in[k] != call->in[i]) k++;
        if (k == i) c.bytes_read += (uint64_t)tensor_distinct_bytes(call->in[i]);
    }
    return c;
}

// Copies x so that its first index along dim is `start` of out: in runs of rows, or, if x is
// contiguous, of everything from dim on.
static void copy_into(const Tensor *out, const Tensor *x, int dim, int64_t start) {
    bool dense = tensor_is_contiguous(x);
    int outer_dims = dense ? dim : x->shape.ndim - 1;
    int64_t size = dtype_size(x->dtype), step = dense ? 1 : x->stride[x->shape.ndim - 1], run = 1;
    for (int d = outer_dims; d < x->shape.ndim; d++) run *= x->shape.dims[d];
    char *to = tensor_raw(out) + start * out->stride[dim] * size;
    const char *from = tensor_raw(x);
    for (int64_t r = 0; r * run < x->numel; r++) {
        int64_t rest = r, x_offset = 0, out_offset = 0;
        for (int d = outer_dims - 1; d >= 0; d--) {
            x_offset += rest % x->shape.dims[d] * x->stride[d];
            out_offset += rest % x->shape.dims[d] * out->stride[d];
            rest /= x->shape.dims[d];
        }
        strided_copy(to + out_offset * size, from + x_offset * size, run, step, size);
    }
}

static Status concat_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    int64_t start = 0;
    for (int i = 0; i < call->n_in; i++) {
        copy_into(call->out[0], call->in[i], call->params.dim, start);
        start += call->in[i]->shape.dims[call->params.dim];
    }
    return STATUS_OK;
}

// Every input's gradient is a view of the result's gradient.
static Status backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    int dim = saved->params.dim;
    int64_t start = 0;
    for (int i = 0; i < saved->n_in; i++) {
        int64_t end = start + saved->in[i]->shape.dims[dim];
        if (call_needs(saved, i)) grad_in[i] = tensor_slice(grad_out[0], dim, start, end, 1);
        start = end;
    }
    return error_status();
}

const Op op_concat = {.id = OP_concat,
                      .name = "concat",
                      .kernel = concat_cpu,
                      .flags = OP_STRIDED,
                      .least_inputs = 1,
                      .dtypes = dtypes_any,
                      .n_dtypes = DTYPE_COUNT,
                      .infer = infer,
                      .cost = COUNTED(cost),
                      .backward = backward,
                      .story = STORY(.formula = "y = the inputs side by side", .out = "y",
                                     .in = {"a", "b", "c"})};
