// compare.c -- element-wise comparisons of two tensors, and logic of conditions, broadcast as in
// NumPy: 1 where true, else 0. Their slope is 0 everywhere, so they have no backward and their
// results need no gradient.
#include "tensor/ops/elementwise.h"

#define COMPARISON                                                                                 \
    .flags = OP_STRIDED, .work = op_work_elements, .n_inputs = 2, .infer = infer_condition

// ---- less: a < b --------------------------------------------------------------------------------
Tensor *tensor_less(Tensor *a, Tensor *b) { return OP_RUN(op_less, NULL, a, b); }

Tensor *tensor_greater(Tensor *a, Tensor *b) { return tensor_less(b, a); }

KERNEL static Status less_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_less);
}

KERNEL static Status less_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_less, true);
}

const Op op_less = {.id = OP_less,
                    .name = "less",
                    .kernel = less_cpu,
                    .whole = less_whole,
                    NUMBERS,
                    COMPARISON,
                    .story = STORY(.formula = "y = 1 where a < b, else 0", .out = "y",
                                   .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 1})};

// ---- less_equal: a <= b -------------------------------------------------------------------------
Tensor *tensor_less_equal(Tensor *a, Tensor *b) { return OP_RUN(op_less_equal, NULL, a, b); }

Tensor *tensor_greater_equal(Tensor *a, Tensor *b) { return tensor_less_equal(b, a); }

KERNEL static Status less_equal_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_less_equal);
}

KERNEL static Status less_equal_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_less_equal, true);
}

const Op op_less_equal = {.id = OP_less_equal,
                          .name = "less_equal",
                          .kernel = less_equal_cpu,
                          .whole = less_equal_whole,
                          NUMBERS,
                          COMPARISON,
                          .story = STORY(.formula = "y = 1 where a <= b, else 0", .out = "y",
                                         .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 1})};

// ---- equal: a == b ------------------------------------------------------------------------------
Tensor *tensor_equal(Tensor *a, Tensor *b) { return OP_RUN(op_equal, NULL, a, b); }

KERNEL static Status equal_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_equal);
}

KERNEL static Status equal_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_equal, true);
}

const Op op_equal = {.id = OP_equal,
                     .name = "equal",
                     .kernel = equal_cpu,
                     .whole = equal_whole,
                     NUMBERS,
                     COMPARISON,
                     .story = STORY(.formula = "y = 1 where a == b, else 0", .out = "y",
                                    .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 1})};

// ---- not_equal: a != b --------------------------------------------------------------------------
Tensor *tensor_not_equal(Tensor *a, Tensor *b) { return OP_RUN(op_not_equal, NULL, a, b); }

KERNEL static Status not_equal_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_not_equal);
}

KERNEL static Status not_equal_whole(const OpCall *call, int64_t begin, int64_t end) {
    return whole_range(call, begin, end, math_whole_not_equal, true);
}

const Op op_not_equal = {.id = OP_not_equal,
                         .name = "not_equal",
                         .kernel = not_equal_cpu,
                         .whole = not_equal_whole,
                         NUMBERS,
                         COMPARISON,
                         .story = STORY(.formula = "y = 1 where a != b, else 0", .out = "y",
                                        .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 1})};

// ---- logical_and, logical_or: two conditions, each compared with 0 ------------------------------
Tensor *tensor_logical_and(Tensor *a, Tensor *b) { return OP_RUN(op_logical_and, NULL, a, b); }
Tensor *tensor_logical_or(Tensor *a, Tensor *b) { return OP_RUN(op_logical_or, NULL, a, b); }

KERNEL static Status logical_and_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_logical_and);
}

KERNEL static Status logical_or_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return binary_range(call, begin, end, math_logical_or);
}

const Op op_logical_and = {.id = OP_logical_and,
                           .name = "logical_and",
                           .kernel = logical_and_cpu,
                           ELEMENTWISE_BINARY,
                           .story =
                               STORY(.formula = "y = 1 where a and b are not 0, else 0", .out = "y",
                                     .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 2})};
const Op op_logical_or = {.id = OP_logical_or,
                          .name = "logical_or",
                          .kernel = logical_or_cpu,
                          ELEMENTWISE_BINARY,
                          .story =
                              STORY(.formula = "y = 1 where a or b is not 0, else 0", .out = "y",
                                    .in = {"a", "b"}, .elementwise = {PER_OUTPUT, .each = 2})};

// ---- composed of other ops ----------------------------------------------------------------------
Tensor *tensor_logical_not(Tensor *x) {
    OpParams params = {.value = {0.0f, 1.0f}};
    return OP_RUN(op_where, &params, tensor_detach(x), (Tensor *)NULL, NULL);
}

Tensor *tensor_isnan(Tensor *x) { return tensor_not_equal(x, x); }
