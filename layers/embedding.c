// embedding.c -- a table with a row of features for each index
#include "layers/parts.h"

typedef struct Embedding {
    Layer layer;
    int64_t num_embeddings, embedding_dim; // rows of the table, and features per row
    int64_t padding_idx;                   // for the padded type
} Embedding;

static const LayerAttribute attributes[] = {
    {"num_embeddings", ATTRIBUTE_INTEGER, offsetof(Embedding, num_embeddings)},
    {"embedding_dim", ATTRIBUTE_INTEGER, offsetof(Embedding, embedding_dim)},
    {"padding_idx", ATTRIBUTE_INTEGER, offsetof(Embedding, padding_idx)},
};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_embedding(in[0], self->parameters[0].tensor);
}

static Tensor *forward_padded(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_embedding_padded(in[0], self->parameters[0].tensor,
                                   ((Embedding *)self)->padding_idx);
}

static const LayerType embedding_type = {.name = "Embedding",
                                         .size = sizeof(Embedding),
                                         .attributes = attributes,
                                         .n_attributes = 2,
                                         .forward = forward};
static const LayerType padded_type = {.name = "Embedding",
                                      .size = sizeof(Embedding),
                                      .attributes = attributes,
                                      .n_attributes = 3,
                                      .forward = forward_padded};

// Sets the padding row to 0.
static Layer *clear_row(Layer *self, int64_t row) {
    Scope *scope = scope_open();
    no_grad_begin();
    tensor_fill(tensor_slice(self->parameters[0].tensor, 0, row, row + 1, 1), 0.0f);
    no_grad_end();
    scope_close(scope);
    return layer_finished(self);
}

Layer *layer_embedding_new(int64_t count, int64_t features, float deviation,
                           const int64_t *padding_idx) {
    if (count < 0 || features < 0) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "embedding_new: a table of %lld x %lld. HINT: sizes are at least 0",
                  (long long)count, (long long)features);
        return NULL;
    }
    if (padding_idx && (*padding_idx < -count || *padding_idx >= count)) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "embedding_new_padded: padding_idx %lld, of %lld rows. HINT: one of them, or "
                  "below 0 from the end",
                  (long long)*padding_idx, (long long)count);
        return NULL;
    }
    Embedding *self = (Embedding *)layer_new(padding_idx ? &padded_type : &embedding_type);
    if (!self) return NULL;
    self->num_embeddings = count;
    self->embedding_dim = features;
    layer_add_parameter(&self->layer, "weight",
                        layer_normal_new(SHAPE(count, features), deviation));
    Layer *layer = layer_finished(&self->layer);
    if (!layer || !padding_idx) return layer;
    self->padding_idx = *padding_idx < 0 ? *padding_idx + count : *padding_idx;
    return clear_row(layer, self->padding_idx);
}

Layer *embedding_new(int64_t count, int64_t features) {
    return layer_embedding_new(count, features, 1.0f, NULL);
}

Layer *embedding_new_padded(int64_t count, int64_t features, int64_t padding_idx) {
    return layer_embedding_new(count, features, 1.0f, &padding_idx);
}
