// oracle_recurrent.c -- the passes of recurrent cells over a sequence, and their gradients.
#include <stdlib.h>
#include <string.h>

#include "tests/ops/oracle.h"

enum { REVERSE = 1, STATE = 2, RELU = 4 }; // bits of params.flags

typedef struct Pass { // shape (steps, batch, hidden); the k-th step to run lies at at(k)
    int64_t steps, batch, hidden, gates;
    bool reverse;
} Pass;

static int64_t at(const Pass *p, int64_t k) { return p->reverse ? p->steps - 1 - k : k; }

// Element j of row b in step k of values (steps, batch, width).
static double *element(const Pass *p, double *values, int64_t width, int64_t k, int64_t b,
                       int64_t j) {
    return &values[(at(p, k) * p->batch + b) * width + j];
}

// The state before step k; before step 0 it is `first`.
static double before(const Pass *p, double *all, const double *first, int64_t k, int64_t b,
                     int64_t j) {
    return k == 0 ? first[b * p->hidden + j] : *element(p, all, p->hidden, k - 1, b, j);
}

static double sigmoid(OpCost *n, double x) {
    return over(n, 1.0, plus(n, 1.0, transcendental(n, exp, -x)));
}
static double sigmoid_backward(OpCost *n, double grad, double y) {
    return times(n, times(n, grad, y), minus(n, 1.0, y));
}
static double tanh_backward(OpCost *n, double grad, double y) {
    return times(n, grad, minus(n, 1.0, times(n, y, y)));
}

// Gate g of row b: h . weight[g]^T + bias[g].
static double product(OracleCall *call, const Pass *p, const double *first, int64_t k, int64_t b,
                      int64_t g) {
    OpCost *n = &call->counted;
    double sum = 0.0;
    for (int64_t j = 0; j < p->hidden; j++)
        sum = multiply_add(n, before(p, call->out[0].values, first, k, b, j),
                           call->in[1].values[g * p->hidden + j], sum);
    if (!call->in[2].values) return sum;
    n->bias_flops++;
    return sum + call->in[2].values[g];
}

static Pass pass_of(const OracleCall *call, Shape y, int64_t gates) {
    return (Pass){y.dims[0], y.dims[1], y.dims[2], gates, (call->params.flags & REVERSE) != 0};
}

static Shape shape_of(const OracleCall *call) {
    Shape sums = call->in[0].shape;
    return SHAPE(sums.dims[0], sums.dims[1], call->in[1].shape.dims[1]);
}

// Inputs: sums, weight, bias, hidden, cell. Outputs: y, cells, gates.
static bool lstm(OracleCall *call) {
    OpCost *n = &call->counted;
    Pass p = pass_of(call, shape_of(call), 4);
    if (!oracle_expects(call, 0, shape_of(call)) || !oracle_expects(call, 1, shape_of(call)) ||
        !oracle_expects(call, 2, call->in[0].shape))
        return false;
    for (int64_t i = 0; i < p.steps * p.batch * p.hidden; i++) {
        int64_t k = i / (p.batch * p.hidden), b = i / p.hidden % p.batch, j = i % p.hidden;
        double gate[4];
        for (int g = 0; g < 4; g++) {
            int64_t column = g * p.hidden + j;
            double sum = plus(n, *element(&p, call->in[0].values, 4 * p.hidden, k, b, column),
                              product(call, &p, call->in[3].values, k, b, column));
            gate[g] = g == 2 ? transcendental(n, tanh, sum) : sigmoid(n, sum);
            *element(&p, call->out[2].values, 4 * p.hidden, k, b, column) = gate[g];
        }
        double kept =
            times(n, gate[1], before(&p, call->out[1].values, call->in[4].values, k, b, j));
        double cell = plus(n, kept, times(n, gate[0], gate[2]));
        *element(&p, call->out[1].values, p.hidden, k, b, j) = cell;
        *element(&p, call->out[0].values, p.hidden, k, b, j) =
            times(n, gate[3], transcendental(n, tanh, cell));
    }
    return true;
}

// Column j of sums (batch, gates hidden) . weight (gates hidden, hidden), for row b of step k.
static double back_product(OracleCall *call, const Pass *p, double *sums, int64_t k, int64_t b,
                           int64_t j) {
    double sum = 0.0;
    for (int64_t g = 0; g < p->gates * p->hidden; g++)
        sum = multiply_add(&call->counted, *element(p, sums, p->gates * p->hidden, k, b, g),
                           call->in[0].values[g * p->hidden + j], sum);
    return sum;
}

// Inputs: weight, gates, cells, cell, dy, dcells. Outputs: gradients of sums, hidden and cell.
static bool lstm_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Shape cells = call->in[2].shape, state = call->in[3].shape;
    Pass p = pass_of(call, cells, 4);
    if (!oracle_expects(call, 0, call->in[1].shape) || !oracle_expects(call, 1, state) ||
        !oracle_expects(call, 2, state))
        return false;
    double *dh = call->out[1].values, *dc = call->out[2].values, *dsums = call->out[0].values;
    memset(dh, 0, (size_t)shape_numel(state) * sizeof(double));
    memset(dc, 0, (size_t)shape_numel(state) * sizeof(double));
    for (int64_t k = p.steps - 1; k >= 0; k--) {
        for (int64_t b = 0, s = 0; b < p.batch; b++)
            for (int64_t j = 0; j < p.hidden; j++, s++) {
                double gate[4], d[4], h = dh[s], c = dc[s];
                for (int g = 0; g < 4; g++)
                    gate[g] =
                        *element(&p, call->in[1].values, 4 * p.hidden, k, b, g * p.hidden + j);
                if (call->in[4].values)
                    h = plus(n, h, *element(&p, call->in[4].values, p.hidden, k, b, j));
                if (call->in[5].values)
                    c = plus(n, c, *element(&p, call->in[5].values, p.hidden, k, b, j));
                double t =
                    transcendental(n, tanh, *element(&p, call->in[2].values, p.hidden, k, b, j));
                c = plus(n, c, tanh_backward(n, times(n, h, gate[3]), t));
                d[0] = sigmoid_backward(n, times(n, c, gate[2]), gate[0]);
                double was = before(&p, call->in[2].values, call->in[3].values, k, b, j);
                d[1] = sigmoid_backward(n, times(n, c, was), gate[1]);
                d[2] = tanh_backward(n, times(n, c, gate[0]), gate[2]);
                d[3] = sigmoid_backward(n, times(n, h, t), gate[3]);
                dc[s] = times(n, c, gate[1]);
                for (int g = 0; g < 4; g++)
                    *element(&p, dsums, 4 * p.hidden, k, b, g * p.hidden + j) = d[g];
            }
        bool wanted = k > 0 || call->params.flags & STATE;
        for (int64_t s = 0; wanted && s < p.batch * p.hidden; s++)
            dh[s] = back_product(call, &p, dsums, k, s / p.hidden, s % p.hidden);
    }
    return true;
}

// Inputs: sums, weight, bias, hidden. Outputs: y, gates, and the n part of the states' product.
static bool gru(OracleCall *call) {
    OpCost *n = &call->counted;
    Pass p = pass_of(call, shape_of(call), 3);
    if (!oracle_expects(call, 0, shape_of(call)) || !oracle_expects(call, 1, call->in[0].shape) ||
        !oracle_expects(call, 2, shape_of(call)))
        return false;
    for (int64_t i = 0; i < p.steps * p.batch * p.hidden; i++) {
        int64_t k = i / (p.batch * p.hidden), b = i / p.hidden % p.batch, j = i % p.hidden;
        double gate[3], x[3], h[3];
        for (int g = 0; g < 3; g++) {
            x[g] = *element(&p, call->in[0].values, 3 * p.hidden, k, b, g * p.hidden + j);
            h[g] = product(call, &p, call->in[3].values, k, b, g * p.hidden + j);
        }
        for (int g = 0; g < 2; g++) gate[g] = sigmoid(n, plus(n, x[g], h[g]));
        gate[2] = transcendental(n, tanh, plus(n, x[2], times(n, gate[0], h[2])));
        for (int g = 0; g < 3; g++)
            *element(&p, call->out[1].values, 3 * p.hidden, k, b, g * p.hidden + j) = gate[g];
        *element(&p, call->out[2].values, p.hidden, k, b, j) = h[2];
        double was = before(&p, call->out[0].values, call->in[3].values, k, b, j);
        *element(&p, call->out[0].values, p.hidden, k, b, j) =
            plus(n, gate[2], times(n, gate[1], minus(n, was, gate[2])));
    }
    return true;
}

// Inputs: weight, gates, parts, y, hidden, dy. Outputs: gradients of x, the product, the state.
static bool gru_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Shape y = call->in[3].shape, state = call->in[4].shape;
    Pass p = pass_of(call, y, 3);
    if (!oracle_expects(call, 0, call->in[1].shape) ||
        !oracle_expects(call, 1, call->in[1].shape) || !oracle_expects(call, 2, state))
        return false;
    int64_t count = shape_numel(state);
    double *dh = call->out[2].values, *dx = call->out[0].values, *dsums = call->out[1].values;
    double *by_z = calloc((size_t)count + 1, 2 * sizeof(double)), *by_product = by_z + count;
    for (int64_t k = p.steps - 1; k >= 0; k--) {
        for (int64_t s = 0; s < count; s++) {
            int64_t b = s / p.hidden, j = s % p.hidden;
            double gate[3], d[3];
            for (int g = 0; g < 3; g++)
                gate[g] = *element(&p, call->in[1].values, 3 * p.hidden, k, b, g * p.hidden + j);
            double grad = plus(n, by_z[s], by_product[s]);
            grad = plus(n, grad, *element(&p, call->in[5].values, p.hidden, k, b, j));
            double was = before(&p, call->in[3].values, call->in[4].values, k, b, j);
            d[1] = sigmoid_backward(n, times(n, grad, minus(n, was, gate[2])), gate[1]);
            d[2] = tanh_backward(n, times(n, grad, minus(n, 1.0, gate[1])), gate[2]);
            double part = *element(&p, call->in[2].values, p.hidden, k, b, j);
            d[0] = sigmoid_backward(n, times(n, d[2], part), gate[0]);
            by_z[s] = times(n, grad, gate[1]);
            for (int g = 0; g < 3; g++)
                *element(&p, dx, 3 * p.hidden, k, b, g * p.hidden + j) = d[g];
            d[2] = times(n, d[2], gate[0]);
            for (int g = 0; g < 3; g++)
                *element(&p, dsums, 3 * p.hidden, k, b, g * p.hidden + j) = d[g];
        }
        bool wanted = k > 0 || call->params.flags & STATE;
        for (int64_t s = 0; s < count; s++)
            by_product[s] =
                wanted ? back_product(call, &p, dsums, k, s / p.hidden, s % p.hidden) : 0.0;
    }
    for (int64_t s = 0; s < count; s++) dh[s] = by_z[s] + by_product[s];
    free(by_z);
    return true;
}

// Inputs: sums, weight, bias, hidden. Output: y.
static bool rnn(OracleCall *call) {
    OpCost *n = &call->counted;
    Pass p = pass_of(call, shape_of(call), 1);
    if (!oracle_expects(call, 0, shape_of(call))) return false;
    for (int64_t i = 0; i < p.steps * p.batch * p.hidden; i++) {
        int64_t k = i / (p.batch * p.hidden), b = i / p.hidden % p.batch, j = i % p.hidden;
        double sum = plus(n, *element(&p, call->in[0].values, p.hidden, k, b, j),
                          product(call, &p, call->in[3].values, k, b, j));
        *element(&p, call->out[0].values, p.hidden, k, b, j) = !(call->params.flags & RELU)
                                                                   ? transcendental(n, tanh, sum)
                                                               : less(n, sum, 0.0) ? 0.0
                                                                                   : sum;
    }
    return true;
}

// Inputs: weight, y, hidden, dy. Outputs: the gradients of the sums and of the first state.
static bool rnn_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Shape y = call->in[1].shape, state = call->in[2].shape;
    Pass p = pass_of(call, y, 1);
    if (!oracle_expects(call, 0, y) || !oracle_expects(call, 1, state)) return false;
    double *dh = call->out[1].values, *dsums = call->out[0].values;
    memset(dh, 0, (size_t)shape_numel(state) * sizeof(double));
    for (int64_t k = p.steps - 1; k >= 0; k--) {
        for (int64_t s = 0; s < shape_numel(state); s++) {
            int64_t b = s / p.hidden, j = s % p.hidden;
            double grad = plus(n, dh[s], *element(&p, call->in[3].values, p.hidden, k, b, j));
            double own = *element(&p, call->in[1].values, p.hidden, k, b, j);
            *element(&p, dsums, p.hidden, k, b, j) = !(call->params.flags & RELU)
                                                         ? tanh_backward(n, grad, own)
                                                     : less(n, 0.0, own) ? grad
                                                                         : 0.0;
        }
        bool wanted = k > 0 || call->params.flags & STATE;
        for (int64_t s = 0; wanted && s < shape_numel(state); s++)
            dh[s] = back_product(call, &p, dsums, k, s / p.hidden, s % p.hidden);
    }
    return true;
}

const OracleFunction oracle_recurrences[OP_COUNT] = {
    [OP_lstm] = lstm, [OP_lstm_backward] = lstm_backward,
    [OP_gru] = gru,   [OP_gru_backward] = gru_backward,
    [OP_rnn] = rnn,   [OP_rnn_backward] = rnn_backward,
};
