// elementwise.cu -- the element-wise ops, forward: a list of formulas, mostly those of
// tensor/math.h, as on the CPU. elementwise.cuh has the loops around them.
#include "cuda/activations.cuh"
#include "cuda/whole.cuh"

extern "C" {
#include "tensor/ops.h"
}

// ---- two tensors, broadcast: y = f(a, b) -------------------------------------------------------
#define BINARY(name, expression) BROADCAST_OP(name, 2, (float a, float b, float), expression)
// Also defines the int64 version by its own expression; if it divides, it checks b for 0.
#define NUMBERS(name, expression, whole, Result, looks)                                            \
    FORMULA(name, 2, (float a, float b, float), expression)                                        \
    WHOLE_FORMULA(name, whole, Result, looks)                                                      \
    CUDA_OP(name) {                                                                                \
        return call->in[0]->dtype == DTYPE_INT64 ? launch_whole<name##_whole>(call, cuda)          \
                                                 : launch_broadcast<name##_formula>(call, cuda);   \
    }
NUMBERS(add, math_add(a, b), math_whole_add(a, b), int64_t, false)
NUMBERS(sub, math_sub(a, b), math_whole_sub(a, b), int64_t, false)
NUMBERS(mul, math_mul(a, b), math_whole_mul(a, b), int64_t, false)
NUMBERS(div, math_div(a, b), math_whole_div(a, b), int64_t, true)
NUMBERS(maximum, math_max(a, b), math_whole_max(a, b), int64_t, false)
NUMBERS(minimum, math_min(a, b), math_whole_min(a, b), int64_t, false)
NUMBERS(fmod, math_fmod(a, b), math_whole_fmod(a, b), int64_t, true)
NUMBERS(remainder, math_remainder(a, b), math_whole_remainder(a, b), int64_t, true)
NUMBERS(less, math_less(a, b), math_whole_less(a, b), float, false)
NUMBERS(less_equal, math_less_equal(a, b), math_whole_less_equal(a, b), float, false)
NUMBERS(equal, math_equal(a, b), math_whole_equal(a, b), float, false)
NUMBERS(not_equal, math_not_equal(a, b), math_whole_not_equal(a, b), float, false)
BINARY(pow_tensor, math_pow(a, b))
BINARY(logical_and, math_logical_and(a, b))
BINARY(logical_or, math_logical_or(a, b))
BINARY(prelu, math_leaky_relu(a, b))

// ---- condition ? a : b; a and b may be numbers -------------------------------------------------
struct where_formula {
    static constexpr int inputs = 3;
    float value[2];
    bool has_a, has_b;
    explicit where_formula(const OpCall *call)
        : value{call->params.value[0], call->params.value[1]}, has_a(call->in[1] != NULL),
          has_b(call->in[2] != NULL) {}
    __device__ float operator()(float condition, float a, float b) const {
        return math_where(condition, has_a ? a : value[0], has_b ? b : value[1]);
    }
};

// y (n) = condition ? a : b for int64; strides along y's dimensions locate each; NULL stands for
// `number`
__global__ static void choose_whole(const float *condition, const int64_t *a, const int64_t *b,
                                    int64_t number, Walk walk, int64_t *y, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t offset[MOST_INPUTS] = {};
        find(walk, 3, i, offset);
        bool first = condition[offset[0]] != 0.0f;
        const int64_t *chosen = first ? a : b;
        y[i] = chosen ? chosen[offset[first ? 1 : 2]] : number;
    }
}

static Status launch_choose_whole(const OpCall *call, CudaDevice *cuda) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    const int64_t *in[3] = {};
    for (int k = 1; k < 3; k++) in[k] = call->in[k] ? cuda_indices(call->in[k]) : NULL;
    return CUDA_LAUNCH(choose_whole, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), in[1], in[2],
                       call->params.whole, walk_of(call, 3), cuda_indices(call->out[0]), n);
}

CUDA_OP(where) {
    return call->out[0]->dtype == DTYPE_INT64 ? launch_choose_whole(call, cuda)
                                              : launch_broadcast<where_formula>(call, cuda);
}

// ---- one tensor: y = f(x) ----------------------------------------------------------------------
UNARY(add_scalar, math_add(x, value[0]))
UNARY(mul_scalar, flags ? math_div(x, value[0]) : math_mul(x, value[0]))
#define UNARY_NUMBERS(name, expression, whole)                                                     \
    UNARY_FORMULA(name, expression)                                                                \
    WHOLE_FORMULA(name, whole, int64_t, false)                                                     \
    CUDA_OP(name) {                                                                                \
        return call->in[0]->dtype == DTYPE_INT64                                                   \
                   ? launch_whole<name##_whole>(call, cuda)                                        \
                   : launch_dense<name##_formula>(call, cuda, call_out(call, 0),                   \
                                                  call_numel(call));                               \
    }
UNARY_NUMBERS(neg, -x, math_whole_negate(a))
UNARY_NUMBERS(abs, math_absolute(x), math_whole_absolute(a))
UNARY(pow, math_pow(x, value[0]))
UNARY(clamp, math_clamp(x, value[0], value[1]))
UNARY(exp, math_exp(x))
UNARY(log, math_log(x))
UNARY(sqrt, math_sqrt(x))
UNARY(erf, math_erf(x))
UNARY(sin, math_sin(x))
UNARY(cos, math_cos(x))
UNARY(reciprocal, math_reciprocal(x))
UNARY(rsqrt, math_rsqrt(x))
UNARY_NUMBERS(sign, math_sign(x), math_whole_sign(a))
UNARY(floor, math_floor(x))
UNARY(ceil, math_ceil(x))
UNARY(round, math_round(x))

#define ACTIVATION_KERNEL(name, y_of_x, dx_of_grad) DENSE_KERNEL(name, y_of_x)
ACTIVATION_LIST(ACTIVATION_KERNEL)

// ---- in place ----------------------------------------------------------------------------------
// The sum goes to the call's output, mostly the first input.
DENSE_OP(accumulate, 2, (float into, float more, float), math_add(into, more))

// Overwrites its input; it has no output, and reads nothing.
FORMULA(fill, 0, (float, float, float), value[0])
CUDA_OP(fill) {
    return launch_dense<fill_formula>(call, cuda, call_in(call, 0), call->in[0]->numel);
}
