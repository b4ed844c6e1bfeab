// op_cases.h -- one table of op calls that every device and every kind of check runs through:
// values and counts (test_ops.c), gradients (test_gradcheck.c), PyTorch's answers
// (test_fixtures.c). It holds the calls and their inputs, never the results.
#ifndef TESTS_OPS_OP_CASES_H
#define TESTS_OPS_OP_CASES_H

#include "tensor/ops.h"

// The arguments of an op other than tensors; each op reads the fields it knows.
typedef struct OpArguments {
    int dim;   // the bits of Attend (attention); reductions, softmax, slice, concat, stack, gather;
               // number of dims in a row (layer_norm, rms_norm); groups (group_norm); the diagonal
               // (triangle, masked_softmax); classes beyond the labels' (one_hot); the label to
               // ignore, below 0 none (nll, cross_entropy_with); the kind of running statistics
               // (batch_norm)
    bool flag; // a scale of 0.5 (attention); keep_dim; a step of 2 (slice); decoupled decay
               // (adam_step); Nesterov (sgd_step); no weight (norms); the upper triangle
               // (triangle); class weights (nll, cross_entropy_with)
    float
        value; // the scalar; dropout's and attention's p; fill's value; momentum (sgd_step); pow's
               // exponent; leaky_relu's slope; alpha, beta, lambd or threshold of an activation;
               // the low of clamp and hardtanh, whose high is 1 more; the largest norm (clip_norm);
               // epsilon (norms); the value filled in (masked_fill); delta (huber); beta
               // (smooth_l1); smoothing (nll, cross_entropy_with); momentum (batch_norm_statistics)
    float decay;          // weight decay
    const Op *activation; // linear, activation
    Conv2dOptions conv;
    Pool2dOptions pool;
    int64_t output[2];           // adaptive_avg_pool2d; output padding (conv_transpose2d); k (topk)
    int dims[3], n_dims;         // sum_dims, mean_dims, flip
    int64_t before[4], after[4]; // pad; value is the constant
    PadMode pad_mode;
    ResizeOptions resize;
} OpArguments;

typedef enum Attend { // masks for attention, of shape (t), (s, t) or (b, 1, s, t)
    ATTEND_CAUSAL = 1,
    ATTEND_KEYS = 2,
    ATTEND_ROWS = 4,
    ATTEND_BATCH = 8,
} Attend;

// Calls one op. In-place ops return in[0] (fill, accumulate) or the first parameter (steps).
typedef Tensor *(*OpFunction)(Tensor *const in[], int n_in, const OpArguments *arguments);
typedef struct NamedFunction {
    const char *name;
    OpFunction function;
} NamedFunction;
extern const NamedFunction op_network_functions[]; // op_calls_network.c; name NULL at the end
OpFunction op_function_by_name(const char *name);  // "sum"; NULL when there is none

// The layout in which the op sees a tensor that was created dense.
typedef enum OpLayout {
    LAYOUT_DENSE,
    LAYOUT_TRANSPOSED, // the last two dims swapped
    LAYOUT_STEPPED,    // every other element of a longer last dim
    LAYOUT_EXPANDED,   // the first dim repeated
    LAYOUT_SAME,       // the first input itself, again
} OpLayout;

typedef enum OpValues {
    VALUES_ANY,       // [-2, 2)
    VALUES_AWAY,      // +-[0.25, 2): far from 0, where relu bends and 1/x explodes
    VALUES_POSITIVE,  // [0.5, 2)
    VALUES_DISTINCT,  // no two closer than 0.1, so that a small step leaves the maximum in place
    VALUES_LABELS,    // int64, below the last dim of the first input
    VALUES_SIGNED,    // int64; every other label is negative and counts from the end
    VALUES_STRAY,     // int64, just past the largest valid label
    VALUES_STATE,     // state of an optimizer: learning rate 0.1, then step 3
    VALUES_WHOLE,     // int64, [-9, 9] without 0; a few are far outside
    VALUES_CONDITION, // 0, non-0 and NaN; has no gradient, comes after inputs with one
} OpValues;

enum { OP_CASE_MAX_INPUTS = 12, OP_CASE_NAME = 200 };

typedef struct OpCase {
    char name[OP_CASE_NAME]; // "sum (2, 3, 4) dim 1 keep"
    OpFunction function;
    OpArguments arguments;
    int n_in;
    struct OpCaseInput {
        Shape shape; // shape that the op sees
        OpLayout layout;
        OpValues values;
    } in[OP_CASE_MAX_INPUTS];
    bool differentiable;
    double absolute, relative; // |got - want| <= absolute + relative * |want|
    uint64_t seed;
} OpCase;

int op_case_count(void);
OpCase op_case_at(int index);
// A case that is not in the table, such as "matmul", "(2, 3) transposed (4, 3)".
OpCase op_case_of(const char *op, const char *inputs, OpArguments arguments);

// True if there are few enough elements for a numeric gradient.
bool op_case_is_small(const OpCase *self);

// True if the input's leaf can want a gradient.
bool op_case_can_want_gradient(const OpCase *self, int input);

// The dense tensors behind the inputs; the caller frees them. NULL for an input without one
// (LAYOUT_SAME). Writes n_in pointers; on failure all of them are NULL.
Status op_case_leaves_new(const OpCase *self, Tensor *leaves[]);
void op_case_leaves_free(const OpCase *self, Tensor *leaves[]);
Shape op_case_leaf_shape(const OpCase *self, int input);
// Writes the float values of leaf `input`: numel of them into `values`.
void op_case_leaf_values(const OpCase *self, int input, float *values);

// Lays the views over the leaves and calls the op; the innermost scope owns the result.
Tensor *op_case_run(const OpCase *self, Tensor *const leaves[]);

#endif
