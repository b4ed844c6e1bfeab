// oracle_reduce.c -- sums along params.dim; maxima and softmaxes along the last dim, where a view
// puts the requested one.
#include <stdlib.h>

#include "tests/ops/oracle.h"

static int64_t lane_count(OracleLanes lanes) { return lanes.outer * lanes.inner; }

// The first element of a sum costs nothing, each further one an addition.
static double add_up(OpCost *n, const OracleTensor *x, OracleLanes lanes, int64_t lane) {
    double total = 0.0;
    for (int64_t c = 0; c < lanes.length; c++) {
        double value = x->values[oracle_lane_at(lanes, lane, c)];
        total = c == 0 ? value : plus(n, total, value);
    }
    return total;
}

// Index in the lane of the maximum, or with sign -1 of the minimum.
static int64_t find_extreme(OpCost *n, const OracleTensor *x, OracleLanes lanes, int64_t lane,
                            double sign) {
    int64_t best = 0;
    for (int64_t c = 1; c < lanes.length; c++) {
        double candidate = x->values[oracle_lane_at(lanes, lane, c)];
        double holder = x->values[oracle_lane_at(lanes, lane, best)];
        if (overtakes(n, sign * candidate, sign * holder)) best = c;
    }
    return best;
}

static OracleLanes last_lanes(Shape shape) { return oracle_lanes(shape, shape.ndim - 1); }

static bool sum(OracleCall *call) {
    OracleLanes lanes = oracle_lanes(call->in[0].shape, call->params.dim);
    bool mean = (call->params.flags & 1) != 0;
    bool keep_dim = (call->params.flags & 2) != 0;
    Shape reduced = oracle_without_dim(call->in[0].shape, call->params.dim, keep_dim);
    if (!oracle_expects(call, 0, reduced)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        double total = add_up(&call->counted, &call->in[0], lanes, lane);
        call->out[0].values[lane] =
            mean ? over(&call->counted, total, (double)lanes.length) : total;
    }
    return true;
}

static bool sum_to(OracleCall *call) {
    const OracleTensor *g = &call->in[0];
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    bool *started = calloc((size_t)y->numel + 1, sizeof *started);
    if (started == NULL) return false;
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    for (int64_t j = 0; j < g->numel; j++) {
        int64_t i = oracle_broadcast(y, g->shape, j);
        y->values[i] = started[i] ? plus(&call->counted, y->values[i], g->values[j]) : g->values[j];
        started[i] = true;
    }
    free(started);
    return true;
}

static bool extreme(OracleCall *call, double sign, bool values) {
    int index_output = values ? 1 : 0;
    OracleLanes lanes = last_lanes(call->in[0].shape);
    Shape reduced = call->in[0].shape;
    reduced.ndim--;
    if (values && !oracle_expects(call, 0, reduced)) return false;
    if (!oracle_expects(call, index_output, reduced)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        int64_t best = find_extreme(&call->counted, &call->in[0], lanes, lane, sign);
        call->out[index_output].values[lane] = (double)best;
        if (values)
            call->out[0].values[lane] = call->in[0].values[oracle_lane_at(lanes, lane, best)];
    }
    return true;
}
static bool max(OracleCall *call) { return extreme(call, 1.0, true); }
static bool argmax(OracleCall *call) { return extreme(call, 1.0, false); }
static bool min(OracleCall *call) { return extreme(call, -1.0, true); }
static bool argmin(OracleCall *call) { return extreme(call, -1.0, false); }

// Finds the k extremes in turn, skipping those found before, but compares all elements each time.
static bool topk(OracleCall *call) {
    const double *x = call->in[0].values;
    int64_t k = call->params.count;
    double sign = call->params.flags ? -1.0 : 1.0;
    Shape shape = call->in[0].shape;
    OracleLanes lanes = last_lanes(shape);
    shape.dims[shape.ndim - 1] = k;
    if (!oracle_expects(call, 0, shape) || !oracle_expects(call, 1, shape)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        for (int64_t j = 0; j < k; j++) {
            int64_t best = -1;
            for (int64_t c = 0; c < lanes.length; c++) {
                bool found = false;
                for (int64_t f = 0; f < j; f++)
                    found = found || call->out[1].values[lane * k + f] == (double)c;
                double here = x[oracle_lane_at(lanes, lane, c)];
                double there = best < 0 ? 0.0 : x[oracle_lane_at(lanes, lane, best)];
                bool first = best < 0 || (sign > 0 ? isnan(here) && !isnan(there)
                                                   : isnan(there) && !isnan(here));
                call->counted.elementwise_flops += c > 0;
                if (!found && (first || sign * here > sign * there)) best = c;
            }
            call->out[0].values[lane * k + j] = x[oracle_lane_at(lanes, lane, best)];
            call->out[1].values[lane * k + j] = (double)best;
        }
    }
    return true;
}

// Zeros of the input's shape, with each gradient at the place of its maximum.
static bool max_backward(OracleCall *call) {
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    OracleLanes lanes = last_lanes(y->shape);
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    for (int64_t lane = 0; lane < lane_count(lanes) && lanes.length > 0; lane++) {
        int64_t winner = (int64_t)call->in[1].values[lane];
        y->values[oracle_lane_at(lanes, lane, winner)] = call->in[0].values[lane];
    }
    return true;
}

// Running sums: each element plus the sum of those before it; flags 1: from the end.
static bool cumsum(OracleCall *call) {
    OracleLanes lanes = last_lanes(call->in[0].shape);
    bool from_end = (call->params.flags & 1) != 0;
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        double total = 0.0;
        for (int64_t c = 0; c < lanes.length; c++) {
            int64_t at = oracle_lane_at(lanes, lane, from_end ? lanes.length - 1 - c : c);
            double value = call->in[0].values[at];
            total = c == 0 ? value : plus(&call->counted, total, value);
            call->out[0].values[at] = total;
        }
    }
    return true;
}

// The sum of exp(x - max); per lane C-1 comparisons, C subtractions, C exps, C-1 additions.
static double sum_of_exponentials(OracleCall *call, OracleLanes lanes, int64_t lane, double top) {
    OpCost *n = &call->counted;
    double total = 0.0;
    for (int64_t c = 0; c < lanes.length; c++) {
        int64_t at = oracle_lane_at(lanes, lane, c);
        double shifted = minus(n, call->in[0].values[at], top);
        double power = transcendental(n, exp, shifted);
        call->out[0].values[at] = (call->op->id == OP_softmax) ? power : shifted;
        total = c == 0 ? power : plus(n, total, power);
    }
    return total;
}

// softmax: exp(x - max) / sum;  log_softmax: (x - max) - log(sum).
static bool softmax(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    OpCost *n = &call->counted;
    OracleLanes lanes = last_lanes(x->shape);
    bool divides = call->op->id == OP_softmax;
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes) && lanes.length > 0; lane++) {
        double top = x->values[oracle_lane_at(lanes, lane, find_extreme(n, x, lanes, lane, 1.0))];
        double total = sum_of_exponentials(call, lanes, lane, top);
        double log_total = divides ? 0.0 : transcendental(n, log, total);
        for (int64_t c = 0; c < lanes.length; c++) {
            double *y = &call->out[0].values[oracle_lane_at(lanes, lane, c)];
            *y = divides ? over(n, *y, total) : minus(n, *y, log_total);
        }
    }
    return true;
}

// y (g - sum(g y))
static bool softmax_backward(OracleCall *call) {
    const double *g = call->in[0].values;
    const double *y = call->in[1].values;
    OpCost *n = &call->counted;
    OracleLanes lanes = last_lanes(call->in[0].shape);
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        double dot = 0.0;
        for (int64_t c = 0; c < lanes.length; c++) {
            int64_t at = oracle_lane_at(lanes, lane, c);
            double product = times(n, g[at], y[at]);
            dot = c == 0 ? product : plus(n, dot, product);
        }
        for (int64_t c = 0; c < lanes.length; c++) {
            int64_t at = oracle_lane_at(lanes, lane, c);
            call->out[0].values[at] = times(n, y[at], minus(n, g[at], dot));
        }
    }
    return true;
}

// g - exp(y) sum(g)
static bool log_softmax_backward(OracleCall *call) {
    const double *g = call->in[0].values;
    const double *y = call->in[1].values;
    OpCost *n = &call->counted;
    OracleLanes lanes = last_lanes(call->in[0].shape);
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t lane = 0; lane < lane_count(lanes); lane++) {
        double total = add_up(n, &call->in[0], lanes, lane);
        for (int64_t c = 0; c < lanes.length; c++) {
            int64_t at = oracle_lane_at(lanes, lane, c);
            double share = times(n, transcendental(n, exp, y[at]), total);
            call->out[0].values[at] = minus(n, g[at], share);
        }
    }
    return true;
}

const OracleFunction oracle_reductions[OP_COUNT] = {
    [OP_sum] = sum,
    [OP_sum_to] = sum_to,
    [OP_max] = max,
    [OP_max_backward] = max_backward,
    [OP_argmax] = argmax,
    [OP_min] = min,
    [OP_argmin] = argmin,
    [OP_topk] = topk,
    [OP_cumsum] = cumsum,
    [OP_softmax] = softmax,
    [OP_softmax_backward] = softmax_backward,
    [OP_log_softmax] = softmax,
    [OP_log_softmax_backward] = log_softmax_backward,
};
