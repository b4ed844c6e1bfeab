// test_profile_diff.c -- what differs between two planted profiles: layers by their paths, counts
// to the integer, times where both sets of runs are sure, and never a change where there is none.
#include <math.h>
#include <string.h>

#include "profiler/compare/profile_diff.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/compare/planted_profile.h"

static Profile base, now;
static ProfileDiff diff;

static void begin(int runs) {
    base = planted_profile(runs, 1);
    now = planted_profile(runs, 2);
}

static void find(bool apart) {
    Status status = profile_diff(&base, &now, (DiffHow){.apart = apart}, &diff);
    ck_assert_msg(!status, "%s", error_message());
}

static void end(void) {
    profile_diff_free(&diff);
    profile_free(&base);
    profile_free(&now);
}

static const DiffTime *time_of(const char *path, ReportPhase phase) {
    for (int64_t i = 0; i < diff.n_times; i++)
        if (strcmp(diff.times[i].path, path) == 0 && diff.times[i].phase == phase)
            return &diff.times[i];
    return NULL;
}

static const DiffCount *count_of(const char *path, const char *phase, const char *name) {
    for (int64_t i = 0; i < diff.n_counts; i++)
        if (strcmp(diff.counts[i].path, path) == 0 && strcmp(diff.counts[i].phase, phase) == 0 &&
            strcmp(diff.counts[i].name, name) == 0)
            return &diff.counts[i];
    return NULL;
}

// ---- times -------------------------------------------------------------------------------------
START_TEST(of_the_same_nothing_differs) {
    begin(5);
    find(false);
    ck_assert_int_eq(diff.n_counts, 0);
    ck_assert_int_eq(diff.n_times, 7);
    ck_assert_int_eq(diff.compared, 7);
    ck_assert(diff.runs_before == 5 && diff.runs_after == 5);
    for (int64_t i = 0; i < diff.n_times; i++) {
        const Ratio *ratio = &diff.times[i].ratio;
        ck_assert_int_eq(diff.times[i].sure, 0);
        ck_assert(ratio->low > 0.98 && ratio->low < 1.0 && ratio->high > 1.0 && ratio->high < 1.02);
    }
    end();
}
END_TEST

START_TEST(a_layer_that_takes_longer_is_found) {
    begin(5);
    planted_slow(&now, "relu1", REPORT_BACKWARD, 1.2);
    planted_slow(&now, "fc2", REPORT_FORWARD, 0.7);
    planted_slow(&now, NULL, REPORT_STEP, 0.95);
    find(false);
    const DiffTime *slower = time_of("relu1", REPORT_BACKWARD);
    ck_assert_int_eq(slower->sure, 1);
    ck_assert_double_eq_tol(slower->ratio.estimate, 1.2, 0.01);
    ck_assert(slower->ratio.low > 1.18 && slower->ratio.high < 1.22);
    ck_assert_double_eq_tol(slower->after / slower->before, 1.2, 0.01);
    ck_assert_int_eq(time_of("fc2", REPORT_FORWARD)->sure, -1);
    ck_assert_int_eq(time_of("fc2", REPORT_BACKWARD)->sure, 0);
    ck_assert_int_eq(diff.step.sure, -1);
    end();
}
END_TEST

// At another moment an op takes a microsecond more or less; in turns it does not.
START_TEST(a_microsecond_is_no_change_since_another_moment) {
    begin(5);
    for (int i = 0; i < 5; i++) {
        planted_layer(&base, "relu1")->phase[REPORT_FORWARD].latency.across->samples[i] = 2.0e-6;
        planted_layer(&now, "relu1")->phase[REPORT_FORWARD].latency.across->samples[i] = 2.9e-6;
    }
    planted_slow(&base, "relu1", REPORT_FORWARD, 1.0); // sums it up
    planted_slow(&now, "relu1", REPORT_FORWARD, 1.0);
    find(true);
    ck_assert_int_eq(time_of("relu1", REPORT_FORWARD)->sure, 0);
    ck_assert_double_eq_tol(time_of("relu1", REPORT_FORWARD)->ratio.low, 0.95, 1e-9);
    ck_assert_double_eq_tol(time_of("relu1", REPORT_FORWARD)->ratio.high, 1.95, 1e-9);
    profile_diff_free(&diff);
    find(false);
    ck_assert_int_eq(time_of("relu1", REPORT_FORWARD)->sure, 1);
    planted_slow(&now, "relu1", REPORT_FORWARD, 1.1);
    profile_diff_free(&diff);
    find(true);
    ck_assert_int_eq(time_of("relu1", REPORT_FORWARD)->sure, 1);
    end();
}
END_TEST

// The step's own change counts, where no layer's can be told.
START_TEST(the_step_alone_may_change) {
    begin(5);
    planted_slow(&now, NULL, REPORT_STEP, 1.1);
    find(true);
    ck_assert_double_eq_tol(diff.step.before, 1e-3, 1e-5);
    ck_assert_double_eq_tol(diff.step.after, 1.1e-3, 1e-5);
    end();
}
END_TEST

// Of three and three not even all on one side is sure enough; of one there is no ratio.
START_TEST(few_runs_are_never_sure) {
    for (int runs = 1; runs <= 3; runs += 2) {
        begin(runs);
        planted_slow(&now, "fc1", REPORT_FORWARD, 3.0);
        planted_slow(&now, NULL, REPORT_STEP, 3.0);
        find(true);
        ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, 0);
        ck_assert_int_eq(diff.step.sure, 0);
        ck_assert_int_eq(diff.step.ratio.estimate > 0.0, runs > 1);
        ck_assert_double_eq_tol(diff.step.after / diff.step.before, 3.0, 0.05);
        ck_assert_int_eq(diff.runs_after, runs);
        end();
    }
}
END_TEST

// It takes longer than one of the slower side: all together are then no longer sure, but one of two
// sets is.
START_TEST(one_run_may_go_astray_in_a_set) {
    for (int set = 0; set < 2; set++) {
        begin(5);
        planted_slow(&now, "fc1", REPORT_FORWARD, 1.2);
        Latency *across = planted_layer(&base, "fc1")->phase[REPORT_FORWARD].latency.across;
        const Latency *slower = planted_layer(&now, "fc1")->phase[REPORT_FORWARD].latency.across;
        across->samples[_i] = 1.00001 * slower->statistics.min;
        ck_assert_int_eq(profile_diff(&base, &now, (DiffHow){.one_of_two = set}, &diff), STATUS_OK);
        ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, set);
        end();
    }
}
END_TEST

START_TEST(what_one_set_says_another_confirms) {
    static const double times[][2] = {{1.2, 1.2}, {1.2, 1.0}, {1.2, 0.8}};
    ProfileDiff sets[2];
    Profile others[2];
    begin(10);
    planted_slow(&now, "fc1", REPORT_FORWARD, 1.2);
    find(false);
    for (int k = 0; k < 2; k++) {
        others[k] = planted_profile(5, 8 + (unsigned)k);
        planted_slow(&others[k], "fc1", REPORT_FORWARD, times[_i][k]);
        ck_assert_int_eq(profile_diff(&base, &others[k], (DiffHow){.one_of_two = true}, &sets[k]),
                         STATUS_OK);
    }
    ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, 1);
    profile_diff_confirm(&diff, &sets[0], &sets[1]);
    ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, _i == 0);
    profile_diff_confirm(&diff, &sets[0], NULL);
    ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, 0);
    for (int k = 0; k < 2; k++) {
        profile_diff_free(&sets[k]);
        profile_free(&others[k]);
    }
    end();
}
END_TEST

// A machine that multiplies a tenth slower, and moves memory as before, explains so much.
START_TEST(a_slower_machine_widens_what_is_said) {
    for (int apart = 0; apart < 2; apart++) {
        begin(5);
        base.pace = (MachinePace){11e9, 1e9};
        now.pace = (MachinePace){10e9, 1e9};
        planted_slow(&now, "fc1", REPORT_FORWARD, 1.08);
        planted_slow(&now, "fc2", REPORT_FORWARD, 1.2);
        find(apart);
        ck_assert_int_eq(isnan(diff.pace_flops), !apart);
        ck_assert(!apart || fabs(diff.pace_flops - 1.1) < 1e-12);
        ck_assert(!apart || fabs(diff.pace_bytes - 1.0) < 1e-12);
        ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, apart ? 0 : 1);
        const DiffTime *more = time_of("fc2", REPORT_FORWARD);
        ck_assert_int_eq(more->sure, 1);
        ck_assert_double_eq_tol(more->ratio.low, apart ? 1.2 / 1.1 : 1.2, 0.02);
        ck_assert_double_eq_tol(more->ratio.high, 1.2, 0.02);
        ck_assert_double_eq_tol(more->ratio.estimate, 1.2, 0.01);
        end();
    }
}
END_TEST

// Where both are slower, or both faster, so much of it is the machine's.
START_TEST(what_the_machine_is_slower_by_is_not_the_change) {
    static const double paces[][3] = {{1.10, 1.05, 1.05}, {0.8, 0.9, 0.9}, {1.1, 0.9, 1.0}};
    begin(5);
    base.pace = (MachinePace){paces[_i][0], paces[_i][1]};
    now.pace = (MachinePace){1.0, 1.0};
    planted_slow(&now, "fc2", REPORT_FORWARD, 1.2);
    find(true);
    const Ratio *ratio = &time_of("fc2", REPORT_FORWARD)->ratio;
    double low = ratio->low, high = ratio->high;
    ck_assert_double_eq_tol(ratio->estimate, 1.2, 0.01);
    ck_assert(low <= ratio->estimate && ratio->estimate <= high);
    profile_diff_free(&diff);
    // On another machine, the base is as if measured on this one.
    ck_assert_int_eq(profile_diff(&base, &now, (DiffHow){.apart = true, .elsewhere = true}, &diff),
                     STATUS_OK);
    const DiffTime *time = time_of("fc2", REPORT_FORWARD);
    ck_assert_double_eq_tol(time->ratio.estimate, 1.2 / paces[_i][2], 0.01);
    ck_assert_double_eq_tol(time->after / time->before, 1.2 / paces[_i][2], 0.02);
    ck_assert_double_eq_tol(time->ratio.low, low, 1e-3);
    ck_assert_double_eq_tol(time->ratio.high, high, 1e-3);
    end();
}
END_TEST

START_TEST(another_batch_is_compared_by_what_a_sample_takes) {
    begin(5);
    now.batch = now.units = 8;
    for (int i = 0; i < 3; i++) planted_slow(&now, now.layers[i].path, REPORT_FORWARD, 2.0);
    planted_slow(&now, NULL, REPORT_STEP, 1.5);
    find(false);
    ck_assert_int_eq(diff.units, 1);
    ck_assert_double_eq_tol(diff.step.ratio.estimate, 0.75, 0.01);
    ck_assert_double_eq_tol(diff.step.before, 1e-3 / 4, 1e-6);
    ck_assert_double_eq_tol(diff.step.after, 1.5e-3 / 8, 1e-6);
    ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, 0);
    ck_assert_double_eq_tol(time_of("fc1", REPORT_BACKWARD)->ratio.estimate, 0.5, 0.01);
    end();
}
END_TEST

// ---- pairs -------------------------------------------------------------------------------------
START_TEST(layers_are_paired_by_path_and_turn) {
    begin(5);
    strcpy(base.layers[0].path, "act"); // act, relu1, act
    strcpy(base.layers[2].path, "act");
    strcpy(now.layers[0].path, "act"); // act, act, new
    strcpy(now.layers[1].path, "act");
    strcpy(now.layers[2].path, "new");
    find(false);
    ck_assert_int_eq(diff.compared, 3 + 2); // of the first act, and of the second
    const DiffTime *gone = time_of("relu1", REPORT_FORWARD), *new = time_of("new", REPORT_FORWARD);
    ck_assert(gone->before > 0.0 && gone->after == 0.0 && gone->ratio.estimate == 0.0);
    ck_assert(new->before == 0.0 && new->after > 0.0 && new->ratio.estimate == 0.0);
    ck_assert_ptr_eq(time_of("act", REPORT_FORWARD), &diff.times[0]);
    ck_assert_double_eq_tol(diff.times[0].before, 0.4e-3, 4e-6);
    ck_assert_double_eq_tol(diff.times[3].before, 0.2e-3, 2e-6); // act again: it was fc2
    ck_assert_int_eq(count_of("relu1", "forward", "macs")->after, -1);
    ck_assert_int_eq(count_of("relu1", "", "parameters")->after, -1);
    ck_assert_int_eq(count_of("new", "", "parameters")->before, -1);
    end();
}
END_TEST

// ---- counts ------------------------------------------------------------------------------------
START_TEST(each_count_that_differs_is_named) {
    begin(5);
    planted_layer(&now, "fc2")->phase[REPORT_BACKWARD].cost.bytes_written = 8;
    planted_layer(&now, "relu1")->saved_bytes = 16;
    now.totals[REPORT_STEP].cost.macs += 1;
    now.predicted.peak.total += 4;
    now.predicted.peak.category[MEM_OPTIMIZER] += 4;
    now.allocations = 8;
    find(false);
    const DiffCount want[] = {
        {"", "step", "total_flops", 2010, 2012},    {"", "step", "macs", 1000, 1001},
        {"", "", "peak_bytes", 1000, 1004},         {"", "", "optimizer_bytes", 0, 4},
        {"", "", "step_allocations", 7, 8},         {"relu1", "", "saved_bytes", 0, 16},
        {"fc2", "backward", "bytes_written", 0, 8},
    };
    ck_assert_int_eq(diff.n_counts, (int64_t)(sizeof want / sizeof want[0]));
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const DiffCount *got = count_of(want[i].path, want[i].phase, want[i].name);
        ck_assert_msg(got != NULL, "%s is missing", want[i].name);
        ck_assert_int_eq(got->before, want[i].before);
        ck_assert_int_eq(got->after, want[i].after);
    }
    ck_assert_str_eq(diff.counts[0].name, "total_flops"); // the whole's first
    end();
}
END_TEST

START_TEST(an_empty_profile_is_compared_too) {
    Profile none[2] = {{.kind = PROFILE_TRAINING}, {.kind = PROFILE_INFERENCE}};
    ck_assert_int_eq(profile_diff(&none[0], &none[1], (DiffHow){0}, &diff), STATUS_OK);
    ck_assert(diff.n_times == 0 && diff.n_counts == 0 && diff.runs_before == 0);
    profile_diff_free(&diff);
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin(5);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = profile_diff(&base, &now, (DiffHow){.apart = true}, &diff);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        error_clear();
        profile_diff_free(&diff);
    }
    end();
}
END_TEST

// ---- reasons -----------------------------------------------------------------------------------
START_TEST(another_machine_or_work_is_named) {
    SavedProfile a = {.environment = {.cpu = "A", .cores = 2, .blas = "B"}}, b = a;
    a.profile.batch = b.profile.batch = 4;
    DiffReason reason = profile_diff_reason(&a, &b);
    ck_assert(!reason.environment[0] && !reason.work[0]);
    strcpy(b.environment.compiler, "clang 14");
    strcpy(b.environment.flags, "-O2"); // what was changed, perhaps
    reason = profile_diff_reason(&a, &b);
    ck_assert(!reason.environment[0] && !reason.work[0]);
    b.profile.threads = 2;
    b.profile.batch = 8;
    reason = profile_diff_reason(&a, &b);
    ck_assert_str_eq(reason.environment, "the number of threads was 0, and is 2");
    ck_assert_str_eq(reason.work, "the batch was 4, and is 8");
    strcpy(b.environment.cpu, "C");
    strcpy(a.profile.optimizer, "Adam");
    b.profile.batch = 4;
    reason = profile_diff_reason(&a, &b);
    ck_assert_str_eq(reason.environment, "the CPU was A, and is C");
    ck_assert_str_eq(reason.work, "the optimizer was Adam, and is none");
    b.profile.kind = PROFILE_INFERENCE;
    strcpy(b.profile.optimizer, "Adam");
    ck_assert_str_eq(profile_diff_reason(&a, &b).work, "the step was training, and is inference");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {of_the_same_nothing_differs, 0},
        {a_layer_that_takes_longer_is_found, 0},
        {a_microsecond_is_no_change_since_another_moment, 0},
        {the_step_alone_may_change, 0},
        {few_runs_are_never_sure, 0},
        {one_run_may_go_astray_in_a_set, 5},
        {what_one_set_says_another_confirms, 3},
        {a_slower_machine_widens_what_is_said, 0},
        {what_the_machine_is_slower_by_is_not_the_change, 3},
        {another_batch_is_compared_by_what_a_sample_takes, 0},
        {layers_are_paired_by_path_and_turn, 0},
        {each_count_that_differs_is_named, 0},
        {an_empty_profile_is_compared_too, 0},
        {every_request_for_memory_may_fail, 0},
        {another_machine_or_work_is_named, 0},
        {NULL, 0},
    };
    return harness_main("profile_diff", tests);
}
