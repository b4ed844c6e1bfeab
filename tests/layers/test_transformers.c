// test_transformers.c -- ViT, BERT, GPT-2 and LLaMA against torchvision and Hugging Face: names and
// shapes of weights, parameters, products, and what a step of small ones gives; dry runs of all of
// them. Their layers by themselves: test_transformer_layers.c.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/models/transformers.h"
#include "layers/train/optimizer.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/fixtures/transformers.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/model_values.h"

// ---- the published ones -------------------------------------------------------------------------
static Layer *vit_of(const char *name) {
    static const struct {
        const char *name;
        int64_t patch, embed, mlp, layers, heads;
    } vits[] = {{"vit_b_16", 16, 768, 3072, 12, 12},
                {"vit_b_32", 32, 768, 3072, 12, 12},
                {"vit_l_16", 16, 1024, 4096, 24, 16},
                {"vit_l_32", 32, 1024, 4096, 24, 16},
                {"vit_h_14", 14, 1280, 5120, 32, 16}};
    VitOptions o = vit_defaults();
    size_t i = 0;
    while (strcmp(vits[i].name, name) != 0) i++;
    o.patch_size = vits[i].patch;
    o.embed_dim = vits[i].embed;
    o.mlp_dim = vits[i].mlp;
    o.layers = vits[i].layers;
    o.heads = vits[i].heads;
    return vit_new(o);
}

static Layer *bert_of(const char *name) {
    BertOptions o = bert_defaults();
    if (strcmp(name, "bert-large") == 0) {
        o.embed_dim = 1024;
        o.mlp_dim = 4096;
        o.layers = 24;
        o.heads = 16;
    }
    return bert_new(o);
}

static Gpt2Options gpt2_of(int64_t embed_dim, int64_t layers, int64_t heads) {
    Gpt2Options o = gpt2_defaults();
    o.embed_dim = embed_dim;
    o.layers = layers;
    o.heads = heads;
    return o;
}

static Layer *gpt2_named(const char *name) {
    if (strcmp(name, "gpt2-medium") == 0) return gpt2_new(gpt2_of(1024, 24, 16));
    if (strcmp(name, "gpt2-large") == 0) return gpt2_new(gpt2_of(1280, 36, 20));
    if (strcmp(name, "gpt2-xl") == 0) return gpt2_new(gpt2_of(1600, 48, 25));
    return gpt2_new(gpt2_defaults());
}

static Layer *llama_of(const char *name) {
    LlamaOptions o = llama_defaults();
    if (strcmp(name, "llama-3-8b") == 0)
        o = (LlamaOptions){128256, 8192, 4096, 14336, 32, 32, 8, 1e-5f, 5e5f, false, false};
    if (strcmp(name, "tinyllama-1.1b") == 0)
        o = (LlamaOptions){32000, 2048, 2048, 5632, 22, 32, 4, 1e-5f, 1e4f, false, false};
    return llama_new(o);
}

static Layer *model_of(const char *name) {
    if (strncmp(name, "vit", 3) == 0) return vit_of(name);
    if (strncmp(name, "bert", 4) == 0) return bert_of(name);
    return strncmp(name, "gpt2", 4) == 0 ? gpt2_named(name) : llama_of(name);
}

START_TEST(weights_and_products_are_the_references) {
    const TransformerFacts *facts = &transformer_facts[_i];
    context_set_device(device_meta());
    Layer *model = model_of(facts->name);
    expect_no_error();
    ck_assert_int_eq(layer_parameter_count(model), facts->parameters);
    ck_assert_msg(model_state_digest(model) == facts->state, "%s: names or shapes differ",
                  facts->name);
    Tensor *x = facts->tokens ? tensor_new(SHAPE(1, facts->tokens), DTYPE_INT64)
                              : tensor_new(SHAPE(1, 3, 224, 224), DTYPE_FLOAT32);
    LayerCost cost;
    layer_train(model, false);
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, facts->macs);
    ck_assert_int_eq(cost.uncounted, 0);
    tensor_free(x);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Forward and backward of the published figure, fused, by its formula, and in training alike.
START_TEST(gpt2_costs_what_is_published) {
    Gpt2Options options = gpt2_defaults();
    options.by_formula = _i == 1;
    context_set_device(device_meta());
    Layer *model = gpt2_new(options);
    Tensor *ids = tensor_new(SHAPE(1, 1024), DTYPE_INT64);
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &ids, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs, INT64_C(145824153600));
    int64_t backward =
        (int64_t)(cost.phase[PHASE_BACKWARD_INPUT].macs + cost.phase[PHASE_BACKWARD_WEIGHT].macs);
    ck_assert_int_eq(2 * backward, INT64_C(583296614400));
    ck_assert_int_eq(cost.uncounted, 0);
    tensor_free(ids);
    layer_free(model);
}
END_TEST

// Per token and layer 12 e e + 2 s e multiply-adds, and e for each word of the vocabulary.
START_TEST(one_of_175_billion_is_costed_in_a_dry_run) {
    enum { E = 12288, LAYERS = 96, S = 2048, WORDS = 50257 };
    Gpt2Options options = gpt2_of(E, LAYERS, 96);
    options.context = S;
    context_set_device(device_meta());
    Layer *model = gpt2_new(options);
    ck_assert_int_eq(layer_parameter_count(model),
                     (int64_t)LAYERS * (12 * (int64_t)E * E + 13 * E) +
                         (WORDS + S + 2) * (int64_t)E);
    Tensor *ids = tensor_new(SHAPE(1, S), DTYPE_INT64);
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &ids, 1, &cost), STATUS_OK);
    ck_assert_int_eq((int64_t)cost.phase[PHASE_FORWARD].macs,
                     S * (LAYERS * (12 * (int64_t)E * E + 2 * (int64_t)S * E) +
                          WORDS * (int64_t)E));
    ck_assert_int_eq(context_ledger()->live_host_bytes, 0);
    tensor_free(ids);
    layer_free(model);
}
END_TEST

// ---- what they compute --------------------------------------------------------------------------
static bool by_formula; // of the small ones below
static float dropout;

static Layer *small_vit_new(void) {
    return vit_new((VitOptions){.image_size = 12,
                                .patch_size = 4,
                                .embed_dim = 8,
                                .mlp_dim = 12,
                                .layers = 2,
                                .heads = 2,
                                .classes = 5,
                                .dropout = dropout,
                                .attention_dropout = dropout,
                                .by_formula = by_formula});
}

static Layer *small_bert_new(void) {
    return bert_new((BertOptions){.vocab_size = 11,
                                  .context = 7,
                                  .token_types = 2,
                                  .embed_dim = 8,
                                  .mlp_dim = 12,
                                  .layers = 2,
                                  .heads = 2,
                                  .dropout = dropout,
                                  .by_formula = by_formula});
}

static Gpt2Options small_gpt2(void) {
    return (Gpt2Options){.vocab_size = 11,
                         .context = 7,
                         .embed_dim = 8,
                         .layers = 2,
                         .heads = 2,
                         .dropout = dropout,
                         .by_formula = by_formula};
}

static Layer *small_gpt2_new(void) { return gpt2_new(small_gpt2()); }

static Layer *small_gpt2_untied_new(void) {
    Gpt2Options options = small_gpt2();
    options.untied = true;
    return gpt2_new(options);
}

static LlamaOptions small_llama(void) {
    return (LlamaOptions){.vocab_size = 11,
                          .context = 7,
                          .embed_dim = 16,
                          .mlp_dim = 12,
                          .layers = 2,
                          .heads = 4,
                          .key_value_heads = 2,
                          .epsilon = 1e-5f,
                          .rotary_base = 100.0f,
                          .by_formula = by_formula};
}

static Layer *small_llama_new(void) { return llama_new(small_llama()); }

static Layer *small_llama_tied_new(void) {
    LlamaOptions options = small_llama();
    options.tied = true;
    return llama_new(options);
}

static Tensor *image_new(void) { return model_input_new(SHAPE(2, 3, 12, 12), 11); }
static Tensor *ids_new(void) { return model_tokens_new(SHAPE(2, 5), 11, 11); }

static Tensor *words_new(void) { // without 0, [PAD], whose row has no gradient in PyTorch
    Tensor *ids = model_tokens_new(SHAPE(2, 5), 10, 11);
    for (int i = 0; i < 10; i++) tensor_labels(ids)[i]++;
    return ids;
}

static const struct {
    Layer *(*model)(void);
    Tensor *(*input)(void);
    int results;
    const double *values, *gradients;
} small[] = {
    {small_vit_new, image_new, 1, vit_results, vit_gradients},
    {small_bert_new, words_new, 2, bert_plain_results, bert_plain_gradients},
    {small_gpt2_new, ids_new, 1, gpt2_results, gpt2_gradients},
    {small_gpt2_untied_new, ids_new, 1, gpt2_untied_results, gpt2_untied_gradients},
    {small_llama_new, ids_new, 1, llama_results, llama_gradients},
    {small_llama_tied_new, ids_new, 1, llama_tied_results, llama_tied_gradients},
};
enum { SMALL = sizeof(small) / sizeof(small[0]) };

START_TEST(a_step_gives_the_references_numbers) {
    int i = _i / 2;
    by_formula = _i % 2;
    Layer *model = small[i].model();
    ModelStep step = {.in = {small[i].input()},
                      .n_in = 1,
                      .n_out = small[i].results,
                      .results = small[i].values,
                      .gradients = small[i].gradients};
    expect_no_error();
    model_fill(model, 1.0);
    model_check_step(model, &step);
    tensor_free(step.in[0]);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// With token types and padding; the mask as a tokenizer gives it, and as floats.
START_TEST(bert_does_not_see_padding) {
    static const int64_t mask[] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
    Layer *model = small_bert_new();
    float floats[10];
    for (int i = 0; i < 10; i++) floats[i] = (float)mask[i];
    ModelStep step = {.in = {words_new(), model_tokens_new(SHAPE(2, 5), 2, 23),
                             _i ? tensor_from_floats_new(SHAPE(2, 5), floats)
                                : tensor_from_labels_new(SHAPE(2, 5), mask)},
                      .n_in = 3,
                      .n_out = 2,
                      .results = bert_results,
                      .gradients = bert_gradients};
    model_fill(model, 1.0);
    model_check_step(model, &step);
    for (int i = 0; i < 3; i++) tensor_free(step.in[i]);
    layer_free(model);
}
END_TEST

// What comes later changes nothing before it; all else changes what comes later.
START_TEST(later_tokens_are_not_seen) {
    enum { S = 7, WORDS = 11 };
    Layer *model = _i ? small_llama_new() : small_gpt2_new();
    Tensor *ids = model_tokens_new(SHAPE(1, S), WORDS, 11);
    model_fill(model, 1.0);
    float first[S * WORDS], second[S * WORDS];
    Scope *scope = scope_open();
    tensor_read_floats(layer_forward(model, ids), first);
    tensor_labels(ids)[4] = (tensor_labels(ids)[4] + 1) % WORDS;
    tensor_read_floats(layer_forward(model, ids), second);
    scope_close(scope);
    expect_no_error();
    ck_assert_mem_eq(first, second, 4 * WORDS * sizeof(float));
    for (int s = 4; s < S; s++)
        ck_assert(memcmp(first + s * WORDS, second + s * WORDS, WORDS * sizeof(float)) != 0);
    tensor_free(ids);
    layer_free(model);
}
END_TEST

// ---- how they begin -----------------------------------------------------------------------------
static double deviation_of(Layer *model, const char *layer, int parameter) {
    Layer *found = layer_find(model, layer);
    ck_assert_msg(found != NULL, "no layer %s", layer);
    Scope *scope = scope_open();
    double deviation =
        tensor_item(tensor_std(found->parameters[parameter].tensor, DIM_ALL, 0, false));
    scope_close(scope);
    return deviation;
}

#define expect_deviation(model, layer, parameter, want)                                            \
    ck_assert_double_eq_tol(deviation_of((model), (layer), (parameter)), (want),                   \
                            0.05 * (want) + 1e-9)

START_TEST(weights_begin_as_the_references) {
    Gpt2Options o = {.vocab_size = 65, .context = 32, .embed_dim = 64, .layers = 8, .heads = 2};
    Layer *gpt2 = gpt2_new(o);
    expect_deviation(gpt2, "transformer.wte", 0, 0.02);
    expect_deviation(gpt2, "transformer.wpe", 0, 0.02);
    expect_deviation(gpt2, "transformer.h.7.attn.c_attn", 0, 0.02);
    expect_deviation(gpt2, "transformer.h.7.attn.c_proj", 0, 0.005); // / sqrt(2 layers)
    expect_deviation(gpt2, "transformer.h.0.mlp.c_proj", 0, 0.005);
    expect_deviation(gpt2, "transformer.h.0.mlp.c_fc", 1, 0.0);
    const Tensor *head = layer_find(gpt2, "lm_head")->parameters[0].tensor;
    ck_assert_ptr_eq(head, layer_find(gpt2, "transformer.wte")->parameters[0].tensor);
    layer_free(gpt2);
    Layer *vit = small_vit_new();
    expect_deviation(vit, "heads.head", 0, 0.0);
    expect_deviation(vit, "conv_proj", 1, 0.0);
    expect_deviation(vit, "", 0, 0.0);
    layer_free(vit);
    Layer *bert = small_bert_new();
    expect_deviation(bert, "encoder.layer.1.attention.self.key", 1, 0.0);
    layer_free(bert);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// A text that repeats itself is soon known by heart.
START_TEST(a_model_of_characters_learns) {
    enum { S = 16, WORDS = 5 };
    Gpt2Options o = {.vocab_size = WORDS, .context = S, .embed_dim = 16, .layers = 2, .heads = 2};
    int64_t text[S + 1];
    for (int i = 0; i <= S; i++) text[i] = i % 4 == 3 ? 4 : i % 2;
    Layer *model = gpt2_new(o);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAMW));
    Tensor *ids = tensor_from_labels_new(SHAPE(1, S), text),
           *next = tensor_from_labels_new(SHAPE(S), text + 1);
    expect_no_error();
    optimizer_set_learning_rate(optimizer, 0.01f);
    double loss = 0.0;
    for (int i = 0; i < 60; i++) {
        Scope *scope = scope_open();
        optimizer_zero_grad(optimizer);
        Tensor *logits = tensor_reshape(layer_forward(model, ids), SHAPE(S, WORDS));
        Tensor *mean = tensor_cross_entropy(logits, next);
        ck_assert_int_eq(autograd_backward(mean), STATUS_OK);
        ck_assert_int_eq(optimizer_step(optimizer), STATUS_OK);
        loss = tensor_item(mean);
        if (i == 0) ck_assert_double_eq_tol(loss, log(WORDS), 0.05);
        scope_close(scope);
    }
    ck_assert_double_lt(loss, 0.1);
    tensor_free(ids);
    tensor_free(next);
    optimizer_free(optimizer);
    layer_free(model);
}
END_TEST

// ---- dry runs and failures ----------------------------------------------------------------------
START_TEST(a_dry_run_foretells_a_step) {
    dropout = _i % 2 ? 0.1f : 0.0f;
    by_formula = _i / 2 % 2;
    model_check_dry_run(small[_i / 4].model, small[_i / 4].input);
}
END_TEST

START_TEST(any_request_may_fail) {
    int failures = 0;
    context_set_threads(1);
    Tensor *x = small[_i].input();
    int64_t live = expect_live_bytes();
    for (uint64_t n = 1; n < 6000; n += 1 + n / 32, failures++) {
        memory_fail_at(n);
        Layer *model = small[_i].model();
        Scope *scope = scope_open();
        Tensor *y = layer_forward(model, x);
        if (y) autograd_backward(tensor_mean(y, DIM_ALL, false));
        memory_fail_at(0);
        bool done = !error_pending();
        if (!done) expect_error(STATUS_OUT_OF_MEMORY, "");
        scope_close(scope);
        layer_free(model);
        ck_assert_int_eq(expect_live_bytes(), live);
        if (done) break;
    }
    ck_assert_int_gt(failures, 60);
    tensor_free(x);
}
END_TEST

// ---- what does not fit --------------------------------------------------------------------------
START_TEST(tokens_that_do_not_fit_are_refused) {
    Layer *models[] = {small_gpt2_new(), small_llama_new(), small_bert_new()};
    static const char *const places[] = {"transformer: GPT2Model: ", "model: LlamaModel: ",
                                         "BertModel: "};
    static const char *const tables[] = {"transformer.wte: embedding",
                                         "model.embed_tokens: embedding",
                                         "embeddings.word_embeddings: embedding"};
    Tensor *longer = tensor_from_labels_new(SHAPE(1, 8), (int64_t[8]){0}),
           *flat = tensor_from_labels_new(SHAPE(3), (int64_t[3]){0}),
           *floats = tensor_zeros_new(SHAPE(1, 3)), *none = tensor_new(SHAPE(2, 0), DTYPE_INT64),
           *unknown = tensor_from_labels_new(SHAPE(1, 3), (int64_t[]){1, 11, 2}),
           *negative = tensor_from_labels_new(SHAPE(1, 3), (int64_t[]){1, 2, -1});
    char text[128];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s8 tokens, in a context of 7. HINT", places[i]);
        ck_assert_ptr_null(layer_forward(models[i], longer));
        expect_error(STATUS_SHAPE, text);
        ck_assert_ptr_null(layer_forward(models[i], none));
        expect_error(STATUS_SHAPE, "0 tokens");
        ck_assert_ptr_null(layer_forward(models[i], flat));
        expect_error(STATUS_SHAPE, "token ids are (3,) of int64. HINT: (batch, tokens)");
        ck_assert_ptr_null(layer_forward(models[i], floats));
        expect_error(STATUS_SHAPE, "token ids are (1, 3) of float32");
        ck_assert_ptr_null(layer_forward(models[i], unknown));
        expect_error(STATUS_INVALID_ARGUMENT, tables[i]);
        ck_assert_ptr_null(layer_forward(models[i], unknown));
        expect_error(STATUS_INVALID_ARGUMENT, "index 11 at (0, 1) is not in [0, 11). HINT");
        ck_assert_ptr_null(layer_forward(models[i], negative));
        expect_error(STATUS_INVALID_ARGUMENT, "index -1 at (0, 2)");
        layer_free(models[i]);
    }
    Tensor *all[] = {longer, flat, floats, none, unknown, negative};
    for (int i = 0; i < 6; i++) tensor_free(all[i]);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(inputs_that_do_not_fit_are_refused) {
    Layer *bert = small_bert_new(), *vit = small_vit_new();
    Tensor *ids = words_new(), *types = model_tokens_new(SHAPE(2, 4), 2, 0),
           *image = tensor_zeros_new(SHAPE(1, 3, 16, 16)), *flat = tensor_zeros_new(SHAPE_SCALAR);
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){ids, types}, 2));
    expect_error(STATUS_SHAPE, "token types are (2, 4), token ids (2, 5). HINT");
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){ids, NULL, types}, 3));
    expect_error(STATUS_SHAPE, "the mask are (2, 4)");
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){NULL, ids}, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "BertModel takes token ids");
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){ids, ids, ids, ids}, 4));
    expect_error(STATUS_INVALID_ARGUMENT, "got 4 inputs");
    ck_assert_ptr_null(layer_forward(vit, image));
    expect_error(STATUS_SHAPE, "x is (1, 3, 16, 16). HINT: (n, 3, 12, 12)");
    ck_assert_ptr_null(layer_forward(vit, flat));
    expect_error(STATUS_SHAPE, "VisionTransformer: x is ()");
    tensor_free(ids);
    tensor_free(types);
    tensor_free(image);
    tensor_free(flat);
    layer_free(bert);
    layer_free(vit);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(options_that_fit_no_model_are_refused) {
    Gpt2Options gpt2 = small_gpt2();
    gpt2.layers = 0;
    ck_assert_ptr_null(gpt2_new(gpt2));
    expect_error(STATUS_INVALID_ARGUMENT, "gpt2_new: layers is 0. HINT");
    gpt2 = small_gpt2();
    gpt2.embed_dim = INT64_MAX;
    ck_assert_ptr_null(gpt2_new(gpt2));
    expect_error(STATUS_INVALID_ARGUMENT, "gpt2_new: embed_dim is 9223372036854775807. HINT");
    gpt2 = small_gpt2();
    gpt2.heads = 3;
    ck_assert_ptr_null(gpt2_new(gpt2));
    expect_error(STATUS_INVALID_ARGUMENT, "gpt2_new: 8 features, 3 heads. HINT");
    gpt2 = small_gpt2();
    gpt2.dropout = NAN;
    ck_assert_ptr_null(gpt2_new(gpt2));
    expect_error(STATUS_INVALID_ARGUMENT, "is not a probability. HINT");
    LlamaOptions llama = small_llama();
    llama.key_value_heads = 3;
    ck_assert_ptr_null(llama_new(llama));
    expect_error(STATUS_INVALID_ARGUMENT, "llama_new: 4 heads of 4 features, 3 of keys");
    llama = small_llama();
    llama.heads = llama.key_value_heads = 16;
    ck_assert_ptr_null(llama_new(llama));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: an even number of features");
    llama = small_llama();
    llama.rotary_base = 0.0f;
    ck_assert_ptr_null(llama_new(llama));
    expect_error(STATUS_INVALID_ARGUMENT, "base 0. HINT");
    llama = small_llama();
    llama.epsilon = -1.0f;
    ck_assert_ptr_null(llama_new(llama));
    expect_error(STATUS_INVALID_ARGUMENT, "epsilon is -1");
    VitOptions vit = vit_defaults();
    vit.patch_size = 15;
    ck_assert_ptr_null(vit_new(vit));
    expect_error(STATUS_INVALID_ARGUMENT, "vit_new: images of 224, patches of 15. HINT");
    BertOptions bert = bert_defaults();
    bert.token_types = -2;
    ck_assert_ptr_null(bert_new(bert));
    expect_error(STATUS_INVALID_ARGUMENT, "bert_new: token_types is -2");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {weights_and_products_are_the_references,
         sizeof(transformer_facts) / sizeof(transformer_facts[0])},
        {gpt2_costs_what_is_published, 2},
        {one_of_175_billion_is_costed_in_a_dry_run, 0},
        {a_step_gives_the_references_numbers, 2 * SMALL},
        {bert_does_not_see_padding, 2},
        {later_tokens_are_not_seen, 2},
        {weights_begin_as_the_references, 0},
        {a_model_of_characters_learns, 0},
        {a_dry_run_foretells_a_step, 4 * SMALL},
        {any_request_may_fail, SMALL},
        {tokens_that_do_not_fit_are_refused, 0},
        {inputs_that_do_not_fit_are_refused, 0},
        {options_that_fit_no_model_are_refused, 0},
        {NULL, 0},
    };
    return harness_main("transformers", tests);
}
