// detach.c -- the same data, cut off from the graph: not differentiable on purpose; a view
#include "tensor/handle.h"
#include "tensor/ops.h"

Tensor *tensor_detach(Tensor *x) { return OP_RUN(op_detach, NULL, x); }

static Status detach_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    if (op_output_like(call, 0, x)) return error_status();
    for (int i = 0; i < x->ndim; i++) call->out[0]->stride[i] = x->stride[i];
    call->out[0]->offset = x->offset;
    handle_update_contiguous(call->out[0]);
    return STATUS_OK;
}

const Op op_detach = {.id = OP_detach,
                      .name = "detach",
                      .flags = OP_VIEW,
                      .min_inputs = 1,
                      .max_inputs = 1,
                      .dtypes = dtypes_any,
                      .n_dtypes = DTYPE_COUNT,
                      .infer = detach_infer,
                      .cost = COUNTED(op_cost_none)};
