// oracle_attention.c -- attention by its formula, its gradients, and rotary positions. A row's
// scores are all in memory at once. Backward is given the probabilities free of cost.
#include <stdlib.h>

#include "tensor/ops/attention.h"
#include "tensor/random.h"
#include "tests/ops/oracle.h"

typedef struct Sizes {
    int64_t matrices, group, s, t, d, e;
} Sizes;

static int64_t size_of(Shape shape, int from_end) { return shape.dims[shape.ndim - from_end]; }

static Sizes sizes_of(Shape q, Shape k, int64_t e) {
    Sizes z = {1, 1, size_of(q, 2), size_of(k, 2), size_of(q, 1), e};
    for (int i = 0; i < q.ndim - 2; i++) z.matrices *= q.dims[i];
    if (q.ndim > 2 && size_of(k, 3) > 0) z.group = size_of(q, 3) / size_of(k, 3);
    return z;
}

// The data that all rows of one call share.
typedef struct Heads {
    Sizes z;
    const OracleTensor *q, *k, *mask; // mask->values NULL: none
    const OpParams *params;
    Shape scores;
} Heads;

static Heads heads_of(OracleCall *call, int q, int mask, int64_t e) {
    Heads h = {.q = &call->in[q], .k = &call->in[q + 1], .mask = &call->in[mask]};
    h.z = sizes_of(h.q->shape, h.k->shape, e);
    h.params = &call->params;
    h.scores = h.q->shape;
    h.scores.dims[h.scores.ndim - 1] = h.z.t;
    return h;
}

// Fills p (t) with the probabilities of row i of matrix m; returns the row's logsumexp.
static double probabilities(OpCost *n, const Heads *h, int64_t m, int64_t i, double *p) {
    Sizes z = h->z;
    double largest = -(double)INFINITY, sum = 0.0;
    for (int64_t j = 0; j < z.t; j++) {
        double x = 0.0;
        for (int64_t c = 0; c < z.d; c++)
            x = multiply_add(n, h->q->values[(m * z.s + i) * z.d + c],
                             h->k->values[(m / z.group * z.t + j) * z.d + c], x);
        x = times(n, x, (double)h->params->value[0]);
        if (h->mask->values)
            x = plus(
                n, x,
                h->mask->values[oracle_broadcast(h->mask, h->scores, (m * z.s + i) * z.t + j)]);
        if (h->params->flags & ATTENTION_CAUSAL) x = plus(n, x, j > i ? -(double)INFINITY : 0.0);
        if (j == 0 || overtakes(n, x, largest)) largest = x;
        p[j] = x;
    }
    double shift = largest == -(double)INFINITY ? 0.0 : largest;
    for (int64_t j = 0; j < z.t; j++) {
        p[j] = transcendental(n, exp, minus(n, p[j], shift));
        sum = j == 0 ? p[j] : plus(n, sum, p[j]);
    }
    for (int64_t j = 0; j < z.t; j++)
        p[j] = sum == 0.0 ? 0.0 * over(n, p[j], 1.0) : over(n, p[j], sum);
    return z.t > 0 ? shift + log(sum) : -(double)INFINITY;
}

// The factor by which dropout multiplies: costs a comparison.
static double kept(OpCost *n, const Heads *h, int64_t m, int64_t i, int64_t j) {
    float u, p = h->params->value[1];
    int64_t at = (m * h->z.s + i) * h->z.t + j;
    random_uniform(h->params->seed, h->params->offset, at, at + 1, &u);
    return less(n, (double)u, (double)p) ? 0.0 : 1.0 / (1.0 - (double)p);
}

static bool attention(OracleCall *call) {
    OpCost *n = &call->counted;
    Heads h = heads_of(call, 0, 3, size_of(call->in[2].shape, 1));
    Sizes z = h.z;
    Shape shape = call->in[0].shape, rows = shape;
    shape.dims[shape.ndim - 1] = z.e;
    rows.ndim--;
    if (!oracle_expects(call, 0, shape) || !oracle_expects(call, 1, rows)) return false;
    double *p = calloc((size_t)z.t + 1, sizeof *p);
    for (int64_t r = 0; r < z.matrices * z.s; r++) {
        int64_t m = r / z.s, i = r % z.s;
        call->out[1].values[r] = probabilities(n, &h, m, i, p);
        for (int64_t j = 0; j < z.t && call->params.value[1] > 0.0f; j++)
            p[j] = times(n, p[j], kept(n, &h, m, i, j));
        for (int64_t c = 0; c < z.e; c++) {
            double y = 0.0;
            for (int64_t j = 0; j < z.t; j++)
                y = multiply_add(n, p[j], call->in[2].values[(m / z.group * z.t + j) * z.e + c], y);
            call->out[0].values[r * z.e + c] = y;
        }
    }
    free(p);
    return true;
}

// Destinations of the gradients; NULL: not wanted.
typedef struct Wanted {
    double *dq, *dk, *dv;
} Wanted;

// Adds the gradients of row i of matrix m, whose probabilities are p; g (t) is scratch.
static void add_row(OracleCall *call, const Heads *h, int64_t m, int64_t i, double *p, double *g,
                    Wanted to) {
    Sizes z = h->z;
    OpCost *n = &call->counted, before = {0};
    const double *dy = call->in[0].values + (m * z.s + i) * z.e;
    bool drops = call->params.value[1] > 0.0f, deep = to.dq || to.dk;
    double sum = 0.0;
    int64_t key = m / z.group * z.t;
    for (int64_t j = 0; j < z.t; j++) {
        double keep = drops ? kept(&before, h, m, i, j) : 1.0;
        for (int64_t c = 0; c < z.e && to.dv; c++)
            to.dv[(key + j) * z.e + c] =
                multiply_add(n, p[j] * keep, dy[c], to.dv[(key + j) * z.e + c]);
        if (!deep) continue;
        g[j] = 0.0;
        for (int64_t c = 0; c < z.e; c++)
            g[j] = multiply_add(n, dy[c], call->in[3].values[(key + j) * z.e + c], g[j]);
        if (drops) g[j] = times(n, g[j], keep);
        double product = times(n, g[j], p[j]);
        sum = j == 0 ? product : plus(n, sum, product);
    }
    for (int64_t j = 0; j < z.t && deep; j++) {
        double ds = times(n, times(n, p[j], minus(n, g[j], sum)), (double)call->params.value[0]);
        for (int64_t c = 0; c < z.d; c++) {
            int64_t q = (m * z.s + i) * z.d + c, k = (key + j) * z.d + c;
            if (to.dq) to.dq[q] = multiply_add(n, ds, h->k->values[k], to.dq[q]);
            if (to.dk) to.dk[k] = multiply_add(n, ds, h->q->values[q], to.dk[k]);
        }
    }
}

static bool attention_backward(OracleCall *call) {
    Heads h = heads_of(call, 1, 6, size_of(call->in[0].shape, 1));
    Sizes z = h.z;
    double *to[3] = {NULL};
    int outputs = 0;
    for (int i = 0; i < 3; i++) {
        if (!(call->params.flags & (unsigned)(ATTENTION_DQ << i))) continue;
        Shape shape = call->in[i == 0 ? 1 : 2].shape;
        if (i == 2) shape.dims[shape.ndim - 1] = z.e;
        if (!oracle_expects(call, outputs, shape)) return false;
        to[i] = call->out[outputs++].values;
    }
    double *p = calloc((size_t)z.t * 2 + 1, sizeof *p);
    for (int64_t r = 0; r < z.matrices * z.s; r++) {
        OpCost before = {0};
        probabilities(&before, &h, r / z.s, r % z.s, p);
        add_row(call, &h, r / z.s, r % z.s, p, p + z.t, (Wanted){to[0], to[1], to[2]});
    }
    free(p);
    return true;
}

// Rotates (a, b) by an angle, backwards with flag 1.
static bool rotary(OracleCall *call) {
    OpCost *n = &call->counted;
    int64_t half = size_of(call->in[1].shape, 1), positions = size_of(call->in[1].shape, 2);
    const double *x = call->in[0].values;
    if (!oracle_expects(call, 0, call->in[0].shape)) return false;
    for (int64_t i = 0; i < call->in[0].numel; i++) {
        int64_t j = i % (2 * half), at = i / (2 * half) % positions * half + j % half;
        double cosine = call->in[1].values[at], sine = call->in[2].values[at];
        double other = x[j < half ? i + half : i - half], turned = times(n, other, sine);
        bool taken = (j < half) != (call->params.flags == 1);
        double kept_part = times(n, x[i], cosine);
        call->out[0].values[i] = taken ? minus(n, kept_part, turned) : plus(n, kept_part, turned);
    }
    return true;
}

const OracleFunction oracle_attentions[OP_COUNT] = {
    [OP_attention] = attention,
    [OP_attention_backward] = attention_backward,
    [OP_rotary] = rotary,
};
