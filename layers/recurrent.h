// recurrent.h -- recurrent layers over sequences. Layers in general: layer.h.
//
//     Layer *lstm = lstm_new(80, 256, recurrent_defaults());
//     Tensor *out[3];                                  // x (steps, batch, 80)
//     layer_forward_each(lstm, &x, 1, out, 3);         // (steps, batch, 256), (1, batch, 256)
//     twice
#ifndef LAYERS_RECURRENT_H
#define LAYERS_RECURRENT_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct RecurrentOptions {
    int64_t layers; // each takes the output of the one before
    bool bias;
    bool batch_first;   // x and y are (batch, steps, ...), else (steps, batch, ...)
    bool bidirectional; // each layer runs in both directions: outputs of 2 hidden sizes
    float dropout;      // of the outputs between layers, in training
    bool relu;          // plain cells: relu in place of tanh (PyTorch's nonlinearity="relu")
} RecurrentOptions;
RecurrentOptions recurrent_defaults(void); // PyTorch's: one layer, bias, steps first, one direction

// As PyTorch's nn.LSTM, nn.GRU and nn.RNN, with their parameters (weight_ih_l0 (4, 3 or 1 hidden,
// in), weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse ...), uniform in
// +-1/sqrt(hidden). Inputs: x, then the initial hidden states (layers x directions, batch, hidden)
// and an LSTM's cells; these may be left out or NULL: zeros. Results: y, the last hidden states, an
// LSTM's last cells; layer_forward gives y. At least one step.
Layer *lstm_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options);
Layer *gru_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options);
Layer *rnn_new(int64_t input_size, int64_t hidden_size, RecurrentOptions options);

RIDGEPOINT_API_END

#endif
