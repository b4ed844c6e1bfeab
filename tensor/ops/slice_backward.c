// slice_backward.c -- the gradient of a slice: zeros of the sliced tensor's shape, or a given sum,
// plus the gradient in the slice's places
// params: dim, begin, step; shape = the full one
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

static Status slice_backward_infer(OpCall *call) {
    const OpParams *p = &call->params;
    Shape part = p->shape;
    bool fits = p->dim >= 0 && p->dim < part.ndim && part.ndim == call->in[0]->shape.ndim &&
                p->begin >= 0 && p->step >= 1;
    if (fits) {
        int64_t room = part.dims[p->dim] - p->begin, count = call->in[0]->shape.dims[p->dim];
        fits = count == 0 || (room > 0 && count - 1 <= (room - 1) / p->step);
        part.dims[p->dim] = count;
    }
    if (fits && shape_equal(part, call->in[0]->shape)) return op_infer_shape(call);
    return op_error(call, STATUS_SHAPE,
                    "it is no slice of that shape. HINT: the gradient has the slice's");
}

KERNEL static void add_run(float *restrict sum, const float *restrict grad, int64_t n) {
    for (int64_t i = 0; i < n; i++) sum[i] += grad[i];
}

// y (outer, full, inner) = 0, or unchanged; then += grad (outer, count, inner) in its places
static Status slice_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Places at = places_of(call->out[0], call->in[0], &call->params);
    const float *grad = call_in(call, 0);
    float *y = call_out(call, 0);
    if (call->out[0]->numel && !call->adds)
        memset(y, 0, (size_t)call->out[0]->numel * sizeof(float));
    if (call->in[0]->numel == 0) return STATUS_OK; // no elements
    for (int64_t o = 0; o < at.outer; o++)
        for (int64_t k = 0; k < at.count; k++, grad += at.inner) {
            float *to = y + place(&at, o, k);
            if (call->adds)
                add_run(to, grad, at.inner);
            else
                memcpy(to, grad, (size_t)at.inner * sizeof(float));
        }
    return STATUS_OK;
}

const Op op_slice_backward = {.id = OP_slice_backward,
                              .name = "slice_backward",
                              .kernel = slice_backward_cpu,
                              .flags = OP_ADDS,
                              .n_inputs = 1,
                              .infer = slice_backward_infer,
                              .story = STORY(.formula = "dx = dy where the slice was, else 0",
                                             .out = "dx", .in = {"dy"}, .scatters = true)};
