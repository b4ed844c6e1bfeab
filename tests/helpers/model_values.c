// model_values.c -- the numbers of model_values.h, as in make_models.py and make_transformers.py,
// and the comparisons.
#include "tests/helpers/model_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

double model_mixed(int64_t place) {
    uint32_t x = (uint32_t)((uint64_t)(place + 1) * UINT64_C(2654435761));
    x ^= x >> 16;
    x *= UINT32_C(2246822519);
    x ^= x >> 13;
    return (double)x / 4294967296.0 - 0.5;
}

Tensor *model_input_new(Shape shape, int64_t at) {
    int64_t n = shape_numel(shape);
    float *values = malloc((size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++) values[i] = (float)model_mixed(at + i);
    Tensor *t = tensor_from_floats_new(shape, values);
    free(values);
    return t;
}

Tensor *model_tokens_new(Shape shape, int64_t first, int64_t count, int64_t at) {
    int64_t n = shape_numel(shape), *ids = malloc((size_t)n * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++)
        ids[i] = first + (int64_t)((model_mixed(at + i) + 0.5) * (double)count);
    Tensor *t = tensor_from_labels_new(shape, ids);
    free(ids);
    return t;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

void model_fill(Layer *model, double scale) {
    ParameterList list;
    int64_t at = 0;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        Tensor *t = list.items[i].tensor;
        bool norm = t->shape.ndim == 1 && ends_with(list.items[i].path, "weight");
        float *values = malloc((size_t)t->numel * sizeof(float));
        for (int64_t k = 0; k < t->numel; k++, at++)
            values[k] = (float)(scale * model_mixed(at) + (norm ? 1.0 : 0.0));
        ck_assert_int_eq(tensor_write_floats(t, values), STATUS_OK);
        free(values);
    }
    parameter_list_free(&list);
}

uint64_t model_digest(uint64_t value, const char *text) { // FNV-1a
    for (; *text; text++) value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return value;
}

uint64_t model_state_digest(const Layer *model) {
    ParameterList list;
    uint64_t value = MODEL_DIGEST_BEGIN;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        Shape shape = tensor_shape(list.items[i].tensor);
        char size[32];
        value = model_digest(model_digest(value, list.items[i].path), " (");
        for (int d = 0; d < shape.ndim; d++) {
            snprintf(size, sizeof(size), "%s%lld", d ? "," : "", (long long)shape.dims[d]);
            value = model_digest(value, size);
        }
        value = model_digest(value, ")\n");
    }
    parameter_list_free(&list);
    return value;
}

void model_sums(const Tensor *grad, double sums[2]) {
    float *values = malloc((size_t)grad->numel * sizeof(float));
    tensor_read_floats(grad, values);
    sums[0] = sums[1] = 0.0;
    for (int64_t i = 0; i < grad->numel; i++) {
        sums[0] += (double)values[i] * (double)values[i];
        sums[1] += (double)values[i] * model_mixed(i);
    }
    sums[0] = sqrt(sums[0]);
    free(values);
}

// ---- a step -------------------------------------------------------------------------------------
static void check_gradients(const Layer *model, const double *want) {
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    for (int i = 0; i < list.count; i++) {
        double sums[2];
        ck_assert_msg(list.items[i].tensor->grad != NULL, "%s: no gradient", list.items[i].path);
        model_sums(list.items[i].tensor->grad, sums);
        double worst = fmax(fabs(sums[0] - want[2 * i]), fabs(sums[1] - want[2 * i + 1]));
        // The bias of keys has gradient 0, since softmax cancels it. Here only rounding remains.
        ck_assert_msg(worst <= 1e-4 * want[2 * i] + 1e-6, "%s: %g, %g, not %g, %g",
                      list.items[i].path, sums[0], sums[1], want[2 * i], want[2 * i + 1]);
    }
    parameter_list_free(&list);
}

// Compares the result; returns its dot product with mixed numbers, from which backward starts.
static Tensor *check_result(Tensor *y, const double *want, int64_t at) {
    float *got = malloc((size_t)y->numel * sizeof(float));
    ck_assert_int_eq(tensor_read_floats(y, got), STATUS_OK);
    for (int64_t i = 0; i < y->numel; i++)
        ck_assert_msg(fabs((double)got[i] - want[at + i]) <= 1e-4 * fabs(want[at + i]) + 2e-6,
                      "result %lld: %.9g, not %.9g", (long long)(at + i), (double)got[i],
                      want[at + i]);
    free(got);
    Tensor *by = model_input_new(tensor_shape(y), 3 + at);
    Tensor *sum = tensor_sum(tensor_mul(y, by), DIM_ALL, false);
    tensor_free(by);
    return sum;
}

void model_check_step(Layer *model, const ModelStep *step) {
    Tensor *out[LAYER_MAX_OUTPUTS], *total = NULL;
    int64_t at = 0;
    Scope *scope = scope_open();
    Status status = layer_forward_each(model, step->in, step->n_in, out, step->n_out);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    for (int i = 0; i < step->n_out; i++) {
        Tensor *sum = check_result(out[i], step->results, at);
        total = total ? tensor_add(total, sum) : sum;
        at += out[i]->numel;
    }
    ck_assert_int_eq(autograd_backward(total), STATUS_OK);
    scope_close(scope);
    check_gradients(model, step->gradients);
}

// ---- the dry run --------------------------------------------------------------------------------
typedef struct Watch {
    Observer observer; // must be first
    ModelRun run;
} Watch;

static void add_op(Observer *self, const OpCall *call) {
    ModelRun *run = &((Watch *)self)->run;
    run->ops++;
    cost_add(&run->phase[context_current()->phase], op_cost(call));
}

static ModelRun run_step(Layer *model, Tensor *x) {
    static Watch watch; // outlives a test that fails here
    watch = (Watch){.observer = {.op_end = add_op}};
    observer_add(&watch.observer);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    ck_assert_msg(y != NULL, "%s", error_message());
    watch.run.saved_bytes = autograd_saved_bytes();
    ck_assert_msg(autograd_backward(tensor_mean(y, DIM_ALL, false)) == STATUS_OK, "%s",
                  error_message());
    scope_close(scope);
    observer_remove(&watch.observer);
    watch.run.peak = context_ledger()->peak;
    return watch.run;
}

ModelRun model_check_dry_run(Layer *model, Tensor *x) {
    Context *dry = dry_run_begin(model);
    ModelRun foretold = run_step(model, x);
    dry_run_end(dry);
    ledger_reset_peak(context_ledger()); // making the model may have used more
    ModelRun real = run_step(model, x);
    const MemoryUse *peak = &foretold.peak;
    ck_assert_int_eq(foretold.ops, real.ops);
    for (int p = 0; p < PHASE_COUNT; p++)
        ck_assert_msg(memcmp(&foretold.phase[p], &real.phase[p], sizeof(OpCost)) == 0,
                      "%s: %llu MACs dry, %llu real", phase_name((Phase)p),
                      (unsigned long long)foretold.phase[p].macs,
                      (unsigned long long)real.phase[p].macs);
    ck_assert_int_eq(foretold.saved_bytes, real.saved_bytes);
    ck_assert_int_eq(peak->total + tensor_bytes(x), real.peak.total);
    ck_assert_int_eq(peak->category[MEM_PARAMETER], real.peak.category[MEM_PARAMETER]);
    ck_assert_int_eq(peak->category[MEM_WORKSPACE], real.peak.category[MEM_WORKSPACE]);
    ck_assert_int_eq(peak->category[MEM_ACTIVATION], real.peak.category[MEM_ACTIVATION]);
    return real;
}

void model_check_failures(LayerMaker make, const void *of, Tensor *const in[], int n_in,
                          int least) {
    int64_t live = expect_live_bytes();
    int failures = 0;
    for (uint64_t n = 1; n < 10000; n += 1 + n / 128, failures++) {
        memory_fail_at(n);
        Layer *layer = make(of);
        Scope *scope = scope_open();
        Tensor *y = layer_forward_many(layer, in, n_in);
        if (y) autograd_backward(tensor_mean(y, DIM_ALL, false));
        memory_fail_at(0);
        bool done = !error_pending();
        if (!done) expect_error(STATUS_OUT_OF_MEMORY, "");
        scope_close(scope);
        layer_free(layer);
        ck_assert_int_eq(expect_live_bytes(), live);
        if (done) break;
    }
    expect_no_error();
    ck_assert_int_gt(failures, least);
}
