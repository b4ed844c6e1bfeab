// vit.c -- the Vision Transformer (Dosovitskiy et al. 2021) as torchvision has it, with its names
// ("encoder.layers.encoder_layer_0.mlp.0.weight"): patches are tokens, and the class is read from a
// learned token.
#include <math.h>
#include <stdio.h>

#include "layers/attention.h"
#include "layers/init.h"
#include "layers/layers2d.h"
#include "layers/models/token_parts.h"
#include "layers/models/transformers.h"
#include "tensor/context.h"
#include "tensor/ops.h"

VitOptions vit_defaults(void) {
    return (VitOptions){.image_size = 224,
                        .patch_size = 16,
                        .embed_dim = 768,
                        .mlp_dim = 3072,
                        .layers = 12,
                        .heads = 12,
                        .classes = 1000};
}

static Layer *norm_new(VitOptions o) { return layer_norm_new(SHAPE(o.embed_dim), 1e-6f, true); }

// ---- a block ------------------------------------------------------------------------------------
enum { LN_1, SELF_ATTENTION, DROPOUT, LN_2, MLP };

static Tensor *block_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *y =
        layer_run_child(self, DROPOUT,
                        layer_run_child(self, SELF_ATTENTION, layer_run_child(self, LN_1, in[0])));
    Tensor *x = tensor_add(y, in[0]);
    return tensor_add(x, layer_run_child(self, MLP, layer_run_child(self, LN_2, x)));
}

static const LayerType block_type = {.name = "EncoderBlock",
                                     .size = sizeof(Layer),
                                     .forward = block_forward};

// Glorot-uniform weights, and biases near 0.
static Layer *wide_new(int64_t in, int64_t out) {
    Layer *linear = linear_new(in, out, true);
    if (!linear) return NULL;
    init_xavier_uniform(linear->parameters[0].tensor, 1.0f);
    tensor_fill_normal(linear->parameters[1].tensor, 0.0f, 1e-6f);
    return layer_finished(linear);
}

static Layer *mlp_block_new(VitOptions o) {
    Layer *self = sequential_new();
    layer_append(self, wide_new(o.embed_dim, o.mlp_dim));
    layer_append(self, gelu_new());
    layer_append(self, dropout_new(o.dropout));
    layer_append(self, wide_new(o.mlp_dim, o.embed_dim));
    layer_append(self, dropout_new(o.dropout));
    return self;
}

static Layer *block_new(VitOptions o) {
    MultiheadAttentionOptions attention = multihead_attention_defaults();
    attention.dropout = o.attention_dropout;
    attention.by_formula = o.by_formula;
    Layer *self = layer_new(&block_type);
    layer_add_child(self, "ln_1", norm_new(o));
    layer_add_child(self, "self_attention",
                    multihead_attention_new(o.embed_dim, o.heads, attention));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    layer_add_child(self, "ln_2", norm_new(o));
    layer_add_child(self, "mlp", mlp_block_new(o));
    return self;
}

// ---- the encoder: positions are added, then the blocks, then a norm ---------------------------
static Tensor *encoder_forward(Layer *self, Tensor *const in[], int n_in) {
    Tensor *x = tensor_add(in[0], self->parameters[0].tensor); // (n, s, e) + (1, s, e)
    return x ? layer_run_in_order(self, &x, n_in) : NULL;
}

static const LayerType encoder_type = {.name = "Encoder",
                                       .size = sizeof(Layer),
                                       .forward = encoder_forward};

static Layer *encoder_new(VitOptions o, int64_t tokens) {
    Layer *self = layer_new(&encoder_type), *blocks = sequential_new();
    for (int64_t i = 0; i < o.layers && !error_pending(); i++) {
        char name[48];
        snprintf(name, sizeof(name), "encoder_layer_%lld", (long long)i);
        layer_add_child(blocks, name, block_new(o));
    }
    layer_add_parameter(self, "pos_embedding",
                        layer_normal_new(SHAPE(1, tokens, o.embed_dim), 0.02f));
    layer_add_child(self, "dropout", dropout_new(o.dropout));
    layer_add_child(self, "layers", blocks);
    layer_add_child(self, "ln", norm_new(o));
    return self;
}

// ---- the model ----------------------------------------------------------------------------------
typedef struct Vit {
    Layer layer;
    int64_t image_size, embed_dim;
} Vit;

static const LayerAttribute model_attributes[] = {
    {"image_size", ATTRIBUTE_INTEGER, offsetof(Vit, image_size)},
    {"embed_dim", ATTRIBUTE_INTEGER, offsetof(Vit, embed_dim)},
};

enum { CONV_PROJ, ENCODER, HEADS };

static Tensor *model_forward(Layer *layer, Tensor *const in[], int n_in) {
    const Vit *self = (Vit *)layer;
    const Shape *shape = &in[0]->shape;
    int64_t n = shape->dims[0], side = self->image_size;
    (void)n_in;
    if (shape->ndim != 4 || !shape_equal(*shape, SHAPE(n, 3, side, side))) {
        char text[SHAPE_TEXT];
        error_set(STATUS_SHAPE,
                  "VisionTransformer: x is %s. HINT: (n, 3, %lld, %lld); tensor_resize it, or make "
                  "the model for another image_size",
                  shape_text(*shape, text), (long long)side, (long long)side);
        return NULL;
    }
    Tensor *patches =
        layer_run_child(layer, CONV_PROJ, in[0]); // (n, e, side / patch, side / patch)
    Tensor *rows = tensor_reshape(patches, SHAPE(n, self->embed_dim, -1));
    Tensor *both[2] = {
        tensor_expand(layer->parameters[0].tensor, SHAPE(n, 1, self->embed_dim)),
        tensor_transpose(rows, 1, 2),
    };
    Tensor *x = layer_run_child(layer, ENCODER, tensor_concat(both, 2, 1)); // (n, 1 + patches, e)
    Tensor *of_class = tensor_reshape(tensor_slice(x, 1, 0, 1, 1), SHAPE(n, self->embed_dim));
    return layer_run_child(layer, HEADS, of_class);
}

static const LayerType model_type = {.name = "VisionTransformer",
                                     .size = sizeof(Vit),
                                     .attributes = model_attributes,
                                     .n_attributes = 2,
                                     .forward = model_forward};

static Layer *conv_proj_new(VitOptions o) {
    Conv2dOptions options = conv2d_defaults();
    options.stride_h = options.stride_w = o.patch_size;
    Layer *conv = conv2d_new(3, o.embed_dim, o.patch_size, o.patch_size, options, true);
    if (!conv) return NULL;
    double fan_in = 3.0 * (double)o.patch_size * (double)o.patch_size;
    no_grad_begin();
    tensor_fill_normal(conv->parameters[0].tensor, 0.0f, (float)sqrt(1.0 / fan_in));
    tensor_fill(conv->parameters[1].tensor, 0.0f);
    no_grad_end();
    return layer_finished(conv);
}

static Layer *heads_new(VitOptions o) {
    Layer *self = sequential_new(), *head = linear_new(o.embed_dim, o.classes, true);
    no_grad_begin();
    for (int i = 0; head && i < 2; i++) tensor_fill(head->parameters[i].tensor, 0.0f);
    no_grad_end();
    layer_add_child(self, "head", head);
    return self;
}

static Status check(VitOptions o) {
    const SizeOption sizes[] = {{"image_size", o.image_size}, {"patch_size", o.patch_size},
                                {"embed_dim", o.embed_dim},   {"mlp_dim", o.mlp_dim},
                                {"layers", o.layers},         {"heads", o.heads},
                                {"classes", o.classes}};
    Status status = model_check_sizes("vit_new", sizes, sizeof(sizes) / sizeof(sizes[0]));
    if (!status) status = model_check_heads("vit_new", o.embed_dim, o.heads);
    if (status || o.image_size % o.patch_size == 0) return status;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "vit_new: images of %lld, patches of %lld. HINT: a whole number of patches",
                     (long long)o.image_size, (long long)o.patch_size);
}

Layer *vit_new(VitOptions options) {
    if (check(options)) return NULL;
    Vit *self = (Vit *)layer_new(&model_type);
    if (!self) return NULL;
    int64_t patches = options.image_size / options.patch_size;
    self->image_size = options.image_size;
    self->embed_dim = options.embed_dim;
    layer_add_parameter(&self->layer, "class_token",
                        layer_filled_new(SHAPE(1, 1, options.embed_dim), 0.0f));
    layer_add_child(&self->layer, "conv_proj", conv_proj_new(options));
    layer_add_child(&self->layer, "encoder", encoder_new(options, 1 + patches * patches));
    layer_add_child(&self->layer, "heads", heads_new(options));
    return layer_finished(&self->layer);
}
