// sum_to.c -- sums a gradient over the dimensions along which its input was broadcast
// params: size = the shape to arrive at (count dims)
#include "tensor/ops/reduce.h"

static Status infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = {.ndim = call->params.count};
    int missing = x->ndim - shape.ndim;
    char text[SHAPE_TEXT];
    bool fits = missing >= 0;
    for (int i = 0; i < shape.ndim; i++) {
        shape.dims[i] = call->params.size[i];
        fits = fits && (shape.dims[i] == 1 || shape.dims[i] == x->shape[i + missing]);
    }
    if (!fits)
        return op_error(call, STATUS_SHAPE, "does not reduce to %s", shape_text(shape, text));
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

static OpCost cost(const OpCall *call) {
    OpCost c = op_cost_traffic(call);
    int64_t in = call->in[0]->numel, out = call_numel(call);
    c.elementwise_flops = (uint64_t)(in > out ? in - out : 0);
    return c;
}

// y += one row of x: element by element where the row is kept, as one sum where it is reduced
KERNEL static void add_row(float *y, const float *x, int64_t n, bool kept) {
    if (!kept) {
        *y += reduce_sum(x, n);
        return;
    }
    for (int64_t j = 0; j < n; j++) y[j] += x[j];
}

Status sum_to_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Tensor *x = call->in[0], *out = call->out[0];
    const float *from = call_in(call, 0);
    float *y = call_out(call, 0);
    int64_t stride[TENSOR_MAX_DIMS]; // of the output along x's dims: 0 where it is reduced
    broadcast_strides(out, x, stride);
    for (int64_t i = 0; i < out->numel; i++) y[i] = 0.0f;
    int64_t row = row_length(x), rows = row_count(x);
    bool kept = x->ndim && stride[x->ndim - 1] != 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t rest = r, offset = 0;
        for (int d = x->ndim - 2; d >= 0; d--) {
            offset += rest % x->shape[d] * stride[d];
            rest /= x->shape[d];
        }
        add_row(y + offset, from + r * row, row, kept);
    }
    return STATUS_OK;
}

const Op op_sum_to = {.id = OP_sum_to,
                      .name = "sum_to",
                      .flags = OP_UNATTRIBUTED,
                      .min_inputs = 1,
                      .max_inputs = 1,
                      .dtypes = dtypes_float,
                      .n_dtypes = 1,
                      .infer = infer,
                      .cost = cost};
