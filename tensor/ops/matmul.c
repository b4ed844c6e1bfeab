// matmul.c -- (..., m, k) . (..., k, n), leading dimensions broadcast. Transposed views are read in
// place with the product's transpose flags, without a copy.
#include "tensor/gemm.h"
#include "tensor/ops/elementwise.h"
#include "tensor/ops/product.h"

// Whether a product can read it in place: one of the last two dims is dense, and the distance
// between rows fits a BLAS. An empty tensor always qualifies.
static bool readable(const Tensor *t) {
    int64_t row = t->stride[t->shape.ndim - 2], column = t->stride[t->shape.ndim - 1];
    int64_t rows = t->shape.dims[t->shape.ndim - 2], columns = t->shape.dims[t->shape.ndim - 1];
    return t->numel == 0 || (rows == 1 && columns == 1) ||
           (column == 1 && ((row >= columns && row <= INT32_MAX) || rows == 1)) ||
           (row == 1 && ((column >= rows && column <= INT32_MAX) || columns == 1));
}

Tensor *product_operand(Tensor *t) { return t && !readable(t) ? tensor_contiguous(t) : t; }

// Treats vectors as matrices of one row or one column.
static Tensor *product_of_vectors(Tensor *a, Tensor *b) {
    bool row = a->shape.ndim == 1, column = b->shape.ndim == 1;
    if (row) a = tensor_reshape(a, SHAPE(1, a->numel));
    if (column) b = tensor_reshape(b, SHAPE(b->numel, 1));
    Tensor *product = tensor_matmul(a, b);
    if (!product) return NULL;
    Shape shape = product->shape;
    if (column) shape.ndim--;
    if (row && !column) shape.dims[shape.ndim - 2] = shape.dims[shape.ndim - 1];
    if (row) shape.ndim--;
    return tensor_reshape(product, shape);
}

Tensor *tensor_matmul(Tensor *a, Tensor *b) {
    if (a && b && a->shape.ndim > 0 && b->shape.ndim > 0 &&
        (a->shape.ndim == 1 || b->shape.ndim == 1))
        return product_of_vectors(a, b);
    if (!a || !b || a->shape.ndim < 2 || b->shape.ndim < 2) return OP_RUN(op_matmul, NULL, a, b);
    a = product_operand(a);
    b = product_operand(b);
    if (!a || !b) return NULL;
    if (b->shape.ndim > 2 || a->shape.ndim == 2 || !tensor_is_contiguous(a))
        return OP_RUN(op_matmul, NULL, a, b);
    // With one matrix on the right, the batch is just more rows.
    Shape shape = a->shape;
    Tensor *rows = tensor_reshape(a, product_flat(a));
    Tensor *product = OP_RUN(op_matmul, NULL, rows, b);
    shape.dims[shape.ndim - 1] = b->shape.dims[1];
    return product ? tensor_reshape(product, shape) : NULL;
}

typedef struct Dims { // sizes of one product, after the transpose flags
    int64_t m, n, k;
} Dims;

static Dims dims_of(const OpCall *call) {
    const Tensor *a = call->in[0], *b = call->in[1];
    bool ta = call->params.flags & MATMUL_TRANS_A, tb = call->params.flags & MATMUL_TRANS_B;
    return (Dims){.m = a->shape.dims[a->shape.ndim - (ta ? 1 : 2)],
                  .k = a->shape.dims[a->shape.ndim - (ta ? 2 : 1)],
                  .n = b->shape.dims[b->shape.ndim - (tb ? 2 : 1)]};
}

static Status matmul_infer(OpCall *call) {
    const Tensor *a = call->in[0], *b = call->in[1];
    if (a->shape.ndim < 2 || b->shape.ndim < 2)
        return op_error(call, STATUS_SHAPE,
                        "needs matrices. HINT: tensor_mul multiplies by a scalar");
    Dims d = dims_of(call);
    int64_t kb = b->shape.dims[b->shape.ndim - (call->params.flags & MATMUL_TRANS_B ? 1 : 2)];
    if (d.k != kb)
        return op_error(call, STATUS_SHAPE,
                        "inner sizes %lld and %lld differ. HINT: (m, k) . "
                        "(k, n); tensor_transpose one of them",
                        (long long)d.k, (long long)kb);
    Shape shape = {.ndim = a->shape.ndim > b->shape.ndim ? a->shape.ndim : b->shape.ndim};
    for (int i = 0; i < shape.ndim - 2; i++) { // batch dims, counted from the last
        int64_t na = i < a->shape.ndim - 2 ? a->shape.dims[a->shape.ndim - 3 - i] : 1;
        int64_t nb = i < b->shape.ndim - 2 ? b->shape.dims[b->shape.ndim - 3 - i] : 1;
        if (na != nb && na != 1 && nb != 1)
            return op_error(call, STATUS_SHAPE,
                            "batch sizes %lld and %lld do not broadcast. HINT: equal, or 1",
                            (long long)na, (long long)nb);
        shape.dims[shape.ndim - 3 - i] = na == 1 ? nb : na;
    }
    shape.dims[shape.ndim - 2] = d.m;
    shape.dims[shape.ndim - 1] = d.n;
    Status status = op_output_of(call, 0, DTYPE_FLOAT32, &shape);
    if (status) return status;
    if (!product_countable(call, d.m, d.n, d.k)) return STATUS_OVERFLOW;
    if (readable(a) && readable(b)) return STATUS_OK;
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "neither rows nor columns of a matrix lie dense. HINT: tensor_contiguous");
}

// One product of the batch, without operands.
static Gemm product_of(const OpCall *call) {
    Dims d = dims_of(call);
    Gemm gemm = {.m = d.m, .n = d.n, .k = d.k, .ldc = d.n > 0 ? d.n : 1, .add = call->adds};
    bool ta = call->params.flags & MATMUL_TRANS_A, tb = call->params.flags & MATMUL_TRANS_B;
    gemm.trans_a = product_stored_transposed(call->in[0], &gemm.lda) != ta;
    gemm.trans_b = product_stored_transposed(call->in[1], &gemm.ldb) != tb;
    return gemm;
}

static int64_t batches_of(const Tensor *out) {
    int64_t batches = out->numel > 0;
    for (int i = 0; i < out->shape.ndim - 2; i++) batches *= out->shape.dims[i];
    return batches;
}

static int64_t matmul_handoffs(const OpCall *call) {
    Gemm gemm = product_of(call);
    return batches_of(call->out[0]) * gemm_handoffs(&gemm);
}

static Status matmul_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Tensor *a = call->in[0], *b = call->in[1], *out = call->out[0];
    Gemm gemm = product_of(call);
    int64_t batches = batches_of(out);
    for (int64_t i = 0; i < batches; i++) {
        gemm.a = call_in(call, 0) + product_batch_offset(a, out, i);
        gemm.b = call_in(call, 1) + product_batch_offset(b, out, i);
        gemm.c = call_out(call, 0) + i * gemm.m * gemm.n;
        gemm_run(&gemm, NULL, NULL);
    }
    return STATUS_OK;
}

// *slot = the product summed over the batch dims that broadcast.
static Status product_to(Tensor **slot, Tensor *a, unsigned trans, Tensor *b, const Tensor *like) {
    OpParams params = {.flags = trans};
    bool direct =
        like->shape.ndim == (a->shape.ndim > b->shape.ndim ? a->shape.ndim : b->shape.ndim);
    for (int i = 0; direct && i < like->shape.ndim - 2; i++) {
        int64_t na = i < a->shape.ndim - 2 ? a->shape.dims[a->shape.ndim - 3 - i] : 1;
        int64_t nb = i < b->shape.ndim - 2 ? b->shape.dims[b->shape.ndim - 3 - i] : 1;
        direct = like->shape.dims[like->shape.ndim - 3 - i] == (na == 1 ? nb : na);
    }
    if (direct) return OP_ADDING(slot, op_matmul, &params, a, b);
    Tensor *batched = NULL;
    if (OP_INTO(&batched, op_matmul, &params, a, b)) return error_status();
    return backward_sum_to(slot, batched, like);
}

// c = a . b: da = dc . b^T, db = a^T . dc; with the flags, each operand is transposed.
static Status matmul_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *a = saved->in[0], *b = saved->in[1], *grad = product_operand(grad_out[0]);
    if (!grad) return error_status();
    bool ta = saved->params.flags & MATMUL_TRANS_A, tb = saved->params.flags & MATMUL_TRANS_B;
    unsigned flag_a = ta ? MATMUL_TRANS_A : 0, flag_b = tb ? MATMUL_TRANS_B : 0;
    if (call_needs(saved, 0)) {
        Status status =
            ta ? product_to(&grad_in[0], b, (tb ? MATMUL_TRANS_A : 0) | MATMUL_TRANS_B, grad, a)
               : product_to(&grad_in[0], grad, flag_b ^ MATMUL_TRANS_B, b, a);
        if (status) return status;
    }
    if (!call_needs(saved, 1)) return STATUS_OK;
    return tb ? product_to(&grad_in[1], grad, MATMUL_TRANS_A | (ta ? MATMUL_TRANS_B : 0), a, b)
              : product_to(&grad_in[1], a, flag_a ^ MATMUL_TRANS_A, grad, b);
}

static int matmul_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    int n = 0, last = out.ndim - 1, inner = params->flags & MATMUL_TRANS_A ? 2 : 1;
    if (last > 1) factor[n++] = 1;
    for (int i = 0; i < last - 1; i++) factor[0] *= out.dims[i];
    factor[n++] = out.dims[last - 1];
    factor[n++] = in[0].dims[in[0].ndim - inner];
    factor[n++] = out.dims[last];
    return n;
}

const Op op_matmul = {.id = OP_matmul,
                      .name = "matmul",
                      .kernel = matmul_cpu,
                      .handoffs = matmul_handoffs,
                      .flags = OP_STRIDED | OP_ADDS,
                      .n_inputs = 2,
                      .infer = matmul_infer,
                      .backward = matmul_backward,
                      .saves = save_factors,
                      .story = STORY(.formula = "y = a . b", .out = "y", .in = {"a", "b"},
                                     .products = "batch x m x k x n", .factors = matmul_factors,
                                     .kind = KIND_MATMUL)};
