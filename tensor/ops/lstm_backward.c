// lstm_backward.c -- the gradients of an LSTM's pass: goes from the last step to the first, and
// adds each step's outside gradient to the one from the following step
// params: flags = RECURRENT_*
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

enum { WEIGHT, GATES, CELLS, CELL, DY, DCELLS }; // inputs; and outputs:
enum { DSUMS, DHIDDEN, DCELL };                  // DHIDDEN and DCELL go from step to step
enum { GATE_COUNT = 4 };
static const double ROW_COST = 20.0; // per element of the state, apart from the product

static Status lstm_backward_infer(OpCall *call) {
    Status status = op_output_like(call, DSUMS, call->in[GATES]);
    if (!status) status = op_output_like(call, DHIDDEN, call->in[CELL]);
    return status ? status : op_output_like(call, DCELL, call->in[CELL]);
}

typedef struct Step { // one step: gates and d_sums (batch, 4 hidden), the others (batch, hidden)
    const float *gates, *cell, *before, *dy, *d_cells; // dy and d_cells may be NULL
    float *d_sums, *d_hidden, *d_cell;
    int64_t hidden;
} Step;

// Handles one row; d_hidden and d_cell come in with the gradients from the following step.
KERNEL static void gradient_row(const Step *s, int64_t row) {
    int64_t n = s->hidden, from = row * n;
    const float *i = s->gates + GATE_COUNT * from, *f = i + n, *g = f + n, *o = g + n;
    float *di = s->d_sums + GATE_COUNT * from, *df = di + n, *dg = df + n, *d_o = dg + n;
    for (int64_t j = 0; j < n; j++) {
        float hidden = s->d_hidden[from + j], cell = s->d_cell[from + j];
        if (s->dy) hidden += s->dy[from + j];
        if (s->d_cells) cell += s->d_cells[from + j];
        LstmElement e = {i[j], f[j], g[j], o[j], s->cell[from + j], 0.0f};
        LstmElement d = math_lstm_backward(e, s->before[from + j], hidden, cell);
        di[j] = d.i, df[j] = d.f, dg[j] = d.g, d_o[j] = d.o;
        s->d_cell[from + j] = d.cell;
    }
}

static void gradient_rows(void *argument, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) gradient_row(argument, r);
}

static int64_t lstm_backward_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->in[CELLS], &call->params);
    Gemm product = {.m = s.batch, .n = s.hidden, .k = GATE_COUNT * s.hidden};
    return recurrent_handoffs(&s, ROW_COST, backward_products(&s, &call->params), product);
}

static Status lstm_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->in[CELLS], &call->params);
    int64_t n = s.hidden, wide = GATE_COUNT * n, state = s.batch * n;
    for (int64_t i = 0; i < state; i++) call_out(call, DHIDDEN)[i] = call_out(call, DCELL)[i] = 0;
    for (int64_t k = s.steps - 1; k >= 0 && state > 0; k--) {
        int64_t at = sequence_at(&s, k);
        Step step = {.gates = call_in(call, GATES) + at * s.batch * wide,
                     .cell = call_in(call, CELLS) + at * state,
                     .before = state_before(&s, k, call_in(call, CELLS), call_in(call, CELL)),
                     .dy = call->in[DY] ? call_in(call, DY) + at * state : NULL,
                     .d_cells = call->in[DCELLS] ? call_in(call, DCELLS) + at * state : NULL,
                     .d_sums = call_out(call, DSUMS) + at * s.batch * wide,
                     .d_hidden = call_out(call, DHIDDEN),
                     .d_cell = call_out(call, DCELL),
                     .hidden = n};
        cpu_parallel(recurrent_rows(&s, ROW_COST), gradient_rows, &step);
        if (k == 0 && !(call->params.flags & RECURRENT_STATE)) break;
        // dh (batch, hidden) = d_sums (batch, 4 hidden) . weight (4 hidden, hidden)
        Gemm product = {.m = s.batch,
                        .n = n,
                        .k = wide,
                        .a = step.d_sums,
                        .lda = wide,
                        .b = call_in(call, WEIGHT),
                        .ldb = n,
                        .c = step.d_hidden,
                        .ldc = n};
        gemm_run(&product, NULL, NULL);
    }
    return STATUS_OK;
}

static void lstm_backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (given & SAVE_IN(DY)) story->elementwise.each++;
    if (given & SAVE_IN(DCELLS)) story->elementwise.each++;
}

// Per element of the cells: 5 for the cell's gradient, 4 for each gate, 1 for the previous cell;
// and the tanh, which is not saved.
const Op op_lstm_backward = {
    .id = OP_lstm_backward,
    .name = "lstm_backward",
    .kernel = lstm_backward_cpu,
    .handoffs = lstm_backward_handoffs,
    .n_inputs = 6,
    .optional = SAVE_IN(DY) | SAVE_IN(DCELLS),
    .infer = lstm_backward_infer,
    .story =
        STORY(.formula = "dc = dc' + dh o (1 - tanh(c)^2); di, df, dg, do by their slopes; to "
                         "the step before dh = (di, df, dg, do) . weight and dc f",
              .out = "dx", .in = {"weight", "gates", "cells", "c", "dy", "dcells"},
              .products = "steps x batch x gates x hidden", .factors = recurrent_backward_factors,
              .elementwise = {PER_INPUT, .each = 22, .input = CELLS},
              .transcendental = {PER_INPUT, .each = 1, .input = CELLS},
              .extra = "dh and dc of the first state",
              .extra_elements = {PER_INPUT, .each = 2, .input = CELL}, .kind = KIND_MATMUL,
              .vary = lstm_backward_vary)};
