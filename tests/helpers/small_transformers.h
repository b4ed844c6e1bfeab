// small_transformers.h -- transformers small enough to be compared with the references number by
// number, on any device. tests/fixtures/make_transformers.py defines the same models.
#ifndef TESTS_HELPERS_SMALL_TRANSFORMERS_H
#define TESTS_HELPERS_SMALL_TRANSFORMERS_H

#include "layers/models/transformers.h"
#include "tests/helpers/model_values.h"

// No dropout; tokens are below 11, at most 7 of them, and images are 12 x 12.
VitOptions small_vit(void);
BertOptions small_bert(void);
Gpt2Options small_gpt2(void);
LlamaOptions small_llama(void);

Tensor *small_ids_new(void); // (2, 5); includes [PAD], which is 0

typedef struct SmallTransformer {
    const char *name;
    Layer *(*model_new)(float dropout, bool by_formula);
    Tensor *(*input_new)(void);
    int results;
    const double *values, *gradients; // the reference's, as in ModelStep
} SmallTransformer;
enum { SMALL_TRANSFORMERS = 6 };
extern const SmallTransformer small_transformers[SMALL_TRANSFORMERS];

// Fails the test unless one step, on the context's device, gives the reference's numbers.
void small_transformer_check(const SmallTransformer *small, bool by_formula);

#endif
