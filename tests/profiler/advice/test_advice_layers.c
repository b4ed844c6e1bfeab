// test_advice_layers.c -- advice on the layers, the threads and the loading of data, on a profile
// made by hand: each rule fires when it should, and keeps silent otherwise.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/report.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/run_program.h"
#include "tests/profiler/advice/advice_sample.h"

static const double no_time = (double)NAN;

// ---- the layers --------------------------------------------------------------------------------
START_TEST(fewer_layers_where_overhead_takes_most_of_the_step) {
    Sample s;
    sample_new(&s);
    ck_assert_ptr_null(sample_find(&s, "fewer"));
    sample_all_overhead(&s);
    s.profile.unattributed_seconds = 100e-6;
    advice_check(sample_find(&s, "fewer"),
                 (AdviceWanted){"fewer, larger layers: -56.0 us for half the ops",
                                "--layers N,N,...",
                                "dispatch 12.0 us (1.00 us each), between them 100 us, of 1.00 ms; "
                                "overhead-bound layers "
                                "and the time between ops are 100%",
                                56e-6, 0, true});
    s.layers[FC2].parameters = 0; // two layers are left: nothing to merge
    ck_assert_ptr_null(sample_find(&s, "fewer"));
    s.layers[FC2].parameters = 1000;
    s.profile.fixed_layers = true;
    ck_assert_ptr_null(sample_find(&s, "fewer"));
    s.profile.fixed_layers = false;
    sample_judged(&s.layers[FC1], BOUND_COMPUTE, 0.6); // 50 % of the step
    sample_judged(&s.layers[FC2], BOUND_MEMORY, 0.6);
    ck_assert_ptr_null(sample_find(&s, "fewer"));
}
END_TEST

START_TEST(a_layer_far_from_its_roof_is_named) {
    Sample s;
    sample_new(&s);
    sample_judged(&s.layers[FC1], BOUND_COMPUTE, 0.3);
    sample_judged(&s.layers[FC2], BOUND_MEMORY, 0.1);
    // 500 us, of which 30 % is 150 us, which is 50 % of 300 us
    advice_check(sample_find(&s, "fc"),
                 (AdviceWanted){"fc1: 50% of the step, 30% of its roof: why?", "--explain fc1",
                                "500 us, its roof allows 150 us; at 50% of it 200 us less", 200e-6,
                                0, true});
    ck_assert_ptr_null(strstr(sample_find(&s, "fc1")->evidence, "Most"));
    TimeTerms *terms = &s.layers[FC1].phase[REPORT_STEP].terms;
    *terms = (TimeTerms){.roofs = 150e-6, .kernels = 200e-6, .threads = 30e-6};
    static const char *const most[] = {"its kernels, alone and warm, 200 us",
                                       "its threads, handed to and woken, 230 us",
                                       "what nothing measured explains, 300 us"};
    for (int i = 0; i < 3; i++) {
        if (i == 1) terms->threads = 230e-6;
        if (i == 2) *terms = (TimeTerms){.roofs = 150e-6, .kernels = 50e-6};
        ck_assert_ptr_nonnull(strstr(sample_find(&s, "fc1")->evidence, most[i]));
    }
    sample_judged(&s.layers[FC1], BOUND_COMPUTE, 0.7);
    ck_assert_ptr_nonnull(sample_find(&s, "fc2: 22% of the step, 10%"));
    sample_judged(&s.layers[FC2], BOUND_MEMORY, 0.46); // only 17.6 us above half: too little
    ck_assert_ptr_null(sample_find(&s, "fc2"));
    sample_judged(&s.layers[FC2], BOUND_OVERHEAD, 0.1); // the roof is not its limit
    ck_assert_ptr_null(sample_find(&s, "fc2"));
    sample_judged(&s.layers[FC3], BOUND_MEMORY, 0.1); // 3.7 % of the step
    ck_assert_ptr_null(sample_find(&s, "fc3"));
    sample_judged(&s.layers[UPDATE], BOUND_MEMORY, 0.25);
    ck_assert_str_eq(sample_find(&s, "Adam update: 20% of")->check, "--explain '(model)'");
}
END_TEST

START_TEST(the_flag_that_explains_a_layer_matches_its_path) {
    static const char *const paths[] = {
        "encoder.layers.11.attention.projection",
        "a b",
        "it's",
        "fc[1]",
        "w*",
        "what?",
        "back\\slash",
        "\xC3\xA9tage.fc1",
        "\xE5\xB1\x82\xE5\xB1\x82",
        "tab\there",
        "-x",
        "'''''''''''''''''''''''''''",
        "0123456789012345678901234",
        "(model)",
        "$(reboot)",
    };
    Sample s;
    sample_new(&s);
    sample_judged(&s.layers[FC1], BOUND_MEMORY, 0.1);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        snprintf(s.layers[FC1].path, sizeof(s.layers[FC1].path), "%s", paths[i]);
        const Advice *advice = NULL;
        static Advice all[ADVICE_MOST];
        int n = advice_find(&s.profile, all);
        for (int k = 0; k < n; k++)
            if (strstr(all[k].check, "--explain ")) advice = &all[k];
        ck_assert_ptr_nonnull(advice);
        char pattern[64];
        snprintf(pattern, sizeof(pattern), "%s", advice->check + strlen("--explain "));
        size_t length = strlen(pattern);
        if (pattern[0] == '\'') { // quoted, as for a shell
            ck_assert(length > 2 && pattern[length - 1] == '\'');
            pattern[length - 1] = '\0';
            memmove(pattern, pattern + 1, length - 1);
        }
        ck_assert_msg(!strchr(pattern, '\''), "%s", advice->check);
        ck_assert_msg(fnmatch(pattern, paths[i], 0) == 0, "%s: %s", paths[i], advice->check);
    }
}
END_TEST

// The printed flag works when typed into a shell; an inference has no training steps to trace.
START_TEST(the_flag_that_asks_for_the_slowest_layer_can_be_typed) {
    static const struct {
        const char *path, *says;
        ProfileKind kind;
    } cases[] = {{"fc9", "\nHow is a number made?  --explain fc9    Files: --json F  --trace F\n",
                  PROFILE_TRAINING},
                 {"(model)", "  --explain '(model)'    Files: --json F\n", PROFILE_INFERENCE},
                 {"it's a long path, of forty-five characters ..",
                  "  --explain 'it*s a long path, of "
                  "forty-five characters ..'\nFiles: ",
                  PROFILE_TRAINING},
                 {"layer.of.a.path.that.is.longer.than.any.line.would.hold",
                  "  --explain "
                  "'*th.that.is.longer.than.any.line.would.hold'\nFiles: ",
                  PROFILE_TRAINING}};
    Net net = net_random(4);
    Profile profile = net_profile(&net, 2);
    Latency *slowest = &profile.layers[0].phase[REPORT_FORWARD].latency;
    slowest->statistics.median = 1.0;
    for (int step = 0; step < 2; step++) { // first in every step, whatever the machine did
        slowest->samples[step] += 1.0;
        profile.totals[REPORT_STEP].latency.samples[step] += 1.0;
    }
    for (int i = 0; i < 4; i++) {
        snprintf(profile.layers[0].path, sizeof profile.layers[0].path, "%s", cases[i].path);
        profile.kind = cases[i].kind;
        char *report;
        size_t size;
        FILE *file = open_memstream(&report, &size);
        report_print(&profile, file);
        fclose(file);
        ck_assert_msg(strstr(report, cases[i].says) != NULL, "%s", report);
        program_check_columns(report);
        free(report);
    }
    profile_free(&profile);
}
END_TEST

// Noise that keeps the report from saying where to start also keeps it from predicting.
START_TEST(nothing_is_predicted_from_noise) {
    Net net = net_random(4);
    Profile profile = net_profile(&net, 2);
    LatencyStatistics *step = &profile.totals[REPORT_STEP].latency.statistics;
    for (int noise = 0; noise < 2; noise++) {
        step->median = 1.0;
        step->iqr = noise ? 0.5 : 0.05;
        step->ci95_reached = true;
        profile.unattributed_seconds = 0.9;
        char *report;
        size_t size;
        FILE *file = open_memstream(&report, &size);
        report_print(&profile, file);
        fclose(file);
        ck_assert_msg((strstr(report, "\nWHAT WOULD HELP") == NULL) == noise, "%s", report);
        ck_assert_msg(strstr(report, "  Start with "), "%s", report);
        free(report);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(at_the_roof_only_less_work_helps) {
    static const struct {
        double fraction;
        bool fires;
    } cases[] = {{0.79, false}, {0.8, true}, {1.1, true}, {1.11, false}, {(double)NAN, false}};
    Sample s;
    sample_new(&s);
    for (int i = 0; i < 5; i++) {
        s.profile.totals[REPORT_STEP].roofline =
            (Roofline){.judged = true, .roof_fraction = cases[i].fraction, .roof_seconds = 0.8e-3};
        ck_assert_int_eq(sample_find(&s, "at ") != NULL, cases[i].fires);
        if (i == 1)
            advice_check(
                sample_find(&s, "at "),
                (AdviceWanted){"at 80% of the roof: only less work helps", "--layers N,N,...",
                               "800 us of 1.00 ms: better kernels could save 200 us at most",
                               no_time, 0, true});
        if (i != 1) continue;
        s.profile.fixed_layers = true;
        ck_assert_str_eq(sample_find(&s, "at ")->check, "--by op --sort time");
        s.profile.fixed_layers = false;
    }
}
END_TEST

// ---- threads and data --------------------------------------------------------------------------
START_TEST(idle_threads_are_not_needed) {
    static const struct {
        int threads;
        double busy;
        const char *flag; // NULL: no advice
    } cases[] = {{2, 1.02, "--threads 1"}, {2, 1.2, NULL}, {2, 2.0, NULL}, {8, 2.9, "--threads 3"},
                 {8, 7.6, NULL},           {1, 1.0, NULL}, {2, 0.1, NULL}, // others use the cores
                 {4, (double)NAN, NULL}};
    Sample s;
    sample_new(&s);
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){5, 0.982, 1.007, 0};
    for (int i = 0; i < 8; i++) {
        Advice advice[ADVICE_MOST];
        s.profile.threads = cases[i].threads;
        s.profile.cpu_seconds = 1e-3 * cases[i].busy;
        const char *flag = NULL;
        for (int k = advice_find(&s.profile, advice); k-- > 0;)
            if (strstr(advice[k].text, "threads would do")) flag = advice[k].check;
        ck_assert_msg(!flag == !cases[i].flag, "case %d", i);
        if (flag) ck_assert_str_eq(flag, cases[i].flag);
    }
    s.profile.threads = 2;
    s.profile.cpu_seconds = 1.02e-3;
    ck_assert_str_eq(sample_find(&s, "1 of 2")->check, "--threads 1");
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){0}; // fewer threads were not tried
    ck_assert_ptr_null(sample_find(&s, "1 of 2"));
}
END_TEST

START_TEST(waiting_for_data_is_told_where_it_was_measured) {
    Sample s;
    sample_new(&s);
    ck_assert_ptr_null(sample_find(&s, "data"));
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 49e-6}};
    advice_check(
        sample_find(&s, "data"),
        (AdviceWanted){"data loading: at most 5%, not worth it", "--data DIR",
                       "49.0 us after it is asked for, beside a step of 1.00 ms (50 waits)", 49e-6,
                       0, false});
    s.profile.data_wait.statistics.median = 60e-6;
    s.profile.threads = 2; // here one of two threads matters more
    advice_check(sample_find(&s, "data"), (AdviceWanted){"data loading: at most 6%, not worth it",
                                                         "--threads 1", "60.0", 60e-6, 0, false});
    s.profile.threads = 32;
    advice_check(sample_find(&s, "waiting"),
                 (AdviceWanted){"waiting for data: 60.0 us before each step", "--threads 31",
                                "60.0", 60e-6, 0, true});
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {fewer_layers_where_overhead_takes_most_of_the_step, 0},
        {a_layer_far_from_its_roof_is_named, 0},
        {the_flag_that_explains_a_layer_matches_its_path, 0},
        {the_flag_that_asks_for_the_slowest_layer_can_be_typed, 0},
        {at_the_roof_only_less_work_helps, 0},
        {nothing_is_predicted_from_noise, 0},
        {idle_threads_are_not_needed, 0},
        {waiting_for_data_is_told_where_it_was_measured, 0},
        {NULL, 0},
    };
    return harness_main("advice_layers", tests);
}
