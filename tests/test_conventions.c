// test_conventions.c -- profiler/CONVENTIONS.md says what the program does: its tables are held to
// every op that the op cases run, to networks, to the document that profile_mlp writes.
// Not here: whether the counts are right, which is the oracle's (test_ops.c).
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/layers2d.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/preset.h"
#include "profiler/report/text.h"
#include "tests/expect.h"
#include "tests/nets.h"
#include "tests/op_cases.h"
#include "tests/profile_document.h"

// ---- the page's tables ------------------------------------------------------------------------
enum { MOST_ROWS = 80, MOST_CELLS = 5, CELL = 400 };
typedef struct Row {
    char cells[MOST_CELLS][CELL];
    bool used;
} Row;
static Row rows[MOST_ROWS];
static int n_rows;

static void take_cells(const char *line) {
    ck_assert_int_lt(n_rows, MOST_ROWS);
    Row *row = &rows[n_rows++];
    memset(row, 0, sizeof *row);
    for (int c = 0; c < MOST_CELLS && *line == '|'; c++) {
        line++;
        size_t length = strcspn(line, "|");
        const char *begin = line + strspn(line, " ");
        const char *end = line + length;
        while (end > begin && end[-1] == ' ') end--;
        ck_assert_int_lt(end - begin, CELL);
        memcpy(row->cells[c], begin, (size_t)(end - begin));
        line += length;
    }
}

// The rows of the table that the comment "<!-- name" stands above.
static void read_table(const char *name) {
    char line[2000], mark[40];
    snprintf(mark, sizeof mark, "<!-- %s", name);
    FILE *file = fopen("profiler/CONVENTIONS.md", "r");
    ck_assert_msg(file != NULL, "profiler/CONVENTIONS.md: run it from the project's root");
    bool inside = false;
    int at = 0;
    n_rows = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, mark, strlen(mark)) == 0)
            inside = true;
        else if (inside && line[0] == '|' && at++ >= 2) // after the heading and its rule
            take_cells(line);
        else if (inside && line[0] != '|')
            inside = false;
    }
    fclose(file);
    ck_assert_msg(n_rows > 0, "the page has no table of %s", name);
}

static bool cell_names(const char *cell, const char *name) { // "`relu` `abs` and a bias"
    char quoted[120];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    return strstr(cell, quoted) != NULL;
}

static const Row *row_of(const char *name) {
    for (int r = 0; r < n_rows; r++)
        if (strncmp(rows[r].cells[0], name, strlen(name)) == 0) return &rows[r];
    ck_abort_msg("the page has no row of %s", name);
    return NULL;
}

// ---- what its letters are ---------------------------------------------------------------------
static int64_t numel(const Tensor *t) { return t ? t->numel : 0; }

static int64_t of_step(const OpCall *call) {
    int period = call->op->id == OP_adamw_step ? 4 : call->params.value[0] != 0.0f ? 3 : 2;
    int64_t sum = 0;
    for (int i = 1; i < call->n_in; i += period) sum += numel(call->in[i]);
    return sum;
}

static int64_t rows_in(const OpCall *call) {
    const Tensor *x = call->in[0];
    if (call->op->id == OP_layer_norm) return x->numel ? numel(call->out[1]) : 0;
    if (call->op->id == OP_cross_entropy) return x->shape[0];
    if (call->op->id == OP_cross_entropy_backward) return call->in[1]->shape[0];
    int64_t length = x->ndim ? x->shape[x->ndim - 1] : 1;
    return length ? x->numel / length : 0;
}

// Elements in the windows of an adaptive pool, along one dimension of the image.
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
    return image->shape[0] * image->shape[1] * covered(image->shape[2], pooled->shape[2]) *
           covered(image->shape[3], pooled->shape[3]);
}

static int64_t macs_of_one(const OpCall *call) {
    enum { TRANS_A = 1 }; // tensor/ops/product.h
    if (call->op->id == OP_matmul)
        return call->in[0]->shape[call->in[0]->ndim - (call->params.flags & TRANS_A ? 2 : 1)];
    const Tensor *weight = call->op->id == OP_conv2d_backward_weight ? call->out[0] : call->in[1];
    return weight->shape[0] ? weight->numel / weight->shape[0] : 0;
}

static int64_t letter_of(const OpCall *call, char letter) {
    int64_t all = 0;
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
    case 't':
        return (int64_t)call->params.window.kernel[0] * call->params.window.kernel[1];
    case 'w':
        return in_windows(call);
    case 'k':
        return macs_of_one(call);
    default:
        ck_abort_msg("the page does not say what %c is", letter);
        return 0;
    }
}

// "4 i - 2 R": a sum of products of numbers and letters; "": 0; below 0: 0.
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
// Whether a call is of the form that the words of a row name.
static bool has_form(const char *words, const OpCall *call) {
    const OpParams *params = &call->params;
    bool sgd = call->op->id == OP_sgd_step;
    bool decays = params->value[sgd ? 1 : 3] != 0.0f;
    if (*words == '\0') return true;
    if (strcmp(words, "by tanh") == 0) return params->flags == ACTIVATION_GELU_TANH;
    if (strcmp(words, "and a mean") == 0) return params->flags & 1;
    if (strcmp(words, "and momentum") == 0) return params->value[0] != 0.0f;
    if (strcmp(words, "and Nesterov's form of it") == 0)
        return params->value[0] != 0.0f && params->flags & 1;
    if (strcmp(words, "and weight decay") == 0) return decays;
    if (strcmp(words, "and weight decay by the gradient") == 0)
        return decays && !(params->flags & 1);
    if (strcmp(words, "and a weight") == 0)
        return call->in[call->op->id == OP_layer_norm ? 1 : 2] != NULL;
    if (strcmp(words, "and a bias") == 0)
        return call->op->id == OP_layer_norm_backward_weight ? call->n_out > 1
                                                             : call->in[2] != NULL;
    ck_abort_msg("the page's words \"%s\" are not known here", words);
    return false;
}

static void add_row(OpCost *cost, Row *row, const OpCall *call) {
    row->used = true;
    cost->macs += value_of(row->cells[1], call);
    cost->bias_flops += value_of(row->cells[2], call);
    cost->elementwise_flops += value_of(row->cells[3], call);
    cost->transcendental_flops += value_of(row->cells[4], call);
}

// The last row whose form holds, and every one that says "and".
static OpCost page_cost(const OpCall *call) {
    OpCost cost = {0};
    Row *base = NULL;
    for (int r = 0; r < n_rows; r++) {
        if (!cell_names(rows[r].cells[0], call->op->name)) continue;
        const char *words = strrchr(rows[r].cells[0], '`') + 1;
        words += *words == ' ';
        if (!has_form(words, call)) continue;
        if (strncmp(words, "and ", 4) == 0)
            add_row(&cost, &rows[r], call);
        else
            base = &rows[r];
    }
    ck_assert_msg(base != NULL, "the page has no row of op %s", call->op->name);
    add_row(&cost, base, call);
    return cost;
}

static OpCost activation_cost(const OpCall *call) { // that a linear has
    static const int ops[ACTIVATION_COUNT] = {[ACTIVATION_RELU] = OP_relu,
                                              [ACTIVATION_SIGMOID] = OP_sigmoid,
                                              [ACTIVATION_TANH] = OP_tanh,
                                              [ACTIVATION_GELU] = OP_gelu,
                                              [ACTIVATION_GELU_TANH] = OP_gelu};
    if (call->op->id != OP_linear || call->params.flags == ACTIVATION_NONE) return (OpCost){0};
    OpCall alone = *call;
    alone.op = op_by_id(ops[call->params.flags]);
    return page_cost(&alone);
}

static bool seen[OP_COUNT];

static void hold_op(Observer *self, const OpCall *call) {
    (void)self;
    if (error_pending() || call->op->id >= OP_COUNT) return;
    seen[call->op->id] = true;
    if (call->op->id == OP_clip_norm && letter_of(call, 'N') == 0) return; // 3: a norm of nothing
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

static void run_case(const OpCase *self) { // forward and backward
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    op_case_leaves_new(self, leaves);
    Scope *scope = scope_open();
    for (int i = 0; i < self->n_in && self->differentiable; i++)
        if (leaves[i] && leaves[i]->dtype == DTYPE_FLOAT32) tensor_requires_grad(leaves[i], true);
    Tensor *result = op_case_run(self, leaves);
    if (self->differentiable) {
        Tensor *gradient = tensor_full_new(tensor_shape(result), 0.5f);
        autograd_backward_from(result, gradient);
        tensor_free(gradient);
    }
    scope_close(scope);
    op_case_leaves_free(self, leaves);
    ck_assert_msg(!error_pending(), "%s: %s", self->name, error_message());
}

START_TEST(every_op_costs_what_the_page_says) {
    Observer observer = {.op_end = hold_op};
    read_table("ops");
    observer_add(&observer);
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        if (op_case_is_small(&self)) run_case(&self);
    }
    observer_remove(&observer);
    for (int op = 0; op < OP_COUNT; op++)
        ck_assert_msg(seen[op], "op %s was not run", op_by_id(op)->name);
    for (int r = 0; r < n_rows; r++)
        ck_assert_msg(rows[r].used, "nothing is a row %s of the page", rows[r].cells[0]);
}
END_TEST

// ---- networks ---------------------------------------------------------------------------------
static void hold_network(Layer *model, Shape input, const char *name) {
    const Row *row = row_of(name);
    char ratio[20];
    LayerCost cost;
    Tensor *x = tensor_new(input, DTYPE_FLOAT32);
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    uint64_t forward = cost.phase[PHASE_FORWARD].macs, backward = 0;
    for (int p = PHASE_BACKWARD; p <= PHASE_BACKWARD_WEIGHT; p++) backward += cost.phase[p].macs;
    snprintf(ratio, sizeof ratio, "%.3f", (double)backward / (double)forward);
    ck_assert_str_eq(row->cells[1], text_count(layer_parameter_count(model)).s);
    ck_assert_str_eq(row->cells[2], text_count((int64_t)forward).s);
    ck_assert_str_eq(row->cells[3], text_count((int64_t)(2 * backward)).s);
    ck_assert_str_eq(row->cells[4], ratio);
    tensor_free(x);
    layer_free(model);
}

START_TEST(networks_cost_what_the_page_says) {
    context_set_device(device_meta());
    read_table("models");
    ck_assert_int_eq(n_rows, 4);
    hold_network(mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults()), SHAPE(1, 784),
                 "MLP 784-512-10");
    hold_network(lenet5_new(), SHAPE(1, 1, 32, 32), "LeNet-5");
    hold_network(alexnet_new(1000), SHAPE(1, 3, 224, 224), "AlexNet");
    hold_network(vgg16_new(1000), SHAPE(1, 3, 224, 224), "VGG-16");
}
END_TEST

// ---- other tables -----------------------------------------------------------------------------
START_TEST(other_tools_count_as_the_page_says) {
    read_table("presets");
    ck_assert_int_eq(n_rows, PRESET_COUNT);
    for (int p = 0; p < PRESET_COUNT; p++) {
        char name[40];
        snprintf(name, sizeof name, "`%s`", preset_name((Preset)p));
        ck_assert_str_eq(row_of(name)->cells[1], preset_rule((Preset)p));
    }
}
END_TEST

START_TEST(optimizers_keep_what_the_page_says) {
    context_set_device(device_meta());
    Net small = {.sizes = {4, 3}, .n_sizes = 2, .batch = 2, .options = mlp_defaults()},
        large = small;
    large.sizes[1] = 300;
    Profile one = net_profile(&small, 1), other = net_profile(&large, 1);
    read_table("optimizers");
    ck_assert_int_eq(n_rows, OPTIMIZER_COUNT);
    for (int k = 0; k < OPTIMIZER_COUNT; k++) { // beside what each keeps whatever the size
        OptimizerKind kind = (OptimizerKind)k;
        int64_t more = memory_optimizer_bytes(&other, kind) - memory_optimizer_bytes(&one, kind);
        int64_t bytes = more / (other.parameters - one.parameters);
        ck_assert_int_eq(more, bytes * (other.parameters - one.parameters));
        for (int r = 0; r < n_rows; r++)
            if (strcmp(rows[r].cells[0], optimizer_name(kind)) == 0) {
                ck_assert_str_eq(rows[r].cells[1], text_count(bytes).s);
                rows[r].used = true;
            }
    }
    for (int r = 0; r < n_rows; r++) ck_assert_msg(rows[r].used, "%s", rows[r].cells[0]);
    profile_free(&one);
    profile_free(&other);
}
END_TEST

START_TEST(percentiles_take_as_many_samples_as_the_page_says) {
    read_table("percentiles");
    for (int r = 0; r < n_rows; r++) {
        int64_t needed = statistics_samples_needed(atof(rows[r].cells[0] + 1));
        ck_assert_str_eq(rows[r].cells[1], text_count(needed).s);
    }
}
END_TEST

// ---- keys -------------------------------------------------------------------------------------
enum { MOST_KEYS = 400 };
typedef struct Keys {
    const char *names[MOST_KEYS]; // of documents that live on
    int count;
} Keys;

static bool keys_have(const Keys *keys, const char *name, size_t length) {
    for (int i = 0; i < keys->count; i++)
        if (strlen(keys->names[i]) == length && memcmp(keys->names[i], name, length) == 0)
            return true;
    return false;
}

static void collect(Keys *keys, json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach(value, i, member) collect(keys, member);
    json_object_foreach(value, key, member) {
        size_t length = strlen(key);
        bool reason = length > 7 && strcmp(key + length - 7, "_reason") == 0;
        if (!reason && !keys_have(keys, key, length)) {
            ck_assert_int_lt(keys->count, MOST_KEYS);
            keys->names[keys->count++] = key;
        }
        collect(keys, member);
    }
}

static bool page_has_key(const char *key) {
    for (int r = 0; r < n_rows; r++)
        if (cell_names(rows[r].cells[1], key)) return true;
    return false;
}

START_TEST(documents_have_the_keys_that_the_page_explains) {
    static Keys keys;
    json_t *trained = document_new("--layers 784,8,10 --batch 16 --epochs 1 --steps 2");
    json_t *counted = document_new("--layers 8,4 --device meta");
    collect(&keys, trained);
    collect(&keys, counted);
    read_table("keys");
    for (int i = 0; i < keys.count; i++)
        ck_assert_msg(page_has_key(keys.names[i]), "the page does not explain key %s",
                      keys.names[i]);
    for (int r = 0; r < n_rows; r++)
        for (const char *at = strchr(rows[r].cells[1], '`'); at; at = strchr(at, '`')) {
            size_t length = strcspn(++at, "`");
            ck_assert_msg(keys_have(&keys, at, length), "no document has key %.*s", (int)length,
                          at);
            at += length + 1;
        }
    json_decref(trained);
    json_decref(counted);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_op_costs_what_the_page_says, 0},
        {networks_cost_what_the_page_says, 0},
        {other_tools_count_as_the_page_says, 0},
        {optimizers_keep_what_the_page_says, 0},
        {percentiles_take_as_many_samples_as_the_page_says, 0},
        {documents_have_the_keys_that_the_page_explains, 0},
        {NULL, 0},
    };
    return harness_main("conventions", tests);
}
