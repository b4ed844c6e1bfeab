// oracle.h -- a slow second opinion on every op: scalar, in double precision, straight from the
// declared formulas (profiler/CONVENTIONS.md, section 1), counting each arithmetic step. The only
// things it takes from the engine are the shapes, parameters and input values of a call.
#ifndef TESTS_OPS_ORACLE_H
#define TESTS_OPS_ORACLE_H

#include <math.h>

#include "tensor/op.h"
#include "tensor/ops.h"

typedef struct OracleTensor {
    const Tensor *identity; // the engine's tensor; NULL: absent
    DType dtype;
    Shape shape;
    int64_t numel;
    int64_t distinct; // elements in memory: expanded dims count once
    double *values;   // row-major; NULL when the tensor has no data
} OracleTensor;

typedef struct OracleCall {
    const Op *op;
    OpParams params;
    OracleTensor *in;
    int n_in;
    OracleTensor out[OP_MAX_OUTPUTS]; // shapes from the engine, values from the oracle
    int n_out;
    OracleTensor sum; // for calls that add: out[0] before; identity NULL: overwrites
    uint64_t needs_grad;
    OpCost counted;      // counts of the oracle's own arithmetic
    char complaint[200]; // "" or an error in the call itself, such as an output's shape
} OracleCall;

// Computes every output (and every input that the op changes in place) and the cost. False when the
// op has no oracle or the call does not fit its formula; the complaint says why.
bool oracle_run(OracleCall *call);
bool oracle_knows(int op);

// ---- for the formulas -------------------------------------------------------------------------
// Arithmetic that counts. Negation, and values computed once per call, are not counted.
static inline double plus(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a + b;
}
static inline double minus(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a - b;
}
static inline double times(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a * b;
}
static inline double over(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a / b;
}
static inline bool less(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a < b;
}
static inline bool equals(OpCost *n, double a, double b) {
    n->elementwise_flops++;
    return a == b;
}
// True if candidate is larger than best, at one comparison; NaN wins.
static inline bool overtakes(OpCost *n, double candidate, double best) {
    n->elementwise_flops++;
    return candidate > best || (isnan(candidate) && !isnan(best));
}
static inline double transcendental(OpCost *n, double (*function)(double), double x) {
    n->transcendental_flops++;
    return function(x);
}
// Returns sum + a * b, counted as one multiply-add.
static inline double multiply_add(OpCost *n, double a, double b, double sum) {
    n->macs++;
    return sum + a * b;
}

Shape oracle_broadcast_shapes(Shape a, Shape b);
// Index in t of element `position` of `shape` when t is broadcast to it.
int64_t oracle_broadcast(const OracleTensor *t, Shape shape, int64_t position);

// A tensor seen along one dim: element c of lane (o, i) is (o * length + c) * inner + i.
typedef struct OracleLanes {
    int64_t outer, length, inner;
} OracleLanes;
OracleLanes oracle_lanes(Shape shape, int dim); // DIM_ALL: one lane
static inline int64_t oracle_lane_at(OracleLanes lanes, int64_t lane, int64_t c) {
    return (lane / lanes.inner * lanes.length + c) * lanes.inner + lane % lanes.inner;
}

// Sets a complaint and returns false unless output `index` has this shape.
bool oracle_expects(OracleCall *call, int index, Shape shape);
typedef struct OracleRows { // rows of n elements: as many of the last dims as params.shape has
    int64_t count, n;
    Shape outer, row;
} OracleRows;
OracleRows oracle_rows(Shape shape, const OpParams *params);
Shape oracle_without_dim(Shape shape, int dim, bool keep_dim);
uint64_t oracle_bytes_of(const OracleTensor *t, int64_t elements); // bytes of that many elements
void oracle_writes_input(OracleCall *call, int index); // counts in[index] as written in place

typedef bool (*OracleFunction)(OracleCall *call);
bool oracle_prelu_backward(OracleCall *call); // kept with the other activations
typedef struct OracleFormula {                // of element-wise ops; unused operands are 0
    double (*value)(OpCost *n, const OpParams *params, double a, double b);
} OracleFormula;
extern const OracleFormula oracle_formulas[OP_COUNT];      // oracle_elementwise.c
extern const OracleFormula oracle_activations[OP_COUNT];   // element-wise: oracle_activation.c
extern const OracleFormula oracle_functions[OP_COUNT];     // element-wise: oracle_functions.c
OracleFormula oracle_formula(int op);                      // looks in these tables
extern const OracleFunction oracle_ternaries[OP_COUNT];    // element-wise with three operands
extern const OracleFunction oracle_reductions[OP_COUNT];   // oracle_reduce.c
extern const OracleFunction oracle_norms[OP_COUNT];        // oracle_norm.c: norms, embedding
extern const OracleFunction oracle_groups[OP_COUNT];       // oracle_groups.c: RMS, group norm
extern const OracleFunction oracle_batch_norms[OP_COUNT];  // oracle_batch_norm.c
extern const OracleFunction oracle_losses[OP_COUNT];       // oracle_loss.c
extern const OracleFunction oracle_products[OP_COUNT];     // oracle_product.c
extern const OracleFunction oracle_convolutions[OP_COUNT]; // oracle_conv.c
extern const OracleFunction oracle_pools[OP_COUNT];        // oracle_pool.c
extern const OracleFunction oracle_images[OP_COUNT];       // oracle_image.c: pad, flip
extern const OracleFunction oracle_movements[OP_COUNT];    // oracle_move.c: views, copies
extern const OracleFunction oracle_selections[OP_COUNT];   // oracle_select.c: concat, gather
extern const OracleFunction oracle_recurrences[OP_COUNT];  // oracle_recurrent.c
extern const OracleFunction oracle_attentions[OP_COUNT];   // oracle_attention.c: with rotary
extern const OracleFunction oracle_updates[OP_COUNT];      // oracle_update.c: in place, optimizers

#endif
