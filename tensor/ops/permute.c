// permute.c -- dimensions in another order; a view. Transposing two of them is the common case.
#include "tensor/handle.h"
#include "tensor/ops.h"

Tensor *tensor_permute(Tensor *x, const int *dims) {
    OpParams params = {.count = x ? x->ndim : 0};
    for (int i = 0; i < params.count; i++) params.size[i] = dims[i];
    return OP_RUN(op_permute, &params, x);
}

Tensor *tensor_transpose(Tensor *x, int dim0, int dim1) {
    if (!x) return OP_RUN(op_permute, NULL, x);
    int a = dim0 < 0 ? dim0 + x->ndim : dim0, b = dim1 < 0 ? dim1 + x->ndim : dim1;
    if (a < 0 || b < 0 || a >= x->ndim || b >= x->ndim) {
        error_set(STATUS_SHAPE, "transpose: no dimensions %d and %d in a %d-d tensor", dim0, dim1,
                  x->ndim);
        return NULL;
    }
    int dims[TENSOR_MAX_DIMS];
    for (int i = 0; i < x->ndim; i++) dims[i] = i == a ? b : i == b ? a : i;
    return tensor_permute(x, dims);
}

static Status permute_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = {.ndim = x->ndim};
    unsigned seen = 0;
    for (int i = 0; i < x->ndim; i++) {
        int64_t dim = call->params.size[i];
        if (dim < 0 || dim >= x->ndim || (seen >> dim & 1))
            return op_error(call, STATUS_SHAPE, "dims are not a permutation of 0..%d", x->ndim - 1);
        seen |= 1u << dim;
        shape.dims[i] = x->shape[dim];
    }
    if (op_output(call, 0, x->dtype, shape)) return error_status();
    Tensor *y = call->out[0];
    for (int i = 0; i < x->ndim; i++) y->stride[i] = x->stride[call->params.size[i]];
    y->offset = x->offset;
    handle_update_contiguous(y);
    return STATUS_OK;
}

static Status permute_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    int inverse[TENSOR_MAX_DIMS] = {0};
    for (int i = 0; i < saved->params.count; i++) inverse[saved->params.size[i]] = i;
    grad_in[0] = tensor_permute(grad_out[0], inverse);
    return grad_in[0] ? STATUS_OK : error_status();
}

const Op op_permute = {.id = OP_permute,
                       .name = "permute",
                       .flags = OP_VIEW,
                       .min_inputs = 1,
                       .max_inputs = 1,
                       .dtypes = dtypes_any,
                       .n_dtypes = DTYPE_COUNT,
                       .infer = permute_infer,
                       .cost = COUNTED(op_cost_none),
                       .backward = permute_backward};
