// embedding.c -- a table with a row of features for each index
#include "layers/parts.h"
#include "tensor/handle.h"

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

static Tensor *table_new(int64_t count, int64_t features) {
    Tensor *t = tensor_new_as(SHAPE(count, features), DTYPE_FLOAT32, MEM_PARAMETER);
    return tensor_filled(t, tensor_fill_normal(t, 0.0f, 1.0f));
}

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
    layer_add_parameter(&self->layer, "weight", table_new(count, features));
    return layer_finished(&self->layer);
}
