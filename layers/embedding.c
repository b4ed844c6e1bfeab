// embedding.c -- a table with a row of features for each index
#include "layers/parts.h"

typedef struct Embedding {
    Layer layer;
    int64_t num_embeddings, embedding_dim; // rows of the table, and features of each
} Embedding;

static const LayerAttribute attributes[] = {
    {"num_embeddings", ATTRIBUTE_INTEGER, offsetof(Embedding, num_embeddings)},
    {"embedding_dim", ATTRIBUTE_INTEGER, offsetof(Embedding, embedding_dim)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_embedding(in[0], self->parameters[0].tensor);
}

static const LayerType embedding_type = {.name = "Embedding",
                                         .size = sizeof(Embedding),
                                         .attributes = attributes,
                                         .n_attributes = sizeof(attributes) / sizeof(attributes[0]),
                                         .forward = forward};

Layer *embedding_new(int64_t count, int64_t features) {
    if (count < 0 || features < 0) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "embedding_new: a table of %lld x %lld. HINT: sizes are at least 0",
                  (long long)count, (long long)features);
        return NULL;
    }
    Embedding *self = (Embedding *)layer_new(&embedding_type);
    if (!self) return NULL;
    self->num_embeddings = count;
    self->embedding_dim = features;
    layer_add_parameter(&self->layer, "weight", layer_normal_new(SHAPE(count, features), 1.0f));
    return layer_finished(&self->layer);
}
