// model_text_layers.c -- the layers that a model text may name, and their arguments. model_text.c
// reads the text.
#include <limits.h>

#include "layers/attention.h"
#include "layers/containers.h"
#include "layers/files/model_text_parts.h"
#include "layers/layers2d.h"
#include "layers/recurrent.h"

static int64_t whole(double value) { return (int64_t)value; }
// Limits a whole number of a text to the range of int.
static int dim(double value) {
    return value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : (int)value;
}

// ---- products ----------------------------------------------------------------------------------
static Layer *make_linear(const double *a) {
    return linear_new_fused(whole(a[0]), whole(a[1]), a[2] != 0.0, model_text_activation(a[3]));
}

static Layer *make_embedding(const double *a) { return embedding_new(whole(a[0]), whole(a[1])); }

// ---- norms -------------------------------------------------------------------------------------
static BatchNormOptions batch_norm(const double *a) {
    return (BatchNormOptions){.epsilon = (float)a[1],
                              .momentum = (float)a[2],
                              .affine = a[3] != 0.0,
                              .track_running_stats = a[4] != 0.0};
}
static Layer *make_batch_norm1d(const double *a) {
    return batch_norm1d_new(whole(a[0]), batch_norm(a));
}
static Layer *make_batch_norm2d(const double *a) {
    return batch_norm2d_new(whole(a[0]), batch_norm(a));
}
static Layer *make_group_norm(const double *a) {
    return group_norm_new(whole(a[0]), whole(a[1]), (float)a[2], a[3] != 0.0);
}
static Layer *make_instance_norm1d(const double *a) {
    return instance_norm1d_new(whole(a[0]), (float)a[1], a[2] != 0.0);
}
static Layer *make_instance_norm2d(const double *a) {
    return instance_norm2d_new(whole(a[0]), (float)a[1], a[2] != 0.0);
}
static Layer *make_layer_norm(const double *a) {
    return layer_norm_new(SHAPE(whole(a[0])), (float)a[1], a[2] != 0.0);
}
static Layer *make_rms_norm(const double *a) {
    return rms_norm_new(SHAPE(whole(a[0])), (float)a[1], a[2] != 0.0);
}

// ---- sequences ---------------------------------------------------------------------------------
static Layer *make_multihead_attention(const double *a) {
    MultiheadAttentionOptions options = {.dropout = (float)a[2],
                                         .bias = a[3] != 0.0,
                                         .kdim = whole(a[4]),
                                         .vdim = whole(a[5]),
                                         .causal = a[6] != 0.0,
                                         .by_formula = a[7] != 0.0};
    return multihead_attention_new(whole(a[0]), whole(a[1]), options);
}
static Layer *make_positional_embedding(const double *a) {
    return positional_embedding_new(whole(a[0]), whole(a[1]));
}
static Layer *make_positional_encoding(const double *a) {
    return positional_encoding_new(whole(a[0]), whole(a[1]));
}
static RecurrentOptions recurrent(const double *a) {
    return (RecurrentOptions){.layers = whole(a[2]),
                              .bias = a[3] != 0.0,
                              .batch_first = a[4] != 0.0,
                              .dropout = (float)a[5],
                              .bidirectional = a[6] != 0.0};
}
static Layer *make_lstm(const double *a) {
    return lstm_new(whole(a[0]), whole(a[1]), recurrent(a));
}
static Layer *make_gru(const double *a) { return gru_new(whole(a[0]), whole(a[1]), recurrent(a)); }
static Layer *make_rnn(const double *a) { // nonlinearity is at PyTorch's position
    RecurrentOptions options = {.layers = whole(a[2]),
                                .relu = a[3] != 0.0,
                                .bias = a[4] != 0.0,
                                .batch_first = a[5] != 0.0,
                                .dropout = (float)a[6],
                                .bidirectional = a[7] != 0.0};
    return rnn_new(whole(a[0]), whole(a[1]), options);
}

// ---- the rest ----------------------------------------------------------------------------------
static Layer *make_identity(const double *a) { return (void)a, activation_new(NULL); }
static Layer *make_flatten(const double *a) { return flatten_new(dim(a[0]), dim(a[1])); }
static Layer *make_dropout(const double *a) { return dropout_new((float)a[0]); }
static Layer *make_dropout2d(const double *a) { return dropout2d_new((float)a[0]); }
static Layer *make_stochastic_depth(const double *a) { return stochastic_depth_new((float)a[0]); }
static Layer *make_prelu(const double *a) { return prelu_new(whole(a[0]), (float)a[1]); }
static Layer *make_softmax(const double *a) { return softmax_new(dim(a[0])); }
static Layer *make_log_softmax(const double *a) { return log_softmax_new(dim(a[0])); }
static Layer *make_glu(const double *a) { return glu_new(dim(a[0])); }
static Layer *make_layer_scale(const double *a) {
    return layer_scale_new(whole(a[0]), dim(a[2]), (float)a[1]);
}
static Layer *make_squeeze_excitation(const double *a) {
    return squeeze_excitation_new(whole(a[0]), whole(a[1]), model_text_activation(a[2]),
                                  model_text_activation(a[3]));
}
static Layer *make_sequential(const double *a) { return (void)a, sequential_new(); }
static Layer *make_residual(const double *a) { return (void)a, residual_new(); }
static Layer *make_concat(const double *a) { return concat_new(dim(a[0])); }

// ---- the table ---------------------------------------------------------------------------------
#define RECURRENT                                                                                  \
    "input_size hidden_size num_layers=1 bias=true batch_first=false dropout=0.0 "                 \
    "bidirectional=false"

const ModelTextLayer model_text_layers[] = {
    {"Sequential", "", make_sequential, true},
    {"Residual", "", make_residual, true},
    {"Concat", "dim=1", make_concat, true},
    {"Linear", "in_features out_features bias=true; activation=Identity", make_linear, false},
    {"Embedding", "num_embeddings embedding_dim", make_embedding, false},
    {"BatchNorm1d", "num_features eps=1e-5 momentum=0.1 affine=true track_running_stats=true",
     make_batch_norm1d, false},
    {"BatchNorm2d", "num_features eps=1e-5 momentum=0.1 affine=true track_running_stats=true",
     make_batch_norm2d, false},
    {"GroupNorm", "num_groups num_channels eps=1e-5 affine=true", make_group_norm, false},
    {"InstanceNorm1d", "num_features eps=1e-5 affine=false", make_instance_norm1d, false},
    {"InstanceNorm2d", "num_features eps=1e-5 affine=false", make_instance_norm2d, false},
    {"LayerNorm", "normalized_size eps=1e-5 elementwise_affine=true", make_layer_norm, false},
    {"RMSNorm", "normalized_size eps=1.1920929e-7 elementwise_affine=true", make_rms_norm, false},
    {"MultiheadAttention",
     "embed_dim num_heads dropout=0.0 bias=true; kdim=embed_dim vdim=embed_dim causal=false "
     "by_formula=false",
     make_multihead_attention, false},
    {"PositionalEmbedding", "count features", make_positional_embedding, false},
    {"PositionalEncoding", "count features", make_positional_encoding, false},
    {"LSTM", RECURRENT, make_lstm, false},
    {"GRU", RECURRENT, make_gru, false},
    {"RNN",
     "input_size hidden_size num_layers=1 nonlinearity=tanh|relu bias=true batch_first=false "
     "dropout=0.0 bidirectional=false",
     make_rnn, false},
    {"Identity", "", make_identity, false},
    {"Flatten", "start_dim=1 end_dim=-1", make_flatten, false},
    {"Dropout", "p=0.5", make_dropout, false},
    {"Dropout2d", "p=0.5", make_dropout2d, false},
    {"StochasticDepth", "p=real", make_stochastic_depth, false},
    {"PReLU", "num_parameters=1 slope=0.25", make_prelu, false},
    {"Softmax", "dim", make_softmax, false},
    {"LogSoftmax", "dim", make_log_softmax, false},
    {"GLU", "dim=-1", make_glu, false},
    {"LayerScale", "channels value=1e-6; spatial=0", make_layer_scale, false},
    {"SqueezeExcitation", "channels squeezed; activation=ReLU gate=Sigmoid",
     make_squeeze_excitation, false},
    {.name = NULL},
};
