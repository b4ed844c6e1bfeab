// transformer.h -- a transformer's layers (Vaswani et al. 2017) on sequences (batch, positions,
// features), like PyTorch's with batch_first. Attention itself: attention.h; whole published
// networks: models/transformers.h.
//
//     TransformerLayerOptions options = transformer_layer_defaults();
//     Layer *encoder = module_list_new();                        // six of them, on x (b, s, 512)
//     for (int i = 0; i < 6; i++) layer_append(encoder, transformer_encoder_layer_new(options));
//     Tensor *y = layer_forward_many(encoder, (Tensor *[]){x, mask}, 2);
#ifndef LAYERS_TRANSFORMER_H
#define LAYERS_TRANSFORMER_H

#include "layers/attention.h"

RIDGEPOINT_API_BEGIN

typedef struct TransformerLayerOptions {
    int64_t d_model, nhead; // number of features, and of the heads that share them
    int64_t dim_feedforward;
    float dropout;        // of both results, the wide features and the attention probabilities
    const Op *activation; // of the wide features, fused into their product; NULL: none
    float layer_norm_eps;
    bool norm_first; // norms before attention and feedforward, not after the sums
    bool bias;       // in all products and norms
    bool causal;     // in self-attention a position sees itself and earlier ones only
    bool by_formula; // attention op by op, with its scores in memory
} TransformerLayerOptions;
// PyTorch's: 512 features, 8 heads, 2048 wide, dropout 0.1, ReLU, norms after the sums, bias.
TransformerLayerOptions transformer_layer_defaults(void);

// As nn.TransformerEncoderLayer: self_attn, linear1, dropout, linear2, norm1, norm2, dropout1,
// dropout2. Takes x (b, s, d_model), or x and a mask, which is added to the scores (b, heads, s, s)
// and may be NULL.
Layer *transformer_encoder_layer_new(TransformerLayerOptions options);

// As nn.TransformerDecoderLayer: also multihead_attn over `memory` (b, t, d_model), with norm2 and
// dropout2; norm3 and dropout3 belong to the wide features. Takes x and memory, optionally a mask
// for self-attention and one (b, heads, s, t) for attention to memory: each may be NULL.
Layer *transformer_decoder_layer_new(TransformerLayerOptions options);

RIDGEPOINT_API_END

#endif
