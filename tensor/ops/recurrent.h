// recurrent.h -- internal to ops/: what a pass of a recurrent cell over a sequence is, whichever
// the cell. Step after step, each waits for the one before; within a step, elements are
// independent.
#ifndef TENSOR_OPS_RECURRENT_H
#define TENSOR_OPS_RECURRENT_H

#include "tensor/gemm.h"
#include "tensor/op.h"
#include "tensor/ops.h"

// Flags of params: it runs from the last step to the first; backward: the gradient of the first
// hidden state is wanted, which takes a product of its own; a plain cell: relu in place of tanh.
enum { RECURRENT_REVERSE = 1, RECURRENT_STATE = 2, RECURRENT_RELU = 4 };

typedef struct Sequence {
    int64_t steps, batch, hidden;
    bool reverse;
} Sequence;

static inline Sequence sequence_of(const Tensor *y, const OpParams *params) {
    return (Sequence){y->shape.dims[0], y->shape.dims[1], y->shape.dims[2],
                      (params->flags & RECURRENT_REVERSE) != 0};
}

// Where the k-th step to run lies.
static inline int64_t sequence_at(const Sequence *s, int64_t k) {
    return s->reverse ? s->steps - 1 - k : k;
}

// What the k-th step found: the state that was given, or in `all` (steps, batch, hidden) that of
// the step before.
static inline const float *state_before(const Sequence *s, int64_t k, const float *all,
                                        const float *given) {
    return k == 0 ? given : all + sequence_at(s, k - 1) * s->batch * s->hidden;
}

// in: the sums of the gates so far (steps, batch, gates hidden), the weight (gates hidden, hidden),
// the bias or none, then states (batch, hidden). Refuses what does not fit; *y: (steps, batch,
// hidden).
Status recurrent_infer(const OpCall *call, int gates, Shape *y);

// The work of a step beside its product; cost: of one element of the state.
static inline OpWork recurrent_rows(const Sequence *s, double cost) {
    return (OpWork){.items = s->batch, .cost = cost * (double)s->hidden};
}

// How many ranges other threads are handed: of `products` products like `product`, and of the rows
// of each step.
int64_t recurrent_handoffs(const Sequence *s, double cost, int64_t products, Gemm product);

// How many products backward does: one for each step, the first's where its state wants a gradient.
static inline int64_t backward_products(const Sequence *s, const OpParams *params) {
    return params->flags & RECURRENT_STATE ? s->steps : s->steps - 1;
}

// sums (rows, n) = given (rows, n) + bias (n), which may be NULL
void recurrent_add_bias(float *sums, const float *given, const float *bias, int64_t rows,
                        int64_t n);
int64_t recurrent_bias_handoffs(int64_t rows, int64_t n);

// For Op.story: steps x batch x hidden x gates; backward's without the first step's, where nobody
// wants the gradient of the first state.
int recurrent_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]);
int recurrent_backward_factors(const Shape in[], Shape out, const OpParams *params,
                               int64_t factor[]);

// A bias counts as one for each of the sums.
void recurrent_vary(OpStory *story, const OpParams *params, unsigned given);

// The gradients of weight and bias, in[1] and in[2]: d_sums (steps, batch, gates hidden)^T . the
// hidden states that the steps found (y's, and in[state] first), and d_sums over all rows.
Status recurrent_backward_weight(const OpCall *saved, Tensor *d_sums, int state, Tensor *grad_in[]);

#endif
