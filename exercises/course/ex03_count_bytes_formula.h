// ex03_count_bytes_formula.h -- traffic by hand, the right way and each known wrong one.
#ifndef EXERCISES_COURSE_EX03_COUNT_BYTES_FORMULA_H
#define EXERCISES_COURSE_EX03_COUNT_BYTES_FORMULA_H

#include "exercises/course/model_case.h"

#define BYTE_SLIP_LIST(X)                                                                          \
    X(weights_per_sample)    /* read once for each sample of the batch */                          \
    X(batch_forgotten)       /* activations of one sample */                                       \
    X(activation_free)       /* as if activations worked in cache */                               \
    X(footprint_for_traffic) /* each buffer of the model once */                                   \
    X(weights_forgotten)     /* activations only */                                                \
    X(bias_forgotten)        /* weights, but no biases */                                          \
    X(elements_for_bytes)    /* not times 4 */                                                     \
    X(double_precision)      /* times 8 */                                                         \
    X(every_use_read)        /* two operands for every multiply-add: no reuse */                   \
    X(views_counted)         /* Flatten and Dropout as if they copied */                           \
    X(tied_read_once)        /* a shared weight by its first owner only */                         \
    X(read_written_swapped)  /* the one for the other */                                           \
    X(children_ignored)      /* a Sequential moves nothing */                                      \
    X(nested_ignored)        /* a Sequential in a Sequential does not */                           \
    X(sum_overwritten)       /* = for +=: the last child only */                                   \
    X(shape_not_propagated)  /* every child gets the model's input */                              \
    X(integer_overflow)      /* in 32 bits */
typedef enum ByteSlip {
#define BYTE_SLIP_ENUM(name) BYTE_##name,
    BYTE_SLIP_LIST(BYTE_SLIP_ENUM)
#undef BYTE_SLIP_ENUM
        BYTE_RIGHT
} ByteSlip;
extern const char *const byte_slip_names[BYTE_RIGHT];

typedef struct FormulaTraffic {
    int64_t read, written;
} FormulaTraffic;

// Of a model of the exercise's layers that the input fits. The output shape of a layer is the
// library's. `text`: what is added up, or NULL.
FormulaTraffic formula_bytes(const Layer *model, Shape input, ByteSlip slip, char text[CASE_LINE]);

#endif
