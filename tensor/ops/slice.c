// slice.c -- every step-th index in [begin, end) of one dimension; a view
#include "tensor/handle.h"
#include "tensor/ops.h"

// params: dim, begin, step; size[0] = number of indices
Tensor *tensor_slice(Tensor *x, int dim, int64_t begin, int64_t end, int64_t step) {
    if (!x) return OP_RUN(op_slice, NULL, x);
    int d = dim < 0 ? dim + x->ndim : dim;
    if (d < 0 || d >= x->ndim || begin < 0 || end > x->shape[d] || begin > end || step < 1) {
        char text[SHAPE_TEXT];
        error_set(STATUS_SHAPE,
                  "slice of %s: [%lld, %lld) by %lld in dimension %d is outside. HINT: 0 <= begin "
                  "<= end <= size, step >= 1",
                  shape_text(tensor_shape(x), text), (long long)begin, (long long)end,
                  (long long)step, dim);
        return NULL;
    }
    int64_t count = (end - begin) / step + ((end - begin) % step != 0);
    return OP_RUN(op_slice, (&(OpParams){.dim = d, .begin = begin, .step = step, .size = {count}}),
                  x);
}

static Status slice_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    const OpParams *p = &call->params;
    Shape shape = tensor_shape(x);
    shape.dims[p->dim] = p->size[0];
    if (op_output(call, 0, x->dtype, shape)) return error_status();
    Tensor *y = call->out[0];
    for (int i = 0; i < x->ndim; i++) y->stride[i] = x->stride[i];
    if (p->size[0] > 1) y->stride[p->dim] *= p->step; // one index needs no step, however large
    y->offset = x->offset + (p->size[0] ? p->begin * x->stride[p->dim] : 0);
    handle_update_contiguous(y);
    return STATUS_OK;
}

// The second slice of a tensor, and each later one, is added where it belongs: to write as many
// zeros as the tensor has elements for each of many slices would take ever longer.
static Status add_to(Tensor *sum, Tensor *grad, const OpParams *params) {
    Tensor *in[] = {sum, tensor_contiguous(grad)};
    return op_dispatch(
        &(OpCall){.op = &op_slice_accumulate, .in = in, .n_in = 2, .params = *params});
}

static Status slice_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    Tensor *sum = op_gradient_so_far(&grad_in[0]);
    if (sum) return add_to(grad_in[0] = sum, grad_out[0], &params);
    params.count = saved->in[0]->ndim;
    for (int i = 0; i < params.count; i++) params.size[i] = saved->in[0]->shape[i];
    return OP_INTO(&grad_in[0], op_slice_backward, &params, grad_out[0]);
}

const Op op_slice = {.id = OP_slice,
                     .name = "slice",
                     .flags = OP_VIEW,
                     .min_inputs = 1,
                     .max_inputs = 1,
                     .dtypes = dtypes_any,
                     .n_dtypes = DTYPE_COUNT,
                     .infer = slice_infer,
                     .cost = COUNTED(op_cost_none),
                     .backward = slice_backward};
