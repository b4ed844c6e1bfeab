// activation_list.h -- internal to ops/ and cuda/: every activation in one line, X(op, y, dx): y
// from x, and dx from the gradient `grad` and the saved tensor `kept`, which is x, or y if the op
// saves y. value[0] and value[1] are the parameters. Both devices generate their loops from this.
#ifndef TENSOR_OPS_ACTIVATION_LIST_H
#define TENSOR_OPS_ACTIVATION_LIST_H

#include "tensor/math_activation.h"

// One list per file: relu.c, activations.c, activations_piecewise.c.
#define RELU_LIST(X) X(relu, math_relu(x), math_relu_backward(grad, kept))
#define SMOOTH_LIST(X)                                                                             \
    X(sigmoid, math_sigmoid(x), math_sigmoid_backward(grad, kept))                                 \
    X(tanh, math_tanh(x), math_tanh_backward(grad, kept))                                          \
    X(silu, math_silu(x), math_silu_backward(grad, kept))                                          \
    X(gelu, math_gelu(x), math_gelu_backward(grad, kept))                                          \
    X(gelu_tanh, math_gelu_tanh(x), math_gelu_tanh_backward(grad, kept))                           \
    X(quick_gelu, math_quick_gelu(x), math_quick_gelu_backward(grad, kept))                        \
    X(softplus, math_softplus(x, value[0], value[1]),                                              \
      math_softplus_backward(grad, kept, value[0], value[1]))                                      \
    X(log_sigmoid, math_log_sigmoid(x), math_log_sigmoid_backward(grad, kept))                     \
    X(mish, math_mish(x), math_mish_backward(grad, kept))                                          \
    X(softsign, math_softsign(x), math_softsign_backward(grad, kept))                              \
    X(tanhshrink, math_tanhshrink(x), math_tanhshrink_backward(grad, kept))
#define PIECEWISE_LIST(X)                                                                          \
    X(leaky_relu, math_leaky_relu(x, value[0]), math_leaky_relu_backward(grad, kept, value[0]))    \
    X(relu6, math_clamp(x, 0.0f, 6.0f), math_hardtanh_backward(grad, kept, 0.0f, 6.0f))            \
    X(hardtanh, math_clamp(x, value[0], value[1]),                                                 \
      math_hardtanh_backward(grad, kept, value[0], value[1]))                                      \
    X(hardsigmoid, math_hardsigmoid(x), math_hardsigmoid_backward(grad, kept))                     \
    X(hardswish, math_hardswish(x), math_hardswish_backward(grad, kept))                           \
    X(elu, math_elu(x, value[0]), math_elu_backward(grad, kept, value[0]))                         \
    X(selu, math_selu(x), math_selu_backward(grad, kept))                                          \
    X(celu, math_celu(x, value[0]), math_celu_backward(grad, kept, value[0]))                      \
    X(softshrink, math_softshrink(x, value[0]), math_shrink_backward(grad, kept, value[0]))        \
    X(hardshrink, math_hardshrink(x, value[0]), math_shrink_backward(grad, kept, value[0]))        \
    X(threshold, math_threshold(x, value[0], value[1]),                                            \
      math_threshold_backward(grad, kept, value[0]))
#define ACTIVATION_LIST(X) RELU_LIST(X) SMOOTH_LIST(X) PIECEWISE_LIST(X)

#endif
