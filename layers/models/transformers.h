// transformers.h -- published transformers, one family a file, with the names that torchvision and
// Hugging Face give their parts, so that their weights load. The blocks of transformers:
// layers/transformer.h; convolutional networks: models.h.
//
//     Gpt2Options options = gpt2_defaults();      // 124M
//     options.dropout = 0.0f;
//     Layer *model = gpt2_new(options);
//     Tensor *logits = layer_forward(model, ids); // int64 (b, s) -> (b, s, 50257)
//
// Token ids are int64 (batch, tokens), at most `context` of them. An id out of range, a longer
// sequence, and options that fit no model are errors. by_formula: attention op by op, with its
// scores in memory.
#ifndef LAYERS_MODELS_TRANSFORMERS_H
#define LAYERS_MODELS_TRANSFORMERS_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct VitOptions {
    int64_t image_size, patch_size; // side lengths; a patch is a token
    int64_t embed_dim, mlp_dim;
    int64_t layers, heads;
    int64_t classes;
    float dropout, attention_dropout; // 0 in torchvision
    bool by_formula;
} VitOptions;
VitOptions vit_defaults(void); // vit_b_16: images of 224, patches of 16, 768, 3072, 12, 12
// Dosovitskiy et al. 2021, as torchvision's VisionTransformer: x (n, 3, image_size, image_size) ->
// (n, classes). The head starts at 0. vit_l_16 has 1024, 4096, 24 and 16; vit_h_14 has patches of
// 14 and 1280, 5120, 32, 16.
Layer *vit_new(VitOptions options);

typedef struct BertOptions {
    int64_t vocab_size, context, token_types;
    int64_t embed_dim, mlp_dim;
    int64_t layers, heads;
    float dropout;
    bool by_formula;
} BertOptions;
BertOptions bert_defaults(void); // bert-base-uncased: 30522, 512, 2, 768, 3072, 12, 12, 0.1
// Devlin et al. 2019, as Hugging Face's BertModel; bert-large has 1024, 4096, 24 and 16. Takes ids;
// optionally token types (b, s), int64, all 0 when left out or NULL; optionally a mask (b, s),
// int64 or float32, with 0 at padding, which no token sees. Results, in Hugging Face's order:
// hidden states (b, s, embed_dim), which most heads read and layer_forward gives; and the pooler's
// output for the first token, (b, embed_dim), for layer_forward_each. Row 0 of the words, [PAD],
// starts at 0 and has no gradient.
Layer *bert_new(BertOptions options);

typedef struct Gpt2Options {
    int64_t vocab_size, context;
    int64_t embed_dim, layers, heads;
    float dropout;
    bool untied; // the head has a weight of its own, not the table of the tokens
    bool by_formula;
} Gpt2Options;
Gpt2Options gpt2_defaults(void); // gpt2: 50257, 1024, 768, 12, 12, 0.1
// Radford et al. 2019, as Hugging Face's GPT2LMHeadModel: ids -> logits (b, s, vocab_size), causal.
// Weights of its products are (in, out), as there. gpt2-medium has 1024, 24, 16; -large 1280, 36,
// 20; -xl 1600, 48, 25. A model of characters may have 65, 256, 384, 6 and 6.
Layer *gpt2_new(Gpt2Options options);

typedef struct LlamaOptions {
    int64_t vocab_size, context;
    int64_t embed_dim, mlp_dim;
    int64_t layers, heads;
    int64_t key_value_heads; // each is shared by a group of adjacent heads
    float epsilon, rotary_base;
    bool tied; // the head is the table of the tokens
    bool by_formula;
} LlamaOptions;
LlamaOptions llama_defaults(void); // Llama 2 7B: 32000, 4096, 4096, 11008, 32, 32, 32, 1e-5, 1e4
// Touvron et al. 2023, as Hugging Face's LlamaForCausalLM: ids -> logits (b, s, vocab_size),
// causal; RMS norms, rotary positions, SwiGLU, no bias. Llama 3 8B has 128256, 8192, 4096, 14336,
// 32, 32, 8 and base 5e5; TinyLlama 1.1B 32000, 2048, 2048, 5632, 22, 32 and 4. The scaled angles
// of Llama 3.1 are not supported.
Layer *llama_new(LlamaOptions options);

RIDGEPOINT_API_END

#endif
