// oracle_norm.c -- layer norm, variance, embedding, and their gradients.
#include <stdlib.h>

#include "tests/ops/oracle.h"

static double reciprocal_root(double x) { return 1.0 / sqrt(x); }

// The mean: the first element of the sum costs nothing, each further one an addition.
static double mean_of(OpCost *n, const double *values, int64_t count) {
    double total = values[0];
    for (int64_t i = 1; i < count; i++) total = plus(n, total, values[i]);
    return over(n, total, (double)count);
}

// y = (x - mean) rstd weight + bias; the further outputs are mean and rstd of each row.
static bool layer_norm(OracleCall *call) {
    OpCost *n = &call->counted;
    const double *weight = call->in[1].values, *bias = call->in[2].values;
    OracleRows rows = oracle_rows(call->in[0].shape, &call->params);
    if (!oracle_expects(call, 0, call->in[0].shape) || !oracle_expects(call, 1, rows.outer) ||
        !oracle_expects(call, 2, rows.outer))
        return false;
    for (int64_t r = 0; r < rows.count; r++) {
        double *mean = &call->out[1].values[r], *rstd = &call->out[2].values[r];
        *mean = *rstd = (double)NAN;
        if (rows.n == 0) continue;
        const double *x = call->in[0].values + r * rows.n;
        double *y = call->out[0].values + r * rows.n;
        *mean = mean_of(n, x, rows.n);
        for (int64_t i = 0; i < rows.n; i++) y[i] = minus(n, x[i], *mean);
        double variance = 0.0;
        for (int64_t i = 0; i < rows.n; i++) {
            double square = times(n, y[i], y[i]);
            variance = i == 0 ? square : plus(n, variance, square);
        }
        variance = plus(n, over(n, variance, (double)rows.n), (double)call->params.value[0]);
        *rstd = transcendental(n, reciprocal_root, variance);
        for (int64_t i = 0; i < rows.n; i++) {
            y[i] = times(n, y[i], *rstd);
            if (weight) y[i] = times(n, y[i], weight[i]);
            if (bias) y[i] += bias[i];
            n->bias_flops += bias != NULL;
        }
    }
    return true;
}

// rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd
static bool layer_norm_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    OracleRows rows = oracle_rows(call->in[1].shape, &call->params);
    if (!oracle_expects(call, 0, call->in[1].shape)) return false;
    double *g = calloc((size_t)(3 * rows.n + 1), sizeof *g), *z = g + rows.n, *gz = z + rows.n;
    for (int64_t r = 0; r < rows.count && rows.n > 0; r++) {
        double mean = call->in[3].values[r], rstd = call->in[4].values[r];
        for (int64_t i = 0; i < rows.n; i++) {
            double dy = call->in[0].values[r * rows.n + i];
            g[i] = call->in[2].values ? times(n, dy, call->in[2].values[i]) : dy;
            z[i] = times(n, minus(n, call->in[1].values[r * rows.n + i], mean), rstd);
            gz[i] = times(n, g[i], z[i]);
        }
        double mean_g = mean_of(n, g, rows.n), mean_gz = mean_of(n, gz, rows.n);
        for (int64_t i = 0; i < rows.n; i++) {
            double rest = minus(n, minus(n, g[i], mean_g), times(n, z[i], mean_gz));
            call->out[0].values[r * rows.n + i] = times(n, rest, rstd);
        }
    }
    free(g);
    return true;
}

// dy (x - mean) rstd, summed over the rows, and, with a second output, the sum of dy.
static bool layer_norm_backward_weight(OracleCall *call) {
    OpCost *n = &call->counted;
    OracleRows rows = oracle_rows(call->in[1].shape, &call->params);
    bool with_bias = call->n_out > 1;
    if (!oracle_expects(call, 0, rows.row)) return false;
    if (with_bias && !oracle_expects(call, 1, rows.row)) return false;
    for (int64_t i = 0; i < rows.n; i++) {
        double weight = 0.0, bias = 0.0;
        for (int64_t r = 0; r < rows.count; r++) {
            double dy = call->in[0].values[r * rows.n + i];
            double d = minus(n, call->in[1].values[r * rows.n + i], call->in[2].values[r]);
            double term = times(n, dy, times(n, d, call->in[3].values[r]));
            weight = r == 0 ? term : plus(n, weight, term);
            if (with_bias) bias = r == 0 ? dy : plus(n, bias, dy);
        }
        call->out[0].values[i] = weight;
        if (with_bias) call->out[1].values[i] = bias;
    }
    return true;
}

// Signed indices below 0 count from the end.
static int64_t row_of(const OracleCall *call, const OracleTensor *index, int64_t i, int64_t count) {
    int64_t row = (int64_t)index->values[i];
    return row < 0 && call->params.flags ? row + count : row;
}

// Copies rows of the table. The rows counted as read are as many as the indices, at most all.
static bool embedding(OracleCall *call) {
    const OracleTensor *index = &call->in[0], *table = &call->in[1];
    int64_t count = table->shape.dims[0], d = table->shape.dims[1];
    Shape shape = index->shape;
    shape.dims[shape.ndim++] = d;
    if (!oracle_expects(call, 0, shape)) return false;
    if (index->numel < count)
        call->counted.bytes_read -= oracle_bytes_of(table, d * (count - index->numel));
    for (int64_t i = 0; i < call->out[0].numel; i++)
        call->out[0].values[i] = table->values[row_of(call, index, i / d, count) * d + i % d];
    return true;
}

// Zeros, with each row of the gradient added to the row that it came from.
static bool embedding_backward(OracleCall *call) {
    OracleTensor *table = &call->out[0];
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    int64_t d = table->shape.dims[1];
    for (int64_t i = 0; i < table->numel; i++) table->values[i] = 0.0;
    for (int64_t i = 0; i < call->in[0].numel; i++) {
        double *place =
            &table->values[row_of(call, &call->in[1], i / d, table->shape.dims[0]) * d + i % d];
        *place = plus(&call->counted, *place, call->in[0].values[i]);
    }
    return true;
}

// The sum of squared distances from the mean over n - correction; flags 1: its square root.
static bool var(OracleCall *call) {
    OpCost *n = &call->counted;
    Shape shape = call->in[0].shape, reduced = shape;
    OracleLanes lanes = oracle_lanes(shape, shape.ndim - 1);
    reduced.ndim -= shape.ndim > 0;
    if (!oracle_expects(call, 0, reduced)) return false;
    for (int64_t r = 0; r < call->out[0].numel; r++) {
        const double *x = call->in[0].values + r * lanes.length;
        double *y = &call->out[0].values[r], squares = 0.0;
        *y = (double)NAN;
        if (lanes.length == 0) continue;
        double mean = mean_of(n, x, lanes.length);
        for (int64_t i = 0; i < lanes.length; i++) {
            double distance = minus(n, x[i], mean), square = times(n, distance, distance);
            squares = i == 0 ? square : plus(n, squares, square);
        }
        *y = over(n, squares, (double)lanes.length - (double)call->params.value[0]);
        if (call->params.flags & 1) *y = transcendental(n, sqrt, *y);
    }
    return true;
}

// 2 (x - mean) dy / (n - correction); of a root y: (x - mean) dy / (y (n - correction)), 0 at 0
static bool var_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[1], *root = &call->in[2];
    OracleLanes lanes = oracle_lanes(x->shape, x->shape.ndim - 1);
    if (!oracle_expects(call, 0, x->shape)) return false;
    double freedom = (double)lanes.length - (double)call->params.value[0];
    for (int64_t r = 0; r < lanes.outer && lanes.length > 0; r++) {
        double dy = call->in[0].values[r];
        double slope = root->identity ? over(n, dy, times(n, root->values[r], freedom))
                                      : times(n, dy, 2.0 / freedom);
        if (root->identity && root->values[r] == 0.0) slope = 0.0;
        double mean = mean_of(n, x->values + r * lanes.length, lanes.length);
        for (int64_t i = r * lanes.length; i < (r + 1) * lanes.length; i++)
            call->out[0].values[i] = times(n, slope, minus(n, x->values[i], mean));
    }
    return true;
}

const OracleFunction oracle_norms[OP_COUNT] = {
    [OP_layer_norm] = layer_norm,
    [OP_var] = var,
    [OP_var_backward] = var_backward,
    [OP_layer_norm_backward] = layer_norm_backward,
    [OP_layer_norm_backward_weight] = layer_norm_backward_weight,
    [OP_embedding] = embedding,
    [OP_embedding_backward] = embedding_backward,
};
