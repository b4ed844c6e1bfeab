// test_transformer_runs.c -- ViT, BERT, GPT-2 and LLaMA in use: initial values and learning, dry
// runs that predict a step, failing allocations, refusals. test_transformers.c tests shapes and
// results.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/train/optimizer.h"
#include "layers/transformer.h"
#include "tensor/op.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/small_transformers.h"

// ---- initial values -----------------------------------------------------------------------------
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
    expect_deviation(gpt2, "transformer.h.7.attn.c_proj", 0, 0.005); // 0.02 / sqrt(2 layers)
    expect_deviation(gpt2, "transformer.h.0.mlp.c_proj", 0, 0.005);
    expect_deviation(gpt2, "transformer.h.0.mlp.c_fc", 1, 0.0);
    const Tensor *head = layer_find(gpt2, "lm_head")->parameters[0].tensor;
    ck_assert_ptr_eq(head, layer_find(gpt2, "transformer.wte")->parameters[0].tensor);
    layer_free(gpt2);
    Layer *vit = vit_new(small_vit());
    expect_deviation(vit, "heads.head", 0, 0.0);
    expect_deviation(vit, "conv_proj", 1, 0.0);
    expect_deviation(vit, "", 0, 0.0);
    layer_free(vit);
    Layer *bert = bert_new(small_bert());
    expect_deviation(bert, "encoder.layer.1.attention.self.key", 1, 0.0);
    layer_free(bert);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// The model soon learns a repeating text by heart.
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
    const SmallTransformer *small = &small_transformers[_i / 4];
    context_set_threads(1);
    Layer *model = small->model_new(_i % 2 ? 0.1f : 0.0f, _i / 2 % 2);
    Tensor *x = small->input_new();
    expect_no_error();
    model_check_dry_run(model, x);
    tensor_free(x);
    layer_free(model);
}
END_TEST

static Layer *small_new(const void *small) {
    return ((const SmallTransformer *)small)->model_new(0.0f, false);
}

START_TEST(any_request_may_fail) {
    context_set_threads(1);
    Tensor *x = small_transformers[_i].input_new();
    model_check_failures(small_new, &small_transformers[_i], &x, 1, 60);
    tensor_free(x);
}
END_TEST

// ---- missing parts ------------------------------------------------------------------------------
START_TEST(a_model_that_has_lost_a_part_says_so) {
    static const char *const vit[] = {"encoder.layers.encoder_layer_1", "", NULL};
    static const char *const bert[] = {"embeddings",
                                       "encoder.layer.1",
                                       "encoder.layer.1.attention",
                                       "encoder.layer.1.attention.self",
                                       "encoder.layer.1.output",
                                       NULL};
    static const char *const gpt2[] = {"transformer.h.1", "transformer.h.1.attn", NULL};
    static const char *const llama[] = {"model", "model.layers.1", "model.layers.1.self_attn",
                                        "model.layers.1.mlp", NULL};
    static const struct {
        int which;
        const char *const *paths;
    } losses[] = {{0, vit}, {1, bert}, {2, gpt2}, {4, llama}};
    const SmallTransformer *small = &small_transformers[losses[_i].which];
    Tensor *x = small->input_new();
    for (const char *const *path = losses[_i].paths; *path; path++) {
        Layer *model = small->model_new(0.0f, false), *around = layer_find(model, *path);
        Scope *scope = scope_open();
        while (around->n_children > 0) { // the last one first
            layer_free(around->children[around->n_children - 1]);
            ck_assert_ptr_null(layer_forward(model, x));
            expect_error(STATUS_INVALID_ARGUMENT, "NULL");
        }
        scope_close(scope);
        layer_free(model);
    }
    tensor_free(x);
}
END_TEST

// ---- refusals -----------------------------------------------------------------------------------
START_TEST(tokens_that_do_not_fit_are_refused) {
    Layer *models[] = {gpt2_new(small_gpt2()), llama_new(small_llama()), bert_new(small_bert())};
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
    Layer *bert = bert_new(small_bert()), *vit = vit_new(small_vit());
    Tensor *ids = small_ids_new(), *types = model_tokens_new(SHAPE(2, 4), 0, 2, 0),
           *image = tensor_zeros_new(SHAPE(1, 3, 16, 16)), *flat = tensor_zeros_new(SHAPE_SCALAR);
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){ids, types}, 2));
    expect_error(STATUS_SHAPE, "token types: (2, 4), token ids: (2, 5). HINT");
    ck_assert_ptr_null(layer_forward_many(bert, (Tensor *[]){ids, NULL, types}, 3));
    expect_error(STATUS_SHAPE, "BertModel: mask: (2, 4)");
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
    llama.key_value_heads = 0;
    ck_assert_ptr_null(llama_new(llama));
    expect_error(STATUS_INVALID_ARGUMENT, "llama_new: key_value_heads is 0");
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

START_TEST(options_begin_as_pytorchs_and_hugging_faces) {
    TransformerLayerOptions usual = transformer_layer_defaults();
    ck_assert(usual.dropout == 0.1f && usual.activation == &op_relu && usual.nhead == 8);
    ck_assert(usual.d_model == 512 && usual.dim_feedforward == 2048 && !usual.norm_first);
    ck_assert(gpt2_defaults().dropout == 0.1f && bert_defaults().dropout == 0.1f);
    ck_assert(llama_defaults().rotary_base == 10000.0f && vit_defaults().dropout == 0.0f);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {weights_begin_as_the_references, 0},
        {a_model_of_characters_learns, 0},
        {a_dry_run_foretells_a_step, 4 * SMALL_TRANSFORMERS},
        {a_model_that_has_lost_a_part_says_so, 4},
        {any_request_may_fail, SMALL_TRANSFORMERS},
        {tokens_that_do_not_fit_are_refused, 0},
        {inputs_that_do_not_fit_are_refused, 0},
        {options_that_fit_no_model_are_refused, 0},
        {options_begin_as_pytorchs_and_hugging_faces, 0},
        {NULL, 0},
    };
    return harness_main("transformer_runs", tests);
}
