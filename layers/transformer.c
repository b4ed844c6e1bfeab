// transformer.c -- the layers of an encoder and of a decoder: attention and a wide pair of
// products, each around a sum, with a norm before it or behind. Attention itself is attention.c's.
#include "layers/transformer.h"

#include "layers/parts.h"
#include "tensor/op.h"
#include "tensor/ops.h"

typedef struct TransformerLayer {
    Layer layer;
    bool norm_first;
    Layer *self_attn, *multihead_attn; // the latter of a decoder only, else NULL
    Layer *linear1, *dropout, *linear2;
    Layer *norm[3], *drop[3]; // of each part, in order
    int parts;
} TransformerLayer;

static const LayerAttribute attributes[] = {
    {"norm_first", ATTRIBUTE_FLAG, offsetof(TransformerLayer, norm_first)},
};

TransformerLayerOptions transformer_layer_defaults(void) {
    return (TransformerLayerOptions){.d_model = 512,
                                     .nhead = 8,
                                     .dim_feedforward = 2048,
                                     .dropout = 0.1f,
                                     .activation = &op_relu,
                                     .layer_norm_eps = 1e-5f,
                                     .bias = true};
}

// ---- forward --------------------------------------------------------------------------------
// What a part reads of x, and what it makes of x and of its own result y, (b, s, d_model) each.
static Tensor *read_by(const TransformerLayer *self, int part, Tensor *x) {
    return self->norm_first ? layer_forward(self->norm[part], x) : x;
}

static Tensor *add_to(const TransformerLayer *self, int part, Tensor *x, Tensor *y) {
    Tensor *sum = tensor_add(x, layer_forward(self->drop[part], y));
    return self->norm_first ? sum : layer_forward(self->norm[part], sum);
}

static Tensor *attend(const TransformerLayer *self, Tensor *x, Tensor *mask) {
    Tensor *in[2] = {read_by(self, 0, x), mask};
    return add_to(self, 0, x, layer_forward_many(self->self_attn, in, 2));
}

static Tensor *attend_to(const TransformerLayer *self, Tensor *x, Tensor *memory, Tensor *mask) {
    Tensor *in[4] = {read_by(self, 1, x), memory, memory, mask};
    return add_to(self, 1, x, layer_forward_many(self->multihead_attn, in, 4));
}

static Tensor *widen(const TransformerLayer *self, Tensor *x) {
    int last = self->parts - 1;
    Tensor *wide = layer_forward(self->linear1, read_by(self, last, x));
    return add_to(self, last, x, layer_forward(self->linear2, layer_forward(self->dropout, wide)));
}

// x, a decoder's memory, and a mask for each attention, of which there are `parts` - 1.
static Tensor *forward(Layer *layer, Tensor *const in[], int n_in) {
    const TransformerLayer *self = (TransformerLayer *)layer;
    int least = self->parts - 1, most = 2 * least;
    if (n_in < least || n_in > most || !in || !in[0] || !in[least - 1]) {
        error_set(STATUS_INVALID_ARGUMENT, "%s takes %s, got %d inputs or none of these (NULL)",
                  layer->type->name,
                  least == 1 ? "x, and maybe a mask" : "x and memory, and maybe a mask of each",
                  n_in);
        return NULL;
    }
    Tensor *x = attend(self, in[0], n_in > least ? in[least] : NULL);
    if (self->multihead_attn) x = attend_to(self, x, in[1], n_in > 3 ? in[3] : NULL);
    return widen(self, x);
}

static const LayerType encoder_type = {.name = "TransformerEncoderLayer",
                                       .size = sizeof(TransformerLayer),
                                       .attributes = attributes,
                                       .n_attributes = 1,
                                       .n_inputs = LAYER_ANY_INPUTS,
                                       .forward = forward};
static const LayerType decoder_type = {.name = "TransformerDecoderLayer",
                                       .size = sizeof(TransformerLayer),
                                       .attributes = attributes,
                                       .n_attributes = 1,
                                       .n_inputs = LAYER_ANY_INPUTS,
                                       .forward = forward};

// ---- making one -----------------------------------------------------------------------------
static void add(TransformerLayer *self, const char *name, Layer **place, Layer *child) {
    *place = child;
    layer_add_child(&self->layer, name, child);
}

static Layer *norm_new(TransformerLayerOptions o) {
    Shape row = SHAPE(o.d_model);
    return o.bias ? layer_norm_new(row, o.layer_norm_eps, true)
                  : layer_norm_new_unbiased(row, o.layer_norm_eps);
}

static Layer *attention_new(TransformerLayerOptions o, bool causal) {
    MultiheadAttentionOptions options = {
        .bias = o.bias, .dropout = o.dropout, .causal = causal, .by_formula = o.by_formula};
    return multihead_attention_new(o.d_model, o.nhead, options);
}

static Layer *new_of(const LayerType *type, int parts, TransformerLayerOptions o) {
    static const char *const norms[] = {"norm1", "norm2", "norm3"}, *const drops[] = {"dropout1",
                                                                                      "dropout2",
                                                                                      "dropout3"};
    TransformerLayer *self = (TransformerLayer *)layer_new(type);
    if (!self) return NULL;
    self->norm_first = o.norm_first;
    self->parts = parts;
    add(self, "self_attn", &self->self_attn, attention_new(o, o.causal));
    if (parts == 3) add(self, "multihead_attn", &self->multihead_attn, attention_new(o, false));
    add(self, "linear1", &self->linear1,
        linear_new_fused(o.d_model, o.dim_feedforward, o.bias, o.activation));
    add(self, "dropout", &self->dropout, dropout_new(o.dropout));
    add(self, "linear2", &self->linear2, linear_new(o.dim_feedforward, o.d_model, o.bias));
    for (int i = 0; i < parts; i++) add(self, norms[i], &self->norm[i], norm_new(o));
    for (int i = 0; i < parts; i++) add(self, drops[i], &self->drop[i], dropout_new(o.dropout));
    return layer_finished(&self->layer);
}

Layer *transformer_encoder_layer_new(TransformerLayerOptions options) {
    return new_of(&encoder_type, 2, options);
}

Layer *transformer_decoder_layer_new(TransformerLayerOptions options) {
    return new_of(&decoder_type, 3, options);
}
