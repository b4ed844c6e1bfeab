// cuda_runs.c -- runs a case or a training on a device and keeps its results.
#include "tests/cuda/cuda_runs.h"

#include <stdlib.h>
#include <string.h>

#include "layers/train/fit.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

// ---- inputs and results of ops -----------------------------------------------------------------
typedef struct Watch {
    Observer observer; // first: callbacks get its address
    Outcome *outcome;
    bool every_op;
    uint64_t inputs; // hash of the running op's inputs
    bool can_add;    // ops of backward can add
} Watch;

// The bytes of the whole storage, so that any view will do; free them.
static unsigned char *storage_bytes_new(const Tensor *t) {
    Device *device = t->device;
    unsigned char *bytes = malloc((size_t)t->storage->bytes + 1);
    Status status = device->to_host(device, bytes, t->storage->data, (size_t)t->storage->bytes);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    return bytes;
}

static void add_read(Watch *self, const Tensor *t) {
    unsigned char *bytes = storage_bytes_new(t);
    for (int64_t k = 0; k < t->storage->bytes; k++)
        self->inputs = (self->inputs ^ bytes[k]) * UINT64_C(0x100000001b3);
    free(bytes);
}

static void op_began(Observer *observer, const OpCall *call) {
    Watch *watch = (Watch *)observer;
    watch->inputs = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (int i = 0; i < call->n_in && watch->every_op; i++)
        if (call->in[i]) add_read(watch, call->in[i]);
    if (call->adds && watch->every_op) add_read(watch, call->out[0]);
    watch->can_add |= context_current()->phase != PHASE_FORWARD && call->op->flags & OP_ADDS;
}

static void add_written(Outcome *self, const Tensor *t) {
    if (!t) return;
    size_t size = (size_t)t->storage->bytes;
    unsigned char *bytes = storage_bytes_new(t);
    self->written = realloc(self->written, self->written_bytes + size + 1);
    memcpy(self->written + self->written_bytes, bytes, size);
    self->written_bytes += size;
    free(bytes);
}

static void op_ended(Observer *observer, const OpCall *call) {
    Watch *watch = (Watch *)observer;
    Outcome *outcome = watch->outcome;
    if (error_pending() || outcome->n_records == OUTCOME_MAX_RECORDS) return;
    OutcomeRecord *record = &outcome->records[outcome->n_records++];
    *record = (OutcomeRecord){.op = call->op->id, .cost = op_cost(call), .inputs = watch->inputs};
    if (!watch->every_op || (call->op->flags & OP_VIEW)) return;
    record->begin = outcome->written_bytes;
    for (int i = 0; i < call->n_out; i++) add_written(outcome, call->out[i]);
    for (int i = 0; i < call->n_in && call->op->mutates; i++)
        if (call->op->mutates(call, i)) add_written(outcome, call->in[i]);
    record->end = outcome->written_bytes;
}

static void buffer_saved(Observer *observer, const Storage *storage, int site) {
    (void)site;
    ((Watch *)observer)->outcome->saved_bytes += storage->bytes;
}

// ---- a case ------------------------------------------------------------------------------------
static void add_values(Outcome *self, Tensor *t) {
    if (!t) return;
    size_t bytes = (size_t)(self->count + t->numel + 1) * sizeof(float);
    self->values = realloc(self->values, bytes);
    cuda_device_read(t, self->values + self->count);
    self->count += t->numel;
}

static void walk_back(Tensor *result) {
    float *values = calloc((size_t)result->numel + 1, sizeof *values);
    for (int64_t i = 0; i < result->numel; i++) values[i] = (float)(i * 37 % 19) / 8.0f - 1.1f;
    Tensor *start = tensor_from_floats_new(tensor_shape(result), values);
    autograd_backward_from(result, start);
    tensor_free(start);
    free(values);
}

static Tensor *run_watched(const OpCase *self, Tensor *leaves[], Outcome *outcome, bool every_op) {
    Watch watch = {.observer = {.op_begin = op_began, .op_end = op_ended, .saved = buffer_saved},
                   .outcome = outcome,
                   .every_op = every_op};
    observer_add(&watch.observer);
    Tensor *result = op_case_run(self, leaves);
    if (result && self->differentiable) {
        walk_back(result);
        if (watch.can_add && op_case_is_small(self)) walk_back(op_case_run(self, leaves));
    }
    observer_remove(&watch.observer);
    return result;
}

// Keeps the result, the leaves afterwards (in-place ops change them), and their gradients.
Outcome *outcome_of_case(const OpCase *self, Device *device, bool every_op) {
    Outcome *outcome = calloc(1, sizeof *outcome);
    Tensor *leaves[OP_CASE_MAX_INPUTS];
    context_set_device(device);
    op_case_leaves_new(self, leaves);
    for (int i = 0; i < self->n_in; i++)
        if (leaves[i] && op_case_can_want_gradient(self, i)) tensor_requires_grad(leaves[i], true);
    Scope *scope = scope_open();
    Tensor *result = run_watched(self, leaves, outcome, every_op);
    if (result) add_values(outcome, result);
    for (int i = 0; i < self->n_in; i++) add_values(outcome, leaves[i]);
    for (int i = 0; i < self->n_in; i++)
        if (leaves[i]) add_values(outcome, tensor_grad(leaves[i]));
    scope_close(scope);
    op_case_leaves_free(self, leaves);
    ck_assert_msg(!error_pending(), "%s on %s: %s", self->name, device->name, error_message());
    return outcome;
}

void outcome_free(Outcome *self) {
    if (!self) return;
    free(self->values);
    free(self->written);
    free(self);
}

// ---- a training --------------------------------------------------------------------------------
enum { ROWS = 33, PIXELS = 47, CLASSES = 5 };

OutcomeTraining outcome_training(int index, int steps) {
    bool plain = index < OPTIMIZER_COUNT;
    return (OutcomeTraining){.optimizer = (OptimizerKind)(index % OPTIMIZER_COUNT),
                             .activation = plain ? &op_relu : &op_gelu,
                             .dropout = plain ? 0.0f : 0.2f,
                             .steps = steps};
}

static void train(Layer *model, Optimizer *optimizer, int steps, Outcome *outcome) {
    int64_t classes[ROWS];
    for (int i = 0; i < ROWS; i++) classes[i] = i * 7 % CLASSES;
    Tensor *x = tensor_normal_new(SHAPE(ROWS, PIXELS), 0.0f, 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(ROWS), classes);
    outcome->values = calloc((size_t)steps, sizeof *outcome->values);
    for (; outcome->count < steps && !error_pending(); outcome->count++) {
        double loss = 0.0;
        train_step(model, optimizer, x, labels, &loss);
        outcome->values[outcome->count] = (float)loss;
    }
    tensor_free(labels);
    tensor_free(x);
}

Outcome *outcome_of_training(OutcomeTraining training, Device *device) {
    Outcome *outcome = calloc(1, sizeof *outcome);
    MlpOptions options = mlp_defaults();
    options.activation = training.activation;
    options.dropout = training.dropout;
    context_set_device(device);
    context_seed(5);
    Layer *model = mlp_new((int64_t[]){PIXELS, 40, 24, CLASSES}, 4, options);
    OptimizerConfig config = optimizer_defaults(training.optimizer);
    config.clip_norm = 1.0f;
    Optimizer *optimizer = optimizer_new(model, config);
    train(model, optimizer, training.steps, outcome);
    ParameterList parameters = {0};
    layer_parameters(model, &parameters);
    for (int i = 0; i < parameters.count; i++) add_values(outcome, parameters.items[i].tensor);
    parameter_list_free(&parameters);
    optimizer_free(optimizer);
    layer_free(model);
    ck_assert_msg(!error_pending(), "%s", error_message());
    ck_assert_int_eq(expect_live_bytes(), 0);
    return outcome;
}

// ---- comparing ---------------------------------------------------------------------------------
static char difference[256];

static int64_t first_difference(const void *a, const void *b, int64_t words) {
    int64_t i = 0;
    while (i < words && memcmp((const char *)a + 4 * i, (const char *)b + 4 * i, 4) == 0) i++;
    return i;
}

static const char *tell(const char *what, const void *a, const void *b, int64_t i) {
    uint32_t bits[2];
    float values[2];
    memcpy(&bits[0], (const char *)a + 4 * i, 4);
    memcpy(&bits[1], (const char *)b + 4 * i, 4);
    memcpy(values, bits, sizeof values);
    snprintf(difference, sizeof difference, "%s %lld is 0x%08x (%.9g) and 0x%08x (%.9g)", what,
             (long long)i, bits[0], (double)values[0], bits[1], (double)values[1]);
    return difference;
}

const char *outcome_difference(const Outcome *a, const Outcome *b) {
    if (a->count != b->count) return "they left a different number of values";
    int64_t i = first_difference(a->values, b->values, a->count);
    return i < a->count ? tell("value", a->values, b->values, i) : NULL;
}

const char *outcome_op_difference(const Outcome *a, const Outcome *b) {
    if (a->n_records != b->n_records) return "they ran a different number of ops";
    for (int r = 0; r < a->n_records; r++) {
        const OutcomeRecord *of_a = &a->records[r], *of_b = &b->records[r];
        int64_t words = (int64_t)(of_a->end - of_a->begin) / 4;
        const unsigned char *from_a = a->written + of_a->begin, *from_b = b->written + of_b->begin;
        if (of_a->op != of_b->op || of_a->end - of_a->begin != of_b->end - of_b->begin)
            return "they ran different ops";
        int64_t i = first_difference(from_a, from_b, words);
        if (i == words) continue;
        char what[64];
        snprintf(what, sizeof what, "%s, which ran as number %d: word", op_by_id(of_a->op)->name,
                 r + 1);
        return tell(what, from_a, from_b, i);
    }
    return NULL;
}
