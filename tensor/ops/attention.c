// attention.c -- y = softmax(q . k^T scale + mask) . v for each head, with dropout of the
// probabilities. They are computed tile by tile, correcting a row's maximum and sum with each tile
// (Milakov and Gimelshein 2018; Dao et al. 2022), and never stored: the op keeps y and each row's
// logsumexp, from which attention_backward computes them again.
// params: value = {scale, p}, flags: ATTENTION_CAUSAL; seed and offset are stored in the call
#include "tensor/ops/attention.h"

#include "tensor/gemm.h"
#include "tensor/ops/reduce.h"

enum { Q, K, V, MASK }; // inputs; and outputs:
enum { Y, LOGSUMEXP };

AttentionOptions attention_defaults(void) { return (AttentionOptions){0}; }

bool attention_readable(const Tensor *t) {
    int64_t row = t->stride[t->shape.ndim - 2], column = t->stride[t->shape.ndim - 1];
    int64_t rows = t->shape.dims[t->shape.ndim - 2], columns = t->shape.dims[t->shape.ndim - 1];
    return t->numel == 0 ||
           ((column == 1 || columns == 1) && (row >= columns || rows == 1) && row <= INT32_MAX);
}

Tensor *attention_operand(Tensor *t) {
    return t && t->shape.ndim >= 2 && !attention_readable(t) ? tensor_contiguous(t) : t;
}

// The default is 1 / sqrt(d); for d = 0 the scores are 0 anyway.
static float scale_of(const Tensor *q, float scale) {
    int64_t d = q && q->shape.ndim ? q->shape.dims[q->shape.ndim - 1] : 1;
    return scale != 0.0f ? scale : d > 0 ? (float)(1.0 / sqrt((double)d)) : 1.0f;
}

static int64_t scores_count(const Tensor *q, const Tensor *k) {
    int64_t count = q->shape.ndim < 2 || k->shape.ndim < 2 ? 0 : k->shape.dims[k->shape.ndim - 2];
    for (int i = 0; i < q->shape.ndim - 1; i++)
        if (__builtin_mul_overflow(count, q->shape.dims[i], &count)) return -1;
    return count;
}

Tensor *tensor_attention(Tensor *q, Tensor *k, Tensor *v, Tensor *mask, AttentionOptions options) {
    OpParams params = {.value = {scale_of(q, options.scale), options.dropout},
                       .flags = options.causal ? ATTENTION_CAUSAL : 0};
    if (options.dropout > 0.0f && q && k) params.count = scores_count(q, k);
    return OP_RUN(op_attention, &params, attention_operand(q), attention_operand(k),
                  attention_operand(v), mask);
}

// ---- shapes ---------------------------------------------------------------------------------
static int64_t from_end(const Tensor *t, int i) { return t->shape.dims[t->shape.ndim - i]; }

static Status check_sizes(const OpCall *call) {
    const Tensor *q = call->in[Q], *k = call->in[K], *v = call->in[V];
    int ndim = q->shape.ndim;
    if (ndim < 2 || k->shape.ndim != ndim || v->shape.ndim != ndim)
        return op_error(call, STATUS_SHAPE,
                        "not as many dimensions. HINT: q (..., h, s, d), k (..., h, t, d) and v "
                        "(..., h, t, e)");
    if (from_end(q, 1) != from_end(k, 1))
        return op_error(call, STATUS_SHAPE,
                        "queries of %lld, keys of %lld. HINT: the last sizes "
                        "of q and k agree",
                        (long long)from_end(q, 1), (long long)from_end(k, 1));
    if (from_end(k, 2) != from_end(v, 2))
        return op_error(call, STATUS_SHAPE, "%lld keys, %lld values. HINT: one value for each key",
                        (long long)from_end(k, 2), (long long)from_end(v, 2));
    for (int i = 0; i < ndim - 2; i++) {
        int64_t queries = q->shape.dims[i], keys = k->shape.dims[i];
        bool heads = i == ndim - 3; // several heads of queries may share one of keys
        bool fits = queries == keys || (heads && keys > 0 && queries % keys == 0);
        if (!fits || keys != v->shape.dims[i])
            return op_error(call, STATUS_SHAPE,
                            "%lld of queries, %lld of keys, %lld of values in dimension %d. HINT: "
                            "as many%s",
                            (long long)queries, (long long)keys, (long long)v->shape.dims[i], i,
                            heads ? ", or a multiple of the keys' heads for the queries" : "");
    }
    return STATUS_OK;
}

static Status check_mask(const OpCall *call) {
    const Tensor *q = call->in[Q], *mask = call->in[MASK];
    if (!mask) return STATUS_OK;
    if (call_needs(call, MASK))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "the mask has no gradient. HINT: tensor_detach it, or "
                        "tensor_attention_by_formula, where it has one");
    bool fits = mask->shape.ndim <= q->shape.ndim;
    for (int i = 1; fits && i <= mask->shape.ndim; i++) {
        int64_t size = i == 1 ? from_end(call->in[K], 2) : from_end(q, i);
        fits = from_end(mask, i) == size || from_end(mask, i) == 1;
    }
    char text[SHAPE_TEXT];
    if (fits) return STATUS_OK;
    return op_error(call, STATUS_SHAPE,
                    "the mask, %s, does not broadcast. HINT: to (..., h, s, t), t the keys",
                    shape_text(mask->shape, text));
}

static Status check_values(const OpCall *call) {
    const Tensor *q = call->in[Q];
    float p = call->params.value[1];
    if (!(p >= 0.0f && p <= 1.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "a dropout of %g is not a probability. HINT: from 0 to 1", (double)p);
    for (int i = Q; i <= V; i++)
        if (!attention_readable(call->in[i]))
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "rows of a matrix do not lie dense. HINT: tensor_contiguous");
    int64_t macs = scores_count(q, call->in[K]), width = from_end(q, 1) + from_end(call->in[V], 1);
    if (macs >= 0 && !__builtin_mul_overflow(macs, width + 16, &macs) && macs < INT64_MAX / 16)
        return STATUS_OK;
    return op_error(call, STATUS_OVERFLOW, "more than 2^59 multiply-adds. HINT: a smaller batch");
}

static Status attention_infer(OpCall *call) {
    if (check_sizes(call) || check_mask(call) || check_values(call)) return error_status();
    Shape shape = call->in[Q]->shape;
    shape.dims[shape.ndim - 1] = from_end(call->in[V], 1);
    Status status = op_output_of(call, Y, DTYPE_FLOAT32, &shape);
    shape.ndim--;
    return status ? status : op_output_of(call, LOGSUMEXP, DTYPE_FLOAT32, &shape);
}

// ---- the kernel -----------------------------------------------------------------------------
// Turns one row of a tile's products into probabilities, not yet divided by their sum. A larger
// maximum rescales the sum so far, and y.
KERNEL static void add_row(const Attention *a, AttentionTile tile, int64_t row, float *x,
                           float *largest, float *sum, float *y) {
    int64_t n = tile.keys;
    attention_scores(a, tile, row, x);
    float larger = math_max(*largest, reduce_max(x, n)), shift = attention_shift(larger);
    float correction = math_exp_falling(*largest - shift);
    for (int64_t j = 0; j < n; j++) x[j] = math_exp_falling(x[j] - shift);
    *largest = larger;
    *sum = *sum * correction + reduce_sum(x, n);
    if (tile.key > 0 && correction != 1.0f)
        for (int64_t j = 0; j < a->e; j++) y[j] *= correction;
    if (a->p == 0.0f) return;
    float factor[ATTENTION_KEYS];
    attention_factors(a, tile, row, factor);
    for (int64_t j = 0; j < n; j++) x[j] *= factor[j];
}

// y (rows, e) + = probabilities (rows, keys) . v (keys, e)
static void add_values(const Attention *a, AttentionTile tile, const float *probabilities,
                       float *y) {
    const float *v = attention_matrix(&a->v, tile.matrix / a->group);
    Gemm gemm = {.m = tile.rows, .n = a->e, .k = tile.keys, .add = tile.key > 0};
    gemm.a = probabilities;
    gemm.b = v + tile.key * a->v.row;
    gemm.c = y;
    gemm.lda = tile.keys;
    gemm.ldb = a->v.row;
    gemm.ldc = a->e > 0 ? a->e : 1;
    if (a->e > 0) gemm_alone(&gemm);
}

// A row without keys gets y = 0; its sum is 0, too.
KERNEL static void divide_rows(const Attention *a, int64_t rows, const float *sum, float *y,
                               float *logsumexp) {
    for (int64_t r = 0; r < rows; r++) {
        float scale = sum[r] == 0.0f ? 0.0f : 1.0f / sum[r];
        for (int64_t j = 0; j < a->e; j++) y[r * a->e + j] *= scale;
        logsumexp[r] += math_log(sum[r]);
    }
}

static int64_t tiles_of(const Attention *a) { return (a->s + ATTENTION_ROWS - 1) / ATTENTION_ROWS; }

// An item: some rows of one matrix of queries.
static void forward_item(const AttentionJob *job, int64_t item, float *workspace) {
    const Attention *a = &job->of;
    AttentionTile tile = {.matrix = item / tiles_of(a)};
    tile.row = item % tiles_of(a) * ATTENTION_ROWS;
    tile.rows = a->s - tile.row < ATTENTION_ROWS ? a->s - tile.row : ATTENTION_ROWS;
    int64_t first = tile.matrix * a->s + tile.row, seen = attention_seen(a, tile);
    float *y = call_out(job->call, Y) + first * a->e, *sum = workspace;
    float *largest = call_out(job->call, LOGSUMEXP) + first, *scores = workspace + ATTENTION_ROWS;
    for (int64_t r = 0; r < tile.rows; r++) {
        largest[r] = -INFINITY;
        sum[r] = 0.0f;
    }
    if (seen == 0) memset(y, 0, (size_t)(tile.rows * a->e) * sizeof *y);
    for (; tile.key < seen; tile.key += tile.keys) {
        tile.keys = seen - tile.key < ATTENTION_KEYS ? seen - tile.key : ATTENTION_KEYS;
        attention_products(a, tile, scores);
        for (int64_t r = 0; r < tile.rows; r++)
            add_row(a, tile, r, scores + r * tile.keys, &largest[r], &sum[r], y + r * a->e);
        add_values(a, tile, scores, y);
    }
    divide_rows(a, tile.rows, sum, y, largest);
}

static int64_t at_most(int64_t a, int64_t most) { return a < most ? a : most; }

static AttentionJob forward_job(const OpCall *call) {
    AttentionJob job = {.call = call, .of = attention_of(call, Q, MASK), .item = forward_item};
    const Attention *a = &job.of;
    job.items = a->matrices * tiles_of(a);
    job.floats = ATTENTION_ROWS + at_most(a->s, ATTENTION_ROWS) * at_most(a->t, ATTENTION_KEYS);
    job.cost = (double)a->matrices * (double)a->s * (double)a->t *
               ((double)(a->d + a->e) / WORK_MACS + 2.0);
    attention_share(&job);
    return job;
}

static int64_t forward_workspace(const OpCall *call) {
    AttentionJob job = forward_job(call);
    return attention_workspace(&job);
}

static int64_t forward_handoffs(const OpCall *call) {
    AttentionJob job = forward_job(call);
    return attention_handoffs(&job);
}

static Status attention_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    AttentionJob job = forward_job(call);
    attention_run(&job);
    return STATUS_OK;
}

// ---- backward -------------------------------------------------------------------------------
static bool needs_scores(const OpCall *call) { return call_needs(call, Q) || call_needs(call, K); }

// The gradient of v alone needs neither v nor y.
static unsigned attention_saves(const OpCall *call) {
    unsigned saves = SAVE_IN(Q) | SAVE_IN(K) | SAVE_IN(MASK) | SAVE_OUT(LOGSUMEXP);
    return needs_scores(call) ? saves | SAVE_IN(V) | SAVE_OUT(Y) : saves;
}

static Status attention_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    static const unsigned flags[] = {ATTENTION_DQ, ATTENTION_DK, ATTENTION_DV};
    OpParams params = saved->params;
    Tensor **slots[3], *grad = attention_operand(grad_out[Y]);
    bool scores = needs_scores(saved);
    int n = 0;
    for (int i = Q; i <= V; i++) {
        if (!call_needs(saved, i)) continue;
        params.flags |= flags[i];
        slots[n++] = &grad_in[i];
    }
    if (!grad || n == 0) return error_status();
    return op_run_into_each(slots, n, &op_attention_backward, &params,
                            OP_INPUTS(grad, saved->in[Q], saved->in[K],
                                      scores ? saved->in[V] : NULL, scores ? saved->out[Y] : NULL,
                                      saved->out[LOGSUMEXP], saved->in[MASK]));
}

// ---- counts ---------------------------------------------------------------------------------
static int attention_factors_of(const Shape in[], Shape out, const OpParams *params,
                                int64_t factor[]) {
    (void)params;
    int last = out.ndim - 1, n = 0;
    if (last > 1) factor[n++] = 1;
    for (int i = 0; i < last - 1; i++) factor[0] *= out.dims[i];
    factor[n++] = out.dims[last - 1];
    factor[n++] = in[K].dims[last - 1];
    factor[n++] = in[Q].dims[last] + out.dims[last];
    return n;
}

// Adds to the softmax's counts: a product per score for the scale, an add for a mask and one for
// causality, which counts as a mask; for dropout a comparison and a product.
static void attention_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool mask = given & SAVE_IN(MASK), causal = params->flags & ATTENTION_CAUSAL;
    bool drops = params->value[1] > 0.0f;
    story->elementwise.each += mask + causal + 2 * drops;
    if (mask || causal)
        story->formula = drops ? "y = dropout(softmax(q . k^T scale + mask)) . v"
                               : "y = softmax(q . k^T scale + mask) . v";
    else if (drops)
        story->formula = "y = dropout(softmax(q . k^T scale)) . v";
}

const Op op_attention = {
    .id = OP_attention,
    .name = "attention",
    .kernel = attention_cpu,
    .handoffs = forward_handoffs,
    .flags = OP_STRIDED | OP_RANDOM | OP_WORKSPACE,
    .n_inputs = 4,
    .optional = SAVE_IN(MASK),
    .infer = attention_infer,
    .workspace = forward_workspace,
    .backward = attention_backward,
    .saves = attention_saves,
    .story =
        STORY(.formula = "y = softmax(q . k^T scale) . v", .out = "y",
              .in = {"q", "k", "v", "mask"}, .elementwise = {PER_SCORE, .each = 5, .more = -2},
              .transcendental = {PER_SCORE, .each = 1},
              .products = "heads x queries x keys x (d + e)", .factors = attention_factors_of,
              .extra = "logsumexp of a row", .extra_elements = {PER_SCORE, .more = 1},
              .keeps = KEEP_X | KEEP_Y | KEEP_EXTRA, .kind = KIND_MATMUL, .vary = attention_vary)};
