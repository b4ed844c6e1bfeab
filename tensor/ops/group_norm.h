// group_norm.h -- internal to ops/: x (n, channels, ...) as rows, for a group norm and its
// gradients; a row holds the adjacent channels of one group of one sample.
#ifndef TENSOR_OPS_GROUP_NORM_H
#define TENSOR_OPS_GROUP_NORM_H

#include "tensor/ops/layer_norm.h"

typedef struct Groups {
    int64_t rows, n;               // number of rows, and of elements in each
    int64_t samples, channels;     // sizes of x
    int64_t count, width, spatial; // number of groups, channels per group, elements per channel
} Groups;

// params: count = groups
static inline Groups groups_of(const Tensor *x, const OpParams *params) {
    Groups g = {.samples = x->shape.dims[0],
                .channels = x->shape.dims[1],
                .count = params->count,
                .spatial = 1};
    for (int i = 2; i < x->shape.ndim; i++) g.spatial *= x->shape.dims[i];
    g.width = g.channels / g.count;
    g.rows = g.samples * g.count;
    g.n = g.width * g.spatial;
    return g;
}

// First channel of a row.
static inline int64_t first_channel(const Groups *g, int64_t row) {
    return row % g->count * g->width;
}

#endif
