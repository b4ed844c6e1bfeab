// count.h -- internal to cost.c and explanations: what the rules of an op's story come to, as sizes
// that are multiplied. Costs are their values; explanations print them.
#ifndef TENSOR_COUNT_H
#define TENSOR_COUNT_H

#include "tensor/op.h"

typedef struct OpSizes {                 // of one call
    const Shape *in[STORY_INPUTS], *out; // NULL: absent
    int64_t parameters;                  // elements that PER_PARAMETER counts
    const struct OpParams *params;
} OpSizes;

// A count as the product of its sizes: factor[0] x factor[1] x ... x (each x n + more) + plus.
typedef struct OpCount {
    int64_t factor[STORY_FACTORS]; // only n_factors are set; a shape's sizes and one more fit
    int n_factors;
    int64_t each, n, more, plus;
} OpCount;

// Writes the count by a rule: 0 without a rule, or if the rule's input is absent.
void op_count_rule(const OpSizes *sizes, const OpRule *rule, OpCount *count);
// Writes the multiply-adds by the story's `factors`: 0 if it has none.
void op_count_products(const OpSizes *sizes, const OpStory *story, OpCount *count);
#define OP_COUNT_MOST ((uint64_t)1 << 61)      // stands for all larger counts
uint64_t op_count_value(const OpCount *count); // at most OP_COUNT_MOST

#endif
