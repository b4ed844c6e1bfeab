// lstm.c -- an LSTM's pass over a sequence, given the inputs' products: in each step the gates i,
// f, g, o have sums = given + h . weight^T + bias; c' = f c + i g, h' = o tanh(c')
// params: flags = RECURRENT_*
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

enum { SUMS, WEIGHT, BIAS, HIDDEN, CELL }; // inputs; and outputs:
enum { Y, CELLS, GATES };
enum { GATE_COUNT = 4 };
static const double ROW_COST = 20.0; // per element of the state, apart from the product

Tensor *tensor_lstm(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, Tensor *cell,
                    bool reverse, Tensor **cells) {
    OpParams params = {.flags = reverse ? RECURRENT_REVERSE : 0};
    Tensor *in[] = {sums, weight, bias, hidden, cell};
    OpCall call = {.op = &op_lstm, .in = in, .n_in = 5, .params = params};
    if (cells) *cells = NULL;
    if (op_dispatch(&call)) return NULL;
    if (cells) *cells = call.out[CELLS];
    return call.out[Y];
}

static Status lstm_infer(OpCall *call) {
    Shape y;
    Status status = recurrent_infer(call, GATE_COUNT, &y);
    if (!status) status = op_output(call, Y, DTYPE_FLOAT32, y);
    if (!status) status = op_output(call, CELLS, DTYPE_FLOAT32, y);
    return status ? status : op_output_like(call, GATES, call->in[SUMS]);
}

// ---- forward -----------------------------------------------------------------------------------
typedef struct Step { // one step: gates (batch, 4 hidden), the others (batch, hidden)
    float *gates, *cell, *y;
    const float *before; // the previous cell
    int64_t hidden;
} Step;

// gates (4 n): first the sums, then the gates
KERNEL static void lstm_row(float *gates, const float *before, float *cell, float *y, int64_t n) {
    float *i = gates, *f = gates + n, *g = gates + 2 * n, *o = gates + 3 * n;
    for (int64_t j = 0; j < n; j++) {
        LstmElement e = math_lstm(i[j], f[j], g[j], o[j], before[j]);
        i[j] = e.i, f[j] = e.f, g[j] = e.g, o[j] = e.o;
        cell[j] = e.cell;
        y[j] = e.hidden;
    }
}

static void lstm_rows(void *argument, int64_t begin, int64_t end) {
    const Step *s = argument;
    int64_t n = s->hidden;
    for (int64_t r = begin; r < end; r++)
        lstm_row(s->gates + r * GATE_COUNT * n, s->before + r * n, s->cell + r * n, s->y + r * n,
                 n);
}

static int64_t lstm_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->out[Y], &call->params);
    Gemm product = {.m = s.batch, .n = GATE_COUNT * s.hidden, .k = s.hidden};
    return recurrent_bias_handoffs(s.steps * s.batch, product.n) +
           recurrent_handoffs(&s, ROW_COST, s.steps, product);
}

static Status lstm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->out[Y], &call->params);
    int64_t n = s.hidden, wide = GATE_COUNT * n, state = s.batch * n;
    float *y = call_out(call, Y), *cells = call_out(call, CELLS), *gates = call_out(call, GATES);
    const float *bias = call->in[BIAS] ? call_in(call, BIAS) : NULL;
    if (call_numel(call) == 0) return STATUS_OK;
    recurrent_add_bias(gates, call_in(call, SUMS), bias, s.steps * s.batch, wide);
    for (int64_t k = 0; k < s.steps; k++) {
        int64_t at = sequence_at(&s, k);
        Step step = {gates + at * s.batch * wide, cells + at * state, y + at * state,
                     state_before(&s, k, cells, call_in(call, CELL)), n};
        // sums (batch, 4 hidden) += h (batch, hidden) . weight (4 hidden, hidden)^T
        Gemm product = {.m = s.batch,
                        .n = wide,
                        .k = n,
                        .a = state_before(&s, k, y, call_in(call, HIDDEN)),
                        .lda = n,
                        .b = call_in(call, WEIGHT),
                        .ldb = n,
                        .trans_b = true,
                        .c = step.gates,
                        .ldc = wide,
                        .add = true};
        gemm_run(&product, NULL, NULL);
        cpu_parallel(recurrent_rows(&s, ROW_COST), lstm_rows, &step);
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
static unsigned lstm_saves(const OpCall *call) {
    unsigned saves = SAVE_IN(WEIGHT) | SAVE_IN(CELL) | SAVE_OUT(CELLS) | SAVE_OUT(GATES);
    if (call_needs(call, WEIGHT)) saves |= SAVE_OUT(Y) | SAVE_IN(HIDDEN);
    return call->needs_grad ? saves : 0;
}

static Status lstm_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    if (call_needs(saved, HIDDEN)) params.flags |= RECURRENT_STATE;
    Tensor *unused[3] = {NULL};
    Tensor **slots[3] = {&unused[0], &unused[1], &unused[2]};
    if (call_needs(saved, SUMS)) slots[0] = &grad_in[SUMS];
    if (call_needs(saved, HIDDEN)) slots[1] = &grad_in[HIDDEN];
    if (call_needs(saved, CELL)) slots[2] = &grad_in[CELL];
    if (op_run_into_each(slots, 3, &op_lstm_backward, &params,
                         OP_INPUTS(saved->in[WEIGHT], saved->out[GATES], saved->out[CELLS],
                                   saved->in[CELL], grad_out[Y], grad_out[CELLS])))
        return error_status();
    return recurrent_backward_weight(saved, *slots[0], HIDDEN, grad_in);
}

// Per element 4 sums, 3 sigmoids (2 and exp each), 2 tanh, 4 for the cell and its output.
const Op op_lstm = {
    .id = OP_lstm,
    .name = "lstm",
    .kernel = lstm_cpu,
    .handoffs = lstm_handoffs,
    .n_inputs = 5,
    .optional = SAVE_IN(BIAS),
    .infer = lstm_infer,
    .backward = lstm_backward,
    .saves = lstm_saves,
    .story =
        STORY(.formula = "i, f, g, o = x + h . weight^T + bias; c' = sigmoid(f) c + "
                         "sigmoid(i) tanh(g), y = h' = sigmoid(o) tanh(c')",
              .out = "y", .in = {"x", "weight", "bias", "h", "c"},
              .products = "steps x batch x hidden x gates", .factors = recurrent_factors,
              .elementwise = {PER_OUTPUT, .each = 14}, .transcendental = {PER_OUTPUT, .each = 5},
              .extra = "cells and gates", .extra_elements = {PER_OUTPUT, .each = 5},
              .keeps = KEEP_Y | KEEP_EXTRA, .kind = KIND_MATMUL, .vary = recurrent_vary)};
