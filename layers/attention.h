// attention.h -- transformer layers on sequences (batch, positions, features): attention with
// several heads, and encodings of positions. Layers in general: layer.h. The attention op:
// tensor/ops.h.
//
//     Layer *attention = multihead_attention_new(768, 12, multihead_attention_defaults());
//     Tensor *y = layer_forward(attention, x); // self-attention: x (b, s, 768) -> (b, s, 768)
#ifndef LAYERS_ATTENTION_H
#define LAYERS_ATTENTION_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct MultiheadAttentionOptions {
    bool bias;          // in both products
    float dropout;      // of the probabilities, in training
    bool causal;        // a position sees itself and earlier ones only
    int64_t kdim, vdim; // features of keys and of values; 0: as many as the queries have
    bool by_formula;    // op by op, with the scores in memory: tensor_attention_by_formula
} MultiheadAttentionOptions;
MultiheadAttentionOptions multihead_attention_defaults(void); // bias only

// As PyTorch's nn.MultiheadAttention with batch_first, without the weights as a second result:
// in_proj_weight (3 e, e), Glorot-uniform, in_proj_bias (3 e), 0, and a linear layer out_proj (e,
// e), whose bias starts at 0. e is a multiple of the number of heads. Takes x (b, s, e) or (s, e);
// x and a mask, which tensor_attention adds to the scores (b, heads, s, t); queries (b, s, e), keys
// and values (b, t, e); or these three and a mask. The mask may be NULL. With kdim or vdim it needs
// these three, and in place of in_proj_weight it has q_proj_weight (e, e), k_proj_weight (e, kdim)
// and v_proj_weight (e, vdim).
Layer *multihead_attention_new(int64_t embed_dim, int64_t num_heads,
                               MultiheadAttentionOptions options);

// Adds the first s rows of weight (count, features), normal with deviation 0.02 as in GPT-2, to x
// (..., s, features).
Layer *positional_embedding_new(int64_t count, int64_t features);
// Adds the buffer pe, which does not train, instead: alternating sines and cosines of position /
// 10,000^(2 i / features) (Vaswani et al. 2017).
Layer *positional_encoding_new(int64_t count, int64_t features);

RIDGEPOINT_API_END

#endif
