// dropout.c -- multiplies each element, or each block of elements, by 0 with probability p, the
// others by 1 / (1 - p); so infinity and NaN stay non-finite
// params: value[0] = p; shape = shape of a block, x's last sizes; none: one element; seed and
// offset are stored in the call, so a recomputation drops the same
#include "tensor/context.h"
#include "tensor/ops/elementwise.h"

Tensor *tensor_dropout(Tensor *x, float p) {
    OpParams params = {.value = {p}, .count = x ? x->numel : 0};
    return OP_RUN(op_dropout, &params, x);
}

Tensor *tensor_dropout_blocks(Tensor *x, int n_dims, float p) {
    OpParams params = {.value = {p}, .count = 1};
    int ndim = x ? x->shape.ndim : 0;
    if (x && (n_dims < 1 || n_dims > ndim)) {
        error_set(STATUS_SHAPE,
                  "dropout_blocks: %d of %d dimensions. HINT: 1 drops samples, 2 channels", n_dims,
                  ndim);
        return NULL;
    }
    for (int i = 0; i < n_dims && i < ndim; i++) params.count *= x->shape.dims[i];
    for (int i = n_dims; i < ndim; i++) params.shape.dims[params.shape.ndim++] = x->shape.dims[i];
    return OP_RUN(op_dropout, &params, x);
}

// Number of elements per decision.
static int64_t block_of(const OpCall *call) { return shape_numel(call->params.shape); }

static Status dropout_infer(OpCall *call) {
    float p = call->params.value[0];
    if (!(p >= 0.0f && p <= 1.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "p = %g is not a probability. HINT: from 0 to 1", (double)p);
    Shape blocks = call->in[0]->shape;
    blocks.ndim -= call->params.shape.ndim;
    Status status = op_infer_same(call);
    return status ? status : op_output(call, 1, DTYPE_UINT8, blocks);
}

// An item is one decision, an element of the mask.
static OpWork dropout_work(const OpCall *call) {
    const Tensor *mask = call->n_in > 1 ? call->in[1] : call->out[1];
    return (OpWork){.items = mask->numel, .cost = (double)(1 + block_of(call))};
}

static float scale_of(const OpCall *call) {
    float p = call->params.value[0];
    return p < 1.0f ? 1.0f / (1.0f - p) : 0.0f;
}

// y (n, block) = x (n, block) scale where the mask (n) is set, else x times 0; for n from `begin`
// to `end`
KERNEL static void scale_blocks(const float *x, const uint8_t *mask, float *y, int64_t begin,
                                int64_t end, int64_t block, float scale) {
    if (block == 1) {
        for (int64_t i = begin; i < end; i++) y[i] = x[i] * (mask[i] ? scale : 0.0f);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        float factor = mask[i] ? scale : 0.0f;
        for (int64_t j = i * block; j < (i + 1) * block; j++) y[j] = x[j] * factor;
    }
}

static Status dropout_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const OpParams *params = &call->params;
    const float *x = call_in(call, 0), scale = scale_of(call);
    float *y = call_out(call, 0), u[256];
    uint8_t *mask = (uint8_t *)tensor_raw(call->out[1]);
    for (int64_t from = begin; from < end; from += 256) {
        int64_t to = from + 256 < end ? from + 256 : end;
        random_uniform(params->seed, params->offset, from, to, u);
        for (int64_t i = from; i < to; i++) mask[i] = u[i - from] >= params->value[0];
        scale_blocks(x, mask, y, from, to, block_of(call), scale);
    }
    return STATUS_OK;
}

static Status dropout_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_dropout_backward, &saved->params, grad_out[0], saved->out[1]);
}

static Status dropout_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const uint8_t *mask = (const uint8_t *)tensor_raw(call->in[1]);
    scale_blocks(call_in(call, 0), mask, call_out(call, 0), begin, end, block_of(call),
                 scale_of(call));
    return STATUS_OK;
}

static void dropout_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->shape.ndim == 0) return;
    story->formula = "y = x / (1 - p) for blocks where the mask says so, else 0";
    story->elementwise = (OpRule){PER_BLOCK, .each = 1, .more = 1};
    story->extra_elements = (OpRule){PER_BLOCK, .more = 1};
}

// Counts a product per element, and a comparison per element of the mask.
const Op op_dropout = {
    .id = OP_dropout,
    .name = "dropout",
    .kernel = dropout_cpu,
    .flags = OP_RANDOM,
    .work = dropout_work,
    .n_inputs = 1,
    .infer = dropout_infer,
    .backward = dropout_backward,
    .saves = save_second_output,
    .story = STORY(.formula = "y = x / (1 - p) where the mask says so, else 0", .out = "y",
                   .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2}, .extra = "mask",
                   .extra_elements = {PER_OUTPUT, .each = 1}, .extra_type = DTYPE_UINT8,
                   .keeps = KEEP_EXTRA, .kind = KIND_DROPOUT, .vary = dropout_vary)};
static const DTypeSignature gradient_and_mask[1] = {{2, {DTYPE_FLOAT32, DTYPE_UINT8}}};
const Op op_dropout_backward = {
    .id = OP_dropout_backward,
    .name = "dropout_backward",
    .kernel = dropout_backward_cpu,
    .work = dropout_work,
    .n_inputs = 2,
    .dtypes = gradient_and_mask,
    .n_dtypes = 1,
    .infer = op_infer_same,
    .story = STORY(.formula = "dx = dy / (1 - p) where the mask says so, else 0", .out = "dx",
                   .in = {"dy", "mask"}, .elementwise = {PER_OUTPUT, .each = 1})};
