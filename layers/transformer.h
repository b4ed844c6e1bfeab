// transformer.h -- a transformer's layers (Vaswani et al. 2017) on sequences (batch, positions,
// features), as PyTorch has them with batch_first. Attention by itself: attention.h; whole
// published networks: models/transformers.h.
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
    int64_t d_model, nhead; // features, and the heads that share them
    int64_t dim_feedforward;
    float dropout;        // of both results, of the wide features, and of attention's probabilities
    const Op *activation; // of the wide features, fused into their product; NULL: none
    float layer_norm_eps;
    bool norm_first; // each part normalises what it reads, not the sum behind it
    bool bias;       // of all products and norms
    bool causal;     // self-attention: a position sees itself and what is before it
    bool by_formula; // attention op by op, with its scores in memory
} TransformerLayerOptions;
// PyTorch's: 512 features, 8 heads, 2048 wide, dropout 0.1, ReLU, norms behind the sums, bias.
TransformerLayerOptions transformer_layer_defaults(void);

// As nn.TransformerEncoderLayer: self_attn, linear1, dropout, linear2, norm1, norm2, dropout1,
// dropout2. Takes x (b, s, d_model), or x and a mask that is added to the scores (b, heads, s, s);
// it may be NULL.
Layer *transformer_encoder_layer_new(TransformerLayerOptions options);

// As nn.TransformerDecoderLayer: also multihead_attn over `memory` (b, t, d_model), with norm2 and
// dropout2; norm3 and dropout3 are those of the wide features. Takes x and memory; and maybe a mask
// of the self-attention, and one of the other, (b, heads, s, t): each may be NULL.
Layer *transformer_decoder_layer_new(TransformerLayerOptions options);

RIDGEPOINT_API_END

#endif
