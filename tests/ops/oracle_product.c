// oracle_product.c -- matmul and linear: triple loops that count multiply-adds.
#include "tensor/ops/product.h"
#include "tests/ops/oracle.h"

// The batch dims of `shape`: all but the last two.
static Shape batch_of(Shape shape) {
    shape.ndim -= 2;
    return shape;
}

// The broadcast leading dims, then (rows, columns).
static Shape product_shape(Shape a, Shape b, int64_t rows, int64_t columns) {
    Shape shape = a.ndim > b.ndim ? a : b;
    for (int i = 3; i <= shape.ndim; i++) {
        int64_t left = i <= a.ndim ? a.dims[a.ndim - i] : 1;
        int64_t right = i <= b.ndim ? b.dims[b.ndim - i] : 1;
        shape.dims[shape.ndim - i] = left == 1 ? right : left;
    }
    shape.dims[shape.ndim - 2] = rows;
    shape.dims[shape.ndim - 1] = columns;
    return shape;
}

// A matrix as the product sees it: transposed or not.
typedef struct Matrix {
    const OracleTensor *of;
    int64_t rows, columns;
    bool transposed;
} Matrix;

static Matrix matrix_of(const OracleTensor *t, bool transposed) {
    int64_t rows = t->shape.dims[t->shape.ndim - 2];
    int64_t columns = t->shape.dims[t->shape.ndim - 1];
    return (Matrix){t, transposed ? columns : rows, transposed ? rows : columns, transposed};
}

static double matrix_at(Matrix self, Shape batches, int64_t batch, int64_t i, int64_t j) {
    OracleTensor leading = *self.of;
    leading.shape = batch_of(leading.shape);
    int64_t base = oracle_broadcast(&leading, batches, batch) * self.rows * self.columns;
    return self.of->values[base + (self.transposed ? j * self.rows + i : i * self.columns + j)];
}

// out (..., m, n) = a (..., m, k) . b (..., k, n)
static bool matmul(OracleCall *call) {
    Matrix a = matrix_of(&call->in[0], (call->params.flags & MATMUL_TRANS_A) != 0);
    Matrix b = matrix_of(&call->in[1], (call->params.flags & MATMUL_TRANS_B) != 0);
    Shape shape = product_shape(a.of->shape, b.of->shape, a.rows, b.columns);
    if (!oracle_expects(call, 0, shape)) return false;
    OracleTensor *y = &call->out[0];
    for (int64_t at = 0; at < y->numel; at++) {
        int64_t batch = at / (a.rows * b.columns);
        int64_t i = at / b.columns % a.rows;
        int64_t j = at % b.columns;
        y->values[at] = 0.0;
        for (int64_t c = 0; c < a.columns; c++) {
            double left = matrix_at(a, batch_of(shape), batch, i, c);
            double right = matrix_at(b, batch_of(shape), batch, c, j);
            y->values[at] = multiply_add(&call->counted, left, right, y->values[at]);
        }
    }
    return true;
}

// out (..., n) = activation(x (..., k) . weight (n, k)^T + bias (n)). If the activation's slope is
// no function of its value, its argument is a second output when a gradient is needed.
static bool linear(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    const OracleTensor *weight = &call->in[1];
    const OracleTensor *bias = call->n_in > 2 ? &call->in[2] : NULL;
    const Op *activation = call->params.activation;
    bool by_value = activation == &op_relu || activation == &op_sigmoid || activation == &op_tanh;
    bool keeps = activation != NULL && !by_value && call->needs_grad != 0;
    int64_t n = weight->shape.dims[0];
    int64_t k = weight->shape.dims[1];
    Shape shape = x->shape;
    shape.dims[shape.ndim - 1] = n;
    if (!oracle_expects(call, 0, shape) || (keeps && !oracle_expects(call, 1, shape))) return false;
    for (int64_t at = 0; at < call->out[0].numel; at++) {
        const double *left = x->values + at / n * k;
        const double *right = weight->values + at % n * k;
        double sum = 0.0;
        for (int64_t c = 0; c < k; c++) {
            sum = multiply_add(&call->counted, left[c], right[c], sum);
        }
        if (bias != NULL && bias->identity != NULL) {
            call->counted.bias_flops++;
            sum += bias->values[at % n];
        }
        if (keeps) call->out[1].values[at] = sum;
        if (activation != NULL)
            sum = oracle_formula(activation->id).value(&call->counted, &call->params, sum, 0.0);
        call->out[0].values[at] = sum;
    }
    return true;
}

const OracleFunction oracle_products[OP_COUNT] = {
    [OP_matmul] = matmul,
    [OP_linear] = linear,
};
