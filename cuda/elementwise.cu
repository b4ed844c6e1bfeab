// elementwise.cu -- the element-wise ops, forward: a list of formulas, most of them those of
// tensor/math.h, as on the CPU. The loops around them are in elementwise.cuh.
#include "cuda/activations.cuh"

extern "C" {
#include "tensor/ops.h"
}

// ---- two tensors, broadcast: y = f(a, b) -------------------------------------------------------
#define BINARY(name, expression) BROADCAST_OP(name, 2, (float a, float b, float), expression)
BINARY(add, math_add(a, b))
BINARY(sub, math_sub(a, b))
BINARY(mul, math_mul(a, b))
BINARY(div, math_div(a, b))
BINARY(maximum, math_max(a, b))

// ---- one tensor: y = f(x) ----------------------------------------------------------------------
UNARY(add_scalar, math_add(x, value[0]))
UNARY(mul_scalar, flags ? math_div(x, value[0]) : math_mul(x, value[0]))
UNARY(neg, -x)
UNARY(abs, math_absolute(x))
UNARY(pow, math_pow(x, value[0]))
UNARY(clamp, math_clamp(x, value[0], value[1]))
UNARY(exp, math_exp(x))
UNARY(log, math_log(x))
UNARY(sqrt, math_sqrt(x))

ACTIVATION_LIST(DENSE_KERNEL)

// ---- in place ----------------------------------------------------------------------------------
// The sum goes where the call's output is, mostly the first input.
DENSE_OP(accumulate, 2, (float into, float more, float), math_add(into, more))

// Overwrites its input; there is no output, and nothing is read.
FORMULA(fill, 0, (float, float, float), value[0])
CUDA_OP(fill) {
    return launch_dense<fill_formula>(call, cuda, call_in(call, 0), call->in[0]->numel);
}
