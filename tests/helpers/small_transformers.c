// small_transformers.c -- the small transformers of make_transformers.py, and one step of each.
#include "tests/helpers/small_transformers.h"

#include "tests/fixtures/transformers.h"
#include "tests/helpers/expect.h"

VitOptions small_vit(void) {
    return (VitOptions){.image_size = 12,
                        .patch_size = 4,
                        .embed_dim = 8,
                        .mlp_dim = 12,
                        .layers = 2,
                        .heads = 2,
                        .classes = 5};
}

BertOptions small_bert(void) {
    return (BertOptions){.vocab_size = 11,
                         .context = 7,
                         .token_types = 2,
                         .embed_dim = 8,
                         .mlp_dim = 12,
                         .layers = 2,
                         .heads = 2};
}

Gpt2Options small_gpt2(void) {
    return (Gpt2Options){.vocab_size = 11, .context = 7, .embed_dim = 8, .layers = 2, .heads = 2};
}

LlamaOptions small_llama(void) {
    return (LlamaOptions){.vocab_size = 11,
                          .context = 7,
                          .embed_dim = 16,
                          .mlp_dim = 12,
                          .layers = 2,
                          .heads = 4,
                          .key_value_heads = 2,
                          .epsilon = 1e-5f,
                          .rotary_base = 100.0f};
}

// ---- each model with the options common to all --------------------------------------------------
static Layer *vit_of(float dropout, bool by_formula) {
    VitOptions options = small_vit();
    options.dropout = options.attention_dropout = dropout;
    options.by_formula = by_formula;
    return vit_new(options);
}

static Layer *bert_of(float dropout, bool by_formula) {
    BertOptions options = small_bert();
    options.dropout = dropout;
    options.by_formula = by_formula;
    return bert_new(options);
}

static Layer *gpt2_of(float dropout, bool by_formula) {
    Gpt2Options options = small_gpt2();
    options.dropout = dropout;
    options.by_formula = by_formula;
    return gpt2_new(options);
}

static Layer *gpt2_untied_of(float dropout, bool by_formula) {
    Gpt2Options options = small_gpt2();
    options.dropout = dropout;
    options.by_formula = by_formula;
    options.untied = true;
    return gpt2_new(options);
}

static Layer *llama_of(float dropout, bool by_formula) { // Llama has none
    LlamaOptions options = small_llama();
    (void)dropout;
    options.by_formula = by_formula;
    return llama_new(options);
}

static Layer *llama_tied_of(float dropout, bool by_formula) {
    LlamaOptions options = small_llama();
    (void)dropout;
    options.by_formula = by_formula;
    options.tied = true;
    return llama_new(options);
}

static Tensor *image_new(void) { return model_input_new(SHAPE(2, 3, 12, 12), 11); }
Tensor *small_ids_new(void) { return model_tokens_new(SHAPE(2, 5), 0, 11, 11); }

const SmallTransformer small_transformers[SMALL_TRANSFORMERS] = {
    {"vit", vit_of, image_new, 1, vit_results, vit_gradients},
    {"bert", bert_of, small_ids_new, 2, bert_plain_results, bert_plain_gradients},
    {"gpt2", gpt2_of, small_ids_new, 1, gpt2_results, gpt2_gradients},
    {"gpt2, untied", gpt2_untied_of, small_ids_new, 1, gpt2_untied_results, gpt2_untied_gradients},
    {"llama", llama_of, small_ids_new, 1, llama_results, llama_gradients},
    {"llama, tied", llama_tied_of, small_ids_new, 1, llama_tied_results, llama_tied_gradients},
};

void small_transformer_check(const SmallTransformer *small, bool by_formula) {
    Layer *model = small->model_new(0.0f, by_formula);
    ModelStep step = {.in = {small->input_new()},
                      .n_in = 1,
                      .n_out = small->results,
                      .results = small->values,
                      .gradients = small->gradients};
    expect_no_error();
    model_fill(model, 1.0);
    model_check_step(model, &step);
    tensor_free(step.in[0]);
    layer_free(model);
}
