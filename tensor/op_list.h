// op_list.h -- every op, one line each: COMPUTE(name) has kernels, VIEW(name) needs none. The list
// generates ids, declarations and the devices' tables. A file of ops/ defines each op: its own file
// or that of its family (unary.c, binary.c, compare.c, scalar.c, activations.c, view.c, assign.c,
// loss.c ...).
#ifndef TENSOR_OP_LIST_H
#define TENSOR_OP_LIST_H

#include "tensor/api.h"

#define OP_LIST(COMPUTE, VIEW)                                                                     \
    VIEW(reshape)                                                                                  \
    VIEW(permute)                                                                                  \
    VIEW(slice)                                                                                    \
    VIEW(expand)                                                                                   \
    VIEW(detach)                                                                                   \
    COMPUTE(contiguous)                                                                            \
    COMPUTE(slice_backward)                                                                        \
    COMPUTE(concat)                                                                                \
    COMPUTE(gather)                                                                                \
    COMPUTE(gather_backward)                                                                       \
    COMPUTE(cast)                                                                                  \
    COMPUTE(wrap)                                                                                  \
    COMPUTE(one_hot)                                                                               \
    COMPUTE(fill)                                                                                  \
    COMPUTE(assign)                                                                                \
    COMPUTE(accumulate)                                                                            \
    COMPUTE(add)                                                                                   \
    COMPUTE(sub)                                                                                   \
    COMPUTE(mul)                                                                                   \
    COMPUTE(div)                                                                                   \
    COMPUTE(maximum)                                                                               \
    COMPUTE(maximum_backward)                                                                      \
    COMPUTE(minimum)                                                                               \
    COMPUTE(fmod)                                                                                  \
    COMPUTE(remainder)                                                                             \
    COMPUTE(pow_tensor)                                                                            \
    COMPUTE(less)                                                                                  \
    COMPUTE(less_equal)                                                                            \
    COMPUTE(equal)                                                                                 \
    COMPUTE(not_equal)                                                                             \
    COMPUTE(logical_and)                                                                           \
    COMPUTE(logical_or)                                                                            \
    COMPUTE(where)                                                                                 \
    COMPUTE(triangle)                                                                              \
    COMPUTE(add_scalar)                                                                            \
    COMPUTE(mul_scalar)                                                                            \
    COMPUTE(neg)                                                                                   \
    COMPUTE(abs)                                                                                   \
    COMPUTE(abs_backward)                                                                          \
    COMPUTE(pow)                                                                                   \
    COMPUTE(pow_backward)                                                                          \
    COMPUTE(clamp)                                                                                 \
    COMPUTE(clamp_backward)                                                                        \
    COMPUTE(exp)                                                                                   \
    COMPUTE(log)                                                                                   \
    COMPUTE(sqrt)                                                                                  \
    COMPUTE(erf)                                                                                   \
    COMPUTE(sin)                                                                                   \
    COMPUTE(cos)                                                                                   \
    COMPUTE(reciprocal)                                                                            \
    COMPUTE(rsqrt)                                                                                 \
    COMPUTE(sign)                                                                                  \
    COMPUTE(floor)                                                                                 \
    COMPUTE(ceil)                                                                                  \
    COMPUTE(round)                                                                                 \
    COMPUTE(relu)                                                                                  \
    COMPUTE(relu_backward)                                                                         \
    COMPUTE(leaky_relu)                                                                            \
    COMPUTE(leaky_relu_backward)                                                                   \
    COMPUTE(sigmoid)                                                                               \
    COMPUTE(sigmoid_backward)                                                                      \
    COMPUTE(silu)                                                                                  \
    COMPUTE(silu_backward)                                                                         \
    COMPUTE(tanh)                                                                                  \
    COMPUTE(tanh_backward)                                                                         \
    COMPUTE(gelu)                                                                                  \
    COMPUTE(gelu_backward)                                                                         \
    COMPUTE(gelu_tanh)                                                                             \
    COMPUTE(gelu_tanh_backward)                                                                    \
    COMPUTE(relu6)                                                                                 \
    COMPUTE(relu6_backward)                                                                        \
    COMPUTE(hardtanh)                                                                              \
    COMPUTE(hardtanh_backward)                                                                     \
    COMPUTE(hardsigmoid)                                                                           \
    COMPUTE(hardsigmoid_backward)                                                                  \
    COMPUTE(hardswish)                                                                             \
    COMPUTE(hardswish_backward)                                                                    \
    COMPUTE(elu)                                                                                   \
    COMPUTE(elu_backward)                                                                          \
    COMPUTE(selu)                                                                                  \
    COMPUTE(selu_backward)                                                                         \
    COMPUTE(celu)                                                                                  \
    COMPUTE(celu_backward)                                                                         \
    COMPUTE(softplus)                                                                              \
    COMPUTE(softplus_backward)                                                                     \
    COMPUTE(softsign)                                                                              \
    COMPUTE(softsign_backward)                                                                     \
    COMPUTE(mish)                                                                                  \
    COMPUTE(mish_backward)                                                                         \
    COMPUTE(log_sigmoid)                                                                           \
    COMPUTE(log_sigmoid_backward)                                                                  \
    COMPUTE(tanhshrink)                                                                            \
    COMPUTE(tanhshrink_backward)                                                                   \
    COMPUTE(softshrink)                                                                            \
    COMPUTE(softshrink_backward)                                                                   \
    COMPUTE(hardshrink)                                                                            \
    COMPUTE(hardshrink_backward)                                                                   \
    COMPUTE(threshold)                                                                             \
    COMPUTE(threshold_backward)                                                                    \
    COMPUTE(quick_gelu)                                                                            \
    COMPUTE(quick_gelu_backward)                                                                   \
    COMPUTE(prelu)                                                                                 \
    COMPUTE(prelu_backward)                                                                        \
    COMPUTE(prelu_backward_weight)                                                                 \
    COMPUTE(matmul)                                                                                \
    COMPUTE(linear)                                                                                \
    COMPUTE(conv2d)                                                                                \
    COMPUTE(conv2d_backward_input)                                                                 \
    COMPUTE(conv2d_backward_weight)                                                                \
    COMPUTE(conv2d_backward_bias)                                                                  \
    COMPUTE(conv_transpose2d)                                                                      \
    COMPUTE(max_pool2d)                                                                            \
    COMPUTE(max_pool2d_backward)                                                                   \
    COMPUTE(avg_pool2d)                                                                            \
    COMPUTE(avg_pool2d_backward)                                                                   \
    COMPUTE(adaptive_avg_pool2d)                                                                   \
    COMPUTE(adaptive_avg_pool2d_backward)                                                          \
    COMPUTE(pad)                                                                                   \
    COMPUTE(pad_backward)                                                                          \
    COMPUTE(resize)                                                                                \
    COMPUTE(resize_backward)                                                                       \
    COMPUTE(flip)                                                                                  \
    COMPUTE(sum)                                                                                   \
    COMPUTE(sum_to)                                                                                \
    COMPUTE(max)                                                                                   \
    COMPUTE(max_backward)                                                                          \
    COMPUTE(argmax)                                                                                \
    COMPUTE(min)                                                                                   \
    COMPUTE(argmin)                                                                                \
    COMPUTE(topk)                                                                                  \
    COMPUTE(var)                                                                                   \
    COMPUTE(var_backward)                                                                          \
    COMPUTE(cumsum)                                                                                \
    COMPUTE(softmax)                                                                               \
    COMPUTE(softmax_backward)                                                                      \
    COMPUTE(log_softmax)                                                                           \
    COMPUTE(log_softmax_backward)                                                                  \
    COMPUTE(layer_norm)                                                                            \
    COMPUTE(layer_norm_backward)                                                                   \
    COMPUTE(layer_norm_backward_weight)                                                            \
    COMPUTE(lstm)                                                                                  \
    COMPUTE(lstm_backward)                                                                         \
    COMPUTE(gru)                                                                                   \
    COMPUTE(gru_backward)                                                                          \
    COMPUTE(rnn)                                                                                   \
    COMPUTE(rnn_backward)                                                                          \
    COMPUTE(rms_norm)                                                                              \
    COMPUTE(rms_norm_backward)                                                                     \
    COMPUTE(rms_norm_backward_weight)                                                              \
    COMPUTE(group_norm)                                                                            \
    COMPUTE(group_norm_backward)                                                                   \
    COMPUTE(group_norm_backward_weight)                                                            \
    COMPUTE(batch_norm)                                                                            \
    COMPUTE(batch_norm_backward)                                                                   \
    COMPUTE(batch_norm_eval)                                                                       \
    COMPUTE(batch_norm_eval_backward)                                                              \
    COMPUTE(embedding)                                                                             \
    COMPUTE(embedding_backward)                                                                    \
    COMPUTE(cross_entropy)                                                                         \
    COMPUTE(cross_entropy_backward)                                                                \
    COMPUTE(mse)                                                                                   \
    COMPUTE(mse_backward)                                                                          \
    COMPUTE(binary_cross_entropy_with_logits)                                                      \
    COMPUTE(binary_cross_entropy_with_logits_backward)                                             \
    COMPUTE(l1)                                                                                    \
    COMPUTE(l1_backward)                                                                           \
    COMPUTE(huber)                                                                                 \
    COMPUTE(huber_backward)                                                                        \
    COMPUTE(kl_divergence)                                                                         \
    COMPUTE(nll)                                                                                   \
    COMPUTE(nll_backward)                                                                          \
    COMPUTE(dropout)                                                                               \
    COMPUTE(dropout_backward)                                                                      \
    COMPUTE(attention)                                                                             \
    COMPUTE(attention_backward)                                                                    \
    COMPUTE(rotary)                                                                                \
    COMPUTE(clip_norm)                                                                             \
    COMPUTE(sgd_step)                                                                              \
    COMPUTE(adamw_step)                                                                            \
    COMPUTE(rmsprop_step)                                                                          \
    COMPUTE(lion_step)

RIDGEPOINT_API_BEGIN

#define OP_ENUM(name) OP_##name,
typedef enum OpId { OP_OUTSIDE, OP_LIST(OP_ENUM, OP_ENUM) OP_COUNT } OpId; // ids begin at 1
#undef OP_ENUM

typedef struct Op Op; // op.h
#define OP_EXTERN(name) extern const Op op_##name;
OP_LIST(OP_EXTERN, OP_EXTERN)
#undef OP_EXTERN

RIDGEPOINT_API_END

#endif
