// test_kv_cache.c -- attention that caches keys and values: the same logits as without, for any
// pieces of a sequence; the output of Hugging Face's generate; costs of a token, dry runs.
// test_kv_cache_errors.c tests refusals.
#include <string.h>

#include "layers/attention.h"
#include "layers/cost.h"
#include "layers/kv_cache.h"
#include "layers/train/generate.h"
#include "layers/transformer.h"
#include "tensor/ops.h"
#include "tests/fixtures/generate.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

// ---- models -------------------------------------------------------------------------------------
enum { CONTEXT = 24, MODELS = 3 };

static Layer *gpt2_of(bool by_formula) {
    Gpt2Options options = small_gpt2();
    options.context = CONTEXT;
    options.by_formula = by_formula;
    return gpt2_new(options);
}

static Layer *llama_of(bool by_formula) {
    LlamaOptions options = small_llama();
    options.context = CONTEXT;
    options.by_formula = by_formula;
    return llama_new(options);
}

static Layer *chars_of(bool by_formula) {
    return gpt2_new((Gpt2Options){.vocab_size = 65,
                                  .context = 64,
                                  .embed_dim = 48,
                                  .layers = 3,
                                  .heads = 4,
                                  .by_formula = by_formula});
}

static const struct Model {
    const char *name;
    Layer *(*make)(bool by_formula);
    int64_t words, kept; // kept: cached numbers per position
    const int64_t *written;
} models[MODELS] = {
    {"gpt2", gpt2_of, 11, 2 * 2 * 2 * 4, gpt2_written},
    {"llama", llama_of, 11, 2 * 2 * 2 * 4, llama_written}, // half as many key heads as query heads
    {"chars", chars_of, 65, 3 * 2 * 4 * 12, chars_written},
};

static Layer *filled_new(const struct Model *model, bool by_formula) {
    Layer *made = model->make(by_formula);
    expect_no_error();
    model_fill(made, 1.0);
    layer_train(made, false);
    no_grad_begin();
    return made;
}

static void finished(Layer *model) {
    no_grad_end();
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

// Positions [begin, end) of ids (batch, CONTEXT); the caller frees the tensor.
static Tensor *piece_new(Tensor *ids, int64_t begin, int64_t end) {
    int64_t batch = ids->shape.dims[0], s = end - begin, part[2 * CONTEXT];
    for (int64_t b = 0; b < batch; b++)
        memcpy(part + b * s, tensor_labels(ids) + b * CONTEXT + begin, (size_t)s * sizeof *part);
    return tensor_from_labels_new(SHAPE(batch, s), part);
}

// Gives positions [begin, end) to the cache and compares their logits with those of the whole
// sequence (batch, CONTEXT, words).
static void check_piece(KvCache *cache, Tensor *ids, int64_t begin, int64_t end, Tensor *whole) {
    Scope *scope = scope_open();
    Tensor *x = piece_new(ids, begin, end), *y = kv_cache_forward(cache, x);
    expect_no_error();
    ck_assert_int_eq(kv_cache_length(cache), end);
    static float got[2 * CONTEXT * 65], want[2 * CONTEXT * 65];
    Tensor *same = tensor_slice(whole, 1, begin, end, 1);
    ck_assert(shape_equal(y->shape, same->shape));
    tensor_read_floats(y, got);
    tensor_read_floats(same, want);
    for (int64_t i = 0; i < y->numel; i++)
        ck_assert_double_eq_tol((double)got[i], (double)want[i], 1e-5);
    tensor_free(x);
    scope_close(scope);
}

// ---- the same logits ----------------------------------------------------------------------------
static const int pieces[][8] = {
    {24}, {1, 1, 1, 1, 1, 1, 18}, {17, 1, 1, 1, 4}, {3, 5, 1, 15}, {23, 1}};
enum { PIECES = sizeof pieces / sizeof pieces[0] };

START_TEST(pieces_give_the_logits_of_the_whole) {
    const struct Model *of = &models[_i % MODELS];
    const int *piece = pieces[_i / MODELS % PIECES];
    int64_t batch = 1 + _i / MODELS / PIECES % 2;
    Layer *model = filled_new(of, _i / MODELS / PIECES / 2);
    Tensor *ids = model_tokens_new(SHAPE(batch, CONTEXT), 0, of->words, 11);
    KvCache *cache = kv_cache_new(model, batch, CONTEXT);
    Scope *scope = scope_open();
    Tensor *whole = layer_forward(model, ids);
    expect_no_error();
    for (int round = 0; round < 2; round++) { // again after a reset
        for (int64_t at = 0, i = 0; i < 8 && piece[i]; at += piece[i++])
            check_piece(cache, ids, at, at + piece[i], whole);
        kv_cache_reset(cache);
        ck_assert_int_eq(kv_cache_length(cache), 0);
    }
    ck_assert_ptr_nonnull(layer_forward(model, ids)); // works without a cache, too
    scope_close(scope);
    kv_cache_free(cache);
    tensor_free(ids);
    finished(model);
}
END_TEST

// PyTorch's encoder layer with its names, after sinusoidal positions; with and without norm_first.
START_TEST(layers_by_themselves_keep_too) {
    TransformerLayerOptions options = transformer_layer_defaults();
    options.d_model = 8, options.nhead = 2, options.dim_feedforward = 12, options.causal = true;
    options.norm_first = _i;
    Layer *model = sequential_new();
    layer_append(model, positional_encoding_new(CONTEXT, 8));
    layer_append(model, transformer_encoder_layer_new(options));
    layer_train(model, false);
    no_grad_begin();
    Tensor *x = model_input_new(SHAPE(2, CONTEXT, 8), 5);
    KvCache *cache = kv_cache_new(model, 2, CONTEXT);
    Scope *scope = scope_open();
    Tensor *whole = layer_forward(model, x);
    expect_no_error();
    static const int64_t ends[] = {5, 6, 7, 20, 24};
    for (int64_t i = 0, begin = 0; i < 5; begin = ends[i++]) {
        Tensor *y = kv_cache_forward(cache, tensor_slice(x, 1, begin, ends[i], 1));
        expect_no_error();
        float got[2 * CONTEXT * 8], want[2 * CONTEXT * 8];
        tensor_read_floats(y, got);
        tensor_read_floats(tensor_slice(whole, 1, begin, ends[i], 1), want);
        for (int64_t k = 0; k < y->numel; k++)
            ck_assert_double_eq_tol((double)got[k], (double)want[k], 1e-5);
    }
    scope_close(scope);
    kv_cache_free(cache);
    tensor_free(x);
    finished(model);
}
END_TEST

// ---- generated tokens ---------------------------------------------------------------------------
static int64_t likeliest(const float *row, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) best = row[i] > row[best] ? i : best;
    return best;
}

// Both prompts at once, one token of each at a time.
START_TEST(a_batch_writes_what_hugging_face_writes) {
    enum { B = WRITTEN_BATCH, P = WRITTEN_PROMPT, N = WRITTEN_COUNT };
    const struct Model *of = &models[_i];
    Layer *model = filled_new(of, false);
    KvCache *cache = kv_cache_new(model, B, N - 1);
    int64_t prompt[B * P], next[B];
    for (int b = 0; b < B; b++) memcpy(prompt + b * P, of->written + b * N, P * sizeof *prompt);
    for (int at = P; at < N; at++) {
        Scope *scope = scope_open();
        int64_t s = at == P ? P : 1;
        Tensor *x = tensor_from_labels_new(SHAPE(B, s), at == P ? prompt : next);
        Tensor *y = kv_cache_forward(cache, x);
        expect_no_error();
        float rows[B * 65];
        tensor_read_floats(tensor_slice(y, 1, s - 1, s, 1), rows);
        for (int b = 0; b < B; b++) {
            next[b] = likeliest(rows + b * of->words, of->words);
            ck_assert_msg(next[b] == of->written[b * N + at], "%s, prompt %d, token %d", of->name,
                          b, at);
        }
        tensor_free(x);
        scope_close(scope);
    }
    kv_cache_free(cache);
    finished(model);
}
END_TEST

// With the cache, without it, and past the window, where the cache is of no use.
START_TEST(generate_tokens_writes_the_same) {
    enum { P = WRITTEN_PROMPT, N = WRITTEN_COUNT };
    const struct Model *of = &models[_i % MODELS];
    Layer *model = filled_new(of, false);
    for (int b = 0; b < WRITTEN_BATCH; b++) {
        int64_t ids[N];
        memcpy(ids, of->written + b * N, P * sizeof *ids);
        GenerateOptions how = {.window = CONTEXT, .no_cache = _i >= MODELS};
        ck_assert_int_eq(generate_tokens(model, how, ids, P, N), STATUS_OK);
        ck_assert_mem_eq(ids, of->written + b * N, sizeof ids);
    }
    int64_t drawn[2][3 * N] = {{1, 2}, {1, 2}};
    for (int i = 0; i < 2; i++) {
        context_seed(7);
        GenerateOptions how = {.window = CONTEXT, .temperature = 1.0f, .no_cache = i};
        ck_assert_int_eq(generate_tokens(model, how, drawn[i], 2, 3 * N), STATUS_OK);
    }
    ck_assert_mem_eq(drawn[0], drawn[1], sizeof drawn[0]);
    finished(model);
}
END_TEST

// ---- costs --------------------------------------------------------------------------------------
typedef struct Watch {
    Observer observer; // must be first
    OpCost cost;
} Watch;

static void add_op(Observer *observer, const OpCall *call) {
    if (!error_pending()) cost_add(&((Watch *)observer)->cost, op_cost(call));
}

static OpCost cost_of(KvCache *cache, int64_t s) {
    Watch watch = {.observer = {.op_end = add_op}};
    Tensor *x = tensor_from_labels_new(SHAPE(1, s), (int64_t[CONTEXT]){0});
    Scope *scope = scope_open();
    no_grad_begin(); // a dry run would record gradients
    observer_add(&watch.observer);
    kv_cache_forward(cache, x);
    observer_remove(&watch.observer);
    no_grad_end();
    scope_close(scope);
    tensor_free(x);
    expect_no_error();
    ck_assert_int_gt((int64_t)watch.cost.macs, 0);
    return watch.cost;
}

// The first call costs as much as the model; a token costs its weights, and two products with each
// position so far. A dry run counts the same, and changes nothing.
START_TEST(a_token_costs_a_token) {
    const struct Model *of = &models[_i];
    Layer *model = filled_new(of, false);
    KvCache *cache = kv_cache_new(model, 1, CONTEXT);
    ck_assert_int_eq(kv_cache_bytes(cache), CONTEXT * of->kept * (int64_t)sizeof(float));
    Tensor *ids = model_tokens_new(SHAPE(1, 17), 0, of->words, 11);
    LayerCost whole;
    ck_assert_int_eq(layer_cost(model, &ids, 1, &whole), STATUS_OK);
    OpCost dry[3], real[3];
    Context *context = dry_run_begin(model);
    for (int i = 0; i < 3; i++) dry[i] = cost_of(cache, i == 0 ? 17 : 1);
    ck_assert_int_eq(kv_cache_length(cache), 19);
    dry_run_end(context);
    ck_assert_int_eq(kv_cache_length(cache), 0);
    for (int i = 0; i < 3; i++) real[i] = cost_of(cache, i == 0 ? 17 : 1);
    ck_assert_mem_eq(dry, real, sizeof dry);
    ck_assert_int_eq((int64_t)real[0].macs, (int64_t)whole.phase[PHASE_FORWARD].macs);
    int64_t a_position = (int64_t)(real[2].macs - real[1].macs); // one more key, one more value
    int64_t queries = _i == 1 ? 2 * of->kept : of->kept;         // LLaMA's heads share
    ck_assert_int_eq(a_position, queries);
    ck_assert_int_eq((int64_t)real[1].macs - 18 * a_position,
                     ((int64_t)real[0].macs - 17 * 17 * a_position) / 17);
    kv_cache_free(cache);
    tensor_free(ids);
    finished(model);
}
END_TEST

// Makes, uses and frees a cache in a dry run of a model of 7 billion parameters: no data exists.
START_TEST(a_dry_run_has_caches_of_its_own) {
    context_set_device(device_meta());
    Layer *model = llama_new(llama_defaults());
    no_grad_begin();
    Context *context = dry_run_begin(model);
    KvCache *cache = kv_cache_new(model, 1, 4096);
    ck_assert_int_eq(kv_cache_bytes(cache), INT64_C(4096) * 32 * 2 * 4096 * 4);
    OpCost first = cost_of(cache, 16), token = cost_of(cache, 1);
    ck_assert_int_gt((int64_t)first.macs, 15 * (int64_t)token.macs);
    ck_assert_int_gt((int64_t)token.bytes_read, INT64_C(4) * 6600000000); // all but the embedding
    kv_cache_free(cache);
    dry_run_end(context);
    ck_assert_int_eq(context_ledger()->live_host_bytes, 0);
    finished(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {pieces_give_the_logits_of_the_whole, MODELS * PIECES * 4},
        {layers_by_themselves_keep_too, 2},
        {a_batch_writes_what_hugging_face_writes, MODELS},
        {generate_tokens_writes_the_same, 2 * MODELS},
        {a_token_costs_a_token, MODELS},
        {a_dry_run_has_caches_of_its_own, 0},
        {NULL, 0},
    };
    return harness_main("kv_cache", tests);
}
