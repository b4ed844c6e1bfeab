// op_story.h -- what a descriptor says about its op apart from running it: the formula, names of
// operands, the rules that turn shapes into counts, and its kind in other tools. Costs are counted
// by these rules and explanations print them, so the two cannot differ.
#ifndef TENSOR_OP_STORY_H
#define TENSOR_OP_STORY_H

#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

struct Op;
struct OpParams;

typedef enum Basis { // the quantity that a count is a multiple of
    BASIS_NONE,      // no count: 0
    PER_OUTPUT,      // each x the elements of out[0]
    PER_INPUT,       // each x the elements of in[input]
    PER_ROW,         // rows of in[input] x (each x their length + more)
    PER_BLOCK,       // (each x row length + more) x rows of shape params.shape in in[input]
    PER_SUM,         // (n - 1 + more) x out[0]'s elements, each the sum of n elements of in[0]
    PER_COLUMN,      // out[0]'s elements x (each x n + more), n elements of in[input] for each
    PER_CHANNEL,     // channels (second size) of in[input] x (each x elements per channel + more)
    PER_PARAMETER,   // each x elements of a step's parameters, the first in[input], + more
    PER_SCORE,       // rows of in[input] x (each x rows of one matrix of in[input + 1] + more)
    PER_REGION,      // planes x elements of an adaptive pool's regions + more x in[0]'s elements
} Basis;

typedef struct OpRule {
    Basis basis;
    int64_t each, more;
    int input;
} OpRule;

typedef enum OpKind { // categories by which other tools tell ops apart
    KIND_OTHER,       // views, arithmetic, reductions, losses, most gradients, optimizers
    KIND_LINEAR,      // a product with a layer's own weight, and maybe a bias
    KIND_CONVOLUTION,
    KIND_MATMUL,    // a product of any two tensors
    KIND_RECTIFIER, // relu and its relatives: the activations that DeepSpeed knows
    KIND_OTHER_ACTIVATION,
    KIND_POOL,
    KIND_ADAPTIVE_POOL, // an average to a given size
    KIND_DROPOUT,       // a layer without a formula
    KIND_NORM,          // x, optional weight, optional bias
    KIND_RMS_NORM,      // as KIND_NORM, but unknown to fvcore and DeepSpeed
    KIND_NORM_EVAL,     // as KIND_NORM, with given statistics
    KIND_EMBEDDING,
    KIND_COUNT
} OpKind;

typedef enum Keep { KEEP_X = 1, KEEP_Y = 2, KEEP_EXTRA = 4 } Keep; // in[0], out[0], extra

enum { STORY_INPUTS = 6, STORY_FACTORS = 8 };

// The name of an op that backward runs for in[i]: "dweight = dy^T . x" of "dweight", "dy", "x".
typedef struct GradientStory {
    const char *formula, *out, *in[2];
} GradientStory;

typedef struct OpStory {
    const char *formula;                      // "y = max(x, 0)"
    const char *out, *in[STORY_INPUTS];       // names in the formula; NULL: no name
    OpRule elementwise, transcendental, bias; // FLOPs
    OpRule roots, divisions; // the part of these FLOPs that is slow on every processor
    const char *products;    // multiply-adds: sizes in loop order, "rows x in x out"
    // Writes these sizes and returns their number; fewer sizes stand for the last names.
    int (*factors)(const Shape in[], Shape out, const struct OpParams *params, int64_t factor[]);
    const char *extra; // all outputs beyond the first, "mean and rstd of a row"; NULL: none
    OpRule extra_elements;
    DType extra_type;
    bool picks_rows; // reads at most as many rows of in[1] as in[0] has elements
    bool scatters;   // when adding to out[0], touches at most as many elements as in[0] has
    unsigned keeps;  // activations that backward reads: Keep bits
    OpKind kind;
    GradientStory gradients[3];  // by input, for a layer's op whose backward runs other ops
    const struct Op *activation; // fused in: y = activation(z); the formula's y then is z
    // Adapts the story to parameters and to the tensors present (op_given); NULL: never changes.
    void (*vary)(struct OpStory *story, const struct OpParams *params, unsigned given);
} OpStory;

// The story of one call, adapted to its parameters and a fused activation; empty if the op has
// none.
OpStory op_story(const struct Op *op, const struct OpParams *params, unsigned given);

RIDGEPOINT_API_END

#endif
