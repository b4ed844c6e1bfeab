// oracle_select.c -- concat, gather and its backward, casts, one-hot rows.
#include "tests/ops/oracle.h"

// Each element of the result finds the input that it comes from.
static bool concat(OracleCall *call) {
    OracleTensor *y = &call->out[0];
    int dim = call->params.dim;
    Shape shape = call->in[0].shape;
    for (int i = 1; i < call->n_in; i++) shape.dims[dim] += call->in[i].shape.dims[dim];
    if (!oracle_expects(call, 0, shape)) return false;
    OracleLanes whole = oracle_lanes(shape, dim);
    for (int64_t i = 0; i < y->numel; i++) {
        int64_t lane = i / (whole.length * whole.inner) * whole.inner + i % whole.inner;
        int64_t c = i / whole.inner % whole.length;
        int k = 0;
        for (; c >= call->in[k].shape.dims[dim]; k++) c -= call->in[k].shape.dims[dim];
        OracleLanes part = oracle_lanes(call->in[k].shape, dim);
        y->values[i] = call->in[k].values[oracle_lane_at(part, lane, c)];
    }
    return true;
}

// Index in the table of the element that entry i of the index asks for; -1: none.
static int64_t place_of(const OracleTensor *index, Shape table, const OpParams *params, int64_t i) {
    int dim = params->dim;
    int64_t place = 0;
    int64_t stride = 1;
    int64_t wanted = (int64_t)index->values[i];
    if (wanted < 0 && params->flags) wanted = table.dims[dim] + wanted;
    if (wanted < 0 || wanted >= table.dims[dim]) return -1;
    for (int d = table.ndim - 1; d >= 0; d--) {
        int64_t own = i % index->shape.dims[d];
        i /= index->shape.dims[d];
        place += (d == dim ? wanted : own) * stride;
        stride *= table.dims[d];
    }
    return place;
}

static bool gather(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    const OracleTensor *index = &call->in[1];
    if (!oracle_expects(call, 0, index->shape)) return false;
    for (int64_t i = 0; i < index->numel; i++) {
        call->out[0].values[i] = x->values[place_of(index, x->shape, &call->params, i)];
    }
    return true;
}

static bool gather_backward(OracleCall *call) {
    const OracleTensor *index = &call->in[1];
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    for (int64_t i = 0; i < index->numel; i++) {
        double *place = &y->values[place_of(index, y->shape, &call->params, i)];
        *place = plus(&call->counted, *place, call->in[0].values[i]);
    }
    return true;
}

static bool cast(OracleCall *call) {
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t i = 0; i < call->in[0].numel; i++)
        call->out[0].values[i] = trunc(call->in[0].values[i]);
    return true;
}

// x modulo 2^bits; for a signed type the upper half becomes negative.
static bool wrap(OracleCall *call) {
    double all = exp2((double)call->params.count);
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t i = 0; i < call->in[0].numel; i++) {
        double x = call->in[0].values[i], rest = x - all * floor(x / all);
        call->out[0].values[i] = call->params.flags && rest >= all / 2.0 ? rest - all : rest;
    }
    return true;
}

static bool one_hot(OracleCall *call) {
    const OracleTensor *labels = &call->in[0];
    Shape shape = labels->shape;
    shape.dims[shape.ndim++] = call->params.count;
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < call->out[0].numel; i++) {
        double label = labels->values[i / call->params.count];
        if (label < 0.0 && call->params.flags) label += (double)call->params.count;
        call->out[0].values[i] = (double)(i % call->params.count) == label;
    }
    return true;
}

const OracleFunction oracle_selections[OP_COUNT] = {
    [OP_cast] = cast,     [OP_wrap] = wrap,     [OP_one_hot] = one_hot,
    [OP_concat] = concat, [OP_gather] = gather, [OP_gather_backward] = gather_backward,
};
