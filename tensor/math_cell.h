// math_cell.h -- one element of a recurrent cell, and its gradient: takes the sums of the gates,
// gives what the next step reads. Compiled for the CPU and by CUDA, as math.h is.
#ifndef TENSOR_MATH_CELL_H
#define TENSOR_MATH_CELL_H

#include <stdbool.h>

#include "tensor/math.h"

// ---- LSTM (Hochreiter and Schmidhuber 1997; Gers et al. 2000): c' = f c + i g, h' = o tanh(c') -
typedef struct LstmElement { // gate outputs: sigmoid of i, f and o, tanh of g
    float i, f, g, o, cell, hidden;
} LstmElement;

MATH_INLINE LstmElement math_lstm(float i, float f, float g, float o, float cell) {
    LstmElement e = {math_sigmoid(i), math_sigmoid(f), math_tanh(g), math_sigmoid(o), 0.0f, 0.0f};
    e.cell = e.f * cell + e.i * e.g;
    e.hidden = e.o * math_tanh(e.cell);
    return e;
}

// Gradients of the gates' sums and, in `cell`, of the previous cell. e: its cell is c'; before: c.
MATH_INLINE LstmElement math_lstm_backward(LstmElement e, float before, float grad_hidden,
                                           float grad_cell) {
    float t = math_tanh(e.cell);
    float d = grad_cell + math_tanh_backward(grad_hidden * e.o, t);
    LstmElement grad = {math_sigmoid_backward(d * e.g, e.i),
                        math_sigmoid_backward(d * before, e.f),
                        math_tanh_backward(d * e.i, e.g),
                        math_sigmoid_backward(grad_hidden * t, e.o),
                        d * e.f,
                        0.0f};
    return grad;
}

// ---- GRU (Cho et al. 2014, reset gate after the product): n = tanh(n_x + r n_h),
// h' = n + z (h - n) ------------------------------------------------------------------------------
typedef struct GruElement { // gate outputs: sigmoid of r and z, tanh of n
    float r, z, n, hidden;
} GruElement;

MATH_INLINE GruElement math_gru(float r, float z, float n_x, float n_h, float hidden) {
    GruElement e = {math_sigmoid(r), math_sigmoid(z), 0.0f, 0.0f};
    e.n = math_tanh(n_x + e.r * n_h);
    e.hidden = e.n + e.z * (hidden - e.n);
    return e;
}

// Gradients of the sums of r, z and n_x; `hidden`: that of h through z alone. n_h's is n's times r.
MATH_INLINE GruElement math_gru_backward(GruElement e, float n_h, float before, float grad) {
    GruElement d = {0.0f, math_sigmoid_backward(grad * (before - e.n), e.z),
                    math_tanh_backward(grad * (1.0f - e.z), e.n), grad * e.z};
    d.r = math_sigmoid_backward(d.n * n_h, e.r);
    return d;
}

// ---- a plain cell (Elman 1990): h' = tanh(x + h), or relu of it ---------------------------------
MATH_INLINE float math_rnn(float sum, bool relu) { return relu ? math_relu(sum) : math_tanh(sum); }
// The gradient of the sum; y = h'.
MATH_INLINE float math_rnn_backward(float grad, float y, bool relu) {
    return relu ? math_relu_backward(grad, y) : math_tanh_backward(grad, y);
}

#endif
