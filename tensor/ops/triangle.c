// triangle.c -- keeps the lower or upper triangle of each matrix, and sets the rest to 0
// params: begin = the diagonal, 0 for the main one; flags: TRIANGLE_UPPER
#include <string.h>

#include "tensor/ops/reduce.h"

enum { TRIANGLE_UPPER = 1 };

Tensor *tensor_tril(Tensor *x, int64_t diagonal) {
    return OP_RUN(op_triangle, (&(OpParams){.begin = diagonal}), x);
}

Tensor *tensor_triu(Tensor *x, int64_t diagonal) {
    return OP_RUN(op_triangle, (&(OpParams){.begin = diagonal, .flags = TRIANGLE_UPPER}), x);
}

static Status triangle_infer(OpCall *call) {
    if (call->in[0]->shape.ndim >= 2) return op_infer_same(call);
    return op_error(call, STATUS_SHAPE,
                    "it is no matrix. HINT: the triangles are in the last two dimensions");
}

// Column of the diagonal in a row (upper), or the column after it (lower), clamped to the row.
static int64_t edge_of(const OpParams *params, int64_t row, int64_t rows, int64_t columns) {
    int64_t diagonal = params->begin < -rows     ? -rows // avoids overflow in the sum
                       : params->begin > columns ? columns
                                                 : params->begin;
    int64_t edge = row + diagonal + (params->flags & TRIANGLE_UPPER ? 0 : 1);
    return edge < 0 ? 0 : edge > columns ? columns : edge;
}

// y (matrices, rows, columns) = x before the edge (lower) or from it on (upper), else 0
static Status triangle_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *out = call->out[0];
    int64_t rows = out->shape.dims[out->shape.ndim - 2], columns = row_length(out);
    bool upper = call->params.flags & TRIANGLE_UPPER;
    int64_t size = dtype_sizes[out->dtype], row = columns * size; // bytes
    for (int64_t r = begin; r < end; r++) {
        const char *x = tensor_raw(call->in[0]) + r * row;
        char *y = tensor_raw(out) + r * row;
        int64_t edge = edge_of(&call->params, r % rows, rows, columns) * size;
        int64_t from = upper ? edge : 0, to = upper ? row : edge;
        memset(y, 0, (size_t)from);
        memcpy(y + from, x + from, (size_t)(to - from));
        memset(y + to, 0, (size_t)(row - to));
    }
    return STATUS_OK;
}

// Takes the same triangle of the gradient.
static Status triangle_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_triangle, &saved->params, grad_out[0]);
}

static void triangle_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->flags & TRIANGLE_UPPER) story->formula = "y = x on a diagonal and above, else 0";
}

// Positions alone decide which elements are kept: no comparisons count.
const Op op_triangle = {.id = OP_triangle,
                        .name = "triangle",
                        .kernel = triangle_cpu,
                        NUMBERS,
                        .work = op_work_rows,
                        .n_inputs = 1,
                        .infer = triangle_infer,
                        .backward = triangle_backward,
                        .story = STORY(.formula = "y = x on a diagonal and below, else 0",
                                       .out = "y", .in = {"x"}, .vary = triangle_vary)};
