// reshape.c -- the same elements in the same order under another shape; a view
#include "tensor/op.h"
#include "tensor/ops.h"

static Shape shape_of(const OpParams *params) {
    Shape shape = {.ndim = params->count};
    for (int i = 0; i < params->count; i++) shape.dims[i] = params->size[i];
    return shape;
}

// Fills in the dimension given as -1, if any; a mismatch is left for infer to report.
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
    OpParams params = {.count = shape.ndim};
    for (int i = 0; i < shape.ndim; i++) params.size[i] = shape.dims[i];
    return OP_RUN(op_reshape, &params, x);
}

static Status reshape_infer(OpCall *call) {
    Shape shape = shape_of(&call->params);
    char text[SHAPE_TEXT];
    int64_t numel = 1;
    bool valid = true;
    for (int i = 0; i < shape.ndim; i++)
        valid =
            valid && shape.dims[i] >= 0 && !__builtin_mul_overflow(numel, shape.dims[i], &numel);
    if (!valid || numel != call->in[0]->numel)
        return op_error(call, STATUS_SHAPE, "%lld elements cannot take shape %s",
                        (long long)call->in[0]->numel, shape_text(shape, text));
    if (op_output(call, 0, call->in[0]->dtype, shape)) return error_status();
    call->out[0]->offset = call->in[0]->offset;
    return STATUS_OK;
}

static Status reshape_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    grad_in[0] = tensor_reshape(grad_out[0], tensor_shape(saved->in[0]));
    return grad_in[0] ? STATUS_OK : error_status();
}

const Op op_reshape = {.id = OP_reshape,
                       .name = "reshape",
                       .flags = OP_VIEW,
                       .min_inputs = 1,
                       .max_inputs = 1,
                       .dtypes = dtypes_any,
                       .n_dtypes = DTYPE_COUNT,
                       .infer = reshape_infer,
                       .cost = COUNTED(op_cost_none),
                       .backward = reshape_backward};
