// test_transformers.c -- ViT, BERT, GPT-2 and LLaMA against torchvision and Hugging Face: names and
// shapes of weights, parameters, products, results of a step of small ones; dry runs of all of
// them. test_transformer_runs.c tests initial values and refusals, test_transformer_layers.c single
// layers.
#include <string.h>

#include "layers/cost.h"
#include "layers/models/transformers.h"
#include "layers/models/zoo.h"
#include "tensor/ops.h"
#include "tests/fixtures/transformers.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

// ---- published models ---------------------------------------------------------------------------
static Gpt2Options gpt2_of(int64_t embed_dim, int64_t layers, int64_t heads) {
    Gpt2Options o = gpt2_defaults();
    o.embed_dim = embed_dim;
    o.layers = layers;
    o.heads = heads;
    return o;
}

// The models of --list.
START_TEST(weights_and_products_are_the_references) {
    const TransformerFacts *facts = &transformer_facts[_i];
    context_set_device(device_meta());
    Layer *model = zoo_new(zoo_find(facts->name), 0);
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

// Settings that parameters and products do not show: config.json of each, at Hugging Face (n_head
// or num_attention_heads, num_key_value_heads, rope_theta, n_positions or max_position_embeddings).
START_TEST(heads_are_those_of_their_configurations) {
    static const struct {
        const char *name;
        int64_t heads, keys, rotary_base, context;
    } published[] = {{"bert-base", 12, 0, 0, 512},
                     {"bert-large", 16, 0, 0, 512},
                     {"gpt2", 12, 0, 0, 1024},
                     {"gpt2-medium", 16, 0, 0, 1024},
                     {"gpt2-large", 20, 0, 0, 1024},
                     {"gpt2-xl", 25, 0, 0, 1024},
                     {"llama-2-7b", 32, 32, 10000, 4096},
                     {"llama-2-13b", 40, 40, 10000, 4096},
                     {"llama-2-70b", 64, 8, 10000, 4096},
                     {"llama-3-8b", 32, 8, 500000, 8192},
                     {"tinyllama-1.1b", 32, 4, 10000, 2048}};
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        const ZooModel *model = zoo_find(published[i].name);
        ck_assert_msg(model != NULL, "%s", published[i].name);
        ck_assert_int_eq(model->form[2], published[i].heads);
        ck_assert_int_eq(model->form[4], published[i].keys);
        ck_assert_int_eq(model->form[5], published[i].rotary_base);
        ck_assert_int_eq(model->input[0], published[i].context);
    }
}
END_TEST

// Forward and backward have the published cost, fused, by the formula, and in training.
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

// Multiply-adds per token: 12 e e + 2 s e for each layer, and e for each word of the vocabulary.
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

// ---- results ------------------------------------------------------------------------------------
START_TEST(a_step_gives_the_references_numbers) {
    small_transformer_check(&small_transformers[_i / 2], _i % 2);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// With token types and padding; the mask as a tokenizer's integers, and as floats.
START_TEST(bert_does_not_see_padding) {
    static const int64_t mask[] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
    Layer *model = bert_new(small_bert());
    float floats[10];
    for (int i = 0; i < 10; i++) floats[i] = (float)mask[i];
    ModelStep step = {.in = {small_ids_new(), model_tokens_new(SHAPE(2, 5), 0, 2, 23),
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

// A later token changes no earlier result, and every other token changes the later results.
START_TEST(later_tokens_are_not_seen) {
    enum { S = 7, WORDS = 11 };
    Layer *model = _i ? llama_new(small_llama()) : gpt2_new(small_gpt2());
    Tensor *ids = model_tokens_new(SHAPE(1, S), 0, WORDS, 11);
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

int main(void) {
    const HarnessTest tests[] = {
        {weights_and_products_are_the_references,
         sizeof(transformer_facts) / sizeof(transformer_facts[0])},
        {heads_are_those_of_their_configurations, 0},
        {gpt2_costs_what_is_published, 2},
        {one_of_175_billion_is_costed_in_a_dry_run, 0},
        {a_step_gives_the_references_numbers, 2 * SMALL_TRANSFORMERS},
        {bert_does_not_see_padding, 2},
        {later_tokens_are_not_seen, 2},
        {NULL, 0},
    };
    return harness_main("transformers", tests);
}
