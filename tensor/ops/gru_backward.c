// gru_backward.c -- the gradients of a GRU's pass, from the last step to the first: of x's sums, of
// the sums h . weight^T + bias, which differ in n's part, and of the initial state
// params: flags = RECURRENT_*; shape = (steps), for the story
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

enum { WEIGHT, GATES, PARTS, Y, HIDDEN, DY }; // inputs; and outputs:
enum { DX, DSUMS, DHIDDEN };                  // DHIDDEN goes from step to step
enum { GATE_COUNT = 3 };
static const double ROW_COST = 15.0; // per element of the state, apart from the product

static Status gru_backward_infer(OpCall *call) {
    Status status = op_output_like(call, DX, call->in[GATES]);
    if (!status) status = op_output_like(call, DSUMS, call->in[GATES]);
    return status ? status : op_output_like(call, DHIDDEN, call->in[HIDDEN]);
}

typedef struct Step { // one step: gates, dx, d_sums (batch, 3 hidden), the others (batch, hidden)
    const float *gates, *parts, *before, *dy;
    float *dx, *d_sums, *d_hidden;
    int64_t hidden;
} Step;

// d_hidden comes in with the gradient from the following step, and leaves with the part through z.
KERNEL static void gradient_row(const Step *s, int64_t row) {
    int64_t n = s->hidden, from = row * n, wide = GATE_COUNT * from;
    const float *gates = s->gates + wide;
    float *dx = s->dx + wide, *d_sums = s->d_sums + wide;
    for (int64_t j = 0; j < n; j++) {
        GruElement e = {gates[j], gates[n + j], gates[2 * n + j], 0.0f};
        GruElement d = math_gru_backward(e, s->parts[from + j], s->before[from + j],
                                         s->d_hidden[from + j] + s->dy[from + j]);
        dx[j] = d_sums[j] = d.r;
        dx[n + j] = d_sums[n + j] = d.z;
        dx[2 * n + j] = d.n;
        d_sums[2 * n + j] = d.n * e.r;
        s->d_hidden[from + j] = d.hidden;
    }
}

static void gradient_rows(void *argument, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) gradient_row(argument, r);
}

static int64_t gru_backward_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->in[Y], &call->params);
    Gemm product = {.m = s.batch, .n = s.hidden, .k = GATE_COUNT * s.hidden};
    return recurrent_handoffs(&s, ROW_COST, backward_products(&s, &call->params), product);
}

static Status gru_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->in[Y], &call->params);
    int64_t n = s.hidden, wide = GATE_COUNT * n, state = s.batch * n;
    for (int64_t i = 0; i < state; i++) call_out(call, DHIDDEN)[i] = 0.0f;
    for (int64_t k = s.steps - 1; k >= 0 && state > 0; k--) {
        int64_t at = sequence_at(&s, k);
        Step step = {.gates = call_in(call, GATES) + at * s.batch * wide,
                     .parts = call_in(call, PARTS) + at * state,
                     .before = state_before(&s, k, call_in(call, Y), call_in(call, HIDDEN)),
                     .dy = call_in(call, DY) + at * state,
                     .dx = call_out(call, DX) + at * s.batch * wide,
                     .d_sums = call_out(call, DSUMS) + at * s.batch * wide,
                     .d_hidden = call_out(call, DHIDDEN),
                     .hidden = n};
        cpu_parallel(recurrent_rows(&s, ROW_COST), gradient_rows, &step);
        if (k == 0 && !(call->params.flags & RECURRENT_STATE)) break;
        // dh (batch, hidden) += d_sums (batch, 3 hidden) . weight (3 hidden, hidden)
        Gemm product = {.m = s.batch,
                        .n = n,
                        .k = wide,
                        .a = step.d_sums,
                        .lda = wide,
                        .b = call_in(call, WEIGHT),
                        .ldb = n,
                        .c = step.d_hidden,
                        .ldc = n,
                        .add = true};
        gemm_run(&product, NULL, NULL);
    }
    return STATUS_OK;
}

// Per element of y: 2 for the gradients from outside and from the following step, through z and the
// product; 5 each for n and z, 4 for r, 1 for h_n and 1 for the previous state.
const Op op_gru_backward = {
    .id = OP_gru_backward,
    .name = "gru_backward",
    .kernel = gru_backward_cpu,
    .handoffs = gru_backward_handoffs,
    .n_inputs = 6,
    .infer = gru_backward_infer,
    .story =
        STORY(.formula = "dr, dz, dn by their slopes; to the step before dh = (dr, dz, dn r) . "
                         "weight + dy z",
              .out = "dx", .in = {"weight", "gates", "hn", "y", "h", "dy"},
              .products = "steps x batch x gates x hidden", .factors = recurrent_backward_factors,
              .elementwise = {PER_INPUT, .each = 18, .input = Y},
              .extra = "dsums and dh of the first state",
              .extra_elements = {PER_BLOCK, .each = 3, .more = 1, .input = Y},
              .kind = KIND_MATMUL)};
