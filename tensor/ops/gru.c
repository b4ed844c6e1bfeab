// gru.c -- a GRU's pass over a sequence, given the inputs' products x_r, x_z, x_n: r = sigmoid(x_r
// + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r h_n), h' = n + z (h - n), with (h_r, h_z, h_n) =
// h . weight^T + bias; and the backward rule
// params: flags = RECURRENT_*
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

enum { SUMS, WEIGHT, BIAS, HIDDEN }; // inputs; and outputs:
enum { Y, GATES, PARTS };            // parts: h_n, for backward
enum { GATE_COUNT = 3 };
static const double ROW_COST = 15.0; // per element of the state, apart from the product

Tensor *tensor_gru(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool reverse) {
    OpParams params = {.flags = reverse ? RECURRENT_REVERSE : 0};
    return OP_RUN(op_gru, &params, sums, weight, bias, hidden);
}

static Status gru_infer(OpCall *call) {
    Shape y;
    Status status = recurrent_infer(call, GATE_COUNT, &y);
    if (!status) status = op_output(call, Y, DTYPE_FLOAT32, y);
    if (!status) status = op_output_like(call, GATES, call->in[SUMS]);
    return status ? status : op_output(call, PARTS, DTYPE_FLOAT32, y);
}

// ---- forward -----------------------------------------------------------------------------------
typedef struct Step {      // one step: gates (batch, 3 hidden), the others (batch, hidden)
    float *gates, *parts;  // the products h_r, h_z, 0 and h_n; gates become r, z, n
    const float *x, *bias; // x (batch, 3 hidden); bias (3 hidden) or NULL
    const float *before;
    float *y;
    int64_t hidden;
} Step;

KERNEL static void gru_row(const Step *s, int64_t row) {
    int64_t n = s->hidden, from = row * n;
    const float *x = s->x + GATE_COUNT * from, *bias = s->bias;
    float *gates = s->gates + GATE_COUNT * from, *parts = s->parts + from;
    for (int64_t j = 0; j < n; j++) {
        if (bias) {
            gates[j] += bias[j];
            gates[n + j] += bias[n + j];
            parts[j] += bias[2 * n + j];
        }
        GruElement e = math_gru(x[j] + gates[j], x[n + j] + gates[n + j], x[2 * n + j], parts[j],
                                s->before[from + j]);
        gates[j] = e.r, gates[n + j] = e.z, gates[2 * n + j] = e.n;
        s->y[from + j] = e.hidden;
    }
}

static void gru_rows(void *argument, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) gru_row(argument, r);
}

static int64_t gru_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->out[Y], &call->params);
    Gemm two = {.m = s.batch, .n = 2 * s.hidden, .k = s.hidden}, one = two;
    one.n = s.hidden;
    return recurrent_handoffs(&s, ROW_COST, s.steps, two) + s.steps * gemm_handoffs(&one);
}

static Status gru_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->out[Y], &call->params);
    int64_t n = s.hidden, wide = GATE_COUNT * n, state = s.batch * n;
    if (call_numel(call) == 0) return STATUS_OK;
    for (int64_t k = 0; k < s.steps; k++) {
        int64_t at = sequence_at(&s, k);
        Step step = {.gates = call_out(call, GATES) + at * s.batch * wide,
                     .parts = call_out(call, PARTS) + at * state,
                     .x = call_in(call, SUMS) + at * s.batch * wide,
                     .bias = call->in[BIAS] ? call_in(call, BIAS) : NULL,
                     .before = state_before(&s, k, call_out(call, Y), call_in(call, HIDDEN)),
                     .y = call_out(call, Y) + at * state,
                     .hidden = n};
        // (h_r, h_z) (batch, 2 hidden) = h (batch, hidden) . weight (the first 2 hidden, hidden)^T,
        // and h_n by the rest of it
        Gemm product = {.m = s.batch,
                        .n = 2 * n,
                        .k = n,
                        .a = step.before,
                        .lda = n,
                        .b = call_in(call, WEIGHT),
                        .ldb = n,
                        .trans_b = true,
                        .c = step.gates,
                        .ldc = wide};
        gemm_run(&product, NULL, NULL);
        product.n = product.ldc = n;
        product.b += 2 * n * n;
        product.c = step.parts;
        gemm_run(&product, NULL, NULL);
        cpu_parallel(recurrent_rows(&s, ROW_COST), gru_rows, &step);
    }
    return STATUS_OK;
}

// ---- the backward rule --------------------------------------------------------------------------
static unsigned gru_saves(const OpCall *call) {
    unsigned saves = SAVE_IN(WEIGHT) | SAVE_IN(HIDDEN) | SAVE_OUT(Y) | SAVE_OUT(GATES);
    return call->needs_grad ? saves | SAVE_OUT(PARTS) : 0;
}

static Status gru_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    if (call_needs(saved, HIDDEN)) params.flags |= RECURRENT_STATE;
    params.shape = SHAPE(saved->out[Y]->shape.dims[0]);
    Tensor *unused[3] = {NULL};
    Tensor **slots[3] = {&unused[0], &unused[1], &unused[2]};
    if (call_needs(saved, SUMS)) slots[0] = &grad_in[SUMS];
    if (call_needs(saved, HIDDEN)) slots[2] = &grad_in[HIDDEN];
    if (op_run_into_each(slots, 3, &op_gru_backward, &params,
                         OP_INPUTS(saved->in[WEIGHT], saved->out[GATES], saved->out[PARTS],
                                   saved->out[Y], saved->in[HIDDEN], grad_out[Y])))
        return error_status();
    return recurrent_backward_weight(saved, *slots[1], HIDDEN, grad_in);
}

// Per element 3 sums and a product, 2 sigmoids (2 and exp each), a tanh, 3 for the new state.
const Op op_gru = {
    .id = OP_gru,
    .name = "gru",
    .kernel = gru_cpu,
    .handoffs = gru_handoffs,
    .n_inputs = 4,
    .optional = SAVE_IN(BIAS),
    .infer = gru_infer,
    .backward = gru_backward,
    .saves = gru_saves,
    .story =
        STORY(.formula = "hr, hz, hn = h . weight^T + bias; r = sigmoid(xr + hr), z = "
                         "sigmoid(xz + hz), n = tanh(xn + r hn), y = h' = n + z (h - n)",
              .out = "y", .in = {"x", "weight", "bias", "h"},
              .products = "steps x batch x hidden x gates", .factors = recurrent_factors,
              .elementwise = {PER_OUTPUT, .each = 11}, .transcendental = {PER_OUTPUT, .each = 3},
              .extra = "gates and hn", .extra_elements = {PER_OUTPUT, .each = 4},
              .keeps = KEEP_Y | KEEP_EXTRA, .kind = KIND_MATMUL, .vary = recurrent_vary)};
