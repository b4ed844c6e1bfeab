// rnn.c -- a plain recurrent cell's pass over a sequence, given the inputs' products: h' = tanh(x +
// h . weight^T + bias), or relu; and its gradients
// params: flags = RECURRENT_*
#include "tensor/math_cell.h"
#include "tensor/ops/recurrent.h"

enum { SUMS, WEIGHT, BIAS, HIDDEN }; // inputs; the output y is all that backward saves
static const double ROW_COST = 6.0,
                    SLOPE_COST = 2.0; // per element of the state, apart from the product

static bool by_relu(const OpParams *params) { return (params->flags & RECURRENT_RELU) != 0; }

Tensor *tensor_rnn(Tensor *sums, Tensor *weight, Tensor *bias, Tensor *hidden, bool relu,
                   bool reverse) {
    OpParams params = {.flags = (reverse ? RECURRENT_REVERSE : 0) | (relu ? RECURRENT_RELU : 0)};
    return OP_RUN(op_rnn, &params, sums, weight, bias, hidden);
}

static Status rnn_infer(OpCall *call) {
    Shape y;
    Status status = recurrent_infer(call, 1, &y);
    return status ? status : op_output(call, 0, DTYPE_FLOAT32, y);
}

typedef struct Step { // one step (batch, hidden): forward uses y, backward uses all
    float *y, *d_sums;
    const float *dy, *d_hidden;
    int64_t hidden;
    bool relu;
} Step;

// ---- forward -----------------------------------------------------------------------------------
KERNEL static void cell_row(float *y, int64_t n, bool relu) {
    if (relu)
        for (int64_t j = 0; j < n; j++) y[j] = math_relu(y[j]);
    else
        for (int64_t j = 0; j < n; j++) y[j] = math_tanh(y[j]);
}

static void cell_rows(void *argument, int64_t begin, int64_t end) {
    const Step *s = argument;
    cell_row(s->y + begin * s->hidden, (end - begin) * s->hidden, s->relu);
}

static int64_t rnn_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->out[0], &call->params);
    Gemm product = {.m = s.batch, .n = s.hidden, .k = s.hidden};
    return recurrent_bias_handoffs(s.steps * s.batch, s.hidden) +
           recurrent_handoffs(&s, ROW_COST, s.steps, product);
}

static Status rnn_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->out[0], &call->params);
    int64_t n = s.hidden, state = s.batch * n;
    float *y = call_out(call, 0);
    const float *bias = call->in[BIAS] ? call_in(call, BIAS) : NULL;
    if (call_numel(call) == 0) return STATUS_OK;
    recurrent_add_bias(y, call_in(call, SUMS), bias, s.steps * s.batch, n);
    for (int64_t k = 0; k < s.steps; k++) {
        Step step = {.y = y + sequence_at(&s, k) * state,
                     .hidden = n,
                     .relu = by_relu(&call->params)};
        // sums (batch, hidden) += h (batch, hidden) . weight (hidden, hidden)^T
        Gemm product = {.m = s.batch,
                        .n = n,
                        .k = n,
                        .a = state_before(&s, k, y, call_in(call, HIDDEN)),
                        .lda = n,
                        .b = call_in(call, WEIGHT),
                        .ldb = n,
                        .trans_b = true,
                        .c = step.y,
                        .ldc = n,
                        .add = true};
        gemm_run(&product, NULL, NULL);
        cpu_parallel(recurrent_rows(&s, ROW_COST), cell_rows, &step);
    }
    return STATUS_OK;
}

// ---- the backward rule --------------------------------------------------------------------------
static unsigned rnn_saves(const OpCall *call) {
    unsigned saves = SAVE_IN(WEIGHT) | SAVE_IN(HIDDEN) | SAVE_OUT(0);
    return call->needs_grad ? saves : 0;
}

static Status rnn_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = saved->params;
    if (call_needs(saved, HIDDEN)) params.flags |= RECURRENT_STATE;
    Tensor *unused[2] = {NULL};
    Tensor **slots[2] = {&unused[0], &unused[1]};
    if (call_needs(saved, SUMS)) slots[0] = &grad_in[SUMS];
    if (call_needs(saved, HIDDEN)) slots[1] = &grad_in[HIDDEN];
    if (op_run_into_each(slots, 2, &op_rnn_backward, &params,
                         OP_INPUTS(saved->in[WEIGHT], saved->out[0], saved->in[HIDDEN],
                                   grad_out[0])))
        return error_status();
    return recurrent_backward_weight(saved, *slots[0], HIDDEN, grad_in);
}

static void rnn_vary(OpStory *story, const OpParams *params, unsigned given) {
    recurrent_vary(story, params, given);
    if (!by_relu(params)) return;
    story->formula = "y = h' = relu(x + h . weight^T + bias)";
    story->elementwise = (OpRule){PER_OUTPUT, .each = 2};
    story->transcendental = (OpRule){0};
}

// ---- backward ----------------------------------------------------------------------------------
enum { B_WEIGHT, B_Y, B_HIDDEN, B_DY }; // inputs; and outputs:
enum { DSUMS, DHIDDEN };                // DHIDDEN goes from step to step

static Status rnn_backward_infer(OpCall *call) {
    Status status = op_output_like(call, DSUMS, call->in[B_Y]);
    return status ? status : op_output_like(call, DHIDDEN, call->in[B_HIDDEN]);
}

KERNEL static void slope_rows(const Step *s, int64_t begin, int64_t end) {
    for (int64_t j = begin * s->hidden; j < end * s->hidden; j++)
        s->d_sums[j] = math_rnn_backward(s->dy[j] + s->d_hidden[j], s->y[j], s->relu);
}

static void gradient_rows(void *argument, int64_t begin, int64_t end) {
    slope_rows(argument, begin, end);
}

static int64_t rnn_backward_handoffs(const OpCall *call) {
    const Sequence s = sequence_of(call->in[B_Y], &call->params);
    Gemm product = {.m = s.batch, .n = s.hidden, .k = s.hidden};
    return recurrent_handoffs(&s, SLOPE_COST, backward_products(&s, &call->params), product);
}

static Status rnn_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Sequence s = sequence_of(call->in[B_Y], &call->params);
    int64_t n = s.hidden, state = s.batch * n;
    for (int64_t i = 0; i < state; i++) call_out(call, DHIDDEN)[i] = 0.0f;
    for (int64_t k = s.steps - 1; k >= 0 && state > 0; k--) {
        int64_t at = sequence_at(&s, k) * state;
        Step step = {.y = call_in(call, B_Y) + at,
                     .d_sums = call_out(call, DSUMS) + at,
                     .dy = call_in(call, B_DY) + at,
                     .d_hidden = call_out(call, DHIDDEN),
                     .hidden = n,
                     .relu = by_relu(&call->params)};
        cpu_parallel(recurrent_rows(&s, SLOPE_COST), gradient_rows, &step);
        if (k == 0 && !(call->params.flags & RECURRENT_STATE)) break;
        // dh (batch, hidden) = d_sums (batch, hidden) . weight (hidden, hidden)
        Gemm product = {.m = s.batch,
                        .n = n,
                        .k = n,
                        .a = step.d_sums,
                        .lda = n,
                        .b = call_in(call, B_WEIGHT),
                        .ldb = n,
                        .c = call_out(call, DHIDDEN),
                        .ldc = n};
        gemm_run(&product, NULL, NULL);
    }
    return STATUS_OK;
}

static void rnn_backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (!by_relu(params)) return;
    story->formula = "dx = dy where y > 0, else 0; to the step before dh = dx . weight";
    story->elementwise.each = 2;
}

// Per element a sum, and a tanh or relu's comparison.
const Op op_rnn = {
    .id = OP_rnn,
    .name = "rnn",
    .kernel = rnn_cpu,
    .handoffs = rnn_handoffs,
    .n_inputs = 4,
    .optional = SAVE_IN(BIAS),
    .infer = rnn_infer,
    .backward = rnn_backward,
    .saves = rnn_saves,
    .story = STORY(.formula = "y = h' = tanh(x + h . weight^T + bias)", .out = "y",
                   .in = {"x", "weight", "bias", "h"}, .products = "steps x batch x hidden x gates",
                   .factors = recurrent_factors, .elementwise = {PER_OUTPUT, .each = 1},
                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y, .kind = KIND_MATMUL,
                   .vary = rnn_vary)};
// Per element a sum, and 3 for tanh's slope, or relu's comparison.
const Op op_rnn_backward = {
    .id = OP_rnn_backward,
    .name = "rnn_backward",
    .kernel = rnn_backward_cpu,
    .handoffs = rnn_backward_handoffs,
    .n_inputs = 4,
    .infer = rnn_backward_infer,
    .story =
        STORY(.formula = "dx = dy (1 - y y); to the step before dh = dx . weight", .out = "dx",
              .in = {"weight", "y", "h", "dy"}, .products = "steps x batch x gates x hidden",
              .factors = recurrent_backward_factors,
              .elementwise = {PER_INPUT, .each = 4, .input = B_Y}, .extra = "dh of the first state",
              .extra_elements = {PER_INPUT, .each = 1, .input = B_HIDDEN}, .kind = KIND_MATMUL,
              .vary = rnn_backward_vary)};
