// test_profile_scope.c -- scopes, kernels, counters and hooks: closed on every way out, the same
// for every observer, and free of cost without observers.
#include <string.h>

#include "tensor/shadow.h"
#include "tests/profiler/session/sessions.h"

// ---- scopes ------------------------------------------------------------------------------------
static int site(void) { return context_current()->site; }

static int returns_from_within(void) {
    PROFILE_SCOPE("outer") {
        PROFILE_SCOPE("inner") { return site(); }
    }
    return -1;
}

START_TEST(a_scope_is_closed_on_every_way_out) {
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    char path[96];
    int inner = returns_from_within();
    ck_assert_str_eq(site_path(context_current(), inner, path, sizeof path), "outer.inner");
    ck_assert_int_eq(site(), -1);
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE("inner") {
            if (i == 0) break; // leaves only the scope, not the loop
            if (i == 1) continue;
            goto out;
        }
        ck_assert_int_eq(site(), -1);
    }
    ck_assert_msg(false, "goto leads out");
out:
    ck_assert_int_eq(site(), -1);
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(session_calls(&summary, "outer.inner", "scope"), 1);
    ck_assert_int_eq(session_calls(&summary, "outer", "scope"), 1);
    ck_assert_int_eq(session_calls(&summary, "inner", "scope"), 3);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(nobody_observes_so_nothing_is_entered_and_kernels_run) {
    int runs = 0, before = context_current()->n_sites;
    PROFILE_SCOPE("unseen") {
        ck_assert_int_eq(site(), -1);
        PROFILE_KERNEL("unseen", -1, -1) { runs++; } // nor checked
        PROFILE_SCOPE(NULL) { runs++; }
    }
    profiler_counter("unseen", 1.0);
    Context *dry = shadow_context_new(device_cpu());
    context_push(dry);
    PROFILE_KERNEL("dry", 1, 1) { runs += 100; }
    context_pop();
    context_free(dry);
    ck_assert_int_eq(runs, 2);
    ck_assert_int_eq(context_current()->n_sites, before);
    expect_no_error();
}
END_TEST

START_TEST(memory_asked_for_in_a_scope_belongs_to_it) {
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    Tensor *x = NULL;
    char path[96];
    PROFILE_SCOPE("loading") {
        PROFILE_KERNEL("read", 0, 400) { x = tensor_new(SHAPE(100), DTYPE_FLOAT32); }
    }
    ck_assert_str_eq(site_path(context_current(), x->storage->site, path, sizeof path), "loading");
    ck_assert_str_eq(context_ledger()->peak_op, "read");
    ck_assert_ptr_null(context_current()->running);
    profiler_stop(profiler);
    const Timeline *timeline = profiler_timeline(profiler);
    ck_assert_int_eq(timeline->count, 3); // events: memory, kernel, scope
    ck_assert(timeline->events[0].kind == EVENT_MEMORY && timeline->events[0].value == 400.0);
    profiler_free(profiler);
    tensor_free(x);
}
END_TEST

// ---- kernels -----------------------------------------------------------------------------------
static int bodies; // runs of the handmade layer's code

// Runs relu, then doubles the result by hand, in a scope of its own.
static Tensor *handmade(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    Tensor *y = tensor_relu(in[0]);
    PROFILE_SCOPE("by hand") {
        PROFILE_KERNEL("double", in[0]->numel, 8 * in[0]->numel) {
            float *values = tensor_data(y);
            for (int64_t i = 0; i < y->numel; i++) values[i] *= 2.0f;
            bodies++;
        }
    }
    return y;
}
static const LayerType handmade_type = {.name = "Handmade",
                                        .size = sizeof(Layer),
                                        .forward = handmade};

static Layer *model_with_a_kernel(void) {
    Layer *model = sequential_new();
    layer_add_child(model, "fc1", linear_new(6, 5, true));
    layer_add_child(model, "mine", layer_new(&handmade_type));
    layer_add_child(model, "fc2", linear_new(5, 3, true));
    return model;
}

static const ProfileLayer *layer_of(const Profile *profile, const char *path) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].path, path) == 0) return &profile->layers[i];
    return NULL;
}

START_TEST(a_kernel_in_a_layer_is_in_its_profile_predicted_as_executed) {
    static Machine machine = {
        .peak_flops_per_second = 1e9,
        .levels = {{.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9}},
        .n_levels = 1};
    if (_i) context_set_device(device_meta()); // meta has no data: the code must not run
    Layer *model = model_with_a_kernel();
    Tensor *x = tensor_uniform_new(SHAPE(4, 6), 0.0f, 1.0f);
    Tensor *labels = tensor_new(SHAPE(4), DTYPE_INT64);
    for (int i = 0; i < 4 && !_i; i++) tensor_labels(labels)[i] = i % 3;
    ProfileOptions options = {.warmup = 2, .iterations = 2, .machine = _i ? NULL : &machine};
    Profile profile;
    bodies = 0;
    profile_training(model, optimizer_defaults(OPTIMIZER_ADAM), x, labels, options, &profile);
    expect_no_error();
    ck_assert_msg(profile.reconciled == !_i && !profile.difference[0], "%s", profile.difference);
    ck_assert(_i ? bodies == 0 : bodies > 5);
    const ProfileLayer *mine = layer_of(&profile, "mine.by hand");
    ck_assert(mine && strcmp(mine->type, "scope") == 0);
    const ProfilePhase *forward = &mine->phase[REPORT_FORWARD];
    ck_assert(forward->ops == 1 && forward->cost.elementwise_flops == 20 &&
              forward->cost.bytes_read == 160 && mine->phase[REPORT_BACKWARD].ops == 0);
    if (!_i) ck_assert(forward->latency.count == 2 && traffic_bytes(&forward->traffic, 0) == 160);
    ck_assert_int_eq(profile.n_uncounted, 0);
    profile_free(&profile);
    LayerCost cost;
    bodies = 0;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq(bodies, 0); // it was a dry run
    layer_free(model);
    tensor_free(x);
    tensor_free(labels);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(an_op_inside_a_kernel_is_not_in_the_kernels_own_time) {
    Tensor *a = tensor_uniform_new(SHAPE(150, 150), 0.0f, 1.0f);
    Profiler *profiler = session_new(profiler_defaults());
    Scope *scope = scope_open();
    profiler_start(profiler);
    PROFILE_SCOPE("all") {
        PROFILE_KERNEL("around", 10, 20) {
            tensor_matmul(a, a);
            PROFILE_SCOPE("part") {
                PROFILE_KERNEL("within", 1, 2) {}
            }
        }
    }
    profiler_stop(profiler);
    scope_close(scope);
    ProfilerSummary summary = session_summary(profiler);
    session_check_times(&summary);
    const ProfilerRow *around = session_row(&summary, "all", "around");
    const ProfilerRow *part = session_row(&summary, "all.part", "scope");
    const ProfilerRow *matmul = session_row(&summary, "all", "matmul");
    const ProfilerRow *all = session_row(&summary, "all", "scope");
    ck_assert_double_eq_tol(around->self_seconds, around->seconds - matmul->seconds - part->seconds,
                            1e-15);
    ck_assert_double_eq_tol(all->self_seconds, all->seconds - around->seconds, 1e-15);
    ck_assert(around->cost.elementwise_flops == 10 && around->cost.macs == 0);
    ck_assert(all->cost.macs == 150 * 150 * 150 && all->cost.elementwise_flops == 10);
    ck_assert(part->cost.elementwise_flops == 1 && part->cost.bytes_read == 2);
    profiler_summary_free(&summary);
    profiler_free(profiler);
    tensor_free(a);
}
END_TEST

static int evaluated;
static uint64_t count_of(uint64_t n) {
    evaluated++;
    return n;
}
static int returns_from_a_kernel(void) {
    PROFILE_KERNEL("left", count_of(3), count_of(4)) { return 5; }
    return 6;
}

START_TEST(a_kernel_is_one_op_on_every_way_out_and_its_counts_are_taken_once) {
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    ck_assert_int_eq(returns_from_a_kernel(), 5);
    for (int i = 0; i < 2; i++) {
        PROFILE_KERNEL("left", 1.0 * 3.0, 4) {
            if (i == 0) break;
            continue;
        }
    }
    profiler_stop(profiler);
    ck_assert_int_eq(evaluated, 2);
    ck_assert_ptr_null(context_current()->running);
    ProfilerSummary summary = session_summary(profiler);
    const ProfilerRow *left = session_row(&summary, "(model)", "left");
    ck_assert(left->calls == 3 && left->cost.elementwise_flops == 9 && left->cost.bytes_read == 12);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(a_count_that_cannot_be_is_refused_and_the_code_runs) {
    const uint64_t counts[][2] = {{UINT64_MAX, 1}, {1, (uint64_t)INT64_MAX + 1}};
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    for (int i = 0; i < 2; i++) {
        bool ran = false;
        PROFILE_KERNEL("wrong", counts[i][0], counts[i][1]) { ran = true; }
        ck_assert(ran);
        expect_error(STATUS_OVERFLOW, "wrong: a kernel of ");
    }
    PROFILE_KERNEL("most", INT64_MAX, 0) {}
    profiler_stop(profiler);
    ck_assert_int_eq(profiler_timeline(profiler)->count, 1);
    profiler_free(profiler);
}
END_TEST

// ---- counters and hooks ------------------------------------------------------------------------
START_TEST(a_figure_goes_to_every_session_that_records) {
    Profiler *profilers[3];
    for (int i = 0; i < 3; i++) profilers[i] = session_new(profiler_defaults());
    profiler_start(profilers[0]);
    profiler_start(profilers[1]);
    PROFILE_SCOPE("here") { profiler_counter("loss", 2.5); }
    profiler_stop(profilers[0]);
    profiler_counter("loss", 1.5);
    profiler_stop(profilers[1]);
    for (int i = 0; i < 3; i++) {
        const Timeline *timeline = profiler_timeline(profilers[i]);
        ck_assert_int_eq(timeline->count, i == 2 ? 0 : 2 + i);
        const ProfileEvent *event = timeline->events;
        if (i < 2)
            ck_assert(event->kind == EVENT_COUNTER && event->value == 2.5 && event->depth == 1 &&
                      strcmp(event->counter, "loss") == 0 && event->begin == event->end);
        profiler_free(profilers[i]);
    }
}
END_TEST

typedef struct Heard {
    int begun, ended, failed;
} Heard;
static void hear_begin(void *argument, const OpCall *call) {
    ck_assert(call->op->name[0]);
    ((Heard *)argument)->begun++;
}
static void hear_end(void *argument, const OpCall *call) {
    (void)call;
    ((Heard *)argument)->ended++;
    ((Heard *)argument)->failed += error_pending();
}

START_TEST(hooks_are_called_around_every_op_until_removed) {
    Heard both = {0}, ends = {0};
    ProfilerHook first = {.begin = hear_begin, .end = hear_end, .argument = &both};
    ProfilerHook second = {.end = hear_end, .argument = &ends};
    Tensor *x = tensor_zeros_new(SHAPE(2, 3));
    Scope *scope = scope_open();
    profiler_hook_add(&first);
    profiler_hook_add(&second);
    tensor_relu(x);
    PROFILE_KERNEL("mine", 1, 1) {}
    ck_assert(!tensor_matmul(x, x));
    error_clear();
    ck_assert(both.begun == 3 && both.ended == 3 && both.failed == 1);
    profiler_hook_remove(&first);
    tensor_relu(x);
    profiler_hook_remove(&second);
    profiler_hook_remove(&second); // removing it twice is fine
    tensor_relu(x);
    ck_assert(both.ended == 3 && ends.ended == 4 && ends.failed == 1);
    scope_close(scope);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_scope_is_closed_on_every_way_out, 0},
        {nobody_observes_so_nothing_is_entered_and_kernels_run, 0},
        {memory_asked_for_in_a_scope_belongs_to_it, 0},
        {a_kernel_in_a_layer_is_in_its_profile_predicted_as_executed, 2},
        {an_op_inside_a_kernel_is_not_in_the_kernels_own_time, 0},
        {a_kernel_is_one_op_on_every_way_out_and_its_counts_are_taken_once, 0},
        {a_count_that_cannot_be_is_refused_and_the_code_runs, 0},
        {a_figure_goes_to_every_session_that_records, 0},
        {hooks_are_called_around_every_op_until_removed, 0},
        {NULL, 0},
    };
    return harness_main("profile_scope", tests);
}
