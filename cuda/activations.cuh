// activations.cuh -- internal to cuda/: the ops of one tensor that can be fused into a product,
// each in one line. elementwise.cu makes kernels of them, product.cu what finishes a product.
#ifndef CUDA_ACTIVATIONS_CUH
#define CUDA_ACTIVATIONS_CUH

#include "cuda/elementwise.cuh"

extern "C" {
#include "tensor/ops.h"
}

// y = f(x)
#define UNARY_FORMULA(name, expression) FORMULA(name, 1, (float x, float, float), expression)
#define UNARY(name, expression)                                                                    \
    UNARY_FORMULA(name, expression)                                                                \
    DENSE_KERNEL(name, expression)

#define ACTIVATION_LIST(X)                                                                         \
    X(relu, math_relu(x))                                                                          \
    X(leaky_relu, math_leaky_relu(x, value[0]))                                                    \
    X(sigmoid, math_sigmoid(x))                                                                    \
    X(silu, math_silu(x))                                                                          \
    X(tanh, math_tanh(x))                                                                          \
    X(gelu, math_gelu(x))                                                                          \
    X(gelu_tanh, math_gelu_tanh(x))
ACTIVATION_LIST(UNARY_FORMULA)

#endif
