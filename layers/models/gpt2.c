// gpt2.c -- GPT-2 (Radford et al. 2019) as Hugging Face's GPT2LMHeadModel, with its names
// ("transformer.h.0.attn.c_attn.weight"): tokens and positions, blocks of causal attention and a
// wide pair of products, and logits from the table of tokens.
#include <math.h>

#include "layers/attention.h"
#include "layers/containers.h"
#include "layers/models/token_parts.h"
#include "layers/models/transformers.h"
#include "tensor/handle.h"
#include "tensor/op.h"
#include "tensor/ops.h"

Gpt2Options gpt2_defaults(void) {
    return (Gpt2Options){.vocab_size = 50257,
                         .context = 1024,
                         .embed_dim = 768,
                         .layers = 12,
                         .heads = 12,
                         .dropout = 0.1f};
}

// ---- a product whose weight is (in, out) --------------------------------------------------------
typedef struct Conv1D { // Hugging Face's name for it
    Layer layer;
    int64_t nf, nx; // out, in
} Conv1D;

static const LayerAttribute conv1d_attributes[] = {
    {"nf", ATTRIBUTE_INTEGER, offsetof(Conv1D, nf)},
    {"nx", ATTRIBUTE_INTEGER, offsetof(Conv1D, nx)},
};

// Computes (b, s, in) . (in, out) + (out), without a transpose of the weight.
static Tensor *conv1d_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    return tensor_add(tensor_matmul(in[0], self->parameters[0].tensor), self->parameters[1].tensor);
}

static const LayerType conv1d_type = {.name = "Conv1D",
                                      .size = sizeof(Conv1D),
                                      .attributes = conv1d_attributes,
                                      .n_attributes = 2,
                                      .forward = conv1d_forward};

static Layer *conv1d_new(int64_t in, int64_t out, float deviation) {
    Conv1D *self = (Conv1D *)layer_new(&conv1d_type);
    if (!self) return NULL;
    self->nf = out;
    self->nx = in;
    Tensor *weight = tensor_new_as(SHAPE(in, out), DTYPE_FLOAT32, MEM_PARAMETER);
    weight = tensor_filled(weight, tensor_fill_normal(weight, 0.0f, deviation));
    layer_add_parameter(&self->layer, "weight", weight);
    layer_add_parameter(&self->layer, "bias", layer_filled_new(SHAPE(out), 0.0f));
    return layer_finished(&self->layer);
}

// ---- attention ----------------------------------------------------------------------------------
typedef struct Attention {
    Layer layer;
    int64_t heads, head_dim;
    float dropout; // of the probabilities
    bool by_formula;
} Attention;

enum { C_ATTN, C_PROJ, RESID_DROPOUT };

static Tensor *attention_forward(Layer *layer, Tensor *const in[], int n_in) {
    const Attention *self = (Attention *)layer;
    (void)n_in;
    AttentionOptions options = {.causal = true, .dropout = layer->training ? self->dropout : 0.0f};
    Tensor *heads[3]; // views of (b, s, 3 e)
    layer_heads_each(layer_run_child(layer, C_ATTN, in[0]), self->heads, self->head_dim, heads);
    Tensor *y = layer_attend(layer, heads, NULL, options, self->by_formula); // (b, s, e)
    return layer_run_child(layer, RESID_DROPOUT, layer_run_child(layer, C_PROJ, y));
}

static bool keeps(const Layer *layer, int64_t size[2]) {
    size[0] = ((const Attention *)layer)->heads;
    size[1] = ((const Attention *)layer)->head_dim;
    return true;
}

static const LayerType attention_type = {.name = "GPT2Attention",
                                         .size = sizeof(Attention),
                                         .forward = attention_forward,
                                         .keeps = keeps};

// Weights whose products join the residual sum start smaller in deeper models.
static float residual_deviation(Gpt2Options o) { return 0.02f / sqrtf(2.0f * (float)o.layers); }

static Layer *attention_new(Gpt2Options o) {
    Attention *self = (Attention *)layer_new(&attention_type);
    if (!self) return NULL;
    self->heads = o.heads;
    self->head_dim = o.embed_dim / o.heads;
    self->dropout = o.dropout;
    self->by_formula = o.by_formula;
    layer_add_child(&self->layer, "c_attn", conv1d_new(o.embed_dim, 3 * o.embed_dim, 0.02f));
    layer_add_child(&self->layer, "c_proj",
                    conv1d_new(o.embed_dim, o.embed_dim, residual_deviation(o)));
    layer_add_child(&self->layer, "resid_dropout", dropout_new(o.dropout));
    return layer_finished(&self->layer);
}

// ---- a block ------------------------------------------------------------------------------------
enum { LN_1, ATTN, LN_2, MLP };

static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = tensor_add(in[0], layer_run_child(self, ATTN, layer_run_child(self, LN_1, in[0])));
    return tensor_add(x, layer_run_child(self, MLP, layer_run_child(self, LN_2, x)));
}

static const LayerType block_type = {.name = "GPT2Block",
                                     .size = sizeof(Layer),
                                     .forward = block_forward};

static Layer *mlp_block_new(Gpt2Options o) {
    Layer *self = sequential_new();
    layer_add_child(self, "c_fc", conv1d_new(o.embed_dim, 4 * o.embed_dim, 0.02f));
    layer_add_child(self, "act", activation_new(&op_gelu_tanh));
    layer_add_child(self, "c_proj",
                    conv1d_new(4 * o.embed_dim, o.embed_dim, residual_deviation(o)));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    return self;
}

static Layer *norm_new(Gpt2Options o) { return layer_norm_new(SHAPE(o.embed_dim), 1e-5f, true); }

static Layer *block_new(Gpt2Options o) {
    Layer *self = layer_new(&block_type);
    layer_add_child(self, "ln_1", norm_new(o));
    layer_add_child(self, "attn", attention_new(o));
    layer_add_child(self, "ln_2", norm_new(o));
    layer_add_child(self, "mlp", mlp_block_new(o));
    return self;
}

// ---- the model ----------------------------------------------------------------------------------
typedef struct Gpt2 {
    Layer layer;
    int64_t context;
} Gpt2;

static const LayerAttribute model_attributes[] = {
    {"context", ATTRIBUTE_INTEGER, offsetof(Gpt2, context)},
};

static Tensor *model_forward(Layer *self, Tensor *const in[], int n_in) {
    if (model_check_tokens(self, in[0], ((Gpt2 *)self)->context)) return NULL;
    return layer_run_in_order(self, in, n_in);
}

static const LayerType model_type = {.name = "GPT2Model",
                                     .size = sizeof(Gpt2),
                                     .attributes = model_attributes,
                                     .n_attributes = 1,
                                     .forward = model_forward};
static const LayerType language_model_type = {.name = "GPT2LMHeadModel",
                                              .size = sizeof(Layer),
                                              .forward = layer_run_in_order};

static Layer *model_new(Gpt2Options o) {
    Layer *self = layer_new(&model_type);
    Layer *blocks = module_list_new();
    if (self) ((Gpt2 *)self)->context = o.context;
    for (int64_t i = 0; i < o.layers && !error_pending(); i++) layer_append(blocks, block_new(o));
    layer_add_child(self, "wte", normal_embedding_new(o.vocab_size, o.embed_dim));
    layer_add_child(self, "wpe", positional_embedding_new(o.context, o.embed_dim));
    layer_add_child(self, "drop", dropout_new(o.dropout));
    layer_add_child(self, "h", blocks);
    layer_add_child(self, "ln_f", norm_new(o));
    return layer_finished(self);
}

static Status check(Gpt2Options o) {
    const SizeOption sizes[] = {{"vocab_size", o.vocab_size},
                                {"context", o.context},
                                {"embed_dim", o.embed_dim},
                                {"layers", o.layers},
                                {"heads", o.heads}};
    Status status = model_check_sizes("gpt2_new", sizes, sizeof(sizes) / sizeof(sizes[0]));
    return status ? status : model_check_heads("gpt2_new", o.embed_dim, o.heads);
}

Layer *gpt2_new(Gpt2Options options) {
    if (check(options)) return NULL;
    Layer *self = layer_new(&language_model_type), *model = model_new(options);
    const Layer *tokens = model && !options.untied ? model->children[0] : NULL;
    layer_add_child(self, "transformer", model);
    layer_add_child(self, "lm_head", token_head_new(tokens, options.vocab_size, options.embed_dim));
    return layer_finished(self);
}
