// test_session_steps.c -- the steps that a schedule keeps, and the owner of each time: rows
// compared with a second derivation, over random programs.
#include <stdlib.h>
#include <string.h>

#include "tests/profiler/session/programs.h"

// ---- schedules ---------------------------------------------------------------------------------
enum { STEPS = 40 };

// Walks through the schedule as profiler.h describes it.
static void keep_by_hand(const ProfilerSchedule *s, bool kept[STEPS]) {
    memset(kept, 0, STEPS * sizeof *kept);
    int64_t at = s->skip;
    for (int64_t cycle = 0; at < STEPS && (s->repeat == 0 || cycle < s->repeat); cycle++) {
        at += s->wait + s->warmup;
        for (int64_t i = 0; at < STEPS && (i < s->active || s->active == 0); i++)
            if (at < STEPS) kept[at++] = true;
    }
}

START_TEST(a_schedule_keeps_its_steps_and_no_others) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = _i ? schedule_random(_i) : (ProfilerSchedule){10, 0, 0, 10, 1};
    bool kept[STEPS];
    keep_by_hand(&options.schedule, kept);
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    for (int i = 0; i < STEPS; i++) {
        PROFILE_SCOPE("step") {
            PROFILE_KERNEL("work", i, 1) {}
        }
        profiler_step(profiler);
    }
    PROFILE_KERNEL("work", 1000, 1) {} // in a step that never ends
    profiler_stop(profiler);
    const Timeline *timeline = profiler_timeline(profiler);
    int64_t n = 0, sum = 0, nanoseconds = 0, at = 0;
    for (int i = 0; i < STEPS; i++) {
        if (!kept[i]) continue;
        const ProfileEvent *step = &timeline->events[at + 2]; // it comes after kernel and scope
        ck_assert(step->kind == EVENT_STEP && step->step == i && step->site == -1);
        for (int k = 0; k < 2; k++)
            ck_assert(step[-1 - k].begin >= step->begin && step[-1 - k].end <= step->end);
        nanoseconds += step->end - step->begin;
        at += 3;
        n++;
        sum += i;
    }
    ck_assert_int_le(timeline->count - at, 1); // perhaps the last kernel
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(summary.steps, n);
    ck_assert_int_eq(session_calls(&summary, "step", "work"), n);
    ck_assert_int_eq(session_calls(&summary, "(model)", "work"), 0);
    if (n) {
        ck_assert_uint_eq(session_row(&summary, "step", "work")->cost.elementwise_flops, sum);
        ck_assert_double_eq_tol(summary.seconds, 1e-9 * (double)nanoseconds, 1e-15);
    }
    session_check_times(&summary);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(what_a_warm_up_dropped_is_not_missing) {
    ProfilerOptions options = profiler_defaults();
    options.capacity = 2; // room for a kernel and a step
    options.schedule = (ProfilerSchedule){.warmup = 1, .active = 1, .repeat = 1};
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    for (int i = 0; i < 10; i++) PROFILE_KERNEL("work", 1, 1) {
        }
    ck_assert_int_eq(profiler_timeline(profiler)->dropped, 8);
    profiler_step(profiler);
    PROFILE_KERNEL("work", 1, 1) {}
    profiler_step(profiler);
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(summary.events, 2);
    ck_assert_int_eq(summary.dropped, 0);
    ck_assert_int_eq(session_calls(&summary, "(model)", "work"), 1);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(a_warm_up_that_a_stop_ends_leaves_nothing) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = (ProfilerSchedule){.warmup = 1, .active = 1};
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    PROFILE_KERNEL("work", 1, 1) {}
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert(summary.events == 0 && summary.n_rows == 0 && summary.seconds == 0.0);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(a_scope_around_the_loop_counts_with_what_lies_in_kept_steps) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = (ProfilerSchedule){.warmup = 1, .active = 5};
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    PROFILE_SCOPE("loop") {
        for (int i = 0; i < 11; i++) {
            PROFILE_KERNEL("work", 1, 1) {}
            profiler_step(profiler);
        }
    }
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    const ProfilerRow *loop = session_row(&summary, "loop", "scope");
    const ProfilerRow *work = session_row(&summary, "loop", "work");
    ck_assert_int_eq(summary.steps, 9);
    ck_assert(loop->calls == 1 && work->calls == 9);
    ck_assert_double_eq_tol(loop->seconds, summary.seconds, 1e-15);
    ck_assert_double_eq_tol(loop->self_seconds + work->self_seconds, summary.seconds, 1e-15);
    ck_assert(summary.unattributed_seconds == 0.0);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

// ---- random programs ---------------------------------------------------------------------------
static Profiler *run_program(int seed) {
    Net net = net_random(seed);
    NetTask task = net_task_new(&net);
    ProfilerOptions options = profiler_defaults();
    if (seed % 3) options.schedule = schedule_random(seed);
    Program program = {
        {.seed = (uint64_t)seed}, session_new(options), NULL, task.model, task.x, 150};
    Scope *scope = scope_open();
    no_grad_begin();
    profiler_start(program.profiler);
    program_take_actions(&program);
    profiler_stop(program.profiler);
    no_grad_end();
    scope_close(scope);
    expect_no_error();
    net_task_free(&task);
    return program.profiler;
}

// ---- owners of times, derived again ------------------------------------------------------------
static bool lies_in(const ProfileEvent *event, int64_t begin, int64_t end) {
    return event->begin <= begin && end <= event->end;
}

// The innermost event at that time, unless steps were kept and none of them contains it.
static const ProfileEvent *owner_of(const Timeline *timeline, int64_t begin, int64_t end) {
    const ProfileEvent *owner = NULL;
    bool steps = false, in_step = false;
    for (int64_t i = 0; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        bool inside = lies_in(event, begin, end);
        steps = steps || event->kind == EVENT_STEP;
        in_step = in_step || (event->kind == EVENT_STEP && inside);
        if (!inside || (event->kind != EVENT_OP && event->kind != EVENT_SITE)) continue;
        if (!owner || event->begin > owner->begin) owner = event;
    }
    return steps && !in_step ? NULL : owner;
}

static int by_time(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static const ProfilerRow *row_like(const ProfilerSummary *summary, const ProfileEvent *event) {
    char path[96];
    const Context *context = context_current();
    site_path(context, event->site, path, sizeof path);
    bool op = event->kind == EVENT_OP;
    return session_row(summary, path, op ? event->op->name : context->sites[event->site].type);
}

START_TEST(every_moment_belongs_to_the_innermost_event) {
    Profiler *profiler = run_program(_i);
    ProfilerSummary summary = session_summary(profiler);
    session_check_times(&summary);
    const Timeline *timeline = profiler_timeline(profiler);
    ck_assert_int_eq(timeline->dropped, 0);
    int64_t n = 2 * timeline->count, *moments = calloc((size_t)n + 1, sizeof *moments);
    for (int64_t i = 0; i < timeline->count; i++) {
        moments[2 * i] = timeline->events[i].begin;
        moments[2 * i + 1] = timeline->events[i].end;
    }
    qsort(moments, (size_t)n, sizeof *moments, by_time);
    int64_t *self = calloc((size_t)summary.n_rows + 1, sizeof *self);
    for (int64_t i = 0; i + 1 < n; i++) {
        if (moments[i] == moments[i + 1]) continue;
        const ProfileEvent *owner = owner_of(timeline, moments[i], moments[i + 1]);
        if (!owner) continue;
        const ProfilerRow *row = row_like(&summary, owner);
        ck_assert(row != NULL);
        self[row - summary.rows] += moments[i + 1] - moments[i];
    }
    for (int i = 0; i < summary.n_rows; i++)
        ck_assert_msg(llround(1e9 * summary.rows[i].self_seconds) == self[i],
                      "%s %s: %.9f is not %lld", summary.rows[i].path, summary.rows[i].name,
                      summary.rows[i].self_seconds, (long long)self[i]);
    free(self);
    free(moments);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_schedule_keeps_its_steps_and_no_others, 60},
        {what_a_warm_up_dropped_is_not_missing, 0},
        {a_warm_up_that_a_stop_ends_leaves_nothing, 0},
        {a_scope_around_the_loop_counts_with_what_lies_in_kept_steps, 0},
        {every_moment_belongs_to_the_innermost_event, 100},
        {NULL, 0},
    };
    return harness_main("session_steps", tests);
}
