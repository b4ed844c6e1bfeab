// activations.cuh -- internal to cuda/: the ops of activation_list.h, which can be fused into a
// product. elementwise.cu makes kernels of them, elementwise_backward.cu kernels of their slopes,
// product.cu the epilogues of products.
#ifndef CUDA_ACTIVATIONS_CUH
#define CUDA_ACTIVATIONS_CUH

#include "cuda/elementwise.cuh"

extern "C" {
#include "tensor/ops.h"
}
#include "tensor/ops/activation_list.h"

// y = f(x)
#define UNARY_FORMULA(name, expression) FORMULA(name, 1, (float x, float, float), expression)
#define UNARY(name, expression)                                                                    \
    UNARY_FORMULA(name, expression)                                                                \
    DENSE_KERNEL(name, expression)

#define ACTIVATION_FORMULA(name, y_of_x, dx_of_grad) UNARY_FORMULA(name, y_of_x)
ACTIVATION_LIST(ACTIVATION_FORMULA)

#endif
