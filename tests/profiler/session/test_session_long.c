// test_session_long.c -- sessions longer than their buffer: the rows keep every step, the buffer
// keeps the newest, and what cannot be kept is counted.
#include <string.h>

#include "tensor/memory.h"
#include "tests/profiler/session/programs.h"

static void check_same_rows(const ProfilerSummary *a, const ProfilerSummary *b) {
    ck_assert_int_eq(a->steps, b->steps);
    ck_assert_int_eq(a->events, b->events);
    ck_assert_int_eq(a->n_rows, b->n_rows);
    ck_assert_double_eq(a->seconds, b->seconds);
    ck_assert_double_eq(a->unattributed_seconds, b->unattributed_seconds);
    for (int i = 0; i < a->n_rows; i++) {
        ck_assert_msg(memcmp(&a->rows[i], &b->rows[i], sizeof a->rows[i]) == 0,
                      "%s %s: %lld calls, %.9f s, self %.9f s; with a small buffer %s %s: %lld, "
                      "%.9f, %.9f",
                      a->rows[i].path, a->rows[i].name, (long long)a->rows[i].calls,
                      a->rows[i].seconds, a->rows[i].self_seconds, b->rows[i].path, b->rows[i].name,
                      (long long)b->rows[i].calls, b->rows[i].seconds, b->rows[i].self_seconds);
    }
}

static void check_newest(const Timeline *all, const Timeline *newest) {
    const ProfileEvent *expected = all->events + (all->count - newest->count);
    const OpTraffic *traffic = timeline_traffic(all), *newer = timeline_traffic(newest);
    ck_assert_int_gt(newest->count, 0);
    for (int64_t i = 0; i < newest->count; i++) {
        const ProfileEvent *a = &expected[i], *b = &newest->events[i];
        ck_assert(a->begin == b->begin && a->end == b->end && a->kind == b->kind);
        ck_assert(a->site == b->site && a->depth == b->depth);
        if (a->kind != EVENT_OP) continue;
        ck_assert(a->op == b->op);
        const OpCost *cost = all->costs + (expected - all->events);
        ck_assert(memcmp(&cost[i], &newest->costs[i], sizeof *cost) == 0);
        if (traffic)
            ck_assert(memcmp(&traffic[expected - all->events + i], &newer[i], sizeof *newer) == 0);
    }
}

// The rows do not tell whether the buffer held all events; steps end anywhere in the program.
START_TEST(steps_that_made_room_stay_in_the_rows) {
    Net net = net_random(_i);
    NetTask task = net_task_new(&net);
    ProfilerOptions options = profiler_defaults();
    if (_i % 3 == 0) options.schedule = schedule_random(_i);
    options.memory = _i % 2;
    if (_i % 4 == 0) options.machine = &session_machine;
    Program program = {
        {.seed = (uint64_t)_i}, session_new(options), NULL, task.model, task.x, 2000};
    options.capacity = 600 + 300 * (_i % 4); // the longest steps have about 400 events
    program.second = session_new(options);
    program_clock_begin();
    Scope *scope = scope_open();
    no_grad_begin();
    profiler_start(program.profiler);
    profiler_start(program.second);
    program_take_actions(&program);
    ProfilerSummary summaries[2] = {session_summary(program.profiler),
                                    session_summary(program.second)};
    if (summaries[1].dropped == 0) {
        check_same_rows(&summaries[0], &summaries[1]);
        check_newest(profiler_timeline(program.profiler), profiler_timeline(program.second));
    }
    ck_assert_int_eq(summaries[1].events + summaries[1].dropped, summaries[0].events);
    no_grad_end();
    scope_close(scope);
    for (int i = 0; i < 2; i++) profiler_summary_free(&summaries[i]);
    program_clock_end();
    profiler_free(program.profiler);
    profiler_free(program.second);
    net_task_free(&task);
}
END_TEST

START_TEST(a_session_longer_than_its_buffer_keeps_all_steps_in_its_rows) {
    Steps steps = steps_new(_i);
    ProfilerOptions options = profiler_defaults();
    int64_t all = 0;
    for (int round = 0; round < 2; round++) {
        if (round == 1) options.capacity = all / 2;
        Profiler *profiler = session_new(options);
        profiler_start(profiler);
        for (int i = 0; i < 6; i++) {
            steps_train(&steps);
            profiler_step(profiler);
        }
        profiler_stop(profiler);
        ProfilerSummary summary = session_summary(profiler);
        if (round == 0) all = summary.events;
        ck_assert_int_eq(summary.events, all);
        ck_assert_int_eq(summary.dropped, 0);
        ck_assert_int_eq(summary.steps, 6);
        ck_assert((summary.only_in_rows > 0) == (round == 1));
        ck_assert_int_eq(session_row(&summary, "step", "nothing")->calls, 6);
        session_check_times(&summary);
        const Timeline *timeline = profiler_timeline(profiler);
        ck_assert_int_eq(timeline->events[timeline->count - 1].step, 5); // the newest step
        profiler_summary_free(&summary);
        profiler_free(profiler);
    }
    steps_free(&steps);
}
END_TEST

// Runs kernels, then ends the step.
static void kernels(Profiler *profiler, int n) {
    for (int i = 0; i < n; i++) PROFILE_KERNEL("k", 1, 1) {
        }
    profiler_step(profiler);
}

START_TEST(a_step_beyond_the_capacity_is_dropped_whole_and_counted) {
    Profiler *profiler = session_new((ProfilerOptions){.capacity = 40});
    profiler_start(profiler);
    kernels(profiler, 9);
    kernels(profiler, 100);
    for (int i = 0; i < 20; i++) kernels(profiler, 9);
    profiler_stop(profiler);
    ck_assert_int_ge(profiler_timeline(profiler)->count, 10); // at least the newest step
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(summary.steps, 21);
    ck_assert_int_eq(summary.dropped, 101);
    ck_assert_int_eq(summary.events, 210);
    ck_assert_int_eq(session_calls(&summary, "(model)", "k"), 189);
    session_check_times(&summary);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(without_room_for_its_sums_a_session_drops_later_events) {
    Profiler *profiler = session_new((ProfilerOptions){.capacity = 25});
    profiler_start(profiler);
    kernels(profiler, 9);
    memory_fail_at(memory_requests() + 1); // the first allocation from here on
    kernels(profiler, 9);
    memory_fail_at(0);
    expect_no_error();
    for (int i = 0; i < 10; i++) kernels(profiler, 9);
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(summary.steps * 10 + summary.dropped, 120);
    ck_assert_int_ge(summary.steps, 11);
    ck_assert_int_eq(session_calls(&summary, "(model)", "k"), 9 * summary.steps);
    session_check_times(&summary);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {steps_that_made_room_stay_in_the_rows, 100},
        {a_session_longer_than_its_buffer_keeps_all_steps_in_its_rows, 6},
        {a_step_beyond_the_capacity_is_dropped_whole_and_counted, 0},
        {without_room_for_its_sums_a_session_drops_later_events, 0},
        {NULL, 0},
    };
    return harness_main("session_long", tests);
}
