// elementwise_backward.cu -- the element-wise ops, backward: what the result's gradient becomes on
// its way to the input, from the input x or the output y that was saved. The loops are in
// elementwise.cuh.
#include "cuda/elementwise.cuh"

extern "C" {
#include "tensor/ops.h"
}

#define BACKWARD(name, saved, expression)                                                          \
    DENSE_OP(name, 2, (float grad, float saved, float), expression)
BACKWARD(abs_backward, x, math_absolute_backward(grad, x))
// x^0 is constant, also where x^-1 is infinite.
BACKWARD(pow_backward, x, value[0] == 0.0f ? 0.0f : grad * math_pow_derivative(x, value[0]))
BACKWARD(clamp_backward, x, math_clamp_backward(grad, x, value[0], value[1]))
BACKWARD(relu_backward, y, math_relu_backward(grad, y))
BACKWARD(leaky_relu_backward, x, math_leaky_relu_backward(grad, x, value[0]))
BACKWARD(sigmoid_backward, y, math_sigmoid_backward(grad, y))
BACKWARD(silu_backward, x, math_silu_backward(grad, x))
BACKWARD(tanh_backward, y, math_tanh_backward(grad, y))
BACKWARD(gelu_backward, x, math_gelu_backward(grad, x))
BACKWARD(gelu_tanh_backward, x, math_gelu_tanh_backward(grad, x))

// grad has the shape of the result; mine and other may be broadcast to it.
BROADCAST_OP(maximum_backward, 3, (float grad, float mine, float other),
             math_max_backward(grad, mine, other))
