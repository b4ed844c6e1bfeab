// oracle_move.c -- ops that only move values: views, copies, triangles and the backward of a slice.
#include <string.h>

#include "tests/ops/oracle.h"

// Index, in a row-major tensor of shape `from`, of the element at `position` of `to`, when dim i of
// `to` is dim order[i] of `from`.
static int64_t permuted(Shape from, Shape to, const int64_t order[], int64_t position) {
    int64_t coordinate[TENSOR_MAX_DIMS] = {0};
    for (int i = to.ndim - 1; i >= 0; i--) {
        coordinate[order[i]] = position % to.dims[i];
        position /= to.dims[i];
    }
    int64_t found = 0;
    for (int i = 0; i < from.ndim; i++) found = found * from.dims[i] + coordinate[i];
    return found;
}

static bool copy(OracleCall *call) {
    if (call->out[0].numel != call->in[0].numel) {
        return oracle_expects(call, 0, call->in[0].shape);
    }
    size_t bytes = (size_t)call->in[0].numel * sizeof(double);
    memcpy(call->out[0].values, call->in[0].values, bytes);
    return true;
}

static bool permute(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    Shape shape = {.ndim = x->shape.ndim};
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = x->shape.dims[call->params.shape.dims[i]];
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        call->out[0].values[i] = x->values[permuted(x->shape, shape, call->params.shape.dims, i)];
    }
    return true;
}

static bool expand(OracleCall *call) {
    OracleTensor *y = &call->out[0];
    for (int64_t i = 0; i < y->numel; i++) {
        y->values[i] = call->in[0].values[oracle_broadcast(&call->in[0], y->shape, i)];
    }
    return true;
}

// Element c of a lane of the slice is element begin + c step of the whole tensor's lane.
static int64_t sliced(const OpParams *params, OracleLanes whole, OracleLanes part, int64_t i) {
    int64_t lane = i / (part.length * part.inner) * part.inner + i % part.inner;
    int64_t c = i / part.inner % part.length;
    return oracle_lane_at(whole, lane, params->begin + c * params->step);
}

static bool slice(OracleCall *call) {
    const OpParams *params = &call->params;
    const OracleTensor *x = &call->in[0];
    OracleTensor *y = &call->out[0];
    Shape shape = x->shape;
    shape.dims[params->dim] = params->count;
    if (!oracle_expects(call, 0, shape)) return false;
    OracleLanes whole = oracle_lanes(x->shape, params->dim);
    OracleLanes part = oracle_lanes(shape, params->dim);
    for (int64_t i = 0; i < y->numel; i++) {
        y->values[i] = x->values[sliced(params, whole, part, i)];
    }
    return true;
}

// Zeros of the whole tensor's shape, with the gradient at the place of the slice.
static bool slice_backward(OracleCall *call) {
    const OracleTensor *g = &call->in[0];
    OracleTensor *y = &call->out[0];
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    OracleLanes whole = oracle_lanes(y->shape, call->params.dim);
    OracleLanes part = oracle_lanes(g->shape, call->params.dim);
    for (int64_t i = 0; i < y->numel; i++) y->values[i] = 0.0;
    for (int64_t i = 0; i < g->numel; i++) {
        y->values[sliced(&call->params, whole, part, i)] = g->values[i];
    }
    return true;
}

// 0 above the diagonal; with the flag, 0 below it.
static bool triangle(OracleCall *call) {
    const OracleTensor *x = &call->in[0];
    if (!oracle_expects(call, 0, x->shape)) return false;
    const int64_t *matrix = &x->shape.dims[x->shape.ndim - 2];
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t above = i % matrix[1] - i / matrix[1] % matrix[0];
        bool lost = call->params.flags ? above < call->params.begin : above > call->params.begin;
        call->out[0].values[i] = lost ? 0.0 : x->values[i];
    }
    return true;
}

const OracleFunction oracle_movements[OP_COUNT] = {
    [OP_reshape] = copy,
    [OP_detach] = copy,
    [OP_contiguous] = copy,
    [OP_permute] = permute,
    [OP_expand] = expand,
    [OP_slice] = slice,
    [OP_slice_backward] = slice_backward,
    [OP_triangle] = triangle,
};
