// op_story.h -- what a descriptor says of its op beside how it runs: the formula, what operands are
// called, by which rules its counts follow from shapes, and what other tools see in it. Costs are
// counted by these rules and explanations print them, so the two cannot differ.
#ifndef TENSOR_OP_STORY_H
#define TENSOR_OP_STORY_H

#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

struct Op;
struct OpParams;

typedef enum Basis { // what a count is a multiple of
    BASIS_NONE,      // nothing: it is 0
    PER_OUTPUT,      // each x the elements of out[0]
    PER_INPUT,       // each x the elements of in[input]
    PER_ROW,         // rows of in[input] x (each x their length + more)
    PER_BLOCK,       // the same of rows of shape params.shape
    PER_SUM,         // (n - 1 + more) x out[0]'s elements, n of in[0] going into one
    PER_COLUMN,      // out[0]'s elements x (each x n + more), n of in[input] going into one
    PER_CHANNEL,     // channels of in[input], its second size, x (each x their length + more)
    PER_PARAMETER,   // each x the elements of the step's parameters, the first of them in[input]
    PER_SCORE,       // rows of in[input] x (each x the rows of a matrix of in[input + 1] + more)
    PER_REGION, // planes x what the regions of an adaptive pool hold, + more x in[0]'s elements
} Basis;

typedef struct OpRule {
    Basis basis;
    int64_t each, more;
    int input;
} OpRule;

typedef enum OpKind { // as other tools tell ops apart
    KIND_OTHER,       // views, arithmetic, reductions, losses, most gradients, optimizers
    KIND_LINEAR,      // a product with a layer's own weight, and maybe a bias
    KIND_CONVOLUTION,
    KIND_MATMUL,    // a product of any two tensors
    KIND_RECTIFIER, // and its relatives: the activations that DeepSpeed knows
    KIND_OTHER_ACTIVATION,
    KIND_POOL,
    KIND_ADAPTIVE_POOL, // an average to a given size
    KIND_DROPOUT,       // a layer without a formula
    KIND_NORM,          // x, weight or none, bias or none
    KIND_RMS_NORM,      // the same, but fvcore and DeepSpeed do not know it
    KIND_NORM_EVAL,     // the same, by statistics that are given
    KIND_EMBEDDING,
    KIND_COUNT
} OpKind;

typedef enum Keep { KEEP_X = 1, KEEP_Y = 2, KEEP_EXTRA = 4 } Keep; // in[0], out[0], extra

enum { STORY_INPUTS = 6, STORY_FACTORS = 8 };

// How an op that backward runs for in[i] is told: "dweight = dy^T . x" of "dweight", "dy", "x".
typedef struct GradientStory {
    const char *formula, *out, *in[2];
} GradientStory;

typedef struct OpStory {
    const char *formula;                      // "y = max(x, 0)"
    const char *out, *in[STORY_INPUTS];       // what the formula calls them; NULL: it has none
    OpRule elementwise, transcendental, bias; // FLOPs
    OpRule roots, divisions; // of these FLOPs, those that every processor is slow at
    const char *products;    // multiply-adds, as sizes in the order of the loops: "rows x in x out"
    // These sizes; how many they are. The last of the names, where it gives fewer.
    int (*factors)(const Shape in[], Shape out, const struct OpParams *params, int64_t factor[]);
    const char *extra; // outputs beyond the first together, "mean and rstd of a row"; NULL: none
    OpRule extra_elements;
    DType extra_type;
    bool picks_rows; // of in[1] no more rows are read than in[0] has elements
    bool scatters;   // adding to what out[0] holds, it reaches no more of that than in[0] has
    unsigned keeps;  // activations that backward reads: Keep
    OpKind kind;
    GradientStory gradients[3];  // of a layer's op, whose backward is other ops'; by input
    const struct Op *activation; // fused in: y = activation(z), and the formula's y is z
    // Changes what depends on parameters, and on what op_given says is there; NULL: nothing does.
    void (*vary)(struct OpStory *story, const struct OpParams *params, unsigned given);
} OpStory;

// The story of one call, with what its parameters and a fused activation make of it; empty where
// the op tells none.
OpStory op_story(const struct Op *op, const struct OpParams *params, unsigned given);

RIDGEPOINT_API_END

#endif
