// fill.c -- overwrites every element with params.value[0], in place
#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/ops.h"

Status tensor_fill(Tensor *x, float value) {
    OpCall call = {.op = &op_fill, .in = &x, .n_in = 1, .params = {.value = {value}}};
    return op_dispatch(&call);
}

static Status infer(OpCall *call) {
    (void)call; // no output: it writes its input
    return STATUS_OK;
}

static bool mutates(const OpCall *call, int input) {
    (void)call;
    return input == 0;
}

static OpCost cost(const OpCall *call) { // what was there is not read
    return (OpCost){.bytes_written = (uint64_t)tensor_bytes(call->in[0])};
}

static OpWork work(const OpCall *call) {
    return (OpWork){.items = call->in[0]->numel, .cost = 1.0};
}

KERNEL Status fill_cpu(const OpCall *call, int64_t begin, int64_t end) {
    float *x = call_in(call, 0), value = call->params.value[0];
    for (int64_t i = begin; i < end; i++) x[i] = value;
    return STATUS_OK;
}

const Op op_fill = {.id = OP_fill,
                    .name = "fill",
                    .min_inputs = 1,
                    .max_inputs = 1,
                    .dtypes = dtypes_float,
                    .n_dtypes = 1,
                    .infer = infer,
                    .cost = COUNTED(cost),
                    .work = work,
                    .mutates = mutates};
