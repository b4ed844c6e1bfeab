// test_profile_diff.c -- differences between two planted profiles: layers by their paths, counts to
// the integer, times where both sets of runs are sure, and never a change where there is none.
#include <math.h>
#include <string.h>

#include "profiler/compare/profile_diff.h"
#include "profiler/measure/profile_fields.h"
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
    Status status = profile_diff(&base, &now, apart, &diff);
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

// ---- the table of fields -----------------------------------------------------------------------
// Each number of profile_fields.h that is compared, alone changed by one, is the one difference
// (and with it what is derived from it).
START_TEST(every_field_that_is_compared_is_seen) {
    for (int scope = 0; scope < FIELD_SCOPES; scope++)
        for (const ProfileField *f = profile_fields((FieldScope)scope); f->key; f++) {
            begin(1);
            void *of[] = {[FIELDS_PHASE] = &now.totals[REPORT_STEP],
                          [FIELDS_LAYER] = planted_layer(&now, "fc2"),
                          [FIELDS_MEMORY] = &now.predicted,
                          [FIELDS_USE] = &now.predicted.peak,
                          [FIELDS_MODEL] = &now};
            bool number = (f->kind == FIELD_COUNT || f->kind == FIELD_BYTES) && !f->derived;
            if (number) ++*(int64_t *)profile_field_at(f, of[scope]);
            find(false);
            const DiffCount *count = count_of(scope == FIELDS_LAYER ? "fc2" : "",
                                              scope == FIELDS_PHASE ? "step" : "", f->key);
            bool is_seen = number && f->uses & FIELD_COMPARED;
            ck_assert_msg(!count == !is_seen, "%s", f->key);
            ck_assert_int_eq(diff.n_counts > 0, is_seen);
            ck_assert(!count || count->after == count->before + 1);
            end();
        }
}
END_TEST

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
    begin(10);
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

// Between two moments an op's time may move by a microsecond; between runs in turns it may not.
START_TEST(a_microsecond_is_no_change_since_another_moment) {
    begin(10);
    for (int i = 0; i < 10; i++) {
        planted_layer(&base, "relu1")->phase[REPORT_FORWARD].latency.across->samples[i] = 2.0e-6;
        planted_layer(&now, "relu1")->phase[REPORT_FORWARD].latency.across->samples[i] = 2.9e-6;
    }
    planted_slow(&base, "relu1", REPORT_FORWARD, 1.0); // recomputes the statistics
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

// The step's own change counts even if no layer's is sure.
START_TEST(the_step_alone_may_change) {
    begin(5);
    planted_slow(&now, NULL, REPORT_STEP, 1.1);
    find(true);
    ck_assert_double_eq_tol(diff.step.before, 1e-3, 1e-5);
    ck_assert_double_eq_tol(diff.step.after, 1.1e-3, 1e-5);
    end();
}
END_TEST

// Three runs against three are too few to be sure, even if all differ; one run gives no ratio.
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

// Seven times need 99.76 % each. Five runs a side are too few for that: the change stays open. Ten
// are enough.
START_TEST(so_few_runs_leave_a_change_open) {
    for (int runs = 5; runs <= 10; runs += 5) {
        begin(runs);
        planted_slow(&now, "fc1", REPORT_FORWARD, 1.2);
        find(false);
        const DiffTime *slower = time_of("fc1", REPORT_FORWARD);
        ck_assert(slower->judged == (runs == 10) && slower->sure == (runs == 10));
        ck_assert(slower->is_open == (runs == 5));
        ck_assert(runs == 10 || profile_diff_is_open(&diff));
        ck_assert(diff.step.judged && isnan(slower->seen) == (runs == 5));
        ck_assert(!time_of("fc2", REPORT_FORWARD)->is_open);
        ck_assert(diff.step.seen > 0.001 && diff.step.seen < 0.01);
        end();
    }
}
END_TEST

// One run of the base is slower than one of the slower side: the others still decide.
START_TEST(one_run_may_go_astray) {
    begin(10);
    planted_slow(&now, "fc1", REPORT_FORWARD, 1.2);
    Latency *across = planted_layer(&base, "fc1")->phase[REPORT_FORWARD].latency.across;
    across->samples[_i] *= 2.0;
    find(false);
    ck_assert_int_eq(time_of("fc1", REPORT_FORWARD)->sure, 1);
    end();
}
END_TEST

// Among equal profiles, at most one comparison in 20 reports a change at the last of three looks;
// here each look is a comparison of its own, just as strict.
START_TEST(of_equal_profiles_few_are_told_apart) {
    enum { PAIRS = 200 };
    int told = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        base = planted_profile(10, 2 * i + 1);
        now = planted_profile(10, 7919 * i + 2);
        find(false);
        bool any = diff.step.sure != 0;
        for (int64_t k = 0; k < diff.n_times; k++) any = any || diff.times[k].sure != 0;
        told += any;
        end();
    }
    ck_assert_msg(told <= PAIRS / 20, "%d of %d", told, PAIRS);
}
END_TEST

// ---- the metronome -----------------------------------------------------------------------------
// The machine multiplies a tenth slower, and reads as fast. For layers that compute this is no
// change; for layers that wait for memory, half of it is one (in logarithms).
START_TEST(what_the_machine_is_slower_by_is_no_change) {
    static const double times[][2] = {{1.1, 1.0}, {0.8, 0.9}, {1.0, 2.0}, {1.0, 1.0}};
    double product = times[_i][0], both = sqrt(product * times[_i][1]);
    begin(10);
    planted_metronome(&now, 0.2e-3 * product, 0.2e-3 * times[_i][1]);
    planted_layer(&base, "relu1")->phase[REPORT_FORWARD].cost.bytes_read = 4000;
    planted_layer(&now, "relu1")->phase[REPORT_FORWARD].cost.bytes_read = 4000;
    planted_slow(&now, "fc1", REPORT_FORWARD, product);
    planted_slow(&now, "fc2", REPORT_FORWARD, 1.2 * product);
    planted_slow(&now, "relu1", REPORT_FORWARD, both);
    planted_slow(&now, NULL, REPORT_STEP, product);
    find(true);
    ck_assert_str_eq(diff.undivided, "");
    ck_assert_double_eq_tol(diff.product, product, 1e-12);
    ck_assert_double_eq_tol(diff.read, times[_i][1], 1e-12);
    ck_assert(time_of("fc1", REPORT_FORWARD)->sure == 0 && diff.step.sure == 0);
    ck_assert_int_eq(time_of("relu1", REPORT_FORWARD)->sure, 0);
    const DiffTime *changed = time_of("fc2", REPORT_FORWARD);
    ck_assert_int_eq(changed->sure, 1);
    ck_assert_double_eq_tol(changed->ratio.estimate, 1.2, 0.01);
    ck_assert_double_eq_tol(changed->before, 0.2e-3 * product, 2e-6); // at the machine's speed now
    ck_assert_double_eq_tol(changed->after, 0.24e-3 * product, 3e-6);
    end();
}
END_TEST

// Each run is divided by its own beat.
START_TEST(a_machine_may_change_from_run_to_run) {
    begin(10);
    for (int i = 0; i < 10; i += 2) {
        now.metronome.product.across->samples[i] *= 3.0;
        now.totals[REPORT_STEP].latency.across->samples[i] *= 3.0;
    }
    planted_slow(&now, NULL, REPORT_STEP, 1.03);
    find(false);
    ck_assert_int_eq(diff.step.sure, 1);
    ck_assert_double_eq_tol(diff.step.ratio.estimate, 1.03, 0.005);
    end();
}
END_TEST

// Runs of one moment are neighbours. If the machine takes twice as long for some, unseen by the
// metronome, that hides nothing between runs measured in turns.
START_TEST(what_lasts_for_some_runs_is_in_both) {
    for (int apart = 0; apart < 2; apart++) {
        begin(20);
        for (int i = 4; i < 20; i++)
            for (int side = 0; side < 2 && (i / 4) % 2; side++) {
                ProfileLayer *layer = planted_layer(side ? &now : &base, "fc1");
                layer->phase[REPORT_FORWARD].latency.across->samples[i] *= 2.0;
            }
        planted_slow(&now, "fc1", REPORT_FORWARD, 1.1);
        find(apart);
        const DiffTime *time = time_of("fc1", REPORT_FORWARD);
        ck_assert_int_eq(time->sure, apart ? 0 : 1);
        ck_assert(apart || (time->ratio.low > 1.08 && time->ratio.high < 1.12));
        end();
    }
}
END_TEST

// Others used half of the cores during some runs of either side. A layer of all threads then takes
// twice as long, a single-threaded one does not: each is divided so that its runs agree.
START_TEST(a_share_of_the_cores_is_divided_out) {
    begin(10);
    Profile *sides[] = {&base, &now};
    for (int side = 0; side < 2; side++) {
        Latency *sharing = &sides[side]->metronome.sharing;
        *sharing = (Latency){.count = 1, .across = memory_new(sizeof(Latency))};
        sharing->across->samples = memory_new(10 * sizeof(double));
        sharing->across->count = 10;
        for (int i = 0; i < 10; i++) {
            bool shared = (i + side) % 3 == 0;
            sharing->across->samples[i] = shared ? 2.0 : 1.0;
            planted_layer(sides[side], "fc1")->phase[REPORT_FORWARD].latency.across->samples[i] *=
                shared ? 2.0 : 1.0;
        }
    }
    planted_slow(&now, "fc1", REPORT_FORWARD, 1.1);
    planted_slow(&now, "fc2", REPORT_FORWARD, 1.1);
    find(false);
    static const char *const paths[] = {"fc1", "fc2"};
    for (int i = 0; i < 2; i++) {
        const DiffTime *time = time_of(paths[i], REPORT_FORWARD);
        ck_assert_int_eq(time->sure, 1);
        ck_assert_double_eq_tol(time->ratio.estimate, 1.1, 0.01);
    }
    end();
}
END_TEST

START_TEST(what_cannot_be_divided_is_as_measured) {
    static const char *const reasons[] = {"no metronome ran beside the base",
                                          "no metronome ran beside what is measured now",
                                          "their metronomes are of two versions",
                                          "they ran on 1 and 2 threads",
                                          "not beside each of their runs a metronome ran"};
    begin(10);
    base.threads = now.threads = 1;
    planted_metronome(&now, 0.4e-3, 0.4e-3);
    if (_i == 0) base.metronome.version = 0;
    if (_i == 1) now.metronome.version = 0;
    if (_i == 2) now.metronome.version = 2;
    if (_i == 3) now.threads = 2;
    if (_i == 4) base.metronome.read.across->count = 9;
    find(false);
    ck_assert_str_eq(diff.undivided, reasons[_i]);
    ck_assert(isnan(diff.product) && isnan(diff.read));
    ck_assert_double_eq_tol(diff.step.ratio.estimate, 1.0, 0.01);
    end();
}
END_TEST

// A file may claim that a layer's forward ran more often than the step.
START_TEST(a_layer_is_divided_as_far_as_there_are_beats) {
    begin(10);
    now.totals[REPORT_STEP].latency.across->count = 5;
    now.metronome.product.across->count = now.metronome.read.across->count = 5;
    find(false);
    ck_assert(diff.step.ratio.estimate > 0.0);
    ck_assert(time_of("fc1", REPORT_FORWARD)->ratio.estimate > 0.0);
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
    strcpy(base.layers[0].path, "act"); // now act, relu1, act
    strcpy(base.layers[2].path, "act");
    strcpy(now.layers[0].path, "act"); // now act, act, new
    strcpy(now.layers[1].path, "act");
    strcpy(now.layers[2].path, "new");
    find(false);
    ck_assert_int_eq(diff.compared, 3 + 2); // 3 phases of the first act, 2 of the second
    const DiffTime *gone = time_of("relu1", REPORT_FORWARD), *new = time_of("new", REPORT_FORWARD);
    ck_assert(gone->before > 0.0 && gone->after == 0.0 && gone->ratio.estimate == 0.0);
    ck_assert(new->before == 0.0 && new->after > 0.0 && new->ratio.estimate == 0.0);
    ck_assert_ptr_eq(time_of("act", REPORT_FORWARD), &diff.times[0]);
    ck_assert_double_eq_tol(diff.times[0].before, 0.4e-3, 4e-6);
    ck_assert_double_eq_tol(diff.times[3].before, 0.2e-3, 2e-6); // the second act, which was fc2
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
    now.allocations = 8;
    find(false);
    const DiffCount want[] = {{"", "step", "total_flops", 2010, 2012},
                              {"", "step", "macs", 1000, 1001},
                              {"", "", "step_allocations", 7, 8},
                              {"relu1", "", "saved_bytes", 0, 16},
                              {"fc2", "backward", "bytes_written", 0, 8}};
    ck_assert_int_eq(diff.n_counts, 5);
    for (int i = 0; i < 5; i++) {
        const DiffCount *got = count_of(want[i].path, want[i].phase, want[i].name);
        ck_assert_msg(got && got->before == want[i].before && got->after == want[i].after, "%s",
                      want[i].name);
    }
    ck_assert_str_eq(diff.counts[0].name, "total_flops"); // the step's come first
    end();
}
END_TEST

START_TEST(an_empty_profile_is_compared_too) {
    Profile none[2] = {{.kind = PROFILE_TRAINING}, {.kind = PROFILE_INFERENCE}};
    ck_assert_int_eq(profile_diff(&none[0], &none[1], false, &diff), STATUS_OK);
    ck_assert(diff.n_times == 0 && diff.n_counts == 0 && diff.runs_before == 0);
    profile_diff_free(&diff);
}
END_TEST

START_TEST(every_request_for_memory_may_fail) {
    begin(5);
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = profile_diff(&base, &now, true, &diff);
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
    strcpy(b.environment.flags, "-O2"); // this may be the change itself
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
        {every_field_that_is_compared_is_seen, 0},
        {of_the_same_nothing_differs, 0},
        {a_layer_that_takes_longer_is_found, 0},
        {a_microsecond_is_no_change_since_another_moment, 0},
        {the_step_alone_may_change, 0},
        {few_runs_are_never_sure, 0},
        {so_few_runs_leave_a_change_open, 0},
        {one_run_may_go_astray, 10},
        {of_equal_profiles_few_are_told_apart, 0},
        {what_the_machine_is_slower_by_is_no_change, 4},
        {a_machine_may_change_from_run_to_run, 0},
        {what_lasts_for_some_runs_is_in_both, 0},
        {a_share_of_the_cores_is_divided_out, 0},
        {what_cannot_be_divided_is_as_measured, 5},
        {a_layer_is_divided_as_far_as_there_are_beats, 0},
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
