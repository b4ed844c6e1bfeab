// attention_backward.c -- those of dq, dk and dv of an attention that are wanted. Computes the
// probabilities P = e^(score - logsumexp) again, tile by tile; then dP = dy . v^T, dS = P (dP -
// sum(dP P)) scale, dq = dS . k, dk = dS^T . q, dv = P^T . dy. The sum over a row's keys equals
// that of dy y over its values, which are fewer. params: as attention's, plus the flags
// ATTENTION_DQ, ATTENTION_DK, ATTENTION_DV for the wanted ones
#include "tensor/ops/attention.h"

#include "tensor/gemm.h"
#include "tensor/ops/reduce.h"

enum { DY, Q, K, V, Y, LOGSUMEXP, MASK }; // inputs; v and y only if dq or dk is wanted

static Status backward_infer(OpCall *call) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (!(call->params.flags & (unsigned)(ATTENTION_DQ << i))) continue;
        Shape shape = call->in[i == 0 ? Q : K]->shape;
        if (i == 2) shape.dims[shape.ndim - 1] = call->in[DY]->shape.dims[shape.ndim - 1];
        Status status = op_output_of(call, n++, DTYPE_FLOAT32, &shape);
        if (status) return status;
    }
    return STATUS_OK;
}

// Destinations of the gradients; NULL if not wanted.
typedef struct Gradients {
    float *dq, *dk, *dv;
} Gradients;

static Gradients gradients_of(const OpCall *call) {
    int n = 0;
    Gradients g = {0};
    if (call->params.flags & ATTENTION_DQ) g.dq = call_out(call, n++);
    if (call->params.flags & ATTENTION_DK) g.dk = call_out(call, n++);
    if (call->params.flags & ATTENTION_DV) g.dv = call_out(call, n++);
    return g;
}

typedef struct Rows { // rows of a tile
    AttentionTile tile;
    const float *dy; // (rows, e), `step` apart
    const float *logsumexp;
    int64_t step;
    float *sums;   // (rows): sum(dy y)
    float *p, *ds; // (rows, keys)
    bool whole;    // the tile has all keys that its rows see
} Rows;

// A logsumexp of large scores keeps few digits of the sum, so a tile with all keys of its rows
// computes the sum again.
MATH_INLINE void divide_by_sum(float *p, int64_t n) {
    float sum = reduce_sum(p, n), scale = sum == 0.0f ? 1.0f : 1.0f / sum;
    for (int64_t j = 0; j < n; j++) p[j] *= scale;
}

// Turns the products in p into the factors of dy in dv, and those in ds, dP, into dS. If a tile has
// all keys of a row, it sums dP P directly: this cancels dP's rounding errors if one key has nearly
// all the weight.
KERNEL static void differentiate_row(const Attention *a, const Rows *rows, int64_t row, bool deep) {
    AttentionTile tile = rows->tile;
    float *p = rows->p + row * tile.keys, *ds = rows->ds + row * tile.keys, sum = rows->sums[row];
    float shift = attention_shift(rows->logsumexp[row]), factor[ATTENTION_KEYS];
    attention_scores(a, tile, row, p);
    for (int64_t j = 0; j < tile.keys; j++) p[j] = math_exp_falling(p[j] - shift);
    if (rows->whole) divide_by_sum(p, tile.keys);
    if (a->p > 0.0f) attention_factors(a, tile, row, factor);
    if (deep && a->p > 0.0f)
        for (int64_t j = 0; j < tile.keys; j++) ds[j] *= factor[j];
    if (deep && rows->whole) sum = reduce_dot(ds, p, tile.keys);
    if (deep)
        for (int64_t j = 0; j < tile.keys; j++) ds[j] = p[j] * (ds[j] - sum) * a->scale;
    if (a->p > 0.0f)
        for (int64_t j = 0; j < tile.keys; j++) p[j] *= factor[j];
}

// c += a^T . b, or a . b if not transposed; adds to n columns of b
static void add_product(const float *a, bool transposed, AttentionTile tile, const float *b,
                        int64_t ldb, float *c, int64_t n) {
    Gemm gemm = {.trans_a = transposed, .add = true, .n = n, .a = a, .b = b, .c = c};
    gemm.m = transposed ? tile.keys : tile.rows;
    gemm.k = transposed ? tile.rows : tile.keys;
    gemm.lda = tile.keys;
    gemm.ldb = ldb;
    gemm.ldc = n;
    if (n > 0) gemm_alone(&gemm);
}

static void add_tile(const AttentionJob *job, const Rows *rows) {
    const Attention *a = &job->of;
    AttentionTile tile = rows->tile;
    Gradients g = gradients_of(job->call);
    int64_t shared = tile.matrix / a->group, first = shared * a->t + tile.key;
    bool deep = g.dq || g.dk;
    attention_products(a, tile, rows->p);
    if (deep) {
        Gemm gemm = {.m = tile.rows, .n = tile.keys, .k = a->e, .trans_b = true};
        gemm.a = rows->dy;
        gemm.b = attention_matrix(&a->v, shared) + tile.key * a->v.row;
        gemm.c = rows->ds;
        gemm.lda = rows->step;
        gemm.ldb = a->v.row;
        gemm.ldc = tile.keys;
        gemm_alone(&gemm);
    }
    for (int64_t r = 0; r < tile.rows; r++) differentiate_row(a, rows, r, deep);
    if (g.dv) add_product(rows->p, true, tile, rows->dy, rows->step, g.dv + first * a->e, a->e);
    if (g.dk) {
        const float *q = attention_matrix(&a->q, tile.matrix) + tile.row * a->q.row;
        add_product(rows->ds, true, tile, q, a->q.row, g.dk + first * a->d, a->d);
    }
    if (g.dq) {
        const float *k = attention_matrix(&a->k, shared) + tile.key * a->k.row;
        float *dq = g.dq + (tile.matrix * a->s + tile.row) * a->d;
        add_product(rows->ds, false, tile, k, a->k.row, dq, a->d);
    }
}

KERNEL static void sum_rows(const Attention *a, const Rows *rows, const float *y) {
    for (int64_t r = 0; r < rows->tile.rows; r++)
        rows->sums[r] = reduce_dot(rows->dy + r * rows->step, y + r * a->e, a->e);
}

// Handles all rows and keys of one matrix of queries.
static void add_matrix(const AttentionJob *job, int64_t matrix, float *workspace) {
    const Attention *a = &job->of;
    const OpCall *call = job->call;
    AttentionMatrices dy = attention_matrices(call->in[DY]);
    int64_t most = a->s < ATTENTION_ROWS ? a->s : ATTENTION_ROWS;
    int64_t wide = a->t < ATTENTION_KEYS ? a->t : ATTENTION_KEYS;
    Rows rows = {.step = dy.row, .sums = workspace, .p = workspace + ATTENTION_ROWS};
    rows.ds = rows.p + most * wide;
    AttentionTile tile = {.matrix = matrix};
    for (; tile.row < a->s; tile.row += tile.rows) {
        tile.rows = a->s - tile.row < ATTENTION_ROWS ? a->s - tile.row : ATTENTION_ROWS;
        rows.tile = tile;
        rows.dy = attention_matrix(&dy, matrix) + tile.row * dy.row;
        rows.logsumexp = call_in(call, LOGSUMEXP) + matrix * a->s + tile.row;
        int64_t seen = attention_seen(a, tile);
        rows.whole = seen <= ATTENTION_KEYS;
        if (call->in[Y] && !rows.whole)
            sum_rows(a, &rows, call_in(call, Y) + (matrix * a->s + tile.row) * a->e);
        for (int64_t key = 0; key < seen; key += rows.tile.keys) {
            rows.tile.key = key;
            rows.tile.keys = seen - key < ATTENTION_KEYS ? seen - key : ATTENTION_KEYS;
            add_tile(job, &rows);
        }
    }
}

static void clear(float *x, int64_t first, int64_t count) {
    if (x && count > 0) memset(x + first, 0, (size_t)count * sizeof *x);
}

// An item: one matrix of keys, with all matrices of queries that share it.
static void backward_item(const AttentionJob *job, int64_t item, float *workspace) {
    const Attention *a = &job->of;
    Gradients g = gradients_of(job->call);
    int64_t queries = a->group * a->s * a->d, keys = a->t * a->d, values = a->t * a->e;
    clear(g.dq, item * queries, queries);
    clear(g.dk, item * keys, keys);
    clear(g.dv, item * values, values);
    for (int64_t i = 0; i < a->group; i++) add_matrix(job, item * a->group + i, workspace);
}

static AttentionJob backward_job(const OpCall *call) {
    AttentionJob job = {.call = call, .of = attention_of(call, Q, MASK), .item = backward_item};
    const Attention *a = &job.of;
    int64_t rows = a->s < ATTENTION_ROWS ? a->s : ATTENTION_ROWS;
    int64_t keys = a->t < ATTENTION_KEYS ? a->t : ATTENTION_KEYS;
    job.items = a->shared;
    job.floats = ATTENTION_ROWS + 2 * rows * keys;
    job.cost = (double)a->matrices * (double)a->s * (double)a->t *
               (2.5 * (double)(a->d + a->e) / WORK_MACS + 3.0);
    attention_share(&job);
    return job;
}

static int64_t backward_workspace(const OpCall *call) {
    AttentionJob job = backward_job(call);
    return attention_workspace(&job);
}

static int64_t backward_handoffs(const OpCall *call) {
    AttentionJob job = backward_job(call);
    return attention_handoffs(&job);
}

static Status attention_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    AttentionJob job = backward_job(call);
    attention_run(&job);
    return STATUS_OK;
}

// ---- counts ---------------------------------------------------------------------------------
// Counts as for the formula, which keeps the probabilities: dP and dv take e, dq and dk take d.
static int backward_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)out;
    int last = in[Q].ndim - 1, n = 0;
    bool dq = params->flags & ATTENTION_DQ, dk = params->flags & ATTENTION_DK;
    bool dv = params->flags & ATTENTION_DV;
    if (last > 1) factor[n++] = 1;
    for (int i = 0; i < last - 1; i++) factor[0] *= in[Q].dims[i];
    factor[n++] = in[Q].dims[last - 1];
    factor[n++] = in[K].dims[last - 1];
    factor[n++] = (dq + dk) * in[Q].dims[last] + ((dq || dk) + dv) * in[DY].dims[last];
    return n;
}

// A softmax's gradient takes 4 t - 1 for a row of t; scale and dropout a product per score each.
static void backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    static const char *const formulas[8] = {
        [1] = "dq = dS . k",
        [2] = "dk = dS^T . q",
        [3] = "dq = dS . k, dk = dS^T . q",
        [4] = "dv = P^T . dy",
        [5] = "dq = dS . k, dv = P^T . dy",
        [6] = "dk = dS^T . q, dv = P^T . dy",
        [7] = "dq = dS . k, dk = dS^T . q, dv = P^T . dy",
    };
    static const char *const names[8] = {"dq", "dq", "dk", "dq", "dv", "dq", "dk", "dq"};
    unsigned wanted = params->flags / ATTENTION_DQ & 7u;
    story->formula = formulas[wanted];
    story->out = names[wanted];
    if (!(wanted & 3u))
        story->elementwise = (OpRule){0};
    else if (params->value[1] > 0.0f)
        story->elementwise.each++;
}

const Op op_attention_backward = {
    .id = OP_attention_backward,
    .name = "attention_backward",
    .kernel = attention_backward_cpu,
    .handoffs = backward_handoffs,
    .flags = OP_STRIDED | OP_WORKSPACE,
    .n_inputs = 7,
    .optional = SAVE_IN(V) | SAVE_IN(Y) | SAVE_IN(MASK),
    .infer = backward_infer,
    .workspace = backward_workspace,
    .story = STORY(.formula = "dq = dS . k, dk = dS^T . q, dv = P^T . dy", .out = "dq",
                   .in = {"dy", "q", "k", "v", "y"},
                   .elementwise = {PER_SCORE, .each = 5, .more = -1, .input = Q},
                   .products = "heads x queries x keys x widths", .factors = backward_factors,
                   .kind = KIND_MATMUL, .vary = backward_vary)};
