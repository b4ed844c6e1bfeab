// test_conventions.c -- every op costs what profiler/CONVENTIONS.md says, in every op case. The
// oracle checks the formulas themselves (test_ops.c), test_conventions_tables.c the page's other
// tables.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "tests/helpers/expect.h"
#include "tests/ops/op_cases.h"
#include "tests/profiler/conventions_page.h"

static PageTable table; // too large for a stack

// ---- the page's letters -----------------------------------------------------------------------
static int64_t numel(const Tensor *t) { return t ? t->numel : 0; }

static int64_t of_step(const OpCall *call) {
    bool sgd = call->op->id == OP_sgd_step && call->params.value[0] == 0.0f;
    int period = call->op->id == OP_adamw_step ? 4 : sgd ? 2 : 3;
    int64_t sum = 0;
    for (int i = 1; i < call->n_in; i += period) sum += numel(call->in[i]);
    return sum;
}

static bool is_norm(const OpCall *call) {
    OpKind kind = call->op->story->kind;
    return kind == KIND_NORM || kind == KIND_RMS_NORM;
}

static int64_t rows_in(const OpCall *call) {
    const Tensor *x = call->op->id == OP_var_backward ? call->in[1] : call->in[0];
    if (is_norm(call) && call->op->id != OP_batch_norm) return x->numel ? numel(call->out[1]) : 0;
    if (call->op->id == OP_dropout) return x->numel ? numel(call->out[1]) : 0; // rows of the mask
    if (call->op->id == OP_cross_entropy) return x->shape.dims[0];
    if (call->op->id == OP_cross_entropy_backward) return call->in[1]->shape.dims[0];
    int64_t length = x->shape.ndim ? x->shape.dims[x->shape.ndim - 1] : 1;
    return length ? x->numel / length : 0;
}

// Number of elements in an adaptive pool's windows, along one dimension of the image.
static int64_t covered(int64_t image, int64_t pooled) {
    int64_t sum = 0;
    for (int64_t i = 0; i < pooled; i++)
        sum += ((i + 1) * image + pooled - 1) / pooled - i * image / pooled;
    return sum;
}

static int64_t in_windows(const OpCall *call) {
    const Tensor *image = call->in[0], *pooled = call->out[0];
    if (call->op->id == OP_adaptive_avg_pool2d_backward) {
        image = call->out[0];
        pooled = call->in[0];
    }
    return image->shape.dims[0] * image->shape.dims[1] *
           covered(image->shape.dims[2], pooled->shape.dims[2]) *
           covered(image->shape.dims[3], pooled->shape.dims[3]);
}

static int64_t macs_of_one(const OpCall *call) {
    enum { TRANS_A = 1 }; // as in tensor/ops/product.h
    if (call->op->id == OP_matmul)
        return call->in[0]
            ->shape.dims[call->in[0]->shape.ndim - (call->params.flags & TRANS_A ? 2 : 1)];
    bool back = call->op->id == OP_lstm_backward || call->op->id == OP_gru_backward ||
                call->op->id == OP_rnn_backward;
    const Tensor *weight = back                                        ? call->in[0]
                           : call->op->id == OP_conv2d_backward_weight ? call->out[0]
                                                                       : call->in[1];
    return weight->shape.dims[0] ? weight->numel / weight->shape.dims[0] : 0;
}

// Gates per step, from the gates that a recurrent cell's backward reads.
static int64_t gates_in_a_step(const OpCall *call) {
    int64_t steps = call->in[1]->shape.dims[0];
    return steps ? numel(call->in[1]) / steps : 0;
}

// Attention: s is queries by keys, R query rows, d the width of queries, else that of values.
static int64_t of_attention(const OpCall *call, char letter) {
    const Tensor *const *in = (const Tensor *const *)call->in;
    bool backward = call->op->id == OP_attention_backward;
    const Tensor *q = in[backward ? 1 : 0], *k = in[backward ? 2 : 1], *v = in[backward ? 0 : 2];
    int last = q->shape.ndim - 1;
    int64_t rows = 1;
    for (int i = 0; i < last; i++) rows *= q->shape.dims[i];
    return letter == 'R'   ? rows
           : letter == 's' ? rows * k->shape.dims[last - 1]
           : letter == 'd' ? q->shape.dims[last]
                           : v->shape.dims[last];
}

static int64_t letter_of(const OpCall *call, char letter) {
    int64_t all = 0;
    if (call->op->id == OP_attention || call->op->id == OP_attention_backward)
        return of_attention(call, letter);
    for (int i = 0; i < call->n_in; i++) all += numel(call->in[i]);
    switch (letter) {
    case 'o':
        return numel(call->out[0]);
    case 'i':
        return numel(call->in[0]);
    case 'j':
        return numel(call->in[1]);
    case 'p':
        return of_step(call);
    case 'N':
        return all;
    case 'R':
        return rows_in(call);
    case 'C':
        return numel(call->in[0]) ? call->in[0]->shape.dims[1] : 0;
    case 't':
        return (int64_t)call->params.window.kernel[0] * call->params.window.kernel[1];
    case 'w':
        return in_windows(call);
    case 'l':
        return call->params.count;
    case 'h':
        return numel(call->in[call->op->id == OP_lstm_backward ? 2 : 3]);
    case 'g':
        return gates_in_a_step(call);
    case 'k':
        return macs_of_one(call);
    default:
        ck_abort_msg("the page does not say what %c is", letter);
        return 0;
    }
}

// Evaluates "4 i - 2 R", a sum of products of numbers and letters; "" is 0; negative becomes 0.
static uint64_t value_of(const char *text, const OpCall *call) {
    int64_t sum = 0, sign = 1;
    while (*text) {
        int64_t term = sign;
        while (*text && !strchr("+-", *text)) {
            char *end = (char *)text + 1;
            if (isdigit((unsigned char)*text))
                term *= strtoll(text, &end, 10);
            else if (isalpha((unsigned char)*text))
                term *= letter_of(call, *text);
            text = end;
        }
        sum += term;
        sign = *text == '-' ? -1 : 1;
        text += *text != '\0';
    }
    return sum > 0 ? (uint64_t)sum : 0;
}

// ---- every op ---------------------------------------------------------------------------------
static int weight_at(const OpCall *call) {
    int op = call->op->id;
    return is_norm(call) || op == OP_batch_norm_eval ? 1 : 2;
}

static bool has_bias(const OpCall *call) {
    enum { OF_BIAS = 4 }; // as in tensor/ops/batch_norm.h
    if (strstr(call->op->name, "_backward_weight")) return call->n_out > 1;
    if (call->op->id == OP_batch_norm_eval_backward) return call->params.flags & OF_BIAS;
    return call->in[2] != NULL;
}

// True if a call has the form that a row's words name.
static bool has_form(const char *words, const OpCall *call) {
    const OpParams *params = &call->params;
    int id = call->op->id, decay = id == OP_sgd_step ? 1 : id == OP_adamw_step ? 3 : 2;
    bool decays = params->value[decay] != 0.0f;
    if (*words == '\0') return true;
    if (strcmp(words, "and a mask") == 0) return call->in[3] != NULL;
    if (strcmp(words, "and causality") == 0) return params->flags & 1;
    if (strcmp(words, "and dropout") == 0) return params->value[1] > 0.0f;
    if (strcmp(words, "and dq") == 0) return params->flags & 2;
    if (strcmp(words, "and dk") == 0) return params->flags & 4;
    if (strcmp(words, "and dv") == 0) return params->flags & 8;
    if (strcmp(words, "and either of dq and dk") == 0) return params->flags & 6;
    if (strcmp(words, "and either of them with dropout") == 0)
        return params->flags & 6 && params->value[1] > 0.0f;
    if (strcmp(words, "and a mean") == 0 || strcmp(words, "and a root") == 0)
        return params->flags & 1;
    if (strcmp(words, "and a sum that is there") == 0) return call->adds;
    if (strcmp(words, "and no constant") == 0) return params->flags != PAD_CONSTANT;
    if (strcmp(words, "and linear") == 0) return (params->flags & 15) == RESIZE_LINEAR;
    if (strcmp(words, "and cubic") == 0) return (params->flags & 15) == RESIZE_CUBIC;
    if (strcmp(words, "and momentum") == 0) return params->value[0] != 0.0f;
    if (strcmp(words, "and smoothing") == 0) return params->value[0] != 0.0f;
    if (strcmp(words, "and smoothing with a weight") == 0)
        return params->value[0] != 0.0f && call->in[2];
    if (strcmp(words, "and Nesterov's form of it") == 0)
        return params->value[0] != 0.0f && params->flags & 1;
    if (strcmp(words, "and weight decay") == 0) return decays;
    if (strcmp(words, "and weight decay by the gradient") == 0)
        return decays && !(params->flags & 1);
    if (strcmp(words, "of relu") == 0) return params->flags & 4;
    if (strcmp(words, "of blocks") == 0) return params->shape.ndim > 0;
    if (strcmp(words, "and a gradient of hidden states") == 0) return call->in[4] != NULL;
    if (strcmp(words, "and a gradient of cells") == 0) return call->in[5] != NULL;
    if (strcmp(words, "and of the first state") == 0) return params->flags & 2;
    if (strcmp(words, "and running statistics") == 0) return call->in[3] != NULL;
    if (strcmp(words, "and a weight") == 0) return call->in[weight_at(call)] != NULL;
    if (strcmp(words, "and a bias") == 0) return has_bias(call);
    ck_abort_msg("the page's words \"%s\" are not known here", words);
    return false;
}

static void add_row(OpCost *cost, PageRow *row, const OpCall *call) {
    row->used = true;
    cost->macs += value_of(row->cells[1], call);
    cost->bias_flops += value_of(row->cells[2], call);
    cost->elementwise_flops += value_of(row->cells[3], call);
    cost->transcendental_flops += value_of(row->cells[4], call);
}

// The cost by the last row whose form holds, plus every row that says "and".
static OpCost page_cost(const OpCall *call) {
    OpCost cost = {0};
    PageRow *base = NULL;
    for (int r = 0; r < table.n; r++) {
        if (!page_cell_names(table.rows[r].cells[0], call->op->name)) continue;
        const char *words = strrchr(table.rows[r].cells[0], '`') + 1;
        words += *words == ' ';
        if (!has_form(words, call)) continue;
        if (strncmp(words, "and ", 4) == 0)
            add_row(&cost, &table.rows[r], call);
        else
            base = &table.rows[r];
    }
    ck_assert_msg(base != NULL, "the page has no row of op %s", call->op->name);
    add_row(&cost, base, call);
    return cost;
}

static OpCost activation_cost(const OpCall *call) { // the activation fused in a linear
    if (!call->params.activation) return (OpCost){0};
    OpCall alone = *call;
    alone.op = call->params.activation;
    return page_cost(&alone);
}

static bool seen[OP_COUNT];

static void hold_op(Observer *self, const OpCall *call) {
    (void)self;
    if (error_pending() || call->op->id == OP_OUTSIDE) return;
    seen[call->op->id] = true;
    if (call->op->id == OP_clip_norm && letter_of(call, 'N') == 0) return; // 3: no elements
    OpCost got = op_cost(call), want = page_cost(call), more = activation_cost(call);
    cost_add(&want, more);
    ck_assert_msg(got.macs == want.macs && got.bias_flops == want.bias_flops &&
                      got.elementwise_flops == want.elementwise_flops &&
                      got.transcendental_flops == want.transcendental_flops,
                  "%s: the page says macs %" PRIu64 ", bias %" PRIu64 ", elementwise %" PRIu64
                  ", transcendental %" PRIu64 "; counted are %" PRIu64 ", %" PRIu64 ", %" PRIu64
                  ", %" PRIu64,
                  call->op->name, want.macs, want.bias_flops, want.elementwise_flops,
                  want.transcendental_flops, got.macs, got.bias_flops, got.elementwise_flops,
                  got.transcendental_flops);
}

static void run_case(const OpCase *self) { // runs forward and backward
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    for (int i = 0; i < self->n_in && self->differentiable; i++)
        if (leaves[i] && leaves[i]->dtype == DTYPE_FLOAT32) tensor_requires_grad(leaves[i], true);
    for (int round = 0; round < 2; round++) { // the second run adds to the first's gradients
        Scope *scope = scope_open();
        Tensor *result = op_case_run(self, leaves);
        if (self->differentiable) {
            Tensor *gradient = tensor_full_new(tensor_shape(result), 0.5f);
            autograd_backward_from(result, gradient);
            tensor_free(gradient);
        }
        scope_close(scope);
    }
    op_case_leaves_free(self, leaves);
    ck_assert_msg(!error_pending(), "%s: %s", self->name, error_message());
}

START_TEST(every_op_costs_what_the_page_says) {
    Observer observer = {.op_end = hold_op};
    page_read(&table, "ops");
    observer_add(&observer);
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        if (op_case_is_small(&self)) run_case(&self);
    }
    observer_remove(&observer);
    for (int op = 1; op < OP_COUNT; op++)
        ck_assert_msg(seen[op], "op %s was not run", op_by_id(op)->name);
    for (int r = 0; r < table.n; r++)
        ck_assert_msg(table.rows[r].used, "nothing is a row %s of the page",
                      table.rows[r].cells[0]);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{every_op_costs_what_the_page_says, 0}, {NULL, 0}};
    return harness_main("conventions", tests);
}
