// token_parts.h -- internal to layers/models/: functions that models of token sequences share.
#ifndef LAYERS_MODELS_TOKEN_PARTS_H
#define LAYERS_MODELS_TOKEN_PARTS_H

#include "layers/parts.h"

typedef struct SizeOption {
    const char *name;
    int64_t value;
} SizeOption;
// Checks that each is at least 1 and fits a product; `who` begins the message.
Status model_check_sizes(const char *who, const SizeOption sizes[], int n);
// Checks that `heads` divides the number of features.
Status model_check_heads(const char *who, int64_t features, int64_t heads);
// Checks that ids are int64 (batch, tokens), with 1 to `context` tokens, earlier ones included.
Status model_check_tokens(const Layer *self, const Tensor *ids, int64_t context);
// Initial values as in BERT and GPT-2: weights normal with deviation 0.02, and a bias of 0.
Layer *normal_linear_new(int64_t in_features, int64_t out_features, bool bias);
Layer *normal_embedding_new(int64_t count, int64_t features);
// Logits (b, s, count) of x (b, s, features), with that embedding's table as the weight; NULL: with
// a weight of its own.
Layer *token_head_new(const Layer *embedding, int64_t count, int64_t features);

#endif
