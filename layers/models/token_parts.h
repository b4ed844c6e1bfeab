// token_parts.h -- internal to layers/models/: what models of token sequences share.
#ifndef LAYERS_MODELS_TOKEN_PARTS_H
#define LAYERS_MODELS_TOKEN_PARTS_H

#include "layers/parts.h"

typedef struct SizeOption {
    const char *name;
    int64_t value;
} SizeOption;
// Is each at least 1, and a size that a product can have? `who` begins the message.
Status model_check_sizes(const char *who, const SizeOption sizes[], int n);
// Can `heads` share that many features alike?
Status model_check_heads(const char *who, int64_t features, int64_t heads);
// Is it int64 (batch, tokens), with 1 to `context` tokens, those before them included?
Status model_check_tokens(const Layer *self, const Tensor *ids, int64_t context);
// As BERT and GPT-2 begin: weights normal with deviation 0.02, and a bias of 0.
Layer *normal_linear_new(int64_t in_features, int64_t out_features, bool bias);
Layer *normal_embedding_new(int64_t count, int64_t features);
// Logits (b, s, count) of x (b, s, features), by the table of that embedding; NULL: by a weight of
// its own.
Layer *token_head_new(const Layer *embedding, int64_t count, int64_t features);

#endif
