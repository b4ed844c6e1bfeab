// bert.c -- BERT (Devlin et al. 2019) as Hugging Face's BertModel, with its names
// ("encoder.layer.0.attention.self.query.weight"): words, types and positions, layers of attention
// and a wide pair of products with norms after the sums, and a pooler of the first token.
#include <math.h>

#include "layers/containers.h"
#include "layers/models/token_parts.h"
#include "layers/models/transformers.h"
#include "tensor/op.h"
#include "tensor/ops.h"

BertOptions bert_defaults(void) {
    return (BertOptions){.vocab_size = 30522,
                         .context = 512,
                         .token_types = 2,
                         .embed_dim = 768,
                         .mlp_dim = 3072,
                         .layers = 12,
                         .heads = 12,
                         .dropout = 0.1f};
}

static Layer *norm_new(BertOptions o) { return layer_norm_new(SHAPE(o.embed_dim), 1e-12f, true); }

// ---- embeddings: of ids, and types or NULL, all (b, s) ------------------------------------------
enum { PAD = 0 }; // the token's id in BERT's vocabularies
enum { WORDS, POSITIONS, TYPES, EMBEDDINGS_NORM, EMBEDDINGS_DROPOUT };

// The first rows of a child's table; NULL where the child was removed.
static Tensor *rows_of(const Layer *self, int child, int64_t count) {
    const Layer *table = layer_child(self, child);
    Tensor *all = table && table->n_parameters ? table->parameters[0].tensor : NULL;
    return tensor_slice(all, 0, 0, count, 1);
}

static Tensor *embeddings_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = layer_run_child(self, WORDS, in[0]);
    Tensor *types = in[1] ? layer_run_child(self, TYPES, in[1]) : rows_of(self, TYPES, 1);
    Tensor *positions = rows_of(self, POSITIONS, in[0]->shape.dims[1]);
    x = tensor_add(tensor_add(x, types), positions);
    return layer_run_child(self, EMBEDDINGS_DROPOUT, layer_run_child(self, EMBEDDINGS_NORM, x));
}

static const LayerType embeddings_type = {.name = "BertEmbeddings",
                                          .size = sizeof(Layer),
                                          .n_inputs = LAYER_ANY_INPUTS,
                                          .forward = embeddings_forward};

static Layer *embeddings_new(BertOptions o) {
    Layer *self = layer_new(&embeddings_type);
    layer_add_child(self, "word_embeddings",
                    layer_embedding_new(o.vocab_size, o.embed_dim, 0.02f, &(int64_t){PAD}));
    layer_add_child(self, "position_embeddings", normal_embedding_new(o.context, o.embed_dim));
    layer_add_child(self, "token_type_embeddings",
                    normal_embedding_new(o.token_types, o.embed_dim));
    layer_add_child(self, "LayerNorm", norm_new(o));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    return self;
}

// ---- attention: of x, and a summand for its scores, which may be NULL ---------------------------
typedef struct SelfAttention {
    Layer layer;
    int64_t head_dim;
    float dropout; // of the probabilities
    bool by_formula;
} SelfAttention;

static Tensor *self_attention_forward(Layer *layer, Tensor *const in[], int n_in) {
    const SelfAttention *self = (SelfAttention *)layer;
    AttentionOptions options = {.dropout = layer->training ? self->dropout : 0.0f};
    Tensor *heads[3]; // query, key, value: (b, heads, s, d)
    for (int i = 0; i < 3; i++)
        heads[i] = layer_heads(layer_run_child(layer, i, in[0]), self->head_dim);
    return layer_attend(layer, heads, n_in > 1 ? in[1] : NULL, options, self->by_formula);
}

static const LayerType self_attention_type = {.name = "BertSelfAttention",
                                              .size = sizeof(SelfAttention),
                                              .n_inputs = LAYER_ANY_INPUTS,
                                              .forward = self_attention_forward};

static Layer *self_attention_new(BertOptions o) {
    static const char *const names[] = {"query", "key", "value"};
    Layer *layer = layer_new(&self_attention_type);
    if (!layer) return NULL;
    SelfAttention *self = (SelfAttention *)layer;
    self->head_dim = o.embed_dim / o.heads;
    self->dropout = o.dropout;
    self->by_formula = o.by_formula;
    for (int i = 0; i < 3; i++)
        layer_add_child(layer, names[i], normal_linear_new(o.embed_dim, o.embed_dim, true));
    return layer;
}

// ---- the end of both halves: norm(dropout(dense(y)) + x) of y and x ---------------------------
enum { DENSE, OUTPUT_NORM, OUTPUT_DROPOUT };

static Tensor *output_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *y = layer_run_child(self, OUTPUT_DROPOUT, layer_run_child(self, DENSE, in[0]));
    return layer_run_child(self, OUTPUT_NORM, tensor_add(y, in[1]));
}

static const LayerType output_type = {
    .name = "BertOutput", .size = sizeof(Layer), .n_inputs = 2, .forward = output_forward};

static Layer *output_new(BertOptions o, int64_t in_features) {
    Layer *self = layer_new(&output_type);
    layer_add_child(self, "dense", normal_linear_new(in_features, o.embed_dim, true));
    layer_add_child(self, "LayerNorm", norm_new(o));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    return self;
}

// ---- a layer ------------------------------------------------------------------------------------
enum { SELF, ATTENTION_OUTPUT };
enum { ATTENTION, INTERMEDIATE, OUTPUT };

static Tensor *attention_forward(Layer *self, Tensor *const in[], int n_in) {
    Tensor *y[2] = {layer_forward_many(layer_child(self, SELF), in, n_in), in[0]};
    return layer_forward_many(layer_child(self, ATTENTION_OUTPUT), y, 2);
}

static const LayerType attention_type = {.name = "BertAttention",
                                         .size = sizeof(Layer),
                                         .n_inputs = LAYER_ANY_INPUTS,
                                         .forward = attention_forward};

static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    Tensor *x = layer_forward_many(layer_child(self, ATTENTION), in, n_in);
    Tensor *y[2] = {layer_run_child(self, INTERMEDIATE, x), x};
    return layer_forward_many(layer_child(self, OUTPUT), y, 2);
}

static const LayerType block_type = {.name = "BertLayer",
                                     .size = sizeof(Layer),
                                     .n_inputs = LAYER_ANY_INPUTS,
                                     .forward = block_forward};

static Layer *block_new(BertOptions o) {
    Layer *self = layer_new(&block_type), *attention = layer_new(&attention_type),
          *intermediate = sequential_new();
    layer_add_child(attention, "self", self_attention_new(o));
    layer_add_child(attention, "output", output_new(o, o.embed_dim));
    layer_add_child(intermediate, "dense", normal_linear_new(o.embed_dim, o.mlp_dim, true));
    layer_add_child(intermediate, "intermediate_act_fn", gelu_new());
    layer_add_child(self, "attention", attention);
    layer_add_child(self, "intermediate", intermediate);
    layer_add_child(self, "output", output_new(o, o.mlp_dim));
    return self;
}

// ---- the pooler: of the first token's features --------------------------------------------------
static Tensor *pooler_forward(Layer *self, Tensor *const in[], int n_in) {
    const int64_t *dims = in[0]->shape.dims;
    Tensor *first = tensor_slice(in[0], 1, 0, 1, 1); // (b, 1, e)
    Tensor *x = tensor_reshape(first, SHAPE(dims[0], dims[2]));
    return x ? layer_run_in_order(self, &x, n_in) : NULL;
}

static const LayerType pooler_type = {.name = "BertPooler",
                                      .size = sizeof(Layer),
                                      .forward = pooler_forward};

static Layer *pooler_new(BertOptions o) {
    Layer *self = layer_new(&pooler_type);
    layer_add_child(self, "dense", normal_linear_new(o.embed_dim, o.embed_dim, true));
    layer_add_child(self, "activation", activation_new(&op_tanh));
    return self;
}

// ---- the model ----------------------------------------------------------------------------------
typedef struct Bert {
    Layer layer;
    int64_t context;
} Bert;

enum { EMBEDDINGS, ENCODER, POOLER };

static const LayerAttribute model_attributes[] = {
    {"context", ATTRIBUTE_INTEGER, offsetof(Bert, context)},
};

static Status check_inputs(const Layer *self, Tensor *const in[], int n_in) {
    static const char *const what[] = {"token ids", "token types", "mask"};
    if (n_in < 1 || n_in > 3 || !in || !in[0])
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s takes token ids, and maybe their types and a mask, got %d inputs",
                         self->type->name, in && in[0] ? n_in : 0);
    if (model_check_tokens(self, in[0], ((const Bert *)self)->context)) return error_status();
    char ids[SHAPE_TEXT], other[SHAPE_TEXT];
    for (int i = 1; i < n_in; i++)
        if (in[i] && !shape_equal(in[i]->shape, in[0]->shape))
            return error_set(STATUS_SHAPE, "%s: %s: %s, token ids: %s. HINT: one for each token",
                             self->type->name, what[i], shape_text(in[i]->shape, other),
                             shape_text(in[0]->shape, ids));
    return STATUS_OK;
}

// Turns a mask (b, s), 0 at padding, into (b, 1, 1, s): -infinity at padding, and 0 elsewhere.
static Tensor *mask_of_scores(Tensor *mask) {
    if (!mask) return NULL;
    Tensor *seen = mask->dtype == DTYPE_FLOAT32 ? mask : tensor_cast(mask, DTYPE_FLOAT32);
    Tensor *padding = tensor_logical_not(seen);
    Tensor *added = tensor_masked_fill(padding, padding, -INFINITY);
    return tensor_reshape(added, SHAPE(mask->shape.dims[0], 1, 1, mask->shape.dims[1]));
}

static Status model_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    if (check_inputs(self, in, n_in)) return error_status();
    Tensor *given[2] = {in[0], n_in > 1 ? in[1] : NULL};
    Tensor *x[2] = {layer_forward_many(layer_child(self, EMBEDDINGS), given, 2),
                    mask_of_scores(n_in > 2 ? in[2] : NULL)};
    out[0] = layer_forward_many(layer_child(self, ENCODER), x, 2);
    out[1] = layer_run_child(self, POOLER, out[0]);
    return error_status();
}

static const LayerType model_type = {.name = "BertModel",
                                     .size = sizeof(Bert),
                                     .attributes = model_attributes,
                                     .n_attributes = 1,
                                     .n_inputs = LAYER_ANY_INPUTS,
                                     .forward_each = model_forward,
                                     .n_outputs = 2};
static const LayerType encoder_type = {.name = "BertEncoder",
                                       .size = sizeof(Layer),
                                       .n_inputs = LAYER_ANY_INPUTS,
                                       .forward = layer_run_in_order};

static Status check(BertOptions o) {
    const SizeOption sizes[] = {{"vocab_size", o.vocab_size},
                                {"context", o.context},
                                {"token_types", o.token_types},
                                {"embed_dim", o.embed_dim},
                                {"mlp_dim", o.mlp_dim},
                                {"layers", o.layers},
                                {"heads", o.heads}};
    Status status = model_check_sizes("bert_new", sizes, sizeof(sizes) / sizeof(sizes[0]));
    return status ? status : model_check_heads("bert_new", o.embed_dim, o.heads);
}

Layer *bert_new(BertOptions options) {
    if (check(options)) return NULL;
    Layer *self = layer_new(&model_type), *encoder = layer_new(&encoder_type),
          *blocks = module_list_new();
    if (self) ((Bert *)self)->context = options.context;
    for (int64_t i = 0; i < options.layers && !error_pending(); i++)
        layer_append(blocks, block_new(options));
    layer_add_child(encoder, "layer", blocks);
    layer_add_child(self, "embeddings", embeddings_new(options));
    layer_add_child(self, "encoder", encoder);
    layer_add_child(self, "pooler", pooler_new(options));
    return layer_finished(self);
}
