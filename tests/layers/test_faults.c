// test_faults.c -- memory that runs out: every single allocation of a training session is made to
// fail once. Each time an error is pending, nothing leaks, and the library works on.
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

enum { IMAGES = 20, PIXELS = 12, CLASSES = 3, BATCH = 8 };

static uint8_t pixels[IMAGES * PIXELS], classes[IMAGES];
static const Dataset dataset = {.count = IMAGES,
                                .rows = 3,
                                .columns = 4,
                                .classes = CLASSES,
                                .images = pixels,
                                .labels = classes};

typedef struct Session { // all that a training program owns
    Layer *model;
    Optimizer *optimizer;
    Loader *loader;
    double loss;
} Session;

static Status session_open(Session *s, OptimizerKind kind) {
    MlpOptions options = mlp_defaults();
    options.dropout = 0.2f;
    options.activation = &op_gelu;
    s->model = mlp_new((int64_t[]){PIXELS, 7, CLASSES}, 3, options);
    s->optimizer = s->model ? optimizer_new(s->model, optimizer_defaults(kind)) : NULL;
    s->loader =
        s->optimizer
            ? loader_new(&dataset, (LoaderOptions){.batch = BATCH, .shuffle = true, .scale = 1.0f})
            : NULL;
    return s->loader ? STATUS_OK : error_status();
}

static Status session_step(Session *s) {
    Batch batch;
    if (!loader_next(s->loader, &batch)) return error_status();
    return train_step(s->model, s->optimizer, batch.images, batch.labels, &s->loss);
}

static void session_close(Session *s) {
    loader_free(s->loader);
    optimizer_free(s->optimizer);
    layer_free(s->model);
}

// Opens a session, takes two full steps and, on the third batch, a short one.
static Status session_run(Session *s, OptimizerKind kind) {
    Status status = session_open(s, kind);
    for (int i = 0; i < 3 && !status; i++) status = session_step(s);
    return status;
}

// Makes a fresh context, so that no allocation is served by the cache of an earlier round.
static Context *enter(void) {
    Context *context = context_new();
    ck_assert_ptr_nonnull(context);
    context_push(context);
    context_set_threads(1);
    for (int i = 0; i < IMAGES; i++) classes[i] = (uint8_t)(i % CLASSES);
    return context;
}

static void leave(Context *context, uint64_t n) {
    const Ledger *ledger = context->ledger;
    if (ledger != NULL) {
        ck_assert_msg(ledger->live.total == 0, "request %llu: %lld bytes are still live",
                      (unsigned long long)n, (long long)ledger->live.total);
        ck_assert_int_eq(ledger->live_storages, 0);
        ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    }
    ck_assert_ptr_null(context->scope);
    ck_assert_int_eq(context->site, -1);
    ck_assert_int_eq(context->no_grad, 0);
    ck_assert_int_eq(context->phase, PHASE_FORWARD);
    context_pop();
    context_free(context);
    expect_no_error();
}

static void assert_out_of_memory(uint64_t n) {
    ck_assert_msg(error_status() == STATUS_OUT_OF_MEMORY, "request %llu: %s: \"%s\"",
                  (unsigned long long)n, status_name(error_status()), error_message());
    ck_assert_msg(strstr(error_message(), "memory") || strstr(error_message(), "no room"),
                  "request %llu: an unclear message: \"%s\"", (unsigned long long)n,
                  error_message());
    error_clear();
}

static uint64_t requests_of_a_session(OptimizerKind kind) {
    Context *context = enter();
    Session s = {0};
    uint64_t before = memory_requests();
    ck_assert_msg(session_run(&s, kind) == STATUS_OK, "%s", error_message());
    uint64_t requests = memory_requests() - before;
    session_close(&s);
    leave(context, 0);
    return requests;
}

// Some allocations might be dispensable, and their failure leave no error pending; today there are
// none.
START_TEST(any_request_may_fail_and_a_training_session_reports_it_and_frees_everything) {
    OptimizerKind kind = (OptimizerKind)_i;
    uint64_t requests = requests_of_a_session(kind);
    ck_assert_uint_gt(requests, 100);
    for (uint64_t n = 1; n <= requests; n++) {
        Context *context = enter();
        Session s = {0};
        memory_fail_at(n);
        Status status = session_run(&s, kind);
        memory_fail_at(0);
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        assert_out_of_memory(n);
        session_close(&s);
        leave(context, n);
    }
}
END_TEST

START_TEST(after_any_failed_request_a_further_step_succeeds) {
    OptimizerKind kind = (OptimizerKind)_i;
    Context *context = enter();
    Session s = {0};
    ck_assert_int_eq(session_open(&s, kind), STATUS_OK);
    ck_assert_int_eq(session_step(&s), STATUS_OK);
    int failures = 0;
    for (uint64_t n = 1; n < 1000; n++) {
        loader_start_epoch(s.loader);
        memory_fail_at(n);
        Status status = session_step(&s);
        memory_fail_at(0);
        if (status == STATUS_OK) break; // n is beyond the last allocation of a step
        assert_out_of_memory(n);
        failures++;
        ck_assert_int_eq(context->site, -1);
        ck_assert_int_eq(autograd_node_count(), 0);
        ck_assert_msg(session_step(&s) == STATUS_OK, "after request %llu: %s",
                      (unsigned long long)n, error_message());
        ck_assert(s.loss > 0.0 && s.loss < 10.0);
    }
    ck_assert_int_gt(failures, 30);
    session_close(&s);
    leave(context, 0);
}
END_TEST

// After a failed step the next step's gradients must be right.
START_TEST(a_failed_step_does_not_spoil_the_gradients_of_the_next) {
    Context *context = enter();
    Tensor *w = tensor_full_new(SHAPE(4), 3.0f);
    tensor_requires_grad(w, true);
    for (uint64_t n = 1; n < 200; n++) {
        Status status = STATUS_OUT_OF_MEMORY;
        for (int again = 0; again < 2; again++) {
            Scope *scope = scope_open();
            tensor_zero_grad(w);
            memory_fail_at(again ? 0 : n);
            Tensor *h = tensor_mul(tensor_mul(w, w), tensor_add(w, w)); // 2 w^3
            status = autograd_backward(tensor_sum(h, DIM_ALL, false));
            memory_fail_at(0);
            error_clear();
            if (status == STATUS_OK) expect_values(tensor_grad(w), 54, 54, 54, 54);
            scope_close(scope);
            if (status == STATUS_OK) break;
        }
        ck_assert_int_eq(status, STATUS_OK);
    }
    tensor_free(w);
    leave(context, 0);
}
END_TEST

START_TEST(any_request_may_fail_and_a_dry_run_reports_it_and_comes_back) {
    Context *context = enter();
    Layer *model = mlp_new((int64_t[]){6, 5, 4}, 3, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(2, 6));
    LayerCost cost, want;
    ck_assert_int_eq(layer_cost(model, &x, 1, &want), STATUS_OK);
    int64_t live = expect_live_bytes();
    int failures = 0;
    for (uint64_t n = 1; n < 1000; n++, failures++) {
        memory_fail_at(n);
        Status status = layer_cost(model, &x, 1, &cost);
        memory_fail_at(0);
        ck_assert_ptr_eq(context_current(), context);
        if (status == STATUS_OK) break;
        assert_out_of_memory(n);
        ck_assert_int_eq(expect_live_bytes(), live);
    }
    ck_assert_int_gt(failures, 50);
    ck_assert_mem_eq(&cost, &want, sizeof cost);
    layer_free(model);
    tensor_free(x);
    leave(context, 0);
}
END_TEST

START_TEST(only_the_nth_request_fails_and_every_request_is_counted) {
    uint64_t before = memory_requests();
    memory_fail_at(2);
    void *first = memory_new(8), *second = memory_new(8);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(second);
    expect_error(STATUS_OUT_OF_MEMORY, "no room for 8 bytes");
    void *third = memory_new(8);
    ck_assert_ptr_nonnull(third);
    ck_assert_uint_eq(memory_requests() - before, 3);
    memory_fail_at(1);
    ck_assert_ptr_null(memory_resize(first, 8, 16)); // the old block stays
    error_clear();
    memset(first, 1, 8);
    first = memory_resize(first, 8, 16);
    ck_assert_mem_eq(first, ((uint8_t[16]){1, 1, 1, 1, 1, 1, 1, 1}), 16);
    memory_free(first);
    memory_free(third);
    memory_free(NULL);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {any_request_may_fail_and_a_training_session_reports_it_and_frees_everything,
         OPTIMIZER_COUNT},
        {after_any_failed_request_a_further_step_succeeds, OPTIMIZER_COUNT},
        {a_failed_step_does_not_spoil_the_gradients_of_the_next, 0},
        {any_request_may_fail_and_a_dry_run_reports_it_and_comes_back, 0},
        {only_the_nth_request_fails_and_every_request_is_counted, 0},
        {NULL, 0},
    };
    return harness_main("faults", tests);
}
