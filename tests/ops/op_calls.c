// op_calls.c -- every public op behind one function type, so that a table can call it.
// The cases themselves are in op_cases.c.
#include "tests/ops/op_cases.h"

#include <math.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/op.h"

// ---- options of sequences, taken from those along the width -------------------------------------
static Conv1dOptions sequence_conv(const OpArguments *a) {
    const Conv2dOptions *o = &a->conv;
    return (Conv1dOptions){o->stride_w, o->padding_left, o->padding_right, o->dilation_w,
                           o->groups};
}

static Pool1dOptions sequence_pool(const OpArguments *a) {
    const Pool2dOptions *o = &a->pool;
    return (Pool1dOptions){.kernel = o->kernel_w,
                           .stride = o->stride_w,
                           .padding_left = o->padding_left,
                           .padding_right = o->padding_right,
                           .dilation = o->dilation_w,
                           .ceil_mode = o->ceil_mode,
                           .exclude_pad = o->exclude_pad};
}

// ---- one function per op ----------------------------------------------------------------------
#define CALL(name, expression)                                                                     \
    static Tensor *call_##name(Tensor *const in[], int n_in, const OpArguments *a) {               \
        (void)n_in, (void)a;                                                                       \
        return expression;                                                                         \
    }
CALL(add, tensor_add(in[0], in[1]))
CALL(sub, tensor_sub(in[0], in[1]))
CALL(mul, tensor_mul(in[0], in[1]))
CALL(div, tensor_div(in[0], in[1]))
CALL(maximum, tensor_maximum(in[0], in[1]))
CALL(less, tensor_less(in[0], in[1]))
CALL(less_equal, tensor_less_equal(in[0], in[1]))
CALL(equal, tensor_equal(in[0], in[1]))
CALL(not_equal, tensor_not_equal(in[0], in[1]))
CALL(greater, tensor_greater(in[0], in[1]))
CALL(greater_equal, tensor_greater_equal(in[0], in[1]))
CALL(where, tensor_where(in[2], in[0], in[1])) // a condition comes last
CALL(masked_fill, tensor_masked_fill(in[0], in[1], a->value))
CALL(where_numbers,
     OP_RUN(op_where, (&(OpParams){.value = {a->value, 2.0f}}), in[0], (Tensor *)NULL, NULL))
CALL(triangle, a->flag ? tensor_triu(in[0], a->dim) : tensor_tril(in[0], a->dim))
CALL(masked_softmax, // as attention masks with the upper triangle
     tensor_softmax(tensor_masked_fill(in[0], tensor_triu(in[1], a->dim), -INFINITY), -1))
CALL(neg, tensor_neg(in[0]))
CALL(abs, tensor_abs(in[0]))
CALL(pow, tensor_pow(in[0], a->value))
CALL(clamp, tensor_clamp(in[0], a->value, a->value + 1.0f))
CALL(add_scalar, tensor_add_scalar(in[0], a->value))
CALL(sub_scalar, tensor_sub_scalar(in[0], a->value))
CALL(mul_scalar, tensor_mul_scalar(in[0], a->value))
CALL(div_scalar, tensor_div_scalar(in[0], a->value))
CALL(exp, tensor_exp(in[0]))
CALL(log, tensor_log(in[0]))
CALL(sqrt, tensor_sqrt(in[0]))
CALL(erf, tensor_erf(in[0]))
CALL(sin, tensor_sin(in[0]))
CALL(cos, tensor_cos(in[0]))
CALL(reciprocal, tensor_reciprocal(in[0]))
CALL(rsqrt, tensor_rsqrt(in[0]))
CALL(sign, tensor_sign(in[0]))
CALL(floor, tensor_floor(in[0]))
CALL(ceil, tensor_ceil(in[0]))
CALL(round, tensor_round(in[0]))
CALL(logical_not, tensor_logical_not(in[0]))
CALL(isnan, tensor_isnan(in[0]))
CALL(minimum, tensor_minimum(in[0], in[1]))
CALL(fmod, tensor_fmod(in[0], in[1]))
CALL(remainder, tensor_remainder(in[0], in[1]))
CALL(pow_tensor, tensor_pow_tensor(in[0], in[1]))
CALL(logical_and, tensor_logical_and(in[0], in[1]))
CALL(logical_or, tensor_logical_or(in[0], in[1]))
CALL(relu, tensor_relu(in[0]))
CALL(leaky_relu, tensor_leaky_relu(in[0], a->value))
CALL(silu, tensor_silu(in[0]))
CALL(sigmoid, tensor_sigmoid(in[0]))
CALL(tanh, tensor_tanh(in[0]))
CALL(gelu, tensor_gelu(in[0]))
CALL(gelu_tanh, tensor_gelu_tanh(in[0]))
CALL(relu6, tensor_relu6(in[0]))
CALL(hardsigmoid, tensor_hardsigmoid(in[0]))
CALL(hardswish, tensor_hardswish(in[0]))
CALL(selu, tensor_selu(in[0]))
CALL(softsign, tensor_softsign(in[0]))
CALL(mish, tensor_mish(in[0]))
CALL(log_sigmoid, tensor_log_sigmoid(in[0]))
CALL(tanhshrink, tensor_tanhshrink(in[0]))
CALL(quick_gelu, tensor_quick_gelu(in[0]))
CALL(hardtanh, tensor_hardtanh(in[0], a->value, a->value + 1.0f))
CALL(elu, tensor_elu(in[0], a->value))
CALL(celu, tensor_celu(in[0], a->value))
CALL(softplus, tensor_softplus(in[0], a->value, a->flag ? 1.0f : 20.0f))
CALL(softshrink, tensor_softshrink(in[0], a->value))
CALL(hardshrink, tensor_hardshrink(in[0], a->value))
CALL(threshold, tensor_threshold(in[0], a->value, 7.0f))
CALL(prelu, tensor_prelu(in[0], in[1]))
CALL(glu, tensor_glu(in[0], a->dim))
CALL(activation, tensor_activation(in[0], a->activation))
CALL(matmul, tensor_matmul(in[0], in[1]))
CALL(linear, tensor_linear(in[0], in[1], n_in > 2 ? in[2] : NULL, a->activation))
CALL(conv2d, tensor_conv2d(in[0], in[1], n_in > 2 ? in[2] : NULL, a->conv))
CALL(conv_transpose2d,
     tensor_conv_transpose2d(in[0], in[1], n_in > 2 ? in[2] : NULL,
                             (ConvTranspose2dOptions){a->conv, a->output[0], a->output[1]}))
CALL(conv1d, tensor_conv1d(in[0], in[1], n_in > 2 ? in[2] : NULL, sequence_conv(a)))
CALL(conv_transpose1d,
     tensor_conv_transpose1d(in[0], in[1], n_in > 2 ? in[2] : NULL,
                             (ConvTranspose1dOptions){sequence_conv(a), a->output[1]}))
CALL(max_pool1d, tensor_max_pool1d(in[0], sequence_pool(a)))
CALL(avg_pool1d, tensor_avg_pool1d(in[0], sequence_pool(a)))
CALL(adaptive_avg_pool1d, tensor_adaptive_avg_pool1d(in[0], a->output[1]))
CALL(pad, tensor_pad(in[0], a->before, a->after, a->pad_mode, a->value))
CALL(resize, tensor_resize(in[0], a->resize))
CALL(flip, tensor_flip(in[0], a->dims, a->n_dims))
CALL(pixel_shuffle, tensor_pixel_shuffle(in[0], a->output[0]))
CALL(pixel_unshuffle, tensor_pixel_unshuffle(in[0], a->output[0]))
CALL(depth_to_space, tensor_depth_to_space(in[0], a->output[0]))
CALL(max_pool2d, tensor_max_pool2d(in[0], a->pool))
CALL(avg_pool2d, tensor_avg_pool2d(in[0], a->pool))
CALL(adaptive_avg_pool2d, tensor_adaptive_avg_pool2d(in[0], a->output[0], a->output[1]))
CALL(sum, tensor_sum(in[0], a->dim, a->flag))
CALL(mean, tensor_mean(in[0], a->dim, a->flag))
CALL(sum_dims, tensor_sum_dims(in[0], a->dims, a->n_dims, a->flag))
CALL(mean_dims, tensor_mean_dims(in[0], a->dims, a->n_dims, a->flag))
CALL(max, tensor_max(in[0], a->dim, a->flag))
CALL(argmax, tensor_argmax(in[0], a->dim, a->flag))
CALL(min, tensor_min(in[0], a->dim, a->flag))
CALL(argmin, tensor_argmin(in[0], a->dim, a->flag))
CALL(topk, tensor_topk(in[0], a->output[0], a->dim, !a->flag, NULL))
CALL(var, tensor_var(in[0], a->dim, a->value, a->flag))
CALL(std, tensor_std(in[0], a->dim, a->value, a->flag))
CALL(cumsum, tensor_cumsum(in[0], a->dim))
CALL(softmax, tensor_softmax(in[0], a->dim))
CALL(log_softmax, tensor_log_softmax(in[0], a->dim))
CALL(instance_norm,
     tensor_instance_norm(in[0], n_in > 1 ? in[1] : NULL, n_in > 2 ? in[2] : NULL, a->value))
CALL(embedding, a->flag ? tensor_embedding_signed(in[1], in[0])
                        : tensor_embedding(in[1], in[0])) // in[0] says how many labels there are
CALL(cross_entropy, tensor_cross_entropy(in[0], in[1]))
CALL(mse, tensor_mse(in[0], in[1]))
CALL(l1, tensor_l1(in[0], in[1]))
CALL(huber, tensor_huber(in[0], in[1], a->value))
CALL(smooth_l1, tensor_smooth_l1(in[0], in[1], a->value))
CALL(kl_divergence, tensor_kl_divergence(in[0], in[1]))
CALL(binary_cross_entropy, tensor_binary_cross_entropy_with_logits(in[0], in[1]))
CALL(cast, tensor_cast(in[0], in[0]->dtype == DTYPE_INT64 ? DTYPE_FLOAT32 : DTYPE_INT64))
CALL(wrap, tensor_wrap(in[0], a->dim, a->flag))
CALL(one_hot, (a->flag ? tensor_one_hot_signed
                       : tensor_one_hot)(in[0], in[0]->shape.dims[in[0]->shape.ndim - 1] + a->dim))
CALL(concat, tensor_concat(in, n_in, a->dim))
CALL(stack, tensor_stack(in, n_in, a->dim))
CALL(gather, (a->flag ? tensor_gather_signed : tensor_gather)(in[0], a->dim, in[1]))
CALL(contiguous, tensor_contiguous(in[0]))
CALL(detach, tensor_detach(in[0]))
CALL(flatten, tensor_reshape(in[0], SHAPE(-1)))
CALL(transpose, tensor_transpose(in[0], -1, -2))
CALL(slice, tensor_slice(in[0], a->dim, 1, in[0]->shape.dims[a->dim], a->flag ? 2 : 1))
CALL(slice_from_end, tensor_slice(in[0], a->dim, -2, a->flag ? -1 : SLICE_END, 1))
CALL(slices, tensor_sub(tensor_slice(in[0], a->dim, 0, in[0]->shape.dims[a->dim] - 1, 1),
                        tensor_slice(in[0], a->dim, 1, in[0]->shape.dims[a->dim], 1)))
CALL(clip_norm, tensor_clip_norm(in, n_in, a->value))
CALL(fill, tensor_fill(in[0], a->value) == STATUS_OK ? in[0] : NULL)
CALL(assign, tensor_assign(in[0], in[1]) == STATUS_OK ? in[0] : NULL)
CALL(accumulate, tensor_accumulate(in[0], in[1]) == STATUS_OK ? in[0] : NULL)
#undef CALL

static Tensor *call_permute(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in, (void)a;
    int reversed[TENSOR_MAX_DIMS];
    for (int i = 0; i < in[0]->shape.ndim; i++) reversed[i] = in[0]->shape.ndim - 1 - i;
    return tensor_permute(in[0], reversed);
}

static Tensor *call_expand(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in, (void)a;
    Shape wide = {.ndim = in[0]->shape.ndim + 1, .dims = {3}};
    for (int i = 0; i < in[0]->shape.ndim; i++) {
        wide.dims[i + 1] = in[0]->shape.dims[i] == 1 ? 2 : in[0]->shape.dims[i];
    }
    return tensor_expand(in[0], wide);
}

// Restarts the random numbers, so that a numeric gradient sees the same mask each time.
static Tensor *call_dropout(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    context_seed(7);
    return tensor_dropout(in[0], a->value);
}

static Tensor *call_dropout_blocks(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    context_seed(7);
    return tensor_dropout_blocks(in[0], a->dim, a->value);
}

// Class weights are no input of the case: they have no gradient.
static Tensor *with_label_loss(Tensor *(*loss)(Tensor *, Tensor *, LabelLoss), Tensor *const in[],
                               const OpArguments *a) {
    enum { MOST = 300 };
    float weight[MOST];
    int64_t classes = in[0]->shape.dims[in[0]->shape.ndim - 1];
    for (int64_t j = 0; j < classes && j < MOST; j++) weight[j] = 0.25f + 0.5f * (float)(j % 4);
    LabelLoss options = {.ignores = a->dim >= 0, .ignored = a->dim, .smoothing = a->value};
    if (a->flag) options.weight = tensor_from_floats_new(SHAPE(classes), weight);
    Tensor *result = loss(in[0], in[1], options);
    tensor_free(options.weight);
    return result;
}

static Tensor *call_nll(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    return with_label_loss(tensor_nll, in, a);
}

static Tensor *call_cross_entropy_with(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    return with_label_loss(tensor_cross_entropy_with, in, a);
}

static Tensor *call_sgd_step(Tensor *const in[], int n_in, const OpArguments *a) {
    SgdParams params = {.momentum = a->value, .weight_decay = a->decay, .nesterov = a->flag};
    int period = a->value != 0.0f ? 3 : 2;
    Status status = tensor_sgd_step(in, (n_in - 1) / period, params);
    return status == STATUS_OK ? in[1] : NULL;
}

static Tensor *call_adam_step(Tensor *const in[], int n_in, const OpArguments *a) {
    AdamParams params = {0.9f, 0.999f, 1e-8f, a->decay, a->flag};
    Status status = tensor_adam_step(in, (n_in - 1) / 4, params);
    return status == STATUS_OK ? in[1] : NULL;
}

static Tensor *call_rmsprop_step(Tensor *const in[], int n_in, const OpArguments *a) {
    RmspropParams params = {0.99f, 1e-8f, a->decay};
    return tensor_rmsprop_step(in, (n_in - 1) / 3, params) == STATUS_OK ? in[1] : NULL;
}

static Tensor *call_lion_step(Tensor *const in[], int n_in, const OpArguments *a) {
    LionParams params = {0.9f, 0.99f, a->decay};
    return tensor_lion_step(in, (n_in - 1) / 3, params) == STATUS_OK ? in[1] : NULL;
}

static const NamedFunction functions[] = {
    {"add", call_add},
    {"sub", call_sub},
    {"mul", call_mul},
    {"div", call_div},
    {"maximum", call_maximum},
    {"less", call_less},
    {"less_equal", call_less_equal},
    {"equal", call_equal},
    {"not_equal", call_not_equal},
    {"greater", call_greater},
    {"greater_equal", call_greater_equal},
    {"where", call_where},
    {"masked_fill", call_masked_fill},
    {"where_numbers", call_where_numbers},
    {"triangle", call_triangle},
    {"masked_softmax", call_masked_softmax},
    {"neg", call_neg},
    {"abs", call_abs},
    {"pow", call_pow},
    {"clamp", call_clamp},
    {"add_scalar", call_add_scalar},
    {"sub_scalar", call_sub_scalar},
    {"mul_scalar", call_mul_scalar},
    {"div_scalar", call_div_scalar},
    {"exp", call_exp},
    {"log", call_log},
    {"sqrt", call_sqrt},
    {"erf", call_erf},
    {"sin", call_sin},
    {"cos", call_cos},
    {"reciprocal", call_reciprocal},
    {"rsqrt", call_rsqrt},
    {"sign", call_sign},
    {"floor", call_floor},
    {"ceil", call_ceil},
    {"round", call_round},
    {"logical_not", call_logical_not},
    {"isnan", call_isnan},
    {"minimum", call_minimum},
    {"fmod", call_fmod},
    {"remainder", call_remainder},
    {"pow_tensor", call_pow_tensor},
    {"logical_and", call_logical_and},
    {"logical_or", call_logical_or},
    {"relu", call_relu},
    {"leaky_relu", call_leaky_relu},
    {"silu", call_silu},
    {"sigmoid", call_sigmoid},
    {"tanh", call_tanh},
    {"gelu", call_gelu},
    {"gelu_tanh", call_gelu_tanh},
    {"relu6", call_relu6},
    {"hardsigmoid", call_hardsigmoid},
    {"hardswish", call_hardswish},
    {"selu", call_selu},
    {"softsign", call_softsign},
    {"mish", call_mish},
    {"log_sigmoid", call_log_sigmoid},
    {"tanhshrink", call_tanhshrink},
    {"quick_gelu", call_quick_gelu},
    {"hardtanh", call_hardtanh},
    {"elu", call_elu},
    {"celu", call_celu},
    {"softplus", call_softplus},
    {"softshrink", call_softshrink},
    {"hardshrink", call_hardshrink},
    {"threshold", call_threshold},
    {"prelu", call_prelu},
    {"glu", call_glu},
    {"activation", call_activation},
    {"matmul", call_matmul},
    {"linear", call_linear},
    {"conv2d", call_conv2d},
    {"conv_transpose2d", call_conv_transpose2d},
    {"conv1d", call_conv1d},
    {"conv_transpose1d", call_conv_transpose1d},
    {"max_pool1d", call_max_pool1d},
    {"avg_pool1d", call_avg_pool1d},
    {"adaptive_avg_pool1d", call_adaptive_avg_pool1d},
    {"pad", call_pad},
    {"resize", call_resize},
    {"flip", call_flip},
    {"pixel_shuffle", call_pixel_shuffle},
    {"pixel_unshuffle", call_pixel_unshuffle},
    {"depth_to_space", call_depth_to_space},
    {"max_pool2d", call_max_pool2d},
    {"avg_pool2d", call_avg_pool2d},
    {"adaptive_avg_pool2d", call_adaptive_avg_pool2d},
    {"sum", call_sum},
    {"mean", call_mean},
    {"sum_dims", call_sum_dims},
    {"mean_dims", call_mean_dims},
    {"max", call_max},
    {"argmax", call_argmax},
    {"min", call_min},
    {"argmin", call_argmin},
    {"topk", call_topk},
    {"var", call_var},
    {"std", call_std},
    {"cumsum", call_cumsum},
    {"softmax", call_softmax},
    {"log_softmax", call_log_softmax},
    {"embedding", call_embedding},
    {"cross_entropy", call_cross_entropy},
    {"cross_entropy_with", call_cross_entropy_with},
    {"nll", call_nll},
    {"mse", call_mse},
    {"l1", call_l1},
    {"huber", call_huber},
    {"smooth_l1", call_smooth_l1},
    {"kl_divergence", call_kl_divergence},
    {"binary_cross_entropy", call_binary_cross_entropy},
    {"cast", call_cast},
    {"wrap", call_wrap},
    {"one_hot", call_one_hot},
    {"concat", call_concat},
    {"stack", call_stack},
    {"gather", call_gather},
    {"contiguous", call_contiguous},
    {"detach", call_detach},
    {"flatten", call_flatten},
    {"transpose", call_transpose},
    {"permute", call_permute},
    {"slice", call_slice},
    {"slice_from_end", call_slice_from_end},
    {"slices", call_slices},
    {"expand", call_expand},
    {"dropout", call_dropout},
    {"dropout_blocks", call_dropout_blocks},
    {"fill", call_fill},
    {"assign", call_assign},
    {"accumulate", call_accumulate},
    {"instance_norm", call_instance_norm},
    {"clip_norm", call_clip_norm},
    {"sgd_step", call_sgd_step},
    {"adam_step", call_adam_step},
    {"rmsprop_step", call_rmsprop_step},
    {"lion_step", call_lion_step},
    {0},
};

static OpFunction find(const NamedFunction *one, const char *name) {
    while (one->name && strcmp(one->name, name) != 0) one++;
    return one->function;
}

OpFunction op_function_by_name(const char *name) {
    OpFunction function = find(functions, name);
    return function ? function : find(op_network_functions, name);
}
