// ex01_count_parameters_formula.h -- parameters by hand, the right way and each known wrong one.
#ifndef EXERCISES_COURSE_EX01_COUNT_PARAMETERS_FORMULA_H
#define EXERCISES_COURSE_EX01_COUNT_PARAMETERS_FORMULA_H

#include "exercises/course/model_case.h"

#define PARAMETER_SLIP_LIST(X)                                                                     \
    X(bias_forgotten)      /* weights only */                                                      \
    X(bias_per_input)      /* as many as inputs, not outputs */                                    \
    X(bias_as_one)         /* one for the whole layer */                                           \
    X(children_ignored)    /* of the outermost layer only */                                       \
    X(nested_ignored)      /* of its children, but not of theirs */                                \
    X(sum_overwritten)     /* = for +=: the last tensor only */                                    \
    X(tied_counted_twice)  /* once for every owner */                                              \
    X(equal_shapes_merged) /* once for every shape */                                              \
    X(frozen_skipped)      /* only those that want a gradient */                                   \
    X(known_layers_only)   /* those of Linear layers */                                            \
    X(tensors_counted)     /* not their elements */                                                \
    X(bytes_for_elements)  /* times 4 */                                                           \
    X(integer_overflow)    /* in 32 bits */
typedef enum ParameterSlip {
#define PARAMETER_SLIP_ENUM(name) PARAMETER_##name,
    PARAMETER_SLIP_LIST(PARAMETER_SLIP_ENUM)
#undef PARAMETER_SLIP_ENUM
        PARAMETER_RIGHT
} ParameterSlip;
extern const char *const parameter_slip_names[PARAMETER_RIGHT];

// `text`: what is added up, or NULL. Not more than 64 parameter tensors.
int64_t formula_parameters(const Layer *model, ParameterSlip slip, char text[CASE_LINE]);

#endif
