// dropout.c -- multiplies each element by 0 with probability p, the others by 1 / (1 - p): what is
// not finite stays not finite
// params: value[0] = p; seed and offset are stored in the call, so a recomputation drops the same
#include "tensor/context.h"
#include "tensor/ops/elementwise.h"

Tensor *tensor_dropout(Tensor *x, float p) {
    OpParams params = {.value = {p}, .count = x ? x->numel : 0};
    return OP_RUN(op_dropout, &params, x);
}

static Status dropout_infer(OpCall *call) {
    float p = call->params.value[0];
    if (!(p >= 0.0f && p <= 1.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "p = %g is not a probability. HINT: from 0 to 1", (double)p);
    Status status = op_infer_same(call);
    return status ? status : op_output(call, 1, DTYPE_UINT8, call->in[0]->shape);
}

static float scale_of(const OpCall *call) {
    float p = call->params.value[0];
    return p < 1.0f ? 1.0f / (1.0f - p) : 0.0f;
}

static Status dropout_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const OpParams *params = &call->params;
    const float *x = call_in(call, 0), scale = scale_of(call);
    float *y = call_out(call, 0), u[256];
    uint8_t *mask = (uint8_t *)tensor_raw(call->out[1]);
    for (int64_t from = begin; from < end; from += 256) {
        int64_t to = from + 256 < end ? from + 256 : end;
        random_uniform(params->seed, params->offset, from, to, u);
        for (int64_t i = from; i < to; i++) {
            mask[i] = u[i - from] >= params->value[0];
            y[i] = x[i] * (mask[i] ? scale : 0.0f);
        }
    }
    return STATUS_OK;
}

static Status dropout_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_dropout_backward, &saved->params, grad_out[0], saved->out[1]);
}

KERNEL static Status dropout_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), scale = scale_of(call);
    const uint8_t *mask = (const uint8_t *)tensor_raw(call->in[1]);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = grad[i] * (mask[i] ? scale : 0.0f);
    return STATUS_OK;
}

// a comparison and a product
const Op op_dropout = {.id = OP_dropout,
                       .name = "dropout",
                       .kernel = dropout_cpu,
                       .flags = OP_RANDOM,
                       .work = op_work_elements,
                       .n_inputs = 1,
                       .infer = dropout_infer,
                       .backward = dropout_backward,
                       .saves = save_second_output,
                       .story =
                           STORY(.formula = "y = x / (1 - p) where the mask says so, else 0",
                                 .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                 .extra = "mask", .extra_bytes = {PER_OUTPUT, .each = 1},
                                 .keeps = KEEP_EXTRA, .kind = KIND_DROPOUT)};
static const DTypeSignature gradient_and_mask[1] = {{2, {DTYPE_FLOAT32, DTYPE_UINT8}}};
const Op op_dropout_backward = {
    .id = OP_dropout_backward,
    .name = "dropout_backward",
    .kernel = dropout_backward_cpu,
    .work = op_work_elements,
    .n_inputs = 2,
    .dtypes = gradient_and_mask,
    .n_dtypes = 1,
    .infer = op_infer_same,
    .story = STORY(.formula = "dx = dy / (1 - p) where the mask says so, else 0", .out = "dx",
                   .in = {"dy", "mask"}, .elementwise = {PER_OUTPUT, .each = 1})};
