// oracle_groups.c -- RMS norm, group norm, and their gradients, from their definitions: a group
// norm finds each element of x (samples, channels, ...) by its sample, channel and place.
#include <stdlib.h>

#include "tests/ops/oracle.h"

static double reciprocal_root(double x) { return 1.0 / sqrt(x); }

// Adds term number `at` to a sum; the first costs nothing.
static double add_at(OpCost *n, int64_t at, double sum, double term) {
    return at == 0 ? term : plus(n, sum, term);
}

// ---- RMS norm: rows of as many last dims as params.shape has -----------------------------------
// y = x rstd weight; the further output is rstd of each row.
static bool rms_norm(OracleCall *call) {
    OpCost *n = &call->counted;
    const double *weight = call->in[1].values;
    OracleRows rows = oracle_rows(call->in[0].shape, &call->params);
    if (!oracle_expects(call, 0, call->in[0].shape) || !oracle_expects(call, 1, rows.outer))
        return false;
    for (int64_t r = 0; r < rows.count; r++) {
        double *rstd = &call->out[1].values[r], sum = 0.0;
        *rstd = (double)NAN;
        if (rows.n == 0) continue;
        const double *x = call->in[0].values + r * rows.n;
        for (int64_t i = 0; i < rows.n; i++) sum = add_at(n, i, sum, times(n, x[i], x[i]));
        sum = plus(n, over(n, sum, (double)rows.n), (double)call->params.value[0]);
        *rstd = transcendental(n, reciprocal_root, sum);
        for (int64_t i = 0; i < rows.n; i++) {
            double y = times(n, x[i], *rstd);
            call->out[0].values[r * rows.n + i] = weight ? times(n, y, weight[i]) : y;
        }
    }
    return true;
}

// rstd (g - z mean(g z)), g = dy weight, z = x rstd
static bool rms_norm_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    OracleRows rows = oracle_rows(call->in[1].shape, &call->params);
    if (!oracle_expects(call, 0, call->in[1].shape)) return false;
    double *g = calloc((size_t)(2 * rows.n + 1), sizeof *g), *z = g + rows.n;
    for (int64_t r = 0; r < rows.count && rows.n > 0; r++) {
        double rstd = call->in[3].values[r], mean = 0.0;
        for (int64_t i = 0; i < rows.n; i++) {
            double dy = call->in[0].values[r * rows.n + i];
            g[i] = call->in[2].values ? times(n, dy, call->in[2].values[i]) : dy;
            z[i] = times(n, call->in[1].values[r * rows.n + i], rstd);
            mean = add_at(n, i, mean, times(n, g[i], z[i]));
        }
        mean = over(n, mean, (double)rows.n);
        for (int64_t i = 0; i < rows.n; i++)
            call->out[0].values[r * rows.n + i] =
                times(n, minus(n, g[i], times(n, z[i], mean)), rstd);
    }
    free(g);
    return true;
}

// dy x rstd, summed over the rows.
static bool rms_norm_backward_weight(OracleCall *call) {
    OpCost *n = &call->counted;
    OracleRows rows = oracle_rows(call->in[1].shape, &call->params);
    if (!oracle_expects(call, 0, rows.row)) return false;
    for (int64_t i = 0; i < rows.n; i++) {
        double *sum = &call->out[0].values[i];
        *sum = 0.0;
        for (int64_t r = 0; r < rows.count; r++) {
            double z = times(n, call->in[1].values[r * rows.n + i], call->in[2].values[r]);
            *sum = add_at(n, r, *sum, times(n, call->in[0].values[r * rows.n + i], z));
        }
    }
    return true;
}

// ---- group norm --------------------------------------------------------------------------------
typedef struct Image { // the sizes of x, and its channel groups
    int64_t samples, channels, places, groups, in_group;
} Image;

static Image image_of(Shape shape, const OpParams *params) {
    Image image = {shape.dims[0], shape.dims[1], 1, params->count, 0};
    for (int i = 2; i < shape.ndim; i++) image.places *= shape.dims[i];
    image.in_group = image.channels / image.groups * image.places;
    return image;
}

// Index in x of the i-th element of a group of a sample, and the channel of an index.
static int64_t element(const Image *of, int64_t sample, int64_t group, int64_t i) {
    int64_t channel = group * (of->channels / of->groups) + i / of->places;
    return (sample * of->channels + channel) * of->places + i % of->places;
}
static int64_t channel_of(const Image *of, int64_t position) {
    return position / of->places % of->channels;
}
static int64_t group_of(const Image *of, int64_t position) { // group index over all samples
    int64_t sample = position / of->places / of->channels;
    return sample * of->groups + channel_of(of, position) / (of->channels / of->groups);
}

static bool group_norm(OracleCall *call) {
    OpCost *n = &call->counted;
    const double *x = call->in[0].values, *weight = call->in[1].values, *bias = call->in[2].values;
    Image image = image_of(call->in[0].shape, &call->params);
    Shape statistics = SHAPE(image.samples, image.groups);
    if (!oracle_expects(call, 0, call->in[0].shape) || !oracle_expects(call, 1, statistics) ||
        !oracle_expects(call, 2, statistics))
        return false;
    for (int64_t r = 0; r < image.samples * image.groups; r++) {
        int64_t sample = r / image.groups, group = r % image.groups;
        double *y = call->out[0].values, mean = 0.0, variance = 0.0;
        call->out[1].values[r] = call->out[2].values[r] = (double)NAN;
        if (image.in_group == 0) continue;
        for (int64_t i = 0; i < image.in_group; i++)
            mean = add_at(n, i, mean, x[element(&image, sample, group, i)]);
        mean = over(n, mean, (double)image.in_group);
        for (int64_t i = 0; i < image.in_group; i++) {
            int64_t at = element(&image, sample, group, i);
            y[at] = minus(n, x[at], mean);
            variance = add_at(n, i, variance, times(n, y[at], y[at]));
        }
        variance =
            plus(n, over(n, variance, (double)image.in_group), (double)call->params.value[0]);
        double rstd = transcendental(n, reciprocal_root, variance);
        for (int64_t i = 0; i < image.in_group; i++) {
            int64_t at = element(&image, sample, group, i);
            y[at] = times(n, y[at], rstd);
            if (weight) y[at] = times(n, y[at], weight[channel_of(&image, at)]);
            if (bias) y[at] += bias[channel_of(&image, at)];
            n->bias_flops += bias != NULL;
        }
        call->out[1].values[r] = mean;
        call->out[2].values[r] = rstd;
    }
    return true;
}

// rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd
static bool group_norm_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *dy = &call->in[0], *x = &call->in[1], *weight = &call->in[2];
    Image image = image_of(x->shape, &call->params);
    if (!oracle_expects(call, 0, x->shape)) return false;
    double *g = calloc((size_t)(2 * x->numel + 1), sizeof *g), *z = g + x->numel;
    for (int64_t r = 0; r < image.samples * image.groups && image.in_group > 0; r++) {
        int64_t sample = r / image.groups, group = r % image.groups;
        double mean_g = 0.0, mean_gz = 0.0, count = (double)image.in_group;
        for (int64_t i = 0; i < image.in_group; i++) {
            int64_t at = element(&image, sample, group, i);
            g[at] = weight->values
                        ? times(n, dy->values[at], weight->values[channel_of(&image, at)])
                        : dy->values[at];
            z[at] = times(n, minus(n, x->values[at], call->in[3].values[r]), call->in[4].values[r]);
            mean_g = add_at(n, i, mean_g, g[at]);
            mean_gz = add_at(n, i, mean_gz, times(n, g[at], z[at]));
        }
        mean_g = over(n, mean_g, count);
        mean_gz = over(n, mean_gz, count);
        for (int64_t i = 0; i < image.in_group; i++) {
            int64_t at = element(&image, sample, group, i);
            double rest = minus(n, minus(n, g[at], mean_g), times(n, z[at], mean_gz));
            call->out[0].values[at] = times(n, rest, call->in[4].values[r]);
        }
    }
    free(g);
    return true;
}

// Per channel: the sum of dy (x - mean) rstd and, with a second output, the sum of dy.
static bool group_norm_backward_weight(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *dy = &call->in[0], *x = &call->in[1];
    Image image = image_of(x->shape, &call->params);
    bool with_bias = call->n_out > 1;
    if (!oracle_expects(call, 0, SHAPE(image.channels))) return false;
    if (with_bias && !oracle_expects(call, 1, SHAPE(image.channels))) return false;
    for (int64_t c = 0; c < image.channels; c++) {
        double weight = 0.0, bias = 0.0;
        int64_t seen = 0;
        for (int64_t at = 0; at < x->numel; at++) {
            if (channel_of(&image, at) != c) continue;
            int64_t r = group_of(&image, at);
            double z =
                times(n, minus(n, x->values[at], call->in[2].values[r]), call->in[3].values[r]);
            weight = add_at(n, seen, weight, times(n, dy->values[at], z));
            if (with_bias) bias = add_at(n, seen, bias, dy->values[at]);
            seen++;
        }
        call->out[0].values[c] = weight;
        if (with_bias) call->out[1].values[c] = bias;
    }
    return true;
}

const OracleFunction oracle_groups[OP_COUNT] = {
    [OP_rms_norm] = rms_norm,
    [OP_rms_norm_backward] = rms_norm_backward,
    [OP_rms_norm_backward_weight] = rms_norm_backward_weight,
    [OP_group_norm] = group_norm,
    [OP_group_norm_backward] = group_norm_backward,
    [OP_group_norm_backward_weight] = group_norm_backward_weight,
};
