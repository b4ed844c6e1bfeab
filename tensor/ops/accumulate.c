// accumulate.c -- into + value; autograd adds gradients with it, mostly in place (out is into)
#include "tensor/ops/elementwise.h"

// A part of what is written is read as it was before: another view of the same buffer is copied.
static bool overlaps(const Tensor *into, const Tensor *value) {
    return into && value && into->storage == value->storage &&
           !(into->offset == value->offset && tensor_is_contiguous(value));
}

Status tensor_accumulate(Tensor *into, Tensor *value) {
    if (overlaps(into, value)) value = OP_RUN(op_contiguous, NULL, value);
    return OP_INTO(&into, op_accumulate, NULL, into, value);
}

static Status infer(OpCall *call) {
    if (!tensor_same_shape(call->in[0], call->in[1]))
        return op_error(call, STATUS_SHAPE, "shapes differ. HINT: tensor_expand the smaller one");
    return op_infer_same(call);
}

KERNEL Status accumulate_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *into = call_in(call, 0), *value = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = into[i] + value[i];
    return STATUS_OK;
}

const Op op_accumulate = {.id = OP_accumulate,
                          .name = "accumulate",
                          .flags = OP_UNATTRIBUTED,
                          .work = op_work_elements,
                          .min_inputs = 2,
                          .max_inputs = 2,
                          .dtypes = dtypes_float,
                          .n_dtypes = 1,
                          .infer = infer,
                          .cost = COUNTED(cost_one_flop)};
