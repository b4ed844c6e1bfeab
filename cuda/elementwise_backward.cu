// elementwise_backward.cu -- the element-wise ops, backward: the input's gradient from the
// output's, with the saved input x or output y. elementwise.cuh has the loops.
#include "cuda/activations.cuh"

#define BACKWARD(name, saved, expression)                                                          \
    DENSE_OP(name, 2, (float grad, float saved, float), expression)
BACKWARD(abs_backward, x, math_absolute_backward(grad, x))
// x^0 is constant, even if x^-1 is infinite.
BACKWARD(pow_backward, x, value[0] == 0.0f ? 0.0f : grad * math_pow_derivative(x, value[0]))
BACKWARD(clamp_backward, x, math_clamp_backward(grad, x, value[0], value[1]))

#define SLOPE(of, y_of_x, dx_of_grad) BACKWARD(of##_backward, kept, dx_of_grad)
ACTIVATION_LIST(SLOPE)
BACKWARD(prelu_backward_weight, x, math_prelu_backward_weight(grad, x))

// grad has the result's shape; mine and other may be broadcast to it.
BROADCAST_OP(maximum_backward, 3, (float grad, float mine, float other),
             math_max_backward(grad, mine, other))
// grad and x have the result's shape; the weight is broadcast to it.
BROADCAST_OP(prelu_backward, 3, (float grad, float x, float weight),
             math_leaky_relu_backward(grad, x, weight))
