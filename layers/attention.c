// attention.c -- attention with several heads: one product for queries, keys and values, the heads
// separately, and a product that joins them
#include "layers/attention.h"

#include "layers/init.h"
#include "layers/parts.h"
#include "tensor/handle.h"
#include "tensor/ops.h"

typedef struct MultiheadAttention {
    Layer layer;
    int64_t embed_dim, num_heads, kdim, vdim;
    bool has_bias, causal, by_formula, apart; // apart: three separate weights
    float dropout;
} MultiheadAttention;

static const LayerAttribute attributes[] = {
    {"embed_dim", ATTRIBUTE_INTEGER, offsetof(MultiheadAttention, embed_dim)},
    {"num_heads", ATTRIBUTE_INTEGER, offsetof(MultiheadAttention, num_heads)},
    {"bias", ATTRIBUTE_FLAG, offsetof(MultiheadAttention, has_bias)},
    {"dropout", ATTRIBUTE_REAL, offsetof(MultiheadAttention, dropout)},
    {"causal", ATTRIBUTE_FLAG, offsetof(MultiheadAttention, causal)},
    {"by_formula", ATTRIBUTE_FLAG, offsetof(MultiheadAttention, by_formula)},
    {"kdim", ATTRIBUTE_INTEGER, offsetof(MultiheadAttention, kdim)}, // only if not embed_dim
    {"vdim", ATTRIBUTE_INTEGER, offsetof(MultiheadAttention, vdim)},
};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

MultiheadAttentionOptions multihead_attention_defaults(void) {
    return (MultiheadAttentionOptions){.bias = true};
}

// ---- heads ----------------------------------------------------------------------------------
// Releases a tensor before the next one is made: the tape keeps what backward reads.
static Tensor *then(Tensor *next, Tensor *used) {
    if (used && next != used) tensor_release(used);
    return next;
}

Tensor *layer_heads(Tensor *x, int64_t d) {
    if (!x) return NULL;
    const int64_t *dims = x->shape.dims;
    Tensor *split = tensor_reshape(x, SHAPE(dims[0], dims[1], dims[2] / d, d));
    return then(tensor_transpose(split, 1, 2), split);
}

void layer_heads_each(Tensor *all, int64_t n, int64_t d, Tensor *heads[3]) {
    Tensor *split = layer_heads(all, d); // (b, 3 n, s, d)
    for (int i = 0; i < 3; i++) heads[i] = tensor_slice(split, 1, i * n, (i + 1) * n, 1);
    then(NULL, split);
}

Tensor *layer_attend(const Layer *self, Tensor *heads[3], Tensor *mask, AttentionOptions options,
                     bool by_formula) {
    if (layer_remember(self, heads, &mask, &options.causal)) return NULL;
    Tensor *y = (by_formula ? tensor_attention_by_formula
                            : tensor_attention)(heads[0], heads[1], heads[2], mask, options);
    for (int i = 0; i < 3; i++) then(NULL, heads[i]);
    Tensor *turned = y ? then(tensor_transpose(y, 1, 2), y) : NULL; // (b, s, n, d)
    if (!turned) return NULL;
    const int64_t *dims = turned->shape.dims;
    return then(tensor_reshape(turned, SHAPE(dims[0], dims[1], dims[2] * dims[3])), turned);
}

typedef struct Heads {
    Tensor *of[3]; // queries, keys, values: (b, heads, s, d)
} Heads;

// Self-attention uses one product for all three; otherwise there is one each, by its third of the
// weight or its own weight.
static Heads project(const MultiheadAttention *self, Tensor *const in[3]) {
    const Parameter *own_of = self->layer.parameters;
    Tensor *weight = own_of[0].tensor;
    Tensor *bias = self->has_bias ? own_of[self->apart ? 3 : 1].tensor : NULL;
    int64_t e = self->embed_dim, n = self->num_heads, d = e / n;
    Heads heads = {{NULL}};
    if (in[0] == in[1] && in[0] == in[2] && !self->apart) {
        Tensor *all = tensor_linear(in[0], weight, bias, NULL);
        layer_heads_each(all, n, d, heads.of);
        then(NULL, all);
        return heads;
    }
    for (int i = 0; i < 3; i++) {
        Tensor *own =
            self->apart ? own_of[i].tensor : tensor_slice(weight, 0, i * e, (i + 1) * e, 1);
        Tensor *part = bias ? tensor_slice(bias, 0, i * e, (i + 1) * e, 1) : NULL;
        Tensor *product = own && (part || !bias) ? tensor_linear(in[i], own, part, NULL) : NULL;
        heads.of[i] = then(layer_heads(product, d), product);
    }
    return heads;
}

static Tensor *attend(Layer *layer, Tensor *const in[3], Tensor *mask) {
    const MultiheadAttention *self = (MultiheadAttention *)layer;
    AttentionOptions options = {.causal = self->causal,
                                .dropout = layer->training ? self->dropout : 0.0f};
    Heads heads = project(self, in);
    Tensor *joined = layer_attend(layer, heads.of, mask, options, self->by_formula);
    return then(layer_run_child(layer, 0, joined), joined);
}

// ---- inputs ---------------------------------------------------------------------------------
static Status check(const MultiheadAttention *self, Tensor *const in[], int n_in) {
    if (n_in < 1 || n_in > 4)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "MultiheadAttention takes x, or queries, keys and values, and maybe a "
                         "mask, got %d inputs",
                         n_in);
    char text[SHAPE_TEXT];
    const int64_t features[3] = {self->embed_dim, self->kdim, self->vdim};
    if (self->apart && n_in < 3)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "MultiheadAttention got %d inputs. HINT: queries, keys and values, which "
                         "have %lld, %lld and %lld features",
                         n_in, (long long)features[0], (long long)features[1],
                         (long long)features[2]);
    for (int i = 0; i < (n_in < 3 ? 1 : 3); i++) {
        if (!in || !in[i])
            return error_set(STATUS_INVALID_ARGUMENT, "MultiheadAttention: input %d is NULL", i);
        int ndim = in[i]->shape.ndim;
        if ((ndim != 2 && ndim != 3) || in[i]->shape.dims[ndim - 1] != features[i])
            return error_set(STATUS_SHAPE,
                             "MultiheadAttention: input %d is %s. HINT: (b, s, %lld) or (s, %lld)",
                             i, shape_text(in[i]->shape, text), (long long)features[i],
                             (long long)features[i]);
    }
    return STATUS_OK;
}

static Tensor *as_batch(Tensor *x) {
    const int64_t *dims = x->shape.dims;
    return x->shape.ndim == 3 ? x : tensor_reshape(x, SHAPE(1, dims[0], dims[1]));
}

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    if (check((MultiheadAttention *)self, in, n_in)) return NULL;
    bool alone = n_in < 3;
    Tensor *mask = n_in == 2 ? in[1] : n_in == 4 ? in[3] : NULL, *batch[3];
    for (int i = 0; i < 3; i++)
        batch[i] = i > 0 && (alone || in[i] == in[0]) ? batch[0] : as_batch(in[i]);
    if (!batch[0] || !batch[1] || !batch[2]) return NULL;
    Tensor *y = attend(self, batch, mask);
    return y && in[0]->shape.ndim == 2 ? tensor_reshape(y, in[0]->shape) : y;
}

static bool keeps(const Layer *layer, int64_t size[2]) {
    const MultiheadAttention *self = (const MultiheadAttention *)layer;
    size[0] = self->num_heads;
    size[1] = self->embed_dim / self->num_heads;
    return self->causal;
}

#define ATTENTION(known)                                                                           \
    {                                                                                              \
        .name = "MultiheadAttention", .size = sizeof(MultiheadAttention),                          \
        .attributes = attributes, .n_attributes = known, .n_inputs = LAYER_ANY_INPUTS,             \
        .forward = forward, .keeps = keeps                                                         \
    }
static const LayerType multihead_attention_type = ATTENTION(ATTRIBUTES - 2);
static const LayerType apart_type = ATTENTION(ATTRIBUTES);
#undef ATTENTION

// ---- making one -----------------------------------------------------------------------------
static Tensor *weight_new(int64_t rows, int64_t columns) {
    Tensor *t = tensor_new_as(SHAPE(rows, columns), DTYPE_FLOAT32, MEM_PARAMETER);
    return tensor_filled(t, t && t->numel ? init_xavier_uniform(t, 1.0f) : STATUS_OK);
}

static Layer *out_projection_new(int64_t e, bool bias) {
    Layer *linear = linear_new(e, e, bias);
    if (!linear || !bias) return linear;
    no_grad_begin();
    tensor_fill(linear->parameters[1].tensor, 0.0f);
    no_grad_end();
    return layer_finished(linear);
}

static void add_weights(MultiheadAttention *self) {
    static const char *const names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    int64_t e = self->embed_dim, features[] = {e, self->kdim, self->vdim};
    if (!self->apart) layer_add_parameter(&self->layer, "in_proj_weight", weight_new(3 * e, e));
    for (int i = 0; i < 3 && self->apart; i++)
        layer_add_parameter(&self->layer, names[i], weight_new(e, features[i]));
}

static Status check_options(int64_t embed_dim, int64_t num_heads,
                            MultiheadAttentionOptions options) {
    float dropout = options.dropout;
    if (options.kdim < 0 || options.vdim < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "multihead_attention_new: keys of %lld features, values of %lld. HINT: at "
                         "least 1, or 0: as many as queries",
                         (long long)options.kdim, (long long)options.vdim);
    if (embed_dim > INT32_MAX)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "multihead_attention_new: %lld features. HINT: at most 2^31 - 1",
                         (long long)embed_dim);
    if (embed_dim < 1 || num_heads < 1 || embed_dim % num_heads != 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "multihead_attention_new: %lld features, %lld heads. HINT: each head has "
                         "as many",
                         (long long)embed_dim, (long long)num_heads);
    if (!(dropout >= 0.0f && dropout <= 1.0f))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "multihead_attention_new: a dropout of %g is not a probability. HINT: "
                         "from 0 to 1",
                         (double)dropout);
    return STATUS_OK;
}

Layer *multihead_attention_new(int64_t embed_dim, int64_t num_heads,
                               MultiheadAttentionOptions options) {
    if (check_options(embed_dim, num_heads, options)) return NULL;
    int64_t kdim = options.kdim ? options.kdim : embed_dim;
    int64_t vdim = options.vdim ? options.vdim : embed_dim;
    bool apart = kdim != embed_dim || vdim != embed_dim;
    MultiheadAttention *self =
        (MultiheadAttention *)layer_new(apart ? &apart_type : &multihead_attention_type);
    if (!self) return NULL;
    self->embed_dim = embed_dim;
    self->num_heads = num_heads;
    self->kdim = kdim;
    self->vdim = vdim;
    self->apart = apart;
    self->has_bias = options.bias;
    self->dropout = options.dropout;
    self->causal = options.causal;
    self->by_formula = options.by_formula;
    add_weights(self);
    if (options.bias)
        layer_add_parameter(&self->layer, "in_proj_bias",
                            layer_filled_new(SHAPE(3 * embed_dim), 0));
    layer_add_child(&self->layer, "out_proj", out_projection_new(embed_dim, options.bias));
    return layer_finished(&self->layer);
}
