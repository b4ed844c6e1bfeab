// recurrent.c -- shared by the passes of recurrent cells over a sequence: shapes, the bias, sizes
// of products, and the weight's gradient. The cells are in lstm.c, gru.c and rnn.c.
#include "tensor/ops/recurrent.h"

#include <string.h>

#include "tensor/math.h"
#include "tensor/ops/product.h"

enum { SUMS, WEIGHT, BIAS, STATES }; // inputs

Status recurrent_infer(const OpCall *call, int gates, Shape *y) {
    const Tensor *sums = call->in[SUMS], *weight = call->in[WEIGHT], *bias = call->in[BIAS];
    int64_t hidden = weight->shape.ndim == 2 ? weight->shape.dims[1] : -1;
    if (weight->shape.ndim != 2 || weight->shape.dims[0] != gates * hidden)
        return op_error(call, STATUS_SHAPE,
                        "the weight is not (%d hidden, hidden). HINT: it has %d gates", gates,
                        gates);
    if (sums->shape.ndim != 3 || sums->shape.dims[2] != gates * hidden)
        return op_error(call, STATUS_SHAPE,
                        "x is not (steps, batch, %lld). HINT: the product of the inputs with their "
                        "own weight",
                        (long long)(gates * hidden));
    if (bias && (bias->shape.ndim != 1 || bias->shape.dims[0] != gates * hidden))
        return op_error(call, STATUS_SHAPE, "the bias is not (%lld,). HINT: one for each sum",
                        (long long)(gates * hidden));
    Shape state = SHAPE(sums->shape.dims[1], hidden);
    for (int i = STATES; i < call->n_in; i++)
        if (!shape_equal(call->in[i]->shape, state))
            return op_error(call, STATUS_SHAPE,
                            "a state is not (%lld, %lld). HINT: (batch, hidden)",
                            (long long)state.dims[0], (long long)state.dims[1]);
    *y = SHAPE(sums->shape.dims[0], state.dims[0], hidden);
    return STATUS_OK;
}

// ---- the sums start from the bias --------------------------------------------------------------
typedef struct BiasTask {
    float *sums;
    const float *given, *bias;
    int64_t n;
} BiasTask;

KERNEL static void add_bias(float *sums, const float *given, const float *bias, int64_t n) {
    for (int64_t j = 0; j < n; j++) sums[j] = given[j] + bias[j];
}

static void add_bias_rows(void *argument, int64_t begin, int64_t end) {
    const BiasTask *t = argument;
    for (int64_t r = begin; r < end; r++)
        if (t->bias)
            add_bias(t->sums + r * t->n, t->given + r * t->n, t->bias, t->n);
        else
            memcpy(t->sums + r * t->n, t->given + r * t->n, (size_t)t->n * sizeof(float));
}

static OpWork bias_work(int64_t rows, int64_t n) {
    return (OpWork){.items = rows, .cost = (double)n};
}

int64_t recurrent_bias_handoffs(int64_t rows, int64_t n) {
    return cpu_handoffs(bias_work(rows, n));
}

void recurrent_add_bias(float *sums, const float *given, const float *bias, int64_t rows,
                        int64_t n) {
    BiasTask task = {sums, given, bias, n};
    if (n > 0) cpu_parallel(bias_work(rows, n), add_bias_rows, &task);
}

int64_t recurrent_handoffs(const Sequence *s, double cost, int64_t products, Gemm product) {
    if (s->batch * s->hidden == 0 || s->steps == 0) return 0;
    return s->steps * cpu_handoffs(recurrent_rows(s, cost)) + products * gemm_handoffs(&product);
}

// ---- numbers of multiply-adds ------------------------------------------------------------------
int recurrent_factors(const Shape in[], Shape out, const OpParams *params, int64_t factor[]) {
    (void)params;
    for (int i = 0; i < 3; i++) factor[i] = out.dims[i];
    factor[3] = in[WEIGHT].dims[0];
    return 4;
}

// out: shape of the gradient of the sums (steps, batch, gates hidden)
int recurrent_backward_factors(const Shape in[], Shape out, const OpParams *params,
                               int64_t factor[]) {
    int64_t wanted = params->flags & RECURRENT_STATE ? out.dims[0] : out.dims[0] - 1;
    factor[0] = wanted > 0 ? wanted : 0;
    factor[1] = out.dims[1];
    factor[2] = out.dims[2];
    factor[3] = in[0].dims[1]; // the weight's columns
    return 4;
}

void recurrent_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (given & SAVE_IN(BIAS)) story->bias = (OpRule){PER_INPUT, .each = 1, .input = SUMS};
}

// ---- the gradients of weight and bias ----------------------------------------------------------
// The hidden states before each step (steps, batch, hidden): the given one before the first step,
// those of y before the others.
static Tensor *states_found(const OpCall *saved, Tensor *first) {
    Tensor *y = saved->out[0];
    int64_t steps = y->shape.dims[0];
    if (steps == 0) return y;
    bool reverse = (saved->params.flags & RECURRENT_REVERSE) != 0;
    Tensor *given = tensor_reshape(first, SHAPE(1, y->shape.dims[1], y->shape.dims[2]));
    Tensor *others = tensor_slice(y, 0, reverse ? 1 : 0, reverse ? steps : steps - 1, 1);
    Tensor *parts[2] = {reverse ? others : given, reverse ? given : others};
    return tensor_concat(parts, 2, 0);
}

Status recurrent_backward_weight(const OpCall *saved, Tensor *d_sums, int state,
                                 Tensor *grad_in[]) {
    static const OpParams transposed = {.flags = MATMUL_TRANS_A}, over_rows = {.dim = 0};
    if (!call_needs(saved, WEIGHT) && !(saved->in[BIAS] && call_needs(saved, BIAS)))
        return STATUS_OK;
    Tensor *rows = tensor_reshape(d_sums, product_flat(d_sums));
    if (!rows) return error_status();
    if (call_needs(saved, WEIGHT)) {
        Tensor *found = states_found(saved, saved->in[state]);
        if (!found) return error_status();
        found = tensor_reshape(found, product_flat(found));
        if (OP_ADDING(&grad_in[WEIGHT], op_matmul, &transposed, rows, found)) return error_status();
    }
    if (!saved->in[BIAS] || !call_needs(saved, BIAS)) return STATUS_OK;
    return OP_INTO(&grad_in[BIAS], op_sum, &over_rows, rows);
}
