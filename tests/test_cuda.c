// test_cuda.c -- the cuda device against the cpu: every op case forward and backward, and training.
// Values within the case's tolerance; the ops that ran, their costs and the bytes saved, equal.
#include <stdlib.h>
#include <string.h>

#include "layers/train/fit.h"
#include "tests/cuda_device.h"
#include "tests/expect.h"
#include "tests/op_cases.h"

enum { MAX_RECORDS = 512, CASES_A_TEST = 16 }; // opening a device takes longer than most cases

// What a run left behind: values one after the other, and what the engine counted.
typedef struct Outcome {
    float *values;
    int64_t count;
    struct {
        int op;
        OpCost cost;
    } records[MAX_RECORDS];
    int n_records;
    int64_t saved_bytes;
} Outcome;

typedef struct Watch {
    Observer observer; // first: callbacks get its address
    Outcome *outcome;
} Watch;

static void op_ended(Observer *observer, const OpCall *call) {
    Outcome *outcome = ((Watch *)observer)->outcome;
    if (error_pending() || outcome->n_records == MAX_RECORDS) return;
    outcome->records[outcome->n_records].op = call->op->id;
    outcome->records[outcome->n_records++].cost = op_cost(call);
}

static void buffer_saved(Observer *observer, const Storage *storage, int site) {
    (void)site;
    ((Watch *)observer)->outcome->saved_bytes += storage->bytes;
}

START_TEST(the_device_opens) { // tests/tools/on_gpu asks with it whether there is a GPU
    ck_assert_str_eq(cuda_device_use()->name, "cuda");
}
END_TEST

// ---- running a case ----------------------------------------------------------------------------
static void add_values(Outcome *self, Tensor *t) {
    if (!t) return;
    size_t bytes = (size_t)(self->count + t->numel + 1) * sizeof(float);
    self->values = realloc(self->values, bytes);
    cuda_device_read(t, self->values + self->count);
    self->count += t->numel;
}

static bool can_want_gradient(const OpCase *self, int input) {
    return self->differentiable && self->in[input].layout != LAYOUT_SAME &&
           self->in[input].values != VALUES_LABELS;
}

static void walk_back(Tensor *result) {
    float *values = calloc((size_t)result->numel + 1, sizeof *values);
    for (int64_t i = 0; i < result->numel; i++) values[i] = (float)(i * 37 % 19) / 8.0f - 1.1f;
    Tensor *start = tensor_from_floats_new(tensor_shape(result), values);
    autograd_backward_from(result, start);
    tensor_free(start);
    free(values);
}

static Tensor *run_watched(const OpCase *self, Tensor *leaves[], Outcome *outcome) {
    Watch watch = {.observer = {.op_end = op_ended, .saved = buffer_saved}, .outcome = outcome};
    observer_add(&watch.observer);
    Tensor *result = op_case_run(self, leaves);
    if (result && self->differentiable) walk_back(result);
    observer_remove(&watch.observer);
    return result;
}

// The result, the leaves afterwards (in-place ops change them), and their gradients.
static Outcome *outcome_new(const OpCase *self, Device *device) {
    Outcome *outcome = calloc(1, sizeof *outcome);
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    context_set_device(device);
    op_case_leaves_new(self, leaves);
    for (int i = 0; i < self->n_in; i++)
        if (leaves[i] && can_want_gradient(self, i)) tensor_requires_grad(leaves[i], true);
    Scope *scope = scope_open();
    Tensor *result = run_watched(self, leaves, outcome);
    if (result) add_values(outcome, result);
    for (int i = 0; i < self->n_in; i++) add_values(outcome, leaves[i]);
    for (int i = 0; i < self->n_in; i++)
        if (leaves[i]) add_values(outcome, tensor_grad(leaves[i]));
    autograd_clear();
    scope_close(scope);
    op_case_leaves_free(self, leaves);
    ck_assert_msg(!error_pending(), "%s on %s: %s", self->name, device->name, error_message());
    return outcome;
}

static void outcome_free(Outcome *self) {
    free(self->values);
    free(self);
}

static void compare_counts(const char *name, const Outcome *cuda, const Outcome *cpu) {
    ck_assert_int_eq(cuda->n_records, cpu->n_records);
    for (int i = 0; i < cuda->n_records; i++) {
        const char *op = op_by_id(cuda->records[i].op)->name;
        ck_assert_str_eq(op, op_by_id(cpu->records[i].op)->name);
        ck_assert_msg(memcmp(&cuda->records[i].cost, &cpu->records[i].cost, sizeof(OpCost)) == 0,
                      "%s: op %s costs something else on cuda", name, op);
    }
    ck_assert_msg(cuda->saved_bytes == cpu->saved_bytes, "%s: saves %lld bytes, on the cpu %lld",
                  name, (long long)cuda->saved_bytes, (long long)cpu->saved_bytes);
}

static void check_case(const OpCase *self, Device *device) {
    Outcome *cpu = outcome_new(self, device_cpu());
    Outcome *cuda = outcome_new(self, device);
    compare_counts(self->name, cuda, cpu);
    ck_assert_int_eq(cuda->count, cpu->count);
    harness_assert_close(cuda->values, cpu->values, cpu->count, self->absolute, self->relative,
                         self->name);
    outcome_free(cpu);
    outcome_free(cuda);
    ck_assert_msg(expect_live_bytes() == 0, "%s leaks", self->name);
}

START_TEST(every_case_is_the_same_as_on_the_cpu) {
    Device *device = cuda_device_use();
    int end = (_i + 1) * CASES_A_TEST;
    for (int i = _i * CASES_A_TEST; i < end && i < op_case_count(); i++) {
        OpCase self = op_case_at(i);
        check_case(&self, device);
    }
}
END_TEST

START_TEST(every_op_is_run_by_some_case) {
    Device *device = cuda_device_use();
    static bool seen[OP_COUNT];
    OpFunction function = NULL; // of the last case, and how many of it have run: a few show its ops
    int runs = 0;
    for (int c = 0; c < op_case_count(); c++) {
        OpCase self = op_case_at(c);
        runs = self.function == function ? runs : 0;
        function = self.function;
        if (!op_case_is_small(&self) || runs++ >= 8) continue;
        Outcome *outcome = outcome_new(&self, device);
        for (int i = 0; i < outcome->n_records; i++) seen[outcome->records[i].op] = true;
        outcome_free(outcome);
    }
    for (int op = 0; op < OP_COUNT; op++)
        ck_assert_msg(seen[op], "op %s was run by no case on cuda", op_by_id(op)->name);
}
END_TEST

// ---- training ----------------------------------------------------------------------------------
enum { STEPS = 20, ROWS = 33, PIXELS = 47, CLASSES = 5 };

typedef struct Training {
    OptimizerKind optimizer;
    MlpOptions options;
} Training;

// The losses of 20 steps on one batch.
static void train(const Training *training, Device *device, double losses[STEPS]) {
    static int64_t classes[ROWS];
    for (int i = 0; i < ROWS; i++) classes[i] = i * 7 % CLASSES;
    context_set_device(device);
    context_seed(5);
    Layer *model = mlp_new((int64_t[]){PIXELS, 40, 24, CLASSES}, 4, training->options);
    OptimizerConfig config = optimizer_defaults(training->optimizer);
    config.clip_norm = 1.0f;
    Optimizer *optimizer = optimizer_new(model, config);
    Tensor *x = tensor_normal_new(SHAPE(ROWS, PIXELS), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(ROWS), classes);
    for (int i = 0; i < STEPS && !error_pending(); i++)
        train_step(model, optimizer, x, labels, &losses[i]);
    ck_assert_msg(!error_pending(), "%s", error_message());
    tensor_free(labels);
    tensor_free(x);
    optimizer_free(optimizer);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

START_TEST(training_goes_as_on_the_cpu) {
    Training training = {.optimizer = (OptimizerKind)(_i % OPTIMIZER_COUNT),
                         .options = mlp_defaults()};
    double cuda[STEPS], cpu[STEPS];
    Device *device = cuda_device_use();
    training.options.activation = _i < OPTIMIZER_COUNT ? ACTIVATION_RELU : ACTIVATION_GELU;
    training.options.dropout = _i < OPTIMIZER_COUNT ? 0.0f : 0.2f;
    train(&training, device_cpu(), cpu);
    train(&training, device, cuda);
    for (int i = 0; i < STEPS; i++)
        ck_assert_msg(fabs(cuda[i] - cpu[i]) <= 1e-4 * fabs(cpu[i]),
                      "step %d: loss %.9g, on the cpu %.9g", i, cuda[i], cpu[i]);
    ck_assert_double_lt(cuda[STEPS - 1], cuda[0]);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_device_opens, 0},
        {every_case_is_the_same_as_on_the_cpu, (op_case_count() + CASES_A_TEST - 1) / CASES_A_TEST},
        {every_op_is_run_by_some_case, 0},
        {training_goes_as_on_the_cpu, 2 * OPTIMIZER_COUNT},
        {NULL, 0},
    };
    return harness_main("cuda", tests);
}
