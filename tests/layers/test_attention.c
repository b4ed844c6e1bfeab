// test_attention.c -- attention as one op compared with attention op by op: values, gradients,
// counts, saved bytes; and what a transformer's layer saves and takes, predicted and measured.
#include <math.h>
#include <string.h>

#include "layers/attention.h"
#include "layers/cost.h"
#include "tests/helpers/expect.h"

typedef Tensor *(*Attend)(Tensor *q, Tensor *k, Tensor *v, Tensor *mask, AttentionOptions options);

static const struct Case {
    int64_t batch, heads, shared, s, t, d, e;
    AttentionOptions options;
    int mask; // shape 1: (t), 2: (s, t), 3: (s, 1), 4: (batch, 1, s, t)
} cases[] = {
    {1, 1, 1, 3, 5, 4, 2, {.scale = 0.0f}, 0},
    {2, 3, 3, 7, 7, 4, 4, {.causal = true}, 0},
    {2, 4, 2, 5, 9, 3, 6, {.scale = 0.3f}, 2},
    {1, 2, 2, 5, 6, 4, 4, {.scale = 0.5f}, 3},
    {1, 6, 2, 1, 8, 4, 4, {.causal = true}, 1},
    {2, 2, 1, 6, 4, 4, 4, {.causal = true, .dropout = 0.25f}, 4},
    {1, 2, 2, 140, 600, 8, 8, {.dropout = 0.5f}, 0},
    {1, 2, 2, 600, 600, 8, 8, {.causal = true}, 0},
};
enum { CASES = sizeof cases / sizeof *cases, WISHES = 8 };

typedef struct Counts {
    Observer observer; // must be first
    uint64_t macs, elementwise, transcendental;
} Counts;

// Adding one gradient to another counts for neither variant.
static void count(Observer *observer, const OpCall *call) {
    Counts *self = (Counts *)observer;
    OpCost cost = op_cost(call);
    if (call->op == &op_accumulate) return;
    self->macs += cost.macs;
    self->elementwise += cost.elementwise_flops;
    self->transcendental += cost.transcendental_flops;
}

typedef struct Outcome {
    Tensor *of[4]; // y, and the gradients of q, k and v; the caller frees them
    Counts counts;
    int64_t saved;
} Outcome;

static Tensor *mask_new(const struct Case *c) {
    Shape shapes[] = {SHAPE(c->t), SHAPE(c->s, c->t), SHAPE(c->s, 1),
                      SHAPE(c->batch, 1, c->s, c->t)};
    Tensor *mask = tensor_zeros_new(shapes[c->mask - 1]);
    for (int64_t i = 0; i < mask->numel; i++) // every query sees the first key
        tensor_data(mask)[i] =
            c->mask != 3 && i % c->t % 3 == 1 ? -INFINITY : (float)(i % 5) / 4.0f;
    return mask;
}

static Outcome outcome_of(const struct Case *c, Attend attend, int wishes) {
    Outcome outcome = {.counts = {.observer = {.op_end = count}}};
    context_seed(3);
    Tensor *in[3] = {tensor_uniform_new(SHAPE(c->batch, c->heads, c->s, c->d), -1.0f, 1.0f),
                     tensor_uniform_new(SHAPE(c->batch, c->shared, c->t, c->d), -1.0f, 1.0f),
                     tensor_uniform_new(SHAPE(c->batch, c->shared, c->t, c->e), -1.0f, 1.0f)};
    Tensor *start = tensor_uniform_new(SHAPE(c->batch, c->heads, c->s, c->e), -1.0f, 1.0f);
    Tensor *mask = c->mask ? mask_new(c) : NULL;
    for (int i = 0; i < 3; i++)
        if (wishes >> i & 1) tensor_requires_grad(in[i], true);
    context_seed(7);
    Scope *scope = scope_open();
    observer_add(&outcome.counts.observer);
    Tensor *y = attend(in[0], in[1], in[2], mask, c->options);
    ck_assert_msg(y != NULL, "%s", error_message());
    outcome.of[0] = tensor_keep(y);
    outcome.saved = autograd_saved_bytes();
    if (wishes) ck_assert_int_eq(autograd_backward_from(y, start), STATUS_OK);
    observer_remove(&outcome.counts.observer);
    scope_close(scope);
    for (int i = 0; i < 3; i++)
        if (wishes >> i & 1) outcome.of[1 + i] = tensor_retain(tensor_grad(in[i]));
    for (int i = 0; i < 3; i++) tensor_free(in[i]);
    tensor_free(start);
    tensor_free(mask);
    return outcome;
}

static void compare(const struct Case *c, int wishes) {
    Outcome fused = outcome_of(c, tensor_attention, wishes);
    Outcome formula = outcome_of(c, tensor_attention_by_formula, wishes);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(fused.of[i] != NULL, i == 0 || (wishes >> (i - 1) & 1));
        if (!fused.of[i]) continue;
        harness_assert_close(tensor_data(fused.of[i]), tensor_data(formula.of[i]),
                             fused.of[i]->numel, 2e-6, 1e-5, "fused");
        tensor_free(fused.of[i]);
        tensor_free(formula.of[i]);
    }
    ck_assert_uint_eq(fused.counts.macs, formula.counts.macs);
    ck_assert_uint_eq(fused.counts.elementwise, formula.counts.elementwise);
    ck_assert_uint_eq(fused.counts.transcendental, formula.counts.transcendental);
}

START_TEST(it_is_what_its_formula_says_and_costs_as_much) {
    for (int wishes = 0; wishes < WISHES; wishes++) compare(&cases[_i], wishes);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Leaves do not count as saved. The formula saves the probabilities and, with dropout, the mask and
// the dropped probabilities.
START_TEST(the_fused_one_keeps_no_scores) {
    for (int i = 0; i < CASES; i++) {
        const struct Case *c = &cases[i];
        int64_t rows = c->batch * c->heads * c->s, scores = rows * c->t;
        Outcome fused = outcome_of(c, tensor_attention, 7);
        Outcome formula = outcome_of(c, tensor_attention_by_formula, 7);
        Outcome values = outcome_of(c, tensor_attention, 4); // the gradient of v needs no y
        ck_assert_int_eq(values.saved, 4 * rows);
        tensor_free(values.of[0]);
        tensor_free(values.of[3]);
        ck_assert_int_eq(fused.saved, 4 * rows * c->e + 4 * rows);
        ck_assert_int_eq(formula.saved, (c->options.dropout > 0.0f ? 9 : 4) * scores);
        for (int k = 0; k < 4; k++) {
            tensor_free(fused.of[k]);
            tensor_free(formula.of[k]);
        }
    }
}
END_TEST

// The mask, and the tables of rotary positions, are constants for the op.
START_TEST(what_has_no_gradient_is_refused_one) {
    Tensor *x = tensor_zeros_new(SHAPE(2, 3, 4)), *table = tensor_zeros_new(SHAPE(3, 2));
    Tensor *mask = tensor_zeros_new(SHAPE(3, 3)), *none[2];
    tensor_requires_grad(mask, true);
    tensor_requires_grad(table, true);
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_attention(x, x, x, mask, attention_defaults()));
    expect_error(STATUS_INVALID_ARGUMENT, "the mask has no gradient. HINT");
    Tensor *y = tensor_attention_by_formula(x, x, x, mask, attention_defaults());
    ck_assert(tensor_wants_grad(y));
    ck_assert_ptr_null(tensor_rotary(x, table, table));
    expect_error(STATUS_INVALID_ARGUMENT, "the tables have no gradient. HINT");
    scope_close(scope);
    ck_assert(!rotary_tables_new(0, 3, 5, 1e4f, &none[0], &none[1]));
    expect_error(STATUS_INVALID_ARGUMENT, "an even width");
    ck_assert(!rotary_tables_new(-1, 3, 4, 1e4f, &none[0], &none[1]));
    expect_error(STATUS_INVALID_ARGUMENT, "from -1 on");
    ck_assert(!rotary_tables_new(0, 3, 4, NAN, &none[0], &none[1]));
    expect_error(STATUS_INVALID_ARGUMENT, "base nan");
    tensor_free(x);
    tensor_free(table);
    tensor_free(mask);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// A query that sees no key has result and gradient 0; keys and values that nobody sees have
// gradient 0; NaN stays in its row, unless a tile shares it.
START_TEST(unseen_keys_and_blind_queries_are_0) {
    enum { S = 3, T = 4, D = 2 };
    Tensor *in[3] = {tensor_uniform_new(SHAPE(S, D), -1.0f, 1.0f),
                     tensor_uniform_new(SHAPE(T, D), -1.0f, 1.0f),
                     tensor_uniform_new(SHAPE(T, D), -1.0f, 1.0f)};
    Tensor *mask = tensor_zeros_new(SHAPE(S, T));
    for (int j = 0; j < T; j++) tensor_data(mask)[T + j] = -INFINITY;
    for (int i = 0; i < S; i++) tensor_data(mask)[i * T + 2] = -INFINITY;
    tensor_data(in[0])[2 * D] = NAN;
    for (int i = 0; i < 3; i++) tensor_requires_grad(in[i], true);
    Scope *scope = scope_open();
    Tensor *y = tensor_attention(in[0], in[1], in[2], mask, attention_defaults());
    ck_assert(isfinite(tensor_data(y)[0]) && tensor_data(y)[D] == 0.0f);
    ck_assert(isnan(tensor_data(y)[2 * D]));
    tensor_data(in[0])[2 * D] = 0.5f;
    y = tensor_attention(in[0], in[1], in[2], mask, attention_defaults());
    ck_assert_int_eq(autograd_backward(tensor_sum(y, DIM_ALL, false)), STATUS_OK);
    for (int j = 0; j < D; j++) {
        ck_assert(tensor_data(tensor_grad(in[0]))[D + j] == 0.0f);
        ck_assert(tensor_data(tensor_grad(in[1]))[2 * D + j] == 0.0f);
        ck_assert(tensor_data(tensor_grad(in[2]))[2 * D + j] == 0.0f);
        ck_assert(tensor_data(tensor_grad(in[2]))[j] > 0.0f);
    }
    scope_close(scope);
    for (int i = 0; i < 3; i++) tensor_free(in[i]);
    tensor_free(mask);
}
END_TEST

// Where one key has all the weight the gradient is 0, however large the numbers are.
START_TEST(saturated_rows_have_no_gradient) {
    Tensor *q = tensor_full_new(SHAPE(2, 8), 1000.0f), *k = tensor_uniform_new(SHAPE(40, 8), 0, 1);
    Tensor *v = tensor_uniform_new(SHAPE(40, 8), -1e6f, 1e6f);
    for (int j = 0; j < 8; j++) tensor_data(k)[j] = 2.0f;
    tensor_requires_grad(q, true);
    tensor_requires_grad(k, true);
    Scope *scope = scope_open();
    Tensor *y = tensor_attention(q, k, v, NULL, attention_defaults());
    ck_assert_int_eq(autograd_backward(tensor_sum(y, DIM_ALL, false)), STATUS_OK);
    for (int j = 0; j < 16; j++) ck_assert(tensor_data(tensor_grad(q))[j] == 0.0f);
    for (int j = 0; j < 320; j++) ck_assert(tensor_data(tensor_grad(k))[j] == 0.0f);
    scope_close(scope);
    tensor_free(q);
    tensor_free(k);
    tensor_free(v);
}
END_TEST

// ---- a transformer's layer ------------------------------------------------------------------
enum { B = 2, S = 24, E = 32, HEADS = 4 };

typedef struct Block {
    Layer *all, *norm1, *attention, *drop, *norm2, *up, *down;
} Block;

static Block block_new(bool by_formula, float dropout) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.by_formula = by_formula;
    options.dropout = dropout;
    Block b = {.all = sequential_new(), // owns the others; run below
               .norm1 = layer_norm_new(SHAPE(E), 1e-5f, true),
               .attention = multihead_attention_new(E, HEADS, options),
               .drop = dropout_new(dropout),
               .norm2 = layer_norm_new(SHAPE(E), 1e-5f, true),
               .up = linear_new(E, 4 * E, true),
               .down = linear_new(4 * E, E, true)};
    layer_add_child(b.all, "norm1", b.norm1);
    layer_add_child(b.all, "attention", b.attention);
    layer_add_child(b.all, "drop", b.drop);
    layer_add_child(b.all, "norm2", b.norm2);
    layer_add_child(b.all, "up", b.up);
    layer_add_child(b.all, "down", b.down);
    ck_assert_msg(!error_pending(), "%s", error_message());
    return b;
}

static Tensor *run(const Block *b, Tensor *x) {
    Tensor *attended = layer_forward(b->attention, layer_forward(b->norm1, x));
    Tensor *sum = tensor_add(x, layer_forward(b->drop, attended));
    Tensor *wide = tensor_gelu(layer_forward(b->up, layer_forward(b->norm2, sum)));
    return tensor_add(sum, layer_forward(b->drop, layer_forward(b->down, wide)));
}

// The formula of Korthikanti et al. 2022, with 4 bytes a number, plus mean and rstd of the norms'
// rows, which they leave out. The fused op saves its result, and one number for each row.
static int64_t kept(bool by_formula, bool drops) {
    int64_t sb = S * B, each = sb * E * (drops ? 66 : 64), norms = 16 * sb;
    int64_t scores = sb * HEADS * S * (drops ? 9 : 4), fused = sb * E * 4 + sb * HEADS * 4;
    return each + norms + (by_formula ? scores : fused);
}

static void step(const Block *b, Tensor *x, int64_t *saved) {
    Scope *scope = scope_open();
    Tensor *y = run(b, tensor_mul_scalar(x, 1.0f)); // no leaf, so it counts as saved
    ck_assert_msg(y != NULL, "%s", error_message());
    *saved = autograd_saved_bytes();
    ck_assert_int_eq(autograd_backward(tensor_mean(y, DIM_ALL, false)), STATUS_OK);
    scope_close(scope);
}

START_TEST(a_transformers_layer_keeps_and_takes_what_is_foretold) {
    bool by_formula = _i & 1;
    float dropout = _i & 2 ? 0.1f : 0.0f;
    Context *own = context_new();
    context_push(own);
    context_set_threads(_i & 4 ? 3 : 1);
    Block b = block_new(by_formula, dropout);
    Tensor *x = tensor_uniform_new(SHAPE(B, S, E), -1.0f, 1.0f);
    tensor_requires_grad(x, true);
    int64_t foretold = 0, measured = 0;
    Context *dry = dry_run_begin(b.all);
    step(&b, x, &foretold);
    MemoryUse peak = dry->ledger->peak;
    dry_run_end(dry);
    step(&b, x, &measured);
    ck_assert_int_eq(measured, kept(by_formula, dropout > 0.0f));
    ck_assert_int_eq(foretold, measured);
    MemoryUse real = context_ledger()->peak;
    ck_assert_int_eq(peak.total + tensor_bytes(x), real.total);
    ck_assert_int_eq(peak.category[MEM_WORKSPACE], real.category[MEM_WORKSPACE]);
    ck_assert_int_eq(peak.category[MEM_ACTIVATION], real.category[MEM_ACTIVATION]);
    tensor_free(x);
    layer_free(b.all);
    context_pop();
    context_free(own);
}
END_TEST

// The scores of 4,096 positions would take 64 MiB a head.
START_TEST(long_sequences_take_no_more_than_their_rows) {
    enum { LONG = 4096 };
    context_set_threads(1);
    Tensor *x = tensor_uniform_new(SHAPE(1, LONG, 16), -1.0f, 1.0f);
    Scope *scope = scope_open();
    AttentionOptions causal = {.causal = true};
    ck_assert_ptr_nonnull(tensor_attention(x, x, x, NULL, causal));
    scope_close(scope);
    ck_assert_int_lt(context_ledger()->peak.total, 1 << 20);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {it_is_what_its_formula_says_and_costs_as_much, CASES},
        {the_fused_one_keeps_no_scores, 0},
        {what_has_no_gradient_is_refused_one, 0},
        {unseen_keys_and_blind_queries_are_0, 0},
        {saturated_rows_have_no_gradient, 0},
        {a_transformers_layer_keeps_and_takes_what_is_foretold, 8},
        {long_sequences_take_no_more_than_their_rows, 0},
        {NULL, 0},
    };
    return harness_main("attention", tests);
}
