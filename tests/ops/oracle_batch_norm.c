// oracle_batch_norm.c -- batch norm in training and in evaluation, and the gradients of both.
#include "tests/ops/oracle.h"

static double reciprocal_root(double x) { return 1.0 / sqrt(x); }

typedef struct Batch { // shape (samples, channels, plane); n: elements per channel
    int64_t samples, channels, plane, n;
} Batch;

static Batch batch_of(Shape shape) {
    Batch batch = {shape.dims[0], shape.dims[1], 1, 0};
    for (int i = 2; i < shape.ndim; i++) batch.plane *= shape.dims[i];
    batch.n = batch.samples * batch.plane;
    return batch;
}

// Index of element e of channel c.
static int64_t place(Batch batch, int64_t c, int64_t e) {
    return (e / batch.plane * batch.channels + c) * batch.plane + e % batch.plane;
}

// The first element of a sum costs nothing, each further one an addition.
static double sum_of(OpCost *n, Batch batch, int64_t c, const double *values) {
    double total = batch.n > 0 ? values[place(batch, c, 0)] : 0.0;
    for (int64_t e = 1; e < batch.n; e++) total = plus(n, total, values[place(batch, c, e)]);
    return total;
}

static double followed(OpCost *n, double running, double newest, double momentum) {
    return plus(n, times(n, 1.0 - momentum, running), times(n, momentum, newest));
}

// z rstd weight + bias for one element, where z is x - mean
static double affine(OracleCall *call, double z, double rstd, int64_t c) {
    OpCost *n = &call->counted;
    double y = times(n, z, rstd);
    if (call->in[1].values) y = times(n, y, call->in[1].values[c]);
    if (call->in[2].values) y += call->in[2].values[c];
    n->bias_flops += call->in[2].values != NULL;
    return y;
}

// Writes (x - mean) of channel c to y; returns the mean of its squares.
static double distances(OracleCall *call, Batch batch, int64_t c, double mean) {
    OpCost *n = &call->counted;
    double *y = call->out[0].values, squares = 0.0;
    for (int64_t e = 0; e < batch.n; e++) {
        int64_t i = place(batch, c, e);
        y[i] = minus(n, call->in[0].values[i], mean);
        double square = times(n, y[i], y[i]);
        squares = e == 0 ? square : plus(n, squares, square);
    }
    return over(n, squares, (double)batch.n);
}

static bool batch_norm(OracleCall *call) {
    OpCost *n = &call->counted;
    Batch batch = batch_of(call->in[0].shape);
    double epsilon = (double)call->params.value[0], momentum = (double)call->params.value[1];
    if (!oracle_expects(call, 0, call->in[0].shape) ||
        !oracle_expects(call, 1, SHAPE(batch.channels)) ||
        !oracle_expects(call, 2, SHAPE(batch.channels)))
        return false;
    for (int i = 3; i < 6; i++)
        if (call->in[i].identity) oracle_writes_input(call, i);
    if (call->in[5].identity) {
        double batches = ++call->in[5].values[0];
        if (isnan(momentum)) momentum = 1.0 / batches;
    }
    for (int64_t c = 0; c < batch.channels; c++) {
        call->out[1].values[c] = call->out[2].values[c] = (double)NAN;
        if (batch.n == 0) continue;
        double mean = over(n, sum_of(n, batch, c, call->in[0].values), (double)batch.n);
        double variance = distances(call, batch, c, mean);
        double rstd = transcendental(n, reciprocal_root, plus(n, variance, epsilon));
        for (int64_t e = 0; e < batch.n; e++) {
            double *y = &call->out[0].values[place(batch, c, e)];
            *y = affine(call, *y, rstd, c);
        }
        call->out[1].values[c] = mean;
        call->out[2].values[c] = rstd;
        if (!call->in[3].identity) continue;
        double sample = times(n, variance, (double)batch.n / ((double)batch.n - 1.0));
        call->in[3].values[c] = followed(n, call->in[3].values[c], mean, momentum);
        call->in[4].values[c] = followed(n, call->in[4].values[c], sample, momentum);
    }
    return true;
}

static bool batch_norm_eval(OracleCall *call) {
    OpCost *n = &call->counted;
    Batch batch = batch_of(call->in[0].shape);
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t c = 0; c < batch.channels && batch.n > 0; c++) {
        double mean = call->in[3].values[c];
        double spread = plus(n, call->in[4].values[c], (double)call->params.value[0]);
        double rstd = transcendental(n, reciprocal_root, spread);
        for (int64_t e = 0; e < batch.n; e++) {
            int64_t i = place(batch, c, e);
            double z = minus(n, call->in[0].values[i], mean);
            call->out[0].values[i] = affine(call, z, rstd, c);
        }
    }
    return true;
}

// ---- gradients: dy, x, weight, mean, rstd or variance; flags: of x 1, weight 2, bias 4 ----------
typedef struct Wanted { // destinations; NULL: not wanted
    double *dx, *dweight, *dbias;
} Wanted;

static bool find_wanted(OracleCall *call, Batch batch, Wanted *wanted) {
    double **places[] = {&wanted->dx, &wanted->dweight, &wanted->dbias};
    int next = 0;
    *wanted = (Wanted){0};
    for (int i = 0; i < 3; i++) {
        if (!(call->params.flags >> i & 1)) continue;
        Shape shape = i == 0 ? call->in[0].shape : SHAPE(batch.channels);
        if (!oracle_expects(call, next, shape)) return false;
        *places[i] = call->out[next++].values;
    }
    return next == call->n_out;
}

// The sum of dy z over channel c; writes z to `z` unless that is NULL.
static double weighed_sum(OracleCall *call, Batch batch, int64_t c, double rstd, double *z) {
    OpCost *n = &call->counted;
    double mean = call->in[3].values[c], sum = 0.0;
    for (int64_t e = 0; e < batch.n; e++) {
        int64_t i = place(batch, c, e);
        double own = times(n, minus(n, call->in[1].values[i], mean), rstd);
        double term = times(n, call->in[0].values[i], own);
        sum = e == 0 ? term : plus(n, sum, term);
        if (z) z[i] = own;
    }
    return sum;
}

static bool batch_norm_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Batch batch = batch_of(call->in[0].shape);
    Wanted to;
    if (!find_wanted(call, batch, &to)) return false;
    for (int64_t c = 0; c < batch.channels; c++) {
        double bias = 0.0, weight = 0.0, count = (double)batch.n;
        double rstd = call->in[4].values ? call->in[4].values[c] : 0.0;
        if (batch.n > 0 && (to.dx || to.dbias)) bias = sum_of(n, batch, c, call->in[0].values);
        if (batch.n > 0 && (to.dx || to.dweight)) weight = weighed_sum(call, batch, c, rstd, to.dx);
        if (to.dweight) to.dweight[c] = weight;
        if (to.dbias) to.dbias[c] = bias;
        if (!to.dx || batch.n == 0) continue;
        double mean_dy = over(n, bias, count), mean_dyz = over(n, weight, count);
        double scale = call->in[2].values ? times(n, rstd, call->in[2].values[c]) : rstd;
        for (int64_t e = 0; e < batch.n; e++) {
            int64_t i = place(batch, c, e);
            double rest =
                minus(n, minus(n, call->in[0].values[i], mean_dy), times(n, to.dx[i], mean_dyz));
            to.dx[i] = times(n, rest, scale);
        }
    }
    return true;
}

static bool batch_norm_eval_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Batch batch = batch_of(call->in[0].shape);
    Wanted to;
    if (!find_wanted(call, batch, &to)) return false;
    for (int64_t c = 0; c < batch.channels; c++) {
        double rstd = 0.0;
        if (to.dweight) to.dweight[c] = 0.0;
        if (to.dbias) to.dbias[c] = 0.0;
        if (batch.n == 0) continue;
        if (to.dx || to.dweight)
            rstd = transcendental(n, reciprocal_root,
                                  plus(n, call->in[4].values[c], (double)call->params.value[0]));
        if (to.dweight) to.dweight[c] = weighed_sum(call, batch, c, rstd, NULL);
        if (to.dbias) to.dbias[c] = sum_of(n, batch, c, call->in[0].values);
        if (!to.dx) continue;
        double scale = call->in[2].values ? times(n, rstd, call->in[2].values[c]) : rstd;
        for (int64_t e = 0; e < batch.n; e++) {
            int64_t i = place(batch, c, e);
            to.dx[i] = times(n, call->in[0].values[i], scale);
        }
    }
    return true;
}

const OracleFunction oracle_batch_norms[OP_COUNT] = {
    [OP_batch_norm] = batch_norm,
    [OP_batch_norm_backward] = batch_norm_backward,
    [OP_batch_norm_eval] = batch_norm_eval,
    [OP_batch_norm_eval_backward] = batch_norm_eval_backward,
};
