// test_kv_cache_errors.c -- key-value caches that do not fit a model, or their inputs; a model that
// changed or has a mask of its own; failing allocations. test_kv_cache.c tests the use of caches.
#include <math.h>

#include "layers/attention.h"
#include "layers/kv_cache.h"
#include "layers/layers1d.h"
#include "layers/parts.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

enum { CONTEXT = 24, WORDS = 11, MODELS = 2 };

// A model; turns gradients off until `finished`.
static Layer *model_of(int index) {
    Gpt2Options gpt2 = small_gpt2();
    LlamaOptions llama = small_llama();
    gpt2.context = llama.context = CONTEXT;
    Layer *model = index ? llama_new(llama) : gpt2_new(gpt2);
    expect_no_error();
    layer_train(model, false);
    no_grad_begin();
    return model;
}

static void finished(Layer *model) {
    no_grad_end();
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

// ---- refusals -----------------------------------------------------------------------------------
static void refuse(KvCache *cache, Shape shape, Status status, const char *mention) {
    Tensor *x = tensor_from_labels_new(shape, (int64_t[2 * CONTEXT]){0});
    Scope *scope = scope_open();
    int64_t before = kv_cache_length(cache);
    ck_assert_ptr_null(kv_cache_forward(cache, x));
    expect_error(status, mention);
    ck_assert_int_eq(kv_cache_length(cache), before);
    scope_close(scope);
    tensor_free(x);
}

START_TEST(what_does_not_fit_is_refused) {
    Layer *model = model_of(_i);
    KvCache *cache = kv_cache_new(model, 2, 20), *longer = kv_cache_new(model, 1, 100);
    refuse(cache, SHAPE(1, 3), STATUS_SHAPE, "x is (1, 3). HINT: (2, s, ...)");
    refuse(cache, SHAPE(2, 0), STATUS_SHAPE, "one new position or more");
    refuse(cache, SHAPE(4), STATUS_SHAPE, "x is (4,)");
    refuse(cache, SHAPE(2, 21), STATUS_SHAPE, "21 more positions behind 0, and there is room for");
    Scope *scope = scope_open();
    Tensor *most = model_tokens_new(SHAPE(1, CONTEXT), 0, 11, 11);
    ck_assert_ptr_nonnull(kv_cache_forward(longer, most));
    refuse(longer, SHAPE(1, 1), STATUS_SHAPE, "1 tokens behind 24, in a context of 24. HINT");
    refuse(longer, SHAPE(1, 0), STATUS_SHAPE, "one new position or more");
    no_grad_end(); // the cache has no gradient
    autograd_enable();
    refuse(cache, SHAPE(2, 3), STATUS_STATE, "no_grad_begin");
    no_grad_begin();
    ck_assert_ptr_null(kv_cache_forward(NULL, most));
    expect_error(STATUS_INVALID_ARGUMENT, "no cache");
    ck_assert_ptr_null(kv_cache_forward(cache, NULL));
    expect_error(STATUS_INVALID_ARGUMENT, "no input");
    tensor_free(most);
    scope_close(scope);
    kv_cache_free(cache);
    kv_cache_free(longer);
    kv_cache_free(NULL);
    finished(model);
}
END_TEST

START_TEST(models_that_keep_nothing_are_refused) {
    TransformerLayerOptions all = transformer_layer_defaults();
    Layer *layers[] = {linear_new(3, 3, true), bert_new(small_bert()), vit_new(small_vit()),
                       transformer_encoder_layer_new(all), NULL};
    static const char *const mentions[] = {"no layer of this Linear", "no layer of this BertModel",
                                           "MultiheadAttention \"self_attention\" sees later",
                                           "MultiheadAttention \"self_attn\" sees later",
                                           "no model"};
    for (int i = 0; i < 5; i++) {
        ck_assert(!kv_cache_fits(layers[i]));
        ck_assert_ptr_null(kv_cache_new(layers[i], 1, 8));
        expect_error(STATUS_INVALID_ARGUMENT, mentions[i]);
        layer_free(layers[i]);
    }
    Layer *model = gpt2_new(small_gpt2());
    static const int64_t sizes[][2] = {{0, 8}, {1, 0}, {-1, 8}, {1, INT64_MIN}};
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(kv_cache_new(model, sizes[i][0], sizes[i][1]));
        expect_error(STATUS_INVALID_ARGUMENT, "HINT: one or more of each");
    }
    ck_assert_ptr_null(kv_cache_new(model, INT64_MAX, 2));
    expect_error(STATUS_OVERFLOW, "");
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Layers that mix positions otherwise, or get other positions than the model: a cache would
// silently be wrong.
START_TEST(positions_that_are_not_attentions_alone_are_refused) {
    MultiheadAttentionOptions causal = multihead_attention_defaults();
    causal.causal = true;
    Layer *mixing[] = {lstm_new(4, 4, recurrent_defaults()), gru_new(4, 4, recurrent_defaults()),
                       rnn_new(4, 4, recurrent_defaults()),
                       conv1d_new(4, 4, 1, conv1d_defaults(), true)};
    for (int i = 0; i < 4; i++) {
        Layer *model = sequential_new();
        layer_append(model, mixing[i]);
        layer_append(model, multihead_attention_new(4, 2, causal));
        expect_no_error();
        ck_assert(!kv_cache_fits(model));
        ck_assert_ptr_null(kv_cache_new(model, 1, 8));
        expect_error(STATUS_INVALID_ARGUMENT, "\"0\" needs the whole sequence at once. HINT");
        layer_free(model);
    }
    Layer *alone = multihead_attention_new(4, 2, causal);
    no_grad_begin();
    KvCache *cache = kv_cache_new(alone, 1, 8);
    Tensor *x = model_input_new(SHAPE(1, 4), 1); // one position of 4 features, to attention
    Scope *scope = scope_open();
    ck_assert_ptr_null(kv_cache_forward(cache, x));
    expect_error(STATUS_SHAPE, "keys of 1 positions, and 4 are new. HINT");
    ck_assert_int_eq(kv_cache_length(cache), 0);
    scope_close(scope);
    tensor_free(x);
    kv_cache_free(cache);
    finished(alone);
}
END_TEST

// A model that grew after its cache was made, or lost a layer that the cache has a place for.
START_TEST(a_model_that_changed_is_refused) {
    MultiheadAttentionOptions options = multihead_attention_defaults();
    options.causal = true;
    Layer *model = sequential_new();
    layer_append(model, multihead_attention_new(4, 2, options));
    no_grad_begin();
    KvCache *cache = kv_cache_new(model, 1, 8);
    layer_append(model, multihead_attention_new(4, 2, options));
    Tensor *x = model_input_new(SHAPE(1, 3, 4), 1);
    Scope *scope = scope_open();
    ck_assert_ptr_null(kv_cache_forward(cache, x));
    expect_error(STATUS_STATE, "1: MultiheadAttention: its cache has no place for it");
    layer_free(model->children[1]);
    ck_assert_ptr_nonnull(kv_cache_forward(cache, x));
    layer_free(model->children[0]);
    layer_append(model, relu_new());
    ck_assert_ptr_null(kv_cache_forward(cache, x));
    expect_error(STATUS_STATE, "did not run");
    ck_assert_int_eq(kv_cache_length(cache), 3);
    scope_close(scope);
    tensor_free(x);
    kv_cache_free(cache);
    finished(model);
}
END_TEST

// After any failure the cache is unchanged, and the same tokens may come again.
START_TEST(any_request_may_fail) {
    Layer *model = model_of(_i);
    Tensor *first = model_tokens_new(SHAPE(1, 5), 0, WORDS, 11),
           *next = model_tokens_new(SHAPE(1, 3), 0, WORDS, 16);
    int64_t live = expect_live_bytes();
    int failures = 0;
    context_set_threads(1);
    for (uint64_t n = 1; n < 6000; n += 1 + n / 32, failures++) {
        memory_fail_at(n);
        Scope *scope = scope_open();
        KvCache *cache = kv_cache_new(model, 1, CONTEXT);
        Tensor *y = cache ? kv_cache_forward(cache, first) : NULL;
        if (y) y = kv_cache_forward(cache, next);
        memory_fail_at(0);
        bool done = !error_pending();
        if (!done) expect_error(STATUS_OUT_OF_MEMORY, "");
        if (cache) {
            int64_t length = kv_cache_length(cache);
            ck_assert(length == (done ? 8 : length == 5 ? 5 : 0));
            if (!done) ck_assert_ptr_nonnull(kv_cache_forward(cache, length ? next : first));
        }
        kv_cache_free(cache);
        scope_close(scope);
        ck_assert_int_eq(expect_live_bytes(), live);
        if (done) break;
    }
    ck_assert_int_gt(failures, 20);
    tensor_free(first);
    tensor_free(next);
    finished(model);
}
END_TEST

// ---- a mask of the model's own ------------------------------------------------------------------
static Tensor *key_mask; // (5)

static Tensor *masked(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    int64_t end = layer_past(self->children[0]) + in[0]->shape.dims[1];
    Tensor *given[2] = {in[0], tensor_slice(key_mask, 0, 0, end, 1)};
    return layer_forward_many(self->children[0], given, 2);
}
static const LayerType masked_type = {.name = "Masked", .size = sizeof(Layer), .forward = masked};

// The mask hides keys in addition to the later ones.
START_TEST(a_mask_goes_on_being_one) {
    MultiheadAttentionOptions causal = multihead_attention_defaults();
    causal.causal = true;
    Layer *model = layer_new(&masked_type);
    layer_add_child(model, "a", multihead_attention_new(4, 2, causal));
    layer_train(model, false);
    no_grad_begin();
    key_mask = tensor_from_floats_new(SHAPE(5), (float[]){0, -INFINITY, 0, 2, 0});
    Tensor *x = tensor_uniform_new(SHAPE(1, 5, 4), -1.0f, 1.0f);
    KvCache *cache = kv_cache_new(model, 1, 5);
    Scope *scope = scope_open();
    float want[20], got[12];
    tensor_read_floats(layer_forward(model, x), want);
    kv_cache_forward(cache, tensor_slice(x, 1, 0, 2, 1));
    tensor_read_floats(kv_cache_forward(cache, tensor_slice(x, 1, 2, 5, 1)), got);
    expect_no_error();
    for (int i = 0; i < 12; i++) ck_assert_double_eq_tol((double)got[i], (double)want[8 + i], 1e-6);
    scope_close(scope);
    no_grad_end();
    kv_cache_free(cache);
    tensor_free(x);
    tensor_free(key_mask);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_does_not_fit_is_refused, MODELS},
        {models_that_keep_nothing_are_refused, 0},
        {positions_that_are_not_attentions_alone_are_refused, 0},
        {a_model_that_changed_is_refused, 0},
        {any_request_may_fail, MODELS},
        {a_mask_goes_on_being_one, 0},
        {NULL, 0},
    };
    return harness_main("kv_cache_errors", tests);
}
