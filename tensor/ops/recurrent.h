// recurrent.h -- internal to ops/: a pass of any recurrent cell over a sequence. Each step waits
// for the one before; within a step, elements are independent.
#ifndef TENSOR_OPS_RECURRENT_H
#define TENSOR_OPS_RECURRENT_H

#include "tensor/gemm.h"
#include "tensor/op.h"
#include "tensor/ops.h"

// Flags of params: run from the last step to the first; in backward: the gradient of the initial
// hidden state is wanted, which takes an extra product; in a plain cell: relu instead of tanh.
enum { RECURRENT_REVERSE = 1, RECURRENT_STATE = 2, RECURRENT_RELU = 4 };

typedef struct Sequence {
    int64_t steps, batch, hidden;
    bool reverse;
} Sequence;

static inline Sequence sequence_of(const Tensor *y, const OpParams *params) {
    return (Sequence){y->shape.dims[0], y->shape.dims[1], y->shape.dims[2],
                      (params->flags & RECURRENT_REVERSE) != 0};
}

// Position in the sequence of the k-th step to run.
static inline int64_t sequence_at(const Sequence *s, int64_t k) {
    return s->reverse ? s->steps - 1 - k : k;
}

// The state before the k-th step: the given one, or in `all` (steps, batch, hidden) that of the
// previous step.
static inline const float *state_before(const Sequence *s, int64_t k, const float *all,
                                        const float *given) {
    return k == 0 ? given : all + sequence_at(s, k - 1) * s->batch * s->hidden;
}

// in: sums of the gates from x (steps, batch, gates hidden), weight (gates hidden, hidden), bias or
// none, then states (batch, hidden). Refuses other shapes. *y: (steps, batch, hidden).
Status recurrent_infer(const OpCall *call, int gates, Shape *y);

// The work of a step apart from its product; cost: of one element of the state.
static inline OpWork recurrent_rows(const Sequence *s, double cost) {
    return (OpWork){.items = s->batch, .cost = cost * (double)s->hidden};
}

// Number of ranges handed to other threads: for `products` products like `product`, and for the
// rows of each step.
int64_t recurrent_handoffs(const Sequence *s, double cost, int64_t products, Gemm product);

// Number of products in backward: one per step; the first step needs one only for a state gradient.
static inline int64_t backward_products(const Sequence *s, const OpParams *params) {
    return params->flags & RECURRENT_STATE ? s->steps : s->steps - 1;
}

// sums (rows, n) = given (rows, n) + bias (n), which may be NULL
void recurrent_add_bias(float *sums, const float *given, const float *bias, int64_t rows,
                        int64_t n);
int64_t recurrent_bias_handoffs(int64_t rows, int64_t n);

// For Op.story: steps x batch x hidden x gates; backward leaves out the first step if the gradient
// of the initial state is not wanted.
int recurrent_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]);
int recurrent_backward_factors(const Shape in[], Shape out, const OpParams *params,
                               int64_t factor[]);

// Counts the bias once for each of the sums.
void recurrent_vary(OpStory *story, const OpParams *params, unsigned given);

// The gradients of weight and bias, in[1] and in[2]: d_sums (steps, batch, gates hidden)^T . the
// hidden states before each step (in[state] first, then y's), and d_sums summed over all rows.
Status recurrent_backward_weight(const OpCall *saved, Tensor *d_sums, int state, Tensor *grad_in[]);

#endif
