// transformer.c -- the layers of an encoder and of a decoder: attention and a wide pair of
// products, each in a residual sum, with a norm before or after it. Attention itself: attention.c.
#include "layers/transformer.h"

#include "layers/parts.h"
#include "tensor/op.h"
#include "tensor/ops.h"

typedef struct TransformerLayer {
    Layer layer;
    bool norm_first;
    int parts; // 2; a decoder has 3: "multihead_attn" comes second
} TransformerLayer;

// Children in order: an attention for each part but the last, then these, then a norm and a dropout
// for each part.
enum { LINEAR1, DROPOUT, LINEAR2, NORMS };
static int child_behind(const TransformerLayer *self, int i) { return self->parts - 1 + i; }
static int norm_of(const TransformerLayer *self, int part) {
    return child_behind(self, NORMS + part);
}
static int drop_of(const TransformerLayer *self, int part) {
    return norm_of(self, self->parts + part);
}

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
// read_by: a part's input from x; then its output from x and its result y, each (b, s, d_model).
static Tensor *read_by(const TransformerLayer *self, int part, Tensor *x) {
    return self->norm_first ? layer_run_child(&self->layer, norm_of(self, part), x) : x;
}

static Tensor *add_to(const TransformerLayer *self, int part, Tensor *x, Tensor *y) {
    Tensor *sum = tensor_add(x, layer_run_child(&self->layer, drop_of(self, part), y));
    return self->norm_first ? sum : layer_run_child(&self->layer, norm_of(self, part), sum);
}

static Tensor *attend(const TransformerLayer *self, Tensor *x, Tensor *mask) {
    Tensor *in[2] = {read_by(self, 0, x), mask};
    return add_to(self, 0, x, layer_forward_many(layer_child(&self->layer, 0), in, 2));
}

static Tensor *attend_to(const TransformerLayer *self, Tensor *x, Tensor *memory, Tensor *mask) {
    Tensor *in[4] = {read_by(self, 1, x), memory, memory, mask};
    return add_to(self, 1, x, layer_forward_many(layer_child(&self->layer, 1), in, 4));
}

static Tensor *widen(const TransformerLayer *self, Tensor *x) {
    int last = self->parts - 1;
    Tensor *y = read_by(self, last, x);
    for (int i = LINEAR1; i <= LINEAR2; i++)
        y = layer_run_child(&self->layer, child_behind(self, i), y);
    return add_to(self, last, x, y);
}

// Inputs: x, a decoder's memory, and a mask for each of the `parts` - 1 attentions.
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
    if (self->parts == 3) x = attend_to(self, x, in[1], n_in > 3 ? in[3] : NULL);
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
    Layer *self = layer_new(type);
    if (!self) return NULL;
    ((TransformerLayer *)self)->norm_first = o.norm_first;
    ((TransformerLayer *)self)->parts = parts;
    layer_add_child(self, "self_attn", attention_new(o, o.causal));
    if (parts == 3) layer_add_child(self, "multihead_attn", attention_new(o, false));
    layer_add_child(self, "linear1",
                    linear_new_fused(o.d_model, o.dim_feedforward, o.bias, o.activation));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    layer_add_child(self, "linear2", linear_new(o.dim_feedforward, o.d_model, o.bias));
    for (int i = 0; i < parts; i++) layer_add_child(self, norms[i], norm_new(o));
    for (int i = 0; i < parts; i++) layer_add_child(self, drops[i], dropout_new(o.dropout));
    return layer_finished(self);
}

Layer *transformer_encoder_layer_new(TransformerLayerOptions options) {
    return new_of(&encoder_type, 2, options);
}

Layer *transformer_decoder_layer_new(TransformerLayerOptions options) {
    return new_of(&decoder_type, 3, options);
}
