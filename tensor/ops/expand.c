// expand.c -- repeats dimensions of size 1, and new leading ones, without copying; a view
#include "tensor/handle.h"
#include "tensor/ops/elementwise.h"

Tensor *tensor_expand(Tensor *x, Shape shape) {
    OpParams params = {.count = shape.ndim};
    for (int i = 0; i < shape.ndim && i < TENSOR_MAX_DIMS; i++) params.size[i] = shape.dims[i];
    return OP_RUN(op_expand, &params, x);
}

static Status expand_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = {.ndim = call->params.count};
    char text[SHAPE_TEXT];
    if (shape.ndim < 0 || shape.ndim > TENSOR_MAX_DIMS)
        return op_error(call, STATUS_SHAPE, "cannot have %d dimensions. HINT: at most %d",
                        shape.ndim, TENSOR_MAX_DIMS);
    int missing = shape.ndim - x->ndim;
    bool fits = missing >= 0;
    for (int i = 0; i < shape.ndim; i++) {
        shape.dims[i] = call->params.size[i];
        int64_t size = i < missing ? 1 : x->shape[i - (missing > 0 ? missing : 0)];
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
                      .min_inputs = 1,
                      .max_inputs = 1,
                      .dtypes = dtypes_any,
                      .n_dtypes = DTYPE_COUNT,
                      .infer = expand_infer,
                      .cost = COUNTED(op_cost_none),
                      .backward = expand_backward};
