// slice_backward.c -- the gradient of a slice: slice_backward writes zeros of the sliced tensor's
// shape with the gradient where the slice was; slice_accumulate adds it to a sum that there is
// params: dim, begin, step; of slice_backward, shape = the full one
#include <string.h>

#include "tensor/ops/elementwise.h"

typedef struct Places { // part (outer, count, inner) within whole (outer, full, inner)
    int64_t outer, full, count, inner, begin, step;
} Places;

static Places places_of(const Tensor *whole, const Tensor *part, const OpParams *p) {
    Places at = {1, whole->shape.dims[p->dim], part->shape.dims[p->dim], 1, p->begin, p->step};
    for (int i = 0; i < p->dim; i++) at.outer *= whole->shape.dims[i];
    for (int i = p->dim + 1; i < whole->shape.ndim; i++) at.inner *= whole->shape.dims[i];
    return at;
}

static int64_t place(const Places *at, int64_t o, int64_t k) {
    return (o * at->full + at->begin + k * at->step) * at->inner;
}

// ---- slice_backward: y (outer, full, inner) = 0, but grad (outer, count, inner) in its places ---
static Status slice_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Places at = places_of(call->out[0], call->in[0], &call->params);
    const float *grad = call_in(call, 0);
    float *y = call_out(call, 0);
    if (call->out[0]->numel) memset(y, 0, (size_t)call->out[0]->numel * sizeof(float));
    if (call->in[0]->numel == 0) return STATUS_OK; // however many nothings
    for (int64_t o = 0; o < at.outer; o++)
        for (int64_t k = 0; k < at.count; k++)
            memcpy(y + place(&at, o, k), grad + (o * at.count + k) * at.inner,
                   (size_t)at.inner * sizeof(float));
    return STATUS_OK;
}

const Op op_slice_backward = {.id = OP_slice_backward,
                              .name = "slice_backward",
                              .kernel = slice_backward_cpu,
                              .n_inputs = 1,
                              .infer = op_infer_shape,
                              .story = STORY(.formula = "dx = dy where the slice was, else 0",
                                             .out = "dx", .in = {"dy"})};

// ---- slice_accumulate: sum (outer, full, inner) += grad (outer, count, inner) in its places ----
static Status accumulate_infer(OpCall *call) {
    const OpParams *p = &call->params;
    Shape part = call->in[0]->shape;
    bool fits = p->dim < part.ndim && p->begin >= 0 && p->step >= 1;
    if (fits) {
        int64_t room = part.dims[p->dim] - p->begin, count = call->in[1]->shape.dims[p->dim];
        fits = count == 0 || (count > 0 && room > 0 && count - 1 <= (room - 1) / p->step);
        part.dims[p->dim] = count;
    }
    if (fits && shape_equal(part, call->in[1]->shape)) return STATUS_OK; // no output
    return op_error(call, STATUS_SHAPE, "the second is no slice of the first");
}

static bool mutates(const OpCall *call, int input) {
    (void)call;
    return input == 0;
}

// Of the sum only what the slice covers is read and written.
static OpCost cost(const OpCall *call) {
    uint64_t n = (uint64_t)call->in[1]->numel, bytes = (uint64_t)tensor_bytes(call->in[1]);
    return (OpCost){.elementwise_flops = n, .bytes_read = 2 * bytes, .bytes_written = bytes};
}

KERNEL static void add_run(float *restrict sum, const float *restrict grad, int64_t n) {
    for (int64_t i = 0; i < n; i++) sum[i] += grad[i];
}

static Status slice_accumulate_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Places at = places_of(call->in[0], call->in[1], &call->params);
    float *sum = call_in(call, 0);
    const float *grad = call_in(call, 1);
    if (call->in[1]->numel == 0) return STATUS_OK;
    for (int64_t o = 0; o < at.outer; o++)
        for (int64_t k = 0; k < at.count; k++)
            add_run(sum + place(&at, o, k), grad + (o * at.count + k) * at.inner, at.inner);
    return STATUS_OK;
}

const Op op_slice_accumulate = {.id = OP_slice_accumulate,
                                .name = "slice_accumulate",
                                .kernel = slice_accumulate_cpu,
                                .n_inputs = 2,
                                .infer = accumulate_infer,
                                .cost = COUNTED(cost),
                                .mutates = mutates,
                                .story = STORY(.formula = "sum = sum + dy, where the slice was",
                                               .in = {"sum", "dy"},
                                               .elementwise = {PER_INPUT, .each = 1})};
