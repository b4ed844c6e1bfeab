// llama.c -- LLaMA (Touvron et al. 2023) as Hugging Face's LlamaForCausalLM, with its names
// ("model.layers.0.self_attn.q_proj.weight"): RMS norms, rotary positions, keys and values shared
// between heads, and a gated pair of products.
#include "layers/containers.h"
#include "layers/models/token_parts.h"
#include "layers/models/transformers.h"
#include "tensor/op.h"
#include "tensor/ops.h"

LlamaOptions llama_defaults(void) {
    return (LlamaOptions){.vocab_size = 32000,
                          .context = 4096,
                          .embed_dim = 4096,
                          .mlp_dim = 11008,
                          .layers = 32,
                          .heads = 32,
                          .key_value_heads = 32,
                          .epsilon = 1e-5f,
                          .rotary_base = 10000.0f};
}

// ---- attention: of x, and the cosines and sines (s, d / 2) of its positions -------------------
typedef struct Attention {
    Layer layer;
    int64_t head_dim, key_value_heads;
    bool by_formula;
} Attention;

enum { Q_PROJ, K_PROJ, V_PROJ, O_PROJ };

static Tensor *attention_forward(Layer *layer, Tensor *const in[], int n_in) {
    const Attention *self = (Attention *)layer;
    AttentionOptions options = {.causal = true};
    Tensor *heads[3]; // (b, heads, s, d); keys, values (b, key_value_heads, s, d)
    (void)n_in;
    for (int i = Q_PROJ; i <= V_PROJ; i++) {
        heads[i] = layer_heads(layer_run_child(layer, i, in[0]), self->head_dim);
        if (i != V_PROJ) heads[i] = tensor_rotary(heads[i], in[1], in[2]);
    }
    return layer_run_child(layer, O_PROJ,
                           layer_attend(layer, heads, NULL, options, self->by_formula));
}

static bool keeps(const Layer *layer, int64_t size[2]) {
    size[0] = ((const Attention *)layer)->key_value_heads;
    size[1] = ((const Attention *)layer)->head_dim;
    return true;
}

static const LayerType attention_type = {.name = "LlamaAttention",
                                         .size = sizeof(Attention),
                                         .n_inputs = 3,
                                         .forward = attention_forward,
                                         .keeps = keeps};

static Layer *attention_new(LlamaOptions o) {
    Attention *self = (Attention *)layer_new(&attention_type);
    if (!self) return NULL;
    self->head_dim = o.embed_dim / o.heads;
    self->key_value_heads = o.key_value_heads;
    self->by_formula = o.by_formula;
    int64_t shared = o.key_value_heads * self->head_dim;
    layer_add_child(&self->layer, "q_proj", normal_linear_new(o.embed_dim, o.embed_dim, false));
    layer_add_child(&self->layer, "k_proj", normal_linear_new(o.embed_dim, shared, false));
    layer_add_child(&self->layer, "v_proj", normal_linear_new(o.embed_dim, shared, false));
    layer_add_child(&self->layer, "o_proj", normal_linear_new(o.embed_dim, o.embed_dim, false));
    return layer_finished(&self->layer);
}

// ---- SwiGLU (Shazeer 2020) ----------------------------------------------------------------------
enum { GATE_PROJ, UP_PROJ, DOWN_PROJ, ACT_FN };

static Tensor *mlp_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *gate =
        layer_run_child(self, ACT_FN, layer_run_child(self, GATE_PROJ, in[0])); // (b, s, mlp_dim)
    return layer_run_child(self, DOWN_PROJ,
                           tensor_mul(gate, layer_run_child(self, UP_PROJ, in[0])));
}

static const LayerType mlp_type = {.name = "LlamaMLP",
                                   .size = sizeof(Layer),
                                   .forward = mlp_forward};

static Layer *gated_new(LlamaOptions o) {
    Layer *self = layer_new(&mlp_type);
    layer_add_child(self, "gate_proj", normal_linear_new(o.embed_dim, o.mlp_dim, false));
    layer_add_child(self, "up_proj", normal_linear_new(o.embed_dim, o.mlp_dim, false));
    layer_add_child(self, "down_proj", normal_linear_new(o.mlp_dim, o.embed_dim, false));
    layer_add_child(self, "act_fn", activation_new(&op_silu));
    return self;
}

// ---- a layer ------------------------------------------------------------------------------------
enum { SELF_ATTN, MLP, INPUT_NORM, POST_ATTENTION_NORM };

static Tensor *layer_of_forward(Layer *self, Tensor *const in[], int n_in) {
    Tensor *given[3] = {layer_run_child(self, INPUT_NORM, in[0]), in[1], in[2]};
    Tensor *x = tensor_add(in[0], layer_forward_many(layer_child(self, SELF_ATTN), given, n_in));
    return tensor_add(x, layer_run_child(self, MLP, layer_run_child(self, POST_ATTENTION_NORM, x)));
}

static const LayerType decoder_layer_type = {
    .name = "LlamaDecoderLayer", .size = sizeof(Layer), .n_inputs = 3, .forward = layer_of_forward};

static Layer *norm_new(LlamaOptions o) { return rms_norm_new(SHAPE(o.embed_dim), o.epsilon, true); }

static Layer *decoder_layer_new(LlamaOptions o) {
    Layer *self = layer_new(&decoder_layer_type);
    layer_add_child(self, "self_attn", attention_new(o));
    layer_add_child(self, "mlp", gated_new(o));
    layer_add_child(self, "input_layernorm", norm_new(o));
    layer_add_child(self, "post_attention_layernorm", norm_new(o));
    return self;
}

// ---- the model ----------------------------------------------------------------------------------
typedef struct Llama {
    Layer layer;
    int64_t context;
} Llama;

enum { EMBED_TOKENS, LAYERS, NORM };

static const LayerAttribute model_attributes[] = {
    {"context", ATTRIBUTE_INTEGER, offsetof(Llama, context)},
};

static Tensor *model_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    if (model_check_tokens(self, in[0], ((Llama *)self)->context)) return NULL;
    Tensor *given[3] = {layer_run_child(self, EMBED_TOKENS, in[0])};
    int64_t begin = layer_past(self), end = begin + in[0]->shape.dims[1];
    for (int i = 0; i < 2; i++) // the rows of each table for these positions
        given[i + 1] = tensor_slice(self->buffers[i].tensor, 0, begin, end, 1);
    return layer_run_child(self, NORM, layer_forward_many(layer_child(self, LAYERS), given, 3));
}

static const LayerType model_type = {.name = "LlamaModel",
                                     .size = sizeof(Llama),
                                     .attributes = model_attributes,
                                     .n_attributes = 1,
                                     .forward = model_forward};
static const LayerType language_model_type = {.name = "LlamaForCausalLM",
                                              .size = sizeof(Layer),
                                              .forward = layer_run_in_order};

static Layer *model_new(LlamaOptions o) {
    Layer *self = layer_new(&model_type);
    Layer *layers = module_list_new();
    Tensor *cosines, *sines;
    if (self) ((Llama *)self)->context = o.context;
    for (int64_t i = 0; i < o.layers && !error_pending(); i++)
        layer_append(layers, decoder_layer_new(o));
    layer_add_child(self, "embed_tokens", normal_embedding_new(o.vocab_size, o.embed_dim));
    layer_add_child(self, "layers", layers);
    layer_add_child(self, "norm", norm_new(o));
    rotary_tables_new(0, o.context, o.embed_dim / o.heads, o.rotary_base, &cosines, &sines);
    layer_add_unsaved_buffer(self, "cosines", cosines);
    layer_add_unsaved_buffer(self, "sines", sines);
    return layer_finished(self);
}

static Status check(LlamaOptions o) {
    const SizeOption sizes[] = {{"vocab_size", o.vocab_size},
                                {"context", o.context},
                                {"embed_dim", o.embed_dim},
                                {"mlp_dim", o.mlp_dim},
                                {"layers", o.layers},
                                {"heads", o.heads},
                                {"key_value_heads", o.key_value_heads}};
    Status status = model_check_sizes("llama_new", sizes, sizeof(sizes) / sizeof(sizes[0]));
    if (!status) status = model_check_heads("llama_new", o.embed_dim, o.heads);
    if (status || (o.heads % o.key_value_heads == 0 && o.embed_dim / o.heads % 2 == 0))
        return status;
    return error_set(
        STATUS_INVALID_ARGUMENT,
        "llama_new: %lld heads of %lld features, %lld of keys and values. HINT: an even "
        "number of features, and as many heads for each of the keys",
        (long long)o.heads, (long long)(o.embed_dim / o.heads), (long long)o.key_value_heads);
}

Layer *llama_new(LlamaOptions options) {
    if (check(options)) return NULL;
    Layer *self = layer_new(&language_model_type), *model = model_new(options);
    const Layer *tokens = model && options.tied ? model->children[EMBED_TOKENS] : NULL;
    layer_add_child(self, "model", model);
    layer_add_child(self, "lm_head", token_head_new(tokens, options.vocab_size, options.embed_dim));
    return layer_finished(self);
}
