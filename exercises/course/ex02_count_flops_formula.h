// ex02_count_flops_formula.h -- FLOPs by hand, the right way and each known wrong one.
#ifndef EXERCISES_COURSE_EX02_COUNT_FLOPS_FORMULA_H
#define EXERCISES_COURSE_EX02_COUNT_FLOPS_FORMULA_H

#include "exercises/course/model_case.h"

#define FLOP_SLIP_LIST(X)                                                                          \
    X(mac_vs_flop)               /* 1 for a multiply-add */                                        \
    X(batch_multiplied)          /* of the whole batch */                                          \
    X(bias_counted)              /* one for every output */                                        \
    X(rows_ignored)              /* as if a sample had one row */                                  \
    X(activation_free)           /* activations count 0 */                                         \
    X(activation_of_batch)       /* activations count for the whole batch, products do not */      \
    X(children_ignored)          /* a Sequential counts 0 */                                       \
    X(nested_ignored)            /* a Sequential in a Sequential does */                           \
    X(sum_overwritten)           /* = for +=: the last child only */                               \
    X(shape_not_propagated)      /* every child gets the model's input */                          \
    X(padding_ignored)           /* in the output's size */                                        \
    X(padding_on_one_side)       /* once, not on both sides */                                     \
    X(output_in_over_stride)     /* as if the kernel had size 1 */                                 \
    X(stride_ignored)            /* as if it were 1 */                                             \
    X(plus_one_forgotten)        /* (h - k) / stride windows */                                    \
    X(dilation_ignored)          /* as if it were 1 */                                             \
    X(kernel_not_squared)        /* k taps, not k * k */                                           \
    X(input_channels_forgotten)  /* one input channel */                                           \
    X(output_channels_forgotten) /* one output channel */                                          \
    X(groups_ignored)            /* all input channels for every output */                         \
    X(views_counted)             /* Flatten and pools 1 for every element that goes in */          \
    X(integer_overflow)          /* in 32 bits */
typedef enum FlopSlip {
#define FLOP_SLIP_ENUM(name) FLOP_##name,
    FLOP_SLIP_LIST(FLOP_SLIP_ENUM)
#undef FLOP_SLIP_ENUM
        FLOP_RIGHT
} FlopSlip;
extern const char *const flop_slip_names[FLOP_RIGHT];

// Of one sample, of a model of the exercise's layers that the input fits; the shapes that a slip
// makes need not fit. `text`: what is added up, or NULL.
int64_t formula_flops(const Layer *model, Shape input, FlopSlip slip, char text[CASE_LINE]);

#endif
