// attention.h -- internal to ops/, and for CUDA: shared by attention and its gradients: sizes,
// positions of matrices, a score, and the probabilities that dropout keeps.
#ifndef TENSOR_OPS_ATTENTION_H
#define TENSOR_OPS_ATTENTION_H

#include "tensor/math.h"
#include "tensor/op.h"
#include "tensor/philox.h"

// params: value = {scale, p}; flags: causal, and the gradients that attention_backward writes.
enum { ATTENTION_CAUSAL = 1, ATTENTION_DQ = 2, ATTENTION_DK = 4, ATTENTION_DV = 8 };
enum { ATTENTION_LEADING = TENSOR_MAX_DIMS - 2 };

// (..., rows, columns), with strides `row` and `column`. data NULL: absent.
typedef struct AttentionMatrices {
    const float *data;
    int64_t row, column;
    int leading; // number of dimensions before a matrix
    int64_t size[ATTENTION_LEADING], stride[ATTENTION_LEADING];
} AttentionMatrices;

typedef struct Attention {
    AttentionMatrices q, k, v, mask;
    int64_t matrices; // number of query matrices: batch x heads
    int64_t shared;   // number of matrices of keys and of values
    int64_t group;    // number of adjacent query matrices that share one matrix of keys
    int64_t s, t, d, e;
    float scale, p, kept; // kept: dropout's factor for kept probabilities
    bool causal;
    uint64_t seed, offset;
} Attention;

static inline AttentionMatrices attention_matrices(const Tensor *t) {
    AttentionMatrices m;
    m.data = (const float *)(const void *)tensor_raw(t);
    m.leading = t->shape.ndim - 2;
    bool one = t->shape.dims[m.leading] == 1; // its stride may be anything
    m.row = one ? t->shape.dims[m.leading + 1] : t->stride[m.leading];
    m.column = 1;
    for (int i = 0; i < m.leading; i++) {
        m.size[i] = t->shape.dims[i];
        m.stride[i] = t->stride[i];
    }
    return m;
}

// Strides of a mask broadcast to (..., h, s, t) for q; NULL: no mask.
static inline AttentionMatrices attention_mask(const Tensor *mask, const Tensor *q) {
    AttentionMatrices m;
    int64_t stride[TENSOR_MAX_DIMS] = {0};
    m.data = mask ? (const float *)(const void *)tensor_raw(mask) : NULL;
    m.leading = q->shape.ndim - 2;
    for (int i = 0, missing = 0; mask && i < mask->shape.ndim; i++) {
        missing = q->shape.ndim - mask->shape.ndim;
        stride[missing + i] = mask->shape.dims[i] == 1 ? 0 : mask->stride[i];
    }
    for (int i = 0; i < m.leading; i++) {
        m.size[i] = q->shape.dims[i];
        m.stride[i] = stride[i];
    }
    m.row = stride[m.leading];
    m.column = stride[m.leading + 1];
    return m;
}

// For a call with queries in[q], keys in[q + 1] and values in[q + 2]; if the values are absent,
// in[0] has their width.
static inline Attention attention_of(const OpCall *call, int q, int mask) {
    const Tensor *queries = call->in[q], *keys = call->in[q + 1], *values = call->in[q + 2];
    const Tensor *wide = values ? values : call->in[0];
    int last = queries->shape.ndim - 1;
    int64_t shared = 1;
    Attention a;
    a.q = attention_matrices(queries);
    a.k = attention_matrices(keys);
    a.v = attention_matrices(wide);
    a.mask = attention_mask(call->in[mask], queries);
    a.matrices = 1;
    for (int i = 0; i < a.q.leading; i++) {
        a.matrices *= a.q.size[i];
        shared *= a.k.size[i];
    }
    a.shared = shared;
    a.group = shared ? a.matrices / shared : 1;
    a.s = queries->shape.dims[last - 1];
    a.t = keys->shape.dims[last - 1];
    a.d = queries->shape.dims[last];
    a.e = wide->shape.dims[last];
    a.scale = call->params.value[0];
    a.p = call->params.value[1];
    a.kept = a.p < 1.0f ? 1.0f / (1.0f - a.p) : 0.0f;
    a.causal = call->params.flags & ATTENTION_CAUSAL;
    a.seed = call->params.seed;
    a.offset = call->params.offset;
    return a;
}

// t itself if the rows of its matrices are dense, with any distance between them; else a copy.
Tensor *attention_operand(Tensor *t);
bool attention_readable(const Tensor *t);

// Address of matrix `index`, counted over the leading dimensions.
MATH_INLINE const float *attention_matrix(const AttentionMatrices *m, int64_t index) {
    int64_t offset = 0;
    for (int i = m->leading - 1; i >= 0; i--) {
        offset += index % m->size[i] * m->stride[i];
        index /= m->size[i];
    }
    return m->data + offset;
}

// Number of keys, from the first on, that the query of this row sees.
MATH_INLINE int64_t attention_visible(const Attention *a, int64_t row) {
    return a->causal && row + 1 < a->t ? row + 1 : a->t;
}

// Number subtracted from the scores of a row before the exponential: its maximum or its logsumexp;
// 0 for a row without keys, whose scores are all -infinity, so that they become 0.
MATH_INLINE float attention_shift(float largest) { return largest == -INFINITY ? 0.0f : largest; }

// Index of the first random number of a row; each probability (..., h, s, t) has one.
MATH_INLINE int64_t attention_draw(const Attention *a, int64_t matrix, int64_t row) {
    return (matrix * a->s + row) * a->t;
}

// ---- the CPU's tiles ------------------------------------------------------------------------
// A tile is ROWS queries by KEYS keys; its scores stay in the second-level cache.
enum { ATTENTION_ROWS = 128, ATTENTION_KEYS = 512 };

typedef struct AttentionTile { // rows [row, row + rows) of one matrix, keys [key, key + keys)
    int64_t matrix, row, rows, key, keys;
} AttentionTile;

// Number of keys, from the first on, that any row of this tile sees.
MATH_INLINE int64_t attention_seen(const Attention *a, AttentionTile tile) {
    return tile.rows > 0 ? attention_visible(a, tile.row + tile.rows - 1) : 0;
}

// scores (rows, keys) = q . k^T of the tile
void attention_products(const Attention *a, AttentionTile tile, float *scores);
// x (keys) for one row of the tile: product scale + mask, -infinity for an unseen key
void attention_scores(const Attention *a, AttentionTile tile, int64_t row, float *x);
// factor (keys): 0 or `kept`
void attention_factors(const Attention *a, AttentionTile tile, int64_t row, float *factor);

// Threads do the items, with `floats` of workspace each: item i uses slot i modulo slots.
typedef struct AttentionJob {
    const OpCall *call;
    Attention of;
    void (*item)(const struct AttentionJob *job, int64_t item, float *workspace);
    int64_t items, floats;
    int64_t slots; // number of threads that take part
    double cost;   // cost of all items
} AttentionJob;
// Bytes of workspace for all slots.
int64_t attention_workspace(const AttentionJob *job);
void attention_share(AttentionJob *job); // computes the number of slots
void attention_run(AttentionJob *job);
int64_t attention_handoffs(const AttentionJob *job);

#endif
