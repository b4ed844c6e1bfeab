// test_session.c -- a session sees everything that runs and nothing else, wherever it starts and
// stops, and allocates nothing meanwhile.
#include <string.h>

#include "tensor/memory.h"
#include "tests/profiler/session/sessions.h"

// ---- rows --------------------------------------------------------------------------------------
static bool same_work(const Context *context, const OpRecord *op, const ProfilerRow *row) {
    char path[sizeof row->path];
    return row->kind == EVENT_OP && row->phase == op->phase &&
           strcmp(row->name, op->op->name) == 0 &&
           strcmp(row->path, site_path(context, op->site, path, sizeof path)) == 0;
}

// Checks that the row is the sum over the records of its op, phase and path.
static void check_row(const StepRecord *record, const ProfilerRow *row) {
    int64_t calls = 0;
    OpCost cost = {0};
    for (int64_t i = 0; i < record->n_ops; i++) {
        if (!same_work(context_current(), &record->ops[i], row)) continue;
        calls++;
        cost_add(&cost, record->ops[i].cost);
    }
    ck_assert_msg(calls == row->calls, "%s %s: %lld calls, %lld ran", row->path, row->name,
                  (long long)row->calls, (long long)calls);
    ck_assert_mem_eq(&cost, &row->cost, sizeof cost);
}

START_TEST(rows_are_the_ops_that_ran_by_path_and_phase) {
    Steps steps = steps_new(_i);
    Profiler *profiler = session_new(profiler_defaults());
    StepRecord record;
    step_record_start(&record, NULL);
    ck_assert_int_eq(profiler_start(profiler), STATUS_OK);
    for (int i = 0; i < 3; i++) steps_train(&steps);
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    step_record_stop(&record);
    steps_train(&steps); // not seen any more
    ProfilerSummary summary = session_summary(profiler);
    int64_t calls = 0;
    for (int i = 0; i < summary.n_rows; i++) {
        if (summary.rows[i].kind != EVENT_OP) continue;
        check_row(&record, &summary.rows[i]);
        calls += summary.rows[i].calls;
    }
    ck_assert_int_eq(calls, record.n_ops);
    const ProfilerRow *kernel = session_row(&summary, "step", "nothing");
    ck_assert(kernel && kernel->calls == 3 && kernel->cost.elementwise_flops == 9 &&
              kernel->cost.bytes_read == 15);
    const ProfilerRow *fc1 = session_row(&summary, "step.fc1", "Linear");
    ck_assert(fc1 && fc1->kind == EVENT_SITE && fc1->calls == 3);
    ck_assert(session_row(&summary, "step", "scope")->calls == 3);
    profiler_summary_free(&summary);
    profiler_free(profiler);
    step_record_free(&record);
    steps_free(&steps);
}
END_TEST

START_TEST(a_layers_row_costs_what_its_own_ops_cost_in_forward) {
    Steps steps = steps_new(_i);
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    for (int i = 0; i < 3; i++) steps_train(&steps);
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    for (int i = 0; i < summary.n_rows; i++) {
        const ProfilerRow *site = &summary.rows[i];
        if (site->kind != EVENT_SITE || strcmp(site->name, "scope") == 0) continue;
        OpCost cost = {0};
        for (int k = 0; k < summary.n_rows; k++) {
            const ProfilerRow *op = &summary.rows[k];
            if (op->kind == EVENT_OP && op->phase == PHASE_FORWARD &&
                strcmp(op->path, site->path) == 0 && strcmp(op->name, "nothing") != 0)
                cost_add(&cost, op->cost);
        }
        if (strcmp(site->path, "step") == 0) continue; // the root layer has its scope's path
        ck_assert_mem_eq(&cost, &site->cost, sizeof cost);
    }
    profiler_summary_free(&summary);
    profiler_free(profiler);
    steps_free(&steps);
}
END_TEST

START_TEST(recording_takes_no_memory) {
    Steps steps = steps_new(_i);
    ProfilerOptions options = profiler_defaults();
    options.schedule = (ProfilerSchedule){.skip = 1, .wait = 1, .warmup = 1, .active = 2};
    Profiler *first = session_new(options), *second = session_new(profiler_defaults());
    profiler_start(second);
    for (int i = 0; i < 2; i++) steps_train(&steps); // the first run stores the scope's name
    profiler_stop(second);
    uint64_t requests = memory_requests();
    for (int i = 0; i < 10; i++) steps_train(&steps);
    uint64_t unobserved = memory_requests() - requests, calls = memory_system_calls();
    requests = memory_requests();
    profiler_start(first);
    profiler_start(second);
    for (int i = 0; i < 10; i++) {
        steps_train(&steps);
        profiler_step(first);
        profiler_step(second);
    }
    profiler_stop(second);
    profiler_stop(first);
    ck_assert_uint_eq(memory_requests() - requests, unobserved);
    if (!context_ledger()->raw) ck_assert_uint_eq(memory_system_calls(), calls);
    profiler_free(first);
    profiler_free(second);
    steps_free(&steps);
}
END_TEST

START_TEST(two_sessions_and_a_profile_see_the_same_at_once) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    Profiler *first = session_new(profiler_defaults()), *second = session_new(profiler_defaults());
    Profile profile;
    profiler_start(first);
    profiler_start(second);
    PROFILE_SCOPE("around") {
        profile_training(task.model, optimizer_defaults(net.optimizer), task.x, task.labels,
                         (ProfileOptions){.warmup = 2, .iterations = 2}, &profile);
    }
    ck_assert_int_eq(profiler_stop(first), STATUS_OK);
    ck_assert_int_eq(profiler_stop(second), STATUS_OK);
    expect_no_error();
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    const Timeline *a = profiler_timeline(first), *b = profiler_timeline(second);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_gt(a->count, 4 * profile.n_ops);
    for (int64_t i = 0; i < a->count; i++) {
        ck_assert_int_eq(a->events[i].kind, b->events[i].kind);
        ck_assert_int_eq(a->events[i].site, b->events[i].site);
    }
    profile_free(&profile);
    profiler_free(first);
    profiler_free(second);
    net_task_free(&task);
}
END_TEST

// ---- started and stopped anywhere ---------------------------------------------------------------
START_TEST(what_is_open_at_a_start_or_a_stop_leaves_no_row) {
    Steps steps = steps_new(_i);
    Profiler *profiler = session_new(profiler_defaults());
    int before = context_current()->site;
    Profiler *other = session_new(profiler_defaults());
    profiler_start(other); // so that scopes are tracked before the start
    PROFILE_SCOPE("open at the start") {
        profiler_start(profiler);
        steps_train(&steps);
    }
    PROFILE_SCOPE("open at the stop") {
        steps_train(&steps);
        profiler_stop(profiler);
        steps_train(&steps);
    }
    profiler_stop(other);
    ck_assert_int_eq(context_current()->site, before);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert(!session_row(&summary, "open at the start", "scope"));
    ck_assert(!session_row(&summary, "open at the stop", "scope"));
    ck_assert(session_row(&summary, "open at the start.step", "scope")->calls == 1);
    ck_assert(session_row(&summary, "open at the stop.step", "scope")->calls == 1);
    session_check_times(&summary);
    profiler_summary_free(&summary);
    profiler_free(other);
    profiler_free(profiler);
    steps_free(&steps);
}
END_TEST

START_TEST(what_was_live_before_is_known_after_a_warm_up_too) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = (ProfilerSchedule){.wait = 1, .warmup = 1, .active = 1};
    Tensor *x = tensor_new(SHAPE(100), DTYPE_FLOAT32);
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    for (int i = 0; i < 3; i++) profiler_step(profiler);
    profiler_stop(profiler);
    const Timeline *timeline = profiler_timeline(profiler);
    ck_assert_int_eq(timeline->count, 2); // one kernel and the step
    ck_assert(timeline->events[0].kind == EVENT_MEMORY && timeline->events[0].value == 400.0);
    profiler_free(profiler);
    tensor_free(x);
}
END_TEST

START_TEST(what_was_taken_in_a_warm_up_is_known_after_it) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = (ProfilerSchedule){.warmup = 2, .active = 1};
    Tensor *before = tensor_new(SHAPE(100), DTYPE_FLOAT32);
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    Tensor *during = tensor_new(SHAPE(10), DTYPE_FLOAT32);
    for (int i = 0; i < 3; i++) profiler_step(profiler);
    profiler_stop(profiler);
    const Timeline *timeline = profiler_timeline(profiler);
    ck_assert_int_eq(timeline->count, 2); // one kernel and the step
    ck_assert(timeline->events[0].kind == EVENT_MEMORY && timeline->events[0].value == 440.0);
    ck_assert(timeline->events[1].begin <= timeline->events[0].begin);
    profiler_free(profiler);
    tensor_free(before);
    tensor_free(during);
}
END_TEST

START_TEST(only_its_own_context_is_observed) {
    Steps steps = steps_new(_i);
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    steps_train(&steps);
    int64_t count = profiler_timeline(profiler)->count;
    LayerCost cost;
    ck_assert_int_eq(layer_cost(steps.task.model, &steps.task.x, 1, &cost), STATUS_OK);
    ck_assert_int_gt(cost.ops, 0);
    ck_assert_int_eq(profiler_timeline(profiler)->count, count);
    Context *context = context_new();
    context_push(context);
    PROFILE_KERNEL("elsewhere", 1, 1) {}
    profiler_counter("elsewhere", 1.0);
    profiler_step(profiler); // ends only a step of its own context
    PROFILE_KERNEL("elsewhere", 1, 1) {}
    context_pop();
    context_free(context);
    ck_assert_int_eq(profiler_timeline(profiler)->count, count + 1);
    profiler_stop(profiler);
    profiler_free(profiler);
    steps_free(&steps);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {rows_are_the_ops_that_ran_by_path_and_phase, 24},
        {a_layers_row_costs_what_its_own_ops_cost_in_forward, 12},
        {recording_takes_no_memory, 24},
        {two_sessions_and_a_profile_see_the_same_at_once, 12},
        {what_is_open_at_a_start_or_a_stop_leaves_no_row, 6},
        {what_was_live_before_is_known_after_a_warm_up_too, 0},
        {what_was_taken_in_a_warm_up_is_known_after_it, 0},
        {only_its_own_context_is_observed, 6},
        {NULL, 0},
    };
    return harness_main("session", tests);
}
