// test_session_epochs.c -- sessions of long trainings: every N-th epoch is recorded, and a scope's
// numbers can be read while the session runs.
#include <string.h>

#include "tests/profiler/session/sessions.h"

static void train(Profiler *profiler, int epochs, int steps) {
    for (int e = 0; e < epochs; e++) {
        for (int s = 0; s < steps; s++) {
            PROFILE_KERNEL("work", 1, 1) {}
            profiler_step(profiler);
        }
        PROFILE_KERNEL("evaluation", 1, 1) {}
        profiler_epoch(profiler);
    }
}

// Number of steps kept, computed as the documentation describes.
static int kept(int every, const ProfilerSchedule *s, int epochs, int steps) {
    int n = 0;
    for (int e = 0; e < epochs; e++)
        for (int at = 0; at < steps; at++) {
            bool chosen = every == 0 || e % every == 0;
            int64_t since = (every ? at : e * steps + at) - s->skip;
            int64_t cycle = s->wait + s->warmup + s->active;
            if (!chosen || since < 0) continue;
            bool in = cycle == 0 || ((s->repeat == 0 || since / cycle < s->repeat) &&
                                     since % cycle >= s->wait + s->warmup);
            n += in;
        }
    return n;
}

static const struct {
    int64_t every_epochs;
    ProfilerSchedule schedule;
} cases[] = {
    {1, {0}},
    {3, {0}},
    {7, {.skip = 2}},
    {2, {.skip = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 1}},
    {3, {.warmup = 1, .active = 3}},
    {100, {.active = 2, .repeat = 1}},
    {0, {.skip = 3}},
    {0, {.wait = 5, .active = 1}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(every_so_many_epochs_are_recorded) {
    ProfilerOptions options = profiler_defaults();
    options.schedule = cases[_i].schedule;
    options.every_epochs = cases[_i].every_epochs;
    for (int steps = 1; steps <= 9; steps += 4) {
        Profiler *profiler = session_new(options);
        ck_assert_int_eq(profiler_start(profiler), STATUS_OK);
        train(profiler, 10, steps);
        ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
        ProfilerSummary summary = session_summary(profiler);
        int want = kept((int)cases[_i].every_epochs, &cases[_i].schedule, 10, steps);
        ck_assert_int_eq(summary.steps, want);
        ck_assert_int_eq(session_calls(&summary, "(model)", "work"), want);
        session_check_times(&summary);
        profiler_summary_free(&summary);
        profiler_free(profiler);
    }
}
END_TEST

// Ops between an epoch's last step and its end belong to no step of the next epoch.
START_TEST(an_evaluation_is_in_no_step) {
    ProfilerOptions options = profiler_defaults();
    options.every_epochs = 1;
    Profiler *profiler = session_new(options);
    profiler_start(profiler);
    train(profiler, 4, 2);
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    ck_assert_int_eq(session_calls(&summary, "(model)", "evaluation"), 0);
    profiler_summary_free(&summary);
    profiler_free(profiler);
}
END_TEST

START_TEST(epochs_without_a_meaning_are_refused) {
    ProfilerOptions options = profiler_defaults();
    options.every_epochs = -1;
    ck_assert_ptr_null(profiler_new(options));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: none is negative");
    profiler_epoch(NULL);
    Profiler *profiler = session_new(profiler_defaults());
    profiler_epoch(profiler); // not started
    profiler_free(profiler);
}
END_TEST

// ---- by name -----------------------------------------------------------------------------------
START_TEST(a_scope_is_found_by_its_name_while_the_session_runs) {
    Steps steps = steps_new(_i);
    Profiler *profiler = session_new(profiler_defaults());
    ProfilerRow row;
    profiler_start(profiler);
    ck_assert_int_eq(profiler_find(profiler, "step", &row), STATUS_OK);
    ck_assert(row.calls == 0 && row.seconds == 0.0 && strcmp(row.path, "step") == 0);
    double before = 0.0;
    uint64_t first = 0;
    for (int i = 1; i <= 3; i++) {
        steps_train(&steps);
        ck_assert_int_eq(profiler_find(profiler, "step", &row), STATUS_OK);
        ck_assert_int_eq(row.calls, i);
        ck_assert_msg(row.seconds > before, "%g after %g", row.seconds, before);
        ck_assert_str_eq(row.name, "scope");
        if (i == 1) first = row.cost.elementwise_flops; // its own ops: kernel, loss, optimizer
        ck_assert_uint_eq(row.cost.elementwise_flops, (uint64_t)i * first);
        before = row.seconds;
    }
    profiler_stop(profiler);
    ProfilerSummary summary = session_summary(profiler);
    int found = 0;
    for (int i = 0; i < summary.n_rows; i++) { // layers are found, too
        const ProfilerRow *want = &summary.rows[i];
        if (want->kind != EVENT_SITE || want->phase != PHASE_FORWARD) continue;
        ck_assert_int_eq(profiler_find(profiler, want->path, &row), STATUS_OK);
        bool inner = strcmp(want->name, row.name) != 0; // the model inside has its scope's path
        ck_assert(inner ? row.seconds > want->seconds : row.seconds == want->seconds);
        ck_assert(row.calls == want->calls);
        found += !inner;
    }
    ck_assert_int_gt(found, 1);
    ck_assert_int_eq(profiler_find(profiler, NULL, &row), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "the path is NULL");
    ck_assert_int_eq(profiler_find(NULL, "step", &row), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no profiler");
    profiler_summary_free(&summary);
    profiler_free(profiler);
    steps_free(&steps);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{every_so_many_epochs_are_recorded, CASES},
                                 {an_evaluation_is_in_no_step, 0},
                                 {epochs_without_a_meaning_are_refused, 0},
                                 {a_scope_is_found_by_its_name_while_the_session_runs, 8},
                                 {NULL, 0}};
    return harness_main("session_epochs", tests);
}
