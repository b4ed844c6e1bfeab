// test_session_faults.c -- sessions that fail, are full, are misused or end early.
#include <string.h>

#include "tensor/memory.h"
#include "tests/profiler/session/sessions.h"

START_TEST(a_wrong_start_or_stop_is_refused_and_changes_nothing) {
    Profiler *profiler = session_new(profiler_defaults());
    ck_assert_int_eq(profiler_stop(profiler), STATUS_STATE);
    expect_error(STATUS_STATE, "not started. HINT");
    ck_assert_int_eq(profiler_start(profiler), STATUS_OK);
    ck_assert_int_eq(profiler_start(profiler), STATUS_STATE);
    expect_error(STATUS_STATE, "started already. HINT");
    PROFILE_KERNEL("once", 1, 1) {}
    Context *context = context_new();
    context_push(context);
    ck_assert_int_eq(profiler_stop(profiler), STATUS_STATE);
    expect_error(STATUS_STATE, "another context. HINT");
    ck_assert_int_eq(profiler_write_trace(profiler, "/dev/null"), STATUS_STATE);
    expect_error(STATUS_STATE, "another context. HINT");
    context_pop();
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    ck_assert_int_eq(profiler_stop(profiler), STATUS_STATE);
    error_clear();
    context_push(context);
    ck_assert_int_eq(profiler_start(profiler), STATUS_STATE);
    expect_error(STATUS_STATE, "another context");
    context_pop();
    context_free(context);
    ck_assert_int_eq(profiler_start(profiler), STATUS_OK); // continues the earlier records
    PROFILE_KERNEL("once", 1, 1) {}
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert(summary.n_rows == 1 && summary.rows[0].calls == 2); // calls are merged by name
    profiler_summary_free(&summary);
    ck_assert_int_eq(profiler_start(NULL), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(profiler_stop(NULL), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(profiler_summarise(NULL, &summary), STATUS_INVALID_ARGUMENT);
    error_clear();
    profiler_step(NULL);
    profiler_free(NULL);
    profiler_free(profiler);
}
END_TEST

START_TEST(freeing_a_running_session_stops_it_from_any_context) {
    Steps steps = steps_new(0);
    Profiler *profiler = session_new(profiler_defaults());
    profiler_start(profiler);
    steps_train(&steps);
    Context *context = context_new();
    if (_i) context_push(context);
    profiler_free(profiler);
    if (_i) context_pop();
    context_free(context);
    ck_assert(!context_current()->observers);
    steps_train(&steps);
    steps_free(&steps);
}
END_TEST

START_TEST(a_failed_op_is_a_call_without_a_cost_and_ends_nothing) {
    Profiler *profiler = session_new(profiler_defaults());
    Tensor *a = tensor_zeros_new(SHAPE(2, 3)), *b = tensor_zeros_new(SHAPE(2, 3));
    Scope *scope = scope_open();
    profiler_start(profiler);
    PROFILE_SCOPE("fails") { ck_assert(!tensor_matmul(a, b)); }
    error_clear();
    ck_assert(tensor_add(a, b));
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    scope_close(scope);
    ProfilerSummary summary = session_summary(profiler);
    const ProfilerRow *failed = session_row(&summary, "fails", "matmul");
    ck_assert(failed && failed->calls == 1 && failed->cost.macs == 0);
    ck_assert(session_row(&summary, "fails", "scope")->calls == 1);
    ck_assert_uint_eq(session_row(&summary, "(model)", "add")->cost.elementwise_flops, 6);
    profiler_summary_free(&summary);
    profiler_free(profiler);
    tensor_free(a);
    tensor_free(b);
}
END_TEST

// Does everything that a session does, in a context of its own, while the n-th allocation fails;
// false when there are fewer.
static bool fail_at(const Net *net, uint64_t n) {
    Context *context = context_new();
    context_push(context);
    context_set_threads(1);
    NetTask task = net_task_new(net);
    uint64_t before = memory_requests();
    memory_fail_at(n);
    ProfilerOptions options = profiler_defaults();
    options.capacity = 500;
    Profiler *profiler = profiler_new(options);
    Status status = profiler ? profiler_start(profiler) : error_status();
    if (!status) {
        Scope *scope = scope_open();
        PROFILE_SCOPE("a") {
            PROFILE_SCOPE("b") { layer_forward(task.model, task.x); }
        }
        scope_close(scope);
        status = error_status();
        ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
        ProfilerSummary summary;
        Status summarised = profiler_summarise(profiler, &summary);
        profiler_summary_free(&summary);
        if (!status) status = summarised;
    }
    memory_fail_at(0);
    bool reached = memory_requests() - before >= n;
    ck_assert_msg(status == (reached ? STATUS_OUT_OF_MEMORY : STATUS_OK), "request %llu: %s",
                  (unsigned long long)n, error_message());
    error_clear();
    ck_assert(!context->observers && !context->scope && context->site == -1);
    profiler_free(profiler);
    net_task_free(&task);
    ck_assert_int_eq(expect_live_bytes(), 0);
    context_free(context);
    return reached;
}

START_TEST(memory_may_run_out_at_any_request) {
    Net net = net_random(_i);
    uint64_t n = 1;
    while (fail_at(&net, n)) n++;
    ck_assert_uint_gt(n, 20); // reached the end of a session
}
END_TEST

START_TEST(options_that_mean_nothing_are_refused) {
    const ProfilerOptions wrong[] = {
        {.capacity = 0},
        {.capacity = -1},
        {.capacity = INT64_MAX},
        {.capacity = 10, .schedule = {.skip = -1}},
        {.capacity = 10, .schedule = {.active = 1, .repeat = -1}},
        {.capacity = 10, .schedule = {.active = INT64_MAX}},
        {.capacity = 10, .schedule = {.wait = 1}},
        {.capacity = 10, .schedule = {.warmup = 1}},
        {.capacity = 10, .schedule = {.repeat = 1}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_ptr_null(profiler_new(wrong[i]));
        expect_error(STATUS_INVALID_ARGUMENT, "HINT: ");
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_wrong_start_or_stop_is_refused_and_changes_nothing, 0},
        {freeing_a_running_session_stops_it_from_any_context, 2},
        {a_failed_op_is_a_call_without_a_cost_and_ends_nothing, 0},
        {memory_may_run_out_at_any_request, 4},
        {options_that_mean_nothing_are_refused, 0},
        {NULL, 0},
    };
    return harness_main("session_faults", tests);
}
