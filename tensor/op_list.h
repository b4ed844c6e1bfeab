// op_list.h -- every op, one line each: COMPUTE(name) has kernels, VIEW(name) needs none. The list
// yields the ids, the declarations and the tables of devices; a file of ops/ defines the op, its
// own or its family's (unary.c, binary.c, compare.c, scalar.c, activations.c, view.c, assign.c,
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
    COMPUTE(one_hot)                                                                               \
    COMPUTE(fill)                                                                                  \
    COMPUTE(accumulate)                                                                            \
    COMPUTE(add)                                                                                   \
    COMPUTE(sub)                                                                                   \
    COMPUTE(mul)                                                                                   \
    COMPUTE(div)                                                                                   \
    COMPUTE(maximum)                                                                               \
    COMPUTE(maximum_backward)                                                                      \
    COMPUTE(less)                                                                                  \
    COMPUTE(less_equal)                                                                            \
    COMPUTE(equal)                                                                                 \
    COMPUTE(not_equal)                                                                             \
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
    COMPUTE(matmul)                                                                                \
    COMPUTE(linear)                                                                                \
    COMPUTE(conv2d)                                                                                \
    COMPUTE(conv2d_backward_input)                                                                 \
    COMPUTE(conv2d_backward_weight)                                                                \
    COMPUTE(conv2d_backward_bias)                                                                  \
    COMPUTE(max_pool2d)                                                                            \
    COMPUTE(max_pool2d_backward)                                                                   \
    COMPUTE(avg_pool2d)                                                                            \
    COMPUTE(avg_pool2d_backward)                                                                   \
    COMPUTE(adaptive_avg_pool2d)                                                                   \
    COMPUTE(adaptive_avg_pool2d_backward)                                                          \
    COMPUTE(sum)                                                                                   \
    COMPUTE(sum_to)                                                                                \
    COMPUTE(max)                                                                                   \
    COMPUTE(max_backward)                                                                          \
    COMPUTE(argmax)                                                                                \
    COMPUTE(min)                                                                                   \
    COMPUTE(argmin)                                                                                \
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
    COMPUTE(adamw_step)

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
