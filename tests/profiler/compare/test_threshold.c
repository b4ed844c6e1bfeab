// test_threshold.c -- limits: text is understood or refused, and a planted profile breaks exactly
// the limits that it surely breaks.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/threshold.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"
#include "tests/profiler/compare/planted_profile.h"

// ---- parsing -----------------------------------------------------------------------------------
static const struct {
    const char *text;
    double limit;
    bool relative;
} typed[] = {
    {"latency:10ms", 10e-3, false},
    {"forward:1.5us", 1.5e-6, false},
    {"p95:2s", 2.0, false},
    {"p99:1min", 60.0, false},
    {"throughput:1000samples/s", 1000.0, false},
    {"throughput:1000/s", 1000.0, false},
    {"throughput:2.5k/s", 2500.0, false},
    {"peak_memory:64MB", 64e6, false},
    {"peak_memory:64MiB", 67108864.0, false},
    {"saved_memory:0B", 0.0, false},
    {"flops:161.2M", 161.2e6, false},
    {"parameters:535818", 535818.0, false},
    {"bytes:1GB", 1e9, false},
    {"latency:+5%", 0.05, true},
    {"flops:+0%", 0.0, true},
    {"throughput:-10%", -0.10, true},
    {"layer:fc*:+5%", 0.05, true},
    {"layer:fc1:300us", 300e-6, false},
    {"layer:*:1e3us", 1e-3, false},
};
enum { TYPED = sizeof typed / sizeof typed[0] };

START_TEST(what_is_typed_is_understood) {
    ThresholdList list = {0};
    ck_assert_msg(!threshold_parse(typed[_i].text, &list), "%s", error_message());
    ck_assert_int_eq(list.n, 1);
    ck_assert_str_eq(list.at[0].text, typed[_i].text);
    ck_assert_int_eq(list.at[0].relative, typed[_i].relative);
    ck_assert_double_eq_tol(list.at[0].limit, typed[_i].limit,
                            1e-12 * (1.0 + fabs(typed[_i].limit)));
}
END_TEST

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "an empty limit"},
    {"latency:1ms,", "an empty limit"},
    {",latency:1ms", "an empty limit"},
    {"latency", "expected KEY:LIMIT"},
    {"latenzy:1ms", "--threshold latenzy:1ms: unknown key"},
    {":1ms", "unknown key"},
    {"LATENCY:1ms", "unknown key"},
    {"latency:", "expected a time, as 10ms"},
    {"latency:1", "expected a time, as 10ms, or +5%"},
    {"latency:1MB", "expected a time"},
    {"latency:1ms2", "expected a time"},
    {"latency:0x10ms", "expected a time"},
    {"latency: 10ms", "expected a time"},
    {"latency:1ms,latency:1ms", "this limit twice"},
    {"throughput:1000S/s", "expected a rate"},
    {"latency:-1ms", "expected a time"},
    {"latency:nanms", "expected a time"},
    {"latency:infs", "expected a time"},
    {"latency:5%", "expected a time"},
    {"latency:+%", "expected a time"},
    {"latency:+5", "expected a time"},
    {"latency:-100%", "expected a time"},
    {"peak_memory:64mb", "expected a size, as 64MB"},
    {"peak_memory:64", "expected a size"},
    {"throughput:1000", "expected a rate"},
    {"throughput:1000s", "expected a rate"},
    {"flops:1ms", "expected a count"},
    {"p95:+5%", "beside a base times are of"},
    {"forward:+5%", "beside a base times are of"},
    {"layer:+5%", "expected layer:PATTERN:LIMIT"},
    {"layer::+5%", "expected layer:PATTERN:LIMIT"},
    {"latency:fc1:1ms", "one limit"},
    {"layer:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1ms", "shorter pattern"},
    {"layer:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:"
     "1ms",
     "too long"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(what_is_not_understood_is_no_pass) {
    ThresholdList list = {0};
    ck_assert_int_eq(threshold_parse(wrong[_i].text, &list), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error_message(), "HINT: --help thresholds"));
    expect_error(STATUS_INVALID_ARGUMENT, wrong[_i].says);
}
END_TEST

START_TEST(of_many_there_is_an_end) {
    ThresholdList list = {0};
    for (int i = 0; i < THRESHOLD_MOST; i++) {
        char text[40];
        snprintf(text, sizeof text, "latency:%dms", i);
        ck_assert_int_eq(threshold_parse(text, &list), STATUS_OK);
    }
    threshold_parse("flops:1", &list);
    expect_error(STATUS_INVALID_ARGUMENT, "more than 32");
    ck_assert_int_eq(list.n, THRESHOLD_MOST);
}
END_TEST

// No typed text makes it read or write out of bounds.
START_TEST(no_text_does_harm) {
    static const char letters[] = "latencyp95:+-%,.0123456789msMB/*layerthroughput ";
    srandom(5);
    for (int i = 0; i < 20000; i++) {
        int length = (int)(random() % 100);
        char *text = malloc((size_t)length + 1);
        for (int k = 0; k < length; k++) text[k] = letters[(size_t)random() % (sizeof letters - 1)];
        text[length] = '\0';
        ThresholdList list = {0};
        threshold_parse(text, &list);
        error_clear();
        free(text);
    }
}
END_TEST

// ---- verdicts ----------------------------------------------------------------------------------
static Profile base, now;
static ProfileDiff diff;

static void begin(void) {
    base = planted_profile(5, 1);
    now = planted_profile(5, 2);
}
static void begin_of_ten(void) {
    base = planted_profile(10, 1);
    now = planted_profile(10, 2);
}

static void end(void) {
    profile_diff_free(&diff);
    profile_free(&base);
    profile_free(&now);
}

static void expect_verdict(const char *text, ThresholdVerdict verdict, const char *found) {
    ThresholdList list = {0};
    ck_assert_msg(!threshold_parse(text, &list), "%s", error_message());
    ThresholdSides sides = {.now = &now, .base = &base, .diff = &diff};
    ck_assert_int_eq(threshold_judge(&list, &sides), STATUS_OK);
    ck_assert_int_eq(threshold_count(&list, verdict), 1);
    const Threshold *one = &list.at[0];
    ck_assert_msg(one->verdict == verdict && strstr(one->found, found), "%s: %s: %s", text,
                  threshold_verdict_name(one->verdict), one->found);
}

// A step is 1 ms, plus or minus half a percent.
START_TEST(a_profile_alone) {
    begin();
    expect_verdict("latency:1.1ms", THRESHOLD_HOLDS, "1.00 ms (");
    expect_verdict("latency:1.1ms", THRESHOLD_HOLDS, ", 5 runs)");
    expect_verdict("latency:0.9ms", THRESHOLD_BROKEN, "1.00 ms (");
    planted_slow(&now, NULL, REPORT_STEP, 2.0);
    double median = now.totals[REPORT_STEP].latency.across->statistics.median;
    char text[40];
    snprintf(text, sizeof text, "latency:%.9gs", median * 0.9999);
    expect_verdict(text, THRESHOLD_UNDECIDED, ", 5 runs)");
    snprintf(text, sizeof text, "throughput:%.9g/s", 4.0 / (median * 0.9999));
    expect_verdict(text, THRESHOLD_UNDECIDED, ", 5 runs)");
    expect_verdict("throughput:1800/s", THRESHOLD_HOLDS, "2.00 k/s");
    expect_verdict("throughput:2200samples/s", THRESHOLD_BROKEN, "2.00 k/s");
    expect_verdict("throughput:1tokens/s", THRESHOLD_UNKNOWN, "its rate is of samples");
    expect_verdict("optimizer:1s", THRESHOLD_UNKNOWN, "nothing measured it");
    expect_verdict("p95:1s", THRESHOLD_UNKNOWN, "too few samples");
    expect_verdict("peak_memory:1000B", THRESHOLD_HOLDS, "1.00 kB");
    expect_verdict("peak_memory:999B", THRESHOLD_BROKEN, "1.00 kB");
    expect_verdict("flops:2010", THRESHOLD_HOLDS, "2,010");
    expect_verdict("flops:2009", THRESHOLD_BROKEN, "2,010");
    expect_verdict("macs:1k", THRESHOLD_HOLDS, "1,000");
    expect_verdict("bytes:63B", THRESHOLD_BROKEN, "64 B");
    expect_verdict("parameters:300", THRESHOLD_HOLDS, "300");
    expect_verdict("layer:fc*:1ms", THRESHOLD_HOLDS, "fc1 8");
    expect_verdict("layer:fc*:0.5ms", THRESHOLD_BROKEN, "fc1 8");
    expect_verdict("layer:fc*:0.5ms", THRESHOLD_BROKEN, "us, 5 runs)");
    expect_verdict("layer:fc2:0.5ms", THRESHOLD_HOLDS, "fc2 3");
    expect_verdict("layer:conv*:1s", THRESHOLD_UNKNOWN, "no layer of that name");
    // A file may claim that a part of a layer had fewer runs.
    planted_layer(&now, "fc1")->phase[REPORT_FORWARD].latency.across->count = 2;
    expect_verdict("layer:fc1:1s", THRESHOLD_HOLDS, ", 2 runs)");
    end();
}
END_TEST

START_TEST(beside_a_base) {
    begin_of_ten();
    planted_slow(&now, "fc2", REPORT_BACKWARD, 1.2);
    planted_slow(&now, NULL, REPORT_STEP, 1.06);
    now.predicted.peak.total += 1;
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    expect_verdict("latency:+5%", THRESHOLD_BROKEN, "step: +5.8");
    expect_verdict("latency:+7%", THRESHOLD_HOLDS, "step: +5.8");
    expect_verdict("throughput:-5%", THRESHOLD_BROKEN, "throughput: -5.");
    expect_verdict("throughput:-7%", THRESHOLD_HOLDS, "throughput: -5.");
    expect_verdict("latency:-5%", THRESHOLD_BROKEN, "step: +5.8");
    expect_verdict("throughput:+5%", THRESHOLD_BROKEN, "throughput: -5.");
    expect_verdict("layer:*:+5%", THRESHOLD_BROKEN, "fc2 backward: +20.2");
    expect_verdict("layer:fc1:+5%", THRESHOLD_HOLDS, "fc1 ");
    expect_verdict("layer:none:+5%", THRESHOLD_UNKNOWN, "no such layer");
    expect_verdict("flops:+0%", THRESHOLD_HOLDS, "2,010, and was 2,010");
    expect_verdict("peak_memory:+0%", THRESHOLD_BROKEN, "1,001, and was 1,000");
    expect_verdict("peak_memory:+1%", THRESHOLD_HOLDS, "");
    diff.step.ratio.high = 1.08; // the whole interval must be within the limit, or beyond
    expect_verdict("latency:+7%", THRESHOLD_UNDECIDED, "step: +5.8");
    expect_verdict("throughput:-7%", THRESHOLD_UNDECIDED, "throughput: -5.");
    end();
}
END_TEST

// A limit that asks for a change is met by a whole interval beyond it, without a second set.
START_TEST(a_change_may_be_asked_for) {
    begin_of_ten();
    planted_slow(&now, NULL, REPORT_STEP, 0.8);
    planted_slow(&now, "fc1", REPORT_FORWARD, 0.8);
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    diff.step.sure = 0;
    expect_verdict("latency:-10%", THRESHOLD_HOLDS, "step: -20.1");
    expect_verdict("latency:-30%", THRESHOLD_BROKEN, "step: -20.1");
    expect_verdict("throughput:+20%", THRESHOLD_HOLDS, "throughput: +2");
    expect_verdict("throughput:+50%", THRESHOLD_BROKEN, "throughput: +2");
    expect_verdict("layer:fc2:-10%", THRESHOLD_BROKEN, "fc2 ");
    end();
}
END_TEST

// A pattern of layers holds if no layer is seen beyond the limit; each need not be proved. A case
// that more runs may decide is left open; a wide interval alone is not.
START_TEST(of_layers_none_is_to_be_seen_beyond) {
    begin();
    planted_slow(&now, "fc2", REPORT_BACKWARD, 1.2);
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    for (int64_t i = 0; i < diff.n_times; i++) ck_assert(!diff.times[i].judged); // only 5 runs
    expect_verdict("layer:*:+5%", THRESHOLD_UNDECIDED, "fc2 backward: +19.9");
    expect_verdict("layer:*:+30%", THRESHOLD_HOLDS, "none seen; fc2 backward: +19.9");
    expect_verdict("layer:fc1:+5%", THRESHOLD_HOLDS, "none seen; fc1 ");
    expect_verdict("layer:fc2:-5%", THRESHOLD_UNDECIDED, ", of too few runs");
    end();
}
END_TEST

// The step of an inference is a forward alone.
START_TEST(the_step_of_an_inference_is_an_inference) {
    begin();
    expect_verdict("inference:1s", THRESHOLD_UNKNOWN, "nothing measured it");
    now.kind = PROFILE_INFERENCE;
    expect_verdict("inference:1.1ms", THRESHOLD_HOLDS, "1.00 ms (");
    expect_verdict("inference:0.9ms", THRESHOLD_BROKEN, "1.00 ms (");
    end();
}
END_TEST

START_TEST(of_too_few_runs_nothing_is_judged) {
    base = planted_profile(2, 1);
    now = planted_profile(2, 2);
    planted_slow(&now, NULL, REPORT_STEP, 5.0);
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    ck_assert(!diff.step.judged && diff.step.ratio.low > 4.0);
    expect_verdict("latency:+5%", THRESHOLD_UNDECIDED, ", of too few runs");
    end();
}
END_TEST

// A file may claim that a layer's forward ran more often than its backward, or less often.
START_TEST(a_layer_is_judged_by_as_many_runs_as_all_its_parts_have) {
    begin();
    Latency *part =
        &planted_layer(&now, "fc1")->phase[_i ? REPORT_BACKWARD : REPORT_FORWARD].latency;
    double *two = memory_new(2 * sizeof(double));
    memcpy(two, part->across->samples, 2 * sizeof(double));
    memory_free(part->across->samples);
    part->across->samples = two;
    part->across->count = 2;
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    expect_verdict("layer:fc1:1s", THRESHOLD_HOLDS, ", 2 runs)");
    end();
}
END_TEST

START_TEST(untimed_is_no_pass_for_times) {
    begin();
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), 0);
    ThresholdList list = {0};
    threshold_parse("latency:+5%,layer:*:+5%,throughput:-5%,flops:+0%", &list);
    ThresholdSides sides = {&now, &base, &diff, true};
    ck_assert_int_eq(threshold_judge(&list, &sides), STATUS_OK);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(list.at[i].verdict, THRESHOLD_UNKNOWN);
    ck_assert_int_eq(list.at[3].verdict, THRESHOLD_HOLDS);
    end();
}
END_TEST

START_TEST(a_table_of_them) {
    begin();
    char *text;
    size_t size;
    ThresholdList list = {0};
    FILE *file = open_memstream(&text, &size);
    threshold_parse("latency:900us,flops:2010,layer:a-rather-long-pattern-of-names*:1ms", &list);
    ck_assert_int_eq(threshold_judge(&list, &(ThresholdSides){.now = &now}), STATUS_OK);
    threshold_print(&list, file);
    fclose(file);
    program_check_columns(text);
    ck_assert_msg(strncmp(text, "THRESHOLDS\n", 11) == 0, "%s", text);
    ck_assert_msg(strstr(text, "\n  latency:900us            BROKEN   1.00 ms (") != NULL, "%s",
                  text);
    ck_assert_ptr_nonnull(strstr(text, "\n  flops:2010               holds    2,010\n"));
    ck_assert_ptr_nonnull(strstr(text, " UNKNOWN  no layer of that name"));
    ck_assert_ptr_null(strstr(text, "cannot be told"));
    free(text);
    list = (ThresholdList){0};
    char limits[100];
    snprintf(limits, sizeof limits, "latency:%.9gs,flops:2010",
             now.totals[REPORT_STEP].latency.across->statistics.median * 0.9999);
    threshold_parse(limits, &list);
    ck_assert_int_eq(threshold_judge(&list, &(ThresholdSides){.now = &now}), STATUS_OK);
    file = open_memstream(&text, &size);
    threshold_print(&list, file);
    fclose(file);
    program_check_columns(text);
    ck_assert_msg(strstr(text, " CANNOT BE TOLD 1.00 ms (") != NULL, "%s", text);
    const char *said = "\n  1 of 2 cannot be told; a change of 0.";
    ck_assert_msg(strstr(text, said) != NULL, "%s", text);
    free(text);
    end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_is_typed_is_understood, TYPED},
        {what_is_not_understood_is_no_pass, WRONG},
        {of_many_there_is_an_end, 0},
        {no_text_does_harm, 0},
        {a_profile_alone, 0},
        {beside_a_base, 0},
        {a_change_may_be_asked_for, 0},
        {of_layers_none_is_to_be_seen_beyond, 0},
        {the_step_of_an_inference_is_an_inference, 0},
        {of_too_few_runs_nothing_is_judged, 0},
        {a_layer_is_judged_by_as_many_runs_as_all_its_parts_have, 2},
        {untimed_is_no_pass_for_times, 0},
        {a_table_of_them, 0},
        {NULL, 0},
    };
    return harness_main("threshold", tests);
}
