// oracle_loss.c -- the losses and dropout.
#include "tests/ops/oracle.h"

#include "tensor/random.h"

static const double *row_of(const OracleTensor *t, int64_t row) {
    return t->values + row * t->shape.dims[1];
}

// The largest of a row, and the sum of exp(x - largest).
static double sum_of_powers(OpCost *n, const double *x, int64_t classes, double *top) {
    *top = x[0];
    for (int64_t c = 1; c < classes; c++) {
        if (overtakes(n, x[c], *top)) *top = x[c];
    }
    double total = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        double power = transcendental(n, exp, minus(n, x[c], *top));
        total = c == 0 ? power : plus(n, total, power);
    }
    return total;
}

// Mean over the rows of log(sum exp(row - max)) - (row[label] - max); the mean of no rows is NaN.
// The second output holds max and sum of each row.
static bool cross_entropy(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *logits = &call->in[0];
    int64_t rows = logits->shape.dims[0];
    int64_t classes = logits->shape.dims[1];
    if (!oracle_expects(call, 0, SHAPE_SCALAR) || !oracle_expects(call, 1, SHAPE(rows, 2))) {
        return false;
    }
    double total = 0.0;
    for (int64_t r = 0; r < rows; r++) {
        double top, sum = sum_of_powers(n, row_of(logits, r), classes, &top);
        double below = minus(n, row_of(logits, r)[(int64_t)call->in[1].values[r]], top);
        double loss = minus(n, transcendental(n, log, sum), below);
        call->out[1].values[2 * r] = top;
        call->out[1].values[2 * r + 1] = sum;
        total = r == 0 ? loss : plus(n, total, loss);
    }
    call->out[0].values[0] = rows == 0 ? (double)NAN : over(n, total, (double)rows);
    return true;
}

// exp(x - max) (g / R / sum), less g / R at the label
static bool cross_entropy_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *logits = &call->in[1];
    int64_t rows = logits->shape.dims[0];
    int64_t classes = logits->shape.dims[1];
    double scale = call->in[0].values[0] / (double)rows;
    if (!oracle_expects(call, 0, logits->shape)) return false;
    for (int64_t r = 0; r < rows; r++) {
        int64_t label = (int64_t)call->in[2].values[r];
        double top = call->in[3].values[2 * r];
        double factor = over(n, scale, call->in[3].values[2 * r + 1]);
        double *gradient = &call->out[0].values[r * classes];
        for (int64_t c = 0; c < classes; c++) {
            double power = transcendental(n, exp, minus(n, row_of(logits, r)[c], top));
            gradient[c] = times(n, power, factor);
        }
        gradient[label] = minus(n, gradient[label], scale);
    }
    return true;
}

// Mean of (p - t)^2; of nothing NaN.
static bool mse(OracleCall *call) {
    OpCost *n = &call->counted;
    int64_t count = call->in[0].numel;
    double total = 0.0;
    if (!oracle_expects(call, 0, SHAPE_SCALAR)) return false;
    for (int64_t i = 0; i < count; i++) {
        double difference = minus(n, call->in[0].values[i], call->in[1].values[i]);
        double square = times(n, difference, difference);
        total = i == 0 ? square : plus(n, total, square);
    }
    call->out[0].values[0] = count == 0 ? (double)NAN : over(n, total, (double)count);
    return true;
}

// (p - t) (2 g / n), negated for the gradient of t
static bool mse_backward(OracleCall *call) {
    const OracleTensor *p = &call->in[1];
    double scale = 2.0 * call->in[0].values[0] / (double)p->numel * (double)call->params.value[0];
    if (!oracle_expects(call, 0, p->shape)) return false;
    for (int64_t i = 0; i < p->numel; i++) {
        double difference = minus(&call->counted, p->values[i], call->in[2].values[i]);
        call->out[0].values[i] = times(&call->counted, difference, scale);
    }
    return true;
}

// Mean of max(x, 0) - x t + log(1 + exp(-|x|)); of nothing NaN.
static bool binary_cross_entropy(OracleCall *call) {
    OpCost *n = &call->counted;
    int64_t count = call->in[0].numel;
    double total = 0.0;
    if (!oracle_expects(call, 0, SHAPE_SCALAR)) return false;
    for (int64_t i = 0; i < count; i++) {
        double x = call->in[0].values[i], t = call->in[1].values[i];
        double above = overtakes(n, x, 0.0) ? x : 0.0, size = less(n, x, 0.0) ? -x : x;
        double line = minus(n, above, times(n, x, t));
        n->elementwise_flops++; // the 1 + of log1p
        double tail = transcendental(n, log1p, transcendental(n, exp, -size));
        double loss = plus(n, line, tail);
        total = i == 0 ? loss : plus(n, total, loss);
    }
    call->out[0].values[0] = count == 0 ? (double)NAN : over(n, total, (double)count);
    return true;
}

// (sigmoid(x) - t) (g / n)
static bool binary_cross_entropy_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[1];
    double scale = call->in[0].values[0] / (double)x->numel;
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double p = over(n, 1.0, plus(n, 1.0, transcendental(n, exp, -x->values[i])));
        call->out[0].values[i] = times(n, minus(n, p, call->in[2].values[i]), scale);
    }
    return true;
}

// Keeps element i when its uniform number is at least p, scaled by 1 / (1 - p).
static bool dropout(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[0];
    double p = (double)call->params.value[0];
    if (!oracle_expects(call, 0, x->shape) || !oracle_expects(call, 1, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        float uniform = 0.0f;
        random_uniform(call->params.seed, call->params.offset, i, i + 1, &uniform);
        bool kept = !less(n, (double)uniform, p);
        n->elementwise_flops++; // by a factor that is 0 or the scale
        call->out[0].values[i] = kept ? x->values[i] / (1.0 - p) : 0.0;
        call->out[1].values[i] = kept ? 1.0 : 0.0;
    }
    return true;
}

const OracleFunction oracle_losses[OP_COUNT] = {
    [OP_cross_entropy] = cross_entropy,
    [OP_cross_entropy_backward] = cross_entropy_backward,
    [OP_mse] = mse,
    [OP_mse_backward] = mse_backward,
    [OP_binary_cross_entropy_with_logits] = binary_cross_entropy,
    [OP_binary_cross_entropy_with_logits_backward] = binary_cross_entropy_backward,
    [OP_dropout] = dropout,
};
