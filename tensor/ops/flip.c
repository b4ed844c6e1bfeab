// flip.c -- reverses some dimensions; it is its own gradient
// flags: bit d for dimension d
#include "tensor/ops/reduce.h"

Tensor *tensor_flip(Tensor *x, const int *dims, int n_dims) {
    OpParams params = {0};
    if (x && n_dims > 0 && !dims)
        error_set(STATUS_INVALID_ARGUMENT, "flip: there are no dims. HINT: an array of them");
    for (int i = 0; x && dims && i < n_dims; i++) {
        int d;
        if (!rows_find_dim("flip", x, dims[i], &d)) return NULL;
        if (params.flags >> d & 1) {
            error_set(STATUS_SHAPE, "flip: dimension %d twice. HINT: name each once", dims[i]);
            return NULL;
        }
        params.flags |= 1u << d;
    }
    return OP_RUN(op_flip, &params, x);
}

// y (rows, columns) = x, taking each row from the opposite end of the flipped leading dimensions
static Status flip_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *x = call->in[0];
    int64_t columns = row_length(x), bytes = dtype_sizes[x->dtype];
    int last = x->shape.ndim - 1;
    bool turned = last >= 0 && call->params.flags >> last & 1;
    for (int64_t r = begin; r < end; r++) {
        int64_t rest = r, from = 0, step = 1;
        for (int d = last - 1; d >= 0; d--) {
            int64_t size = x->shape.dims[d], i = rest % size;
            rest /= size;
            from += (call->params.flags >> d & 1 ? size - 1 - i : i) * step;
            step *= size;
        }
        const char *row = tensor_raw(x) + from * columns * bytes;
        char *y = tensor_raw(call->out[0]) + r * columns * bytes;
        if (turned)
            strided_copy(y, row + (columns - 1) * bytes, columns, -1, bytes);
        else
            memcpy(y, row, (size_t)(columns * bytes));
    }
    return STATUS_OK;
}

static Status flip_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_flip, &saved->params, grad_out[0]);
}

const Op op_flip = {.id = OP_flip,
                    .name = "flip",
                    .kernel = flip_cpu,
                    .work = op_work_rows,
                    .n_inputs = 1,
                    .dtypes = dtypes_any,
                    .n_dtypes = DTYPE_COUNT,
                    .infer = op_infer_same,
                    .backward = flip_backward,
                    .story = STORY(.formula = "y = x, the other way round along some dimensions",
                                   .out = "y", .in = {"x"})};
