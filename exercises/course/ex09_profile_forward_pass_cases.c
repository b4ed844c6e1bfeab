// ex09_profile_forward_pass_cases.c -- exercise 09 in the grader. FLOPs and bytes are the
// library's, times are the schedule's; wrong values are other quotients of the same numbers.
#include <stdio.h>

#include "exercises/course/ex09_values.h"
#include "exercises/course/timed_case.h"

enum { MOST_ROWS = 8 }; // FORWARD_MOST_ROWS
#define TOLERANCE 1e-3  // the clock's own readings take time, too

static const char *const bounds[] = {"FORWARD_COMPUTE", "FORWARD_MEMORY", "FORWARD_NEITHER", NULL};
enum { COMPUTE, MEMORY, NEITHER };

typedef struct Question {
    TimedCase timed;
    int64_t peak, bandwidth; // MFLOP/s, MB/s
} Question;

// ---- of a row ----------------------------------------------------------------------------------
static const char *row_value(char name[CASE_NAME], int row, const char *value) {
    snprintf(name, CASE_NAME, "rows[%d].%.16s", row, value);
    return name;
}

static void expect_row_flops(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    run_expect_integer(run, row_value(name, row, "flops"), t->flops[row] * t->batch);
    run_mistake_integer(run, "flops_per_sample", t->flops[row]);
    run_mistake_integer(run, "batch_counted_twice", t->flops[row] * t->batch * t->batch);
}

static void expect_row_seconds(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    run_expect_real(run, row_value(name, row, "seconds"), t->seconds[row], TOLERANCE);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * t->seconds[row]);
    run_mistake_real(run, "warmup_missing", t->cold + t->seconds[row]);
    run_mistake_real(run, "container_counted", t->whole);
}

static void expect_share(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    double share = t->seconds[row] / t->whole;
    run_expect_real(run, row_value(name, row, "share"), share, TOLERANCE);
    run_mistake_real(run, "share_of_wrong_total", t->seconds[row] / t->rows_seconds);
    run_mistake_real(run, "percent_for_fraction", 100.0 * share);
}

static void expect_rate(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    double rate = (double)(t->flops[row] * t->batch) / t->seconds[row];
    run_expect_real(run, row_value(name, row, "flops_per_second"), rate, TOLERANCE);
    run_mistake_real(run, "flops_per_sample", rate / (double)t->batch);
    run_mistake_real(run, "batch_counted_twice", rate * (double)t->batch);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * rate);
    run_mistake_real(run, "gflop_for_flop", 1e-9 * rate);
}

static void expect_bound(CaseRun *run, const Question *q, int row) {
    char name[CASE_NAME];
    double work = (double)(q->timed.flops[row] * q->timed.batch);
    double traffic = (double)q->timed.bytes[row];
    bool compute = work * (double)q->bandwidth >= traffic * (double)q->peak;
    int bound = q->timed.bytes[row] == 0 ? NEITHER : compute ? COMPUTE : MEMORY;
    run_expect_word(run, row_value(name, row, "bound"), bound, bounds);
    if (bound == COMPUTE) run_mistake_integer(run, "bound_from_efficiency", MEMORY);
    if (bound == MEMORY) run_mistake_integer(run, "bound_swapped", COMPUTE);
    if (bound == NEITHER) {
        run_mistake_integer(run, "view_judged", MEMORY);
        run_mistake_integer(run, "view_judged", COMPUTE);
        run_mistake_status(run, "view_judged", STATUS_INVALID_ARGUMENT);
    }
}

static void expect_row(CaseRun *run, const Question *q, int ask, int row) {
    if (ask & ASK_FLOPS) expect_row_flops(run, &q->timed, row);
    if (ask & ASK_ROW_SECONDS) expect_row_seconds(run, &q->timed, row);
    if (ask & ASK_SHARES) expect_share(run, &q->timed, row);
    if (ask & ASK_RATES) expect_rate(run, &q->timed, row);
    if (ask & ASK_BOUNDS) expect_bound(run, q, row);
}

// ---- of the whole ------------------------------------------------------------------------------
static int64_t all_flops(const TimedCase *t) {
    int64_t flops = 0;
    for (int i = 0; i < t->rows; i++) flops += t->flops[i];
    return flops * t->batch;
}

static void expect_n_rows(CaseRun *run, const TimedCase *t) {
    run_expect_integer(run, "n_rows", t->rows);
    run_mistake_integer(run, "container_counted", t->rows + t->containers);
    run_mistake_integer(run, "container_counted", t->rows + t->containers - 1);
    run_mistake_integer(run, "nested_ignored", t->children);
}

static void expect_flops(CaseRun *run, const TimedCase *t) {
    int64_t flops = all_flops(t);
    run_expect_integer(run, "flops", flops);
    run_mistake_integer(run, "flops_per_sample", flops / t->batch);
    run_mistake_integer(run, "batch_counted_twice", flops * t->batch);
    run_mistake_integer(run, "container_counted", 2 * flops);
}

static void expect_seconds(CaseRun *run, const TimedCase *t) {
    run_expect_real(run, "seconds", t->whole, TOLERANCE);
    run_mistake_real(run, "unattributed_time", t->rows_seconds);
    run_mistake_real(run, "container_counted", t->whole + t->rows_seconds);
    run_mistake_real(run, "warmup_missing", t->whole + t->rows * t->cold);
    run_mistake_real(run, "warmup_missing", 2.0 * t->whole + t->rows * t->cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * t->whole);
}

static void expect_unattributed(CaseRun *run, const TimedCase *t) {
    double rest = t->whole - t->rows_seconds;
    run_expect_real(run, "unattributed_seconds", rest, TOLERANCE);
    run_mistake_real(run, "unattributed_time", 0.0);
    run_mistake_real(run, "unattributed_time", t->rows_seconds);
    run_mistake_real(run, "unattributed_time", -rest);
    run_mistake_real(run, "share_for_seconds", rest / t->whole);
    run_mistake_real(run, "warmup_missing", rest + t->rows * t->cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * rest);
}

static void expect_whole_rate(CaseRun *run, const TimedCase *t) {
    double flops = (double)all_flops(t), sum = 0.0;
    for (int i = 0; i < t->rows; i++) sum += (double)(t->flops[i] * t->batch) / t->seconds[i];
    run_expect_real(run, "flops_per_second", flops / t->whole, TOLERANCE);
    run_mistake_real(run, "rates_added", sum);
    run_mistake_real(run, "rates_added", sum / t->rows);
    run_mistake_real(run, "unattributed_time", flops / t->rows_seconds);
    run_mistake_real(run, "flops_per_sample", flops / t->whole / (double)t->batch);
    run_mistake_real(run, "batch_counted_twice", flops / t->whole * (double)t->batch);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * flops / t->whole);
}

static void expect_samples(CaseRun *run, const TimedCase *t) {
    double samples = (double)t->batch / t->whole;
    run_expect_real(run, "samples_per_second", samples, TOLERANCE);
    run_mistake_real(run, "steps_for_samples", 1.0 / t->whole);
    run_mistake_real(run, "throughput_inverted", 1.0 / samples);
    run_mistake_real(run, "throughput_inverted", t->whole);
    run_mistake_real(run, "unattributed_time", (double)t->batch / t->rows_seconds);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * samples);
}

static void expect_amdahl(CaseRun *run, const TimedCase *t) {
    double share = t->seconds[t->slowest] / t->whole;
    double flops = (double)(t->flops[t->heaviest] * t->batch) / (double)all_flops(t);
    run_expect_real(run, "amdahl_limit", 1.0 / (1.0 - share), TOLERANCE);
    run_mistake_real(run, "amdahl_inverse_share", 1.0 / share);
    run_mistake_real(run, "amdahl_twice_as_fast", 1.0 / (1.0 - share / 2.0));
    run_mistake_real(run, "share_of_wrong_total",
                     1.0 / (1.0 - t->seconds[t->slowest] / t->rows_seconds));
    run_mistake_real(run, "slowest_by_flops", 1.0 / (1.0 - t->seconds[t->heaviest] / t->whole));
    run_mistake_real(run, "slowest_by_flops", 1.0 / (1.0 - flops));
    run_mistake_real(run, "amdahl_remaining", 1.0 - share);
}

// ---- a run -------------------------------------------------------------------------------------
static void write_input(const Question *q, int ask, Draw *draw, CaseRun *run) {
    snprintf(run->input, sizeof run->input, "ask=%d rows=%d peak=%lld bandwidth=%lld", ask,
             q->timed.rows, (long long)q->peak, (long long)q->bandwidth);
    timed_case_write(&q->timed, draw, run);
}

static void expect(const Question *q, int ask, CaseRun *run) {
    expect_n_rows(run, &q->timed);
    for (int i = 0; i < q->timed.rows; i++) expect_row(run, q, ask, i);
    if (ask & ASK_FLOPS) expect_flops(run, &q->timed);
    if (ask & ASK_SECONDS) expect_seconds(run, &q->timed);
    if (ask & ASK_UNATTRIBUTED) expect_unattributed(run, &q->timed);
    if (ask & ASK_RATES) expect_whole_rate(run, &q->timed);
    if (ask & ASK_SAMPLES) expect_samples(run, &q->timed);
    if (ask & ASK_AMDAHL) expect_amdahl(run, &q->timed);
}

// A machine on which the heaviest layer is bound by arithmetic, though it reaches only a part of
// the peak; what has less than a quarter of its intensity is bound by memory.
static void draw_machine(Question *q, Draw *draw) {
    const TimedCase *t = &q->timed;
    double work = (double)(t->flops[t->heaviest] * t->batch);
    double ridge = work / (double)t->bytes[t->heaviest] * draw_real(draw, 0.3, 0.8);
    double peak = work / t->seconds[t->heaviest] * draw_real(draw, 3.0, 20.0);
    q->peak = 1 + (int64_t)(peak / 1e6);
    q->bandwidth = 1 + (int64_t)((double)q->peak / ridge);
}

static Status ask_of(Draw *draw, CaseRun *run, int ask, const char *text, const char *formula) {
    Question q;
    Status status = timed_case_draw(&q.timed, text, draw);
    if (status) return status;
    draw_machine(&q, draw);
    write_input(&q, ask, draw, run);
    line_add(run->asked, "the profile of one forward of the whole batch");
    line_add(run->formula, "%s", formula);
    expect(&q, ask, run);
    return STATUS_OK;
}

// Two or three layers with sizes that all differ.
static const char *draw_model(Draw *draw, char text[TIMED_TEXT]) {
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    long long c = draw_odd(draw, 3, 29), batch = draw_odd(draw, 33, 127);
    const char *activation = draw_between(draw, 0, 1) ? "ReLU" : "Tanh";
    snprintf(text, TIMED_TEXT, "Linear(%lld,%lld) %s Linear(%lld,%lld) @ %lldx%lld", a, b,
             activation, b, c, batch, a);
    return text;
}

// ---- cases -------------------------------------------------------------------------------------
static Status flops_of_the_batch(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_FLOPS, draw_model(draw, text),
                  "row: FLOPs of one sample * batch; whole: the sum of the rows");
}

static Status seconds_of_layers(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_ROW_SECONDS | ASK_SECONDS, draw_model(draw, text),
                  "each row measured by itself, the whole measured as a whole, all of it warm");
}

static Status columns_add_up(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_SECONDS | ASK_UNATTRIBUTED | ASK_SHARES, draw_model(draw, text),
                  "share = row / whole; unattributed = whole - sum of the rows");
}

static Status rates(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_RATES | ASK_SAMPLES, draw_model(draw, text),
                  "FLOPs of the batch / seconds of the batch; batch / seconds of the whole");
}

static Status amdahl(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_AMDAHL, draw_model(draw, text),
                  "1 / (1 - share of the row that takes the longest)");
}

static Status bounds_of_layers(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    snprintf(text, sizeof text, "Linear(%lld,%lld) ReLU Flatten Linear(%lld,3) @ %lldx%lld", a, b,
             b, (long long)draw_odd(draw, 65, 127), a);
    return ask_of(draw, run, ASK_BOUNDS, text, "intensity of the batch against the ridge");
}

static Status nested(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    snprintf(text, sizeof text,
             "Linear(%lld,%lld) Sequential(Tanh Sequential(Linear(%lld,7) ReLU)) @ %lldx%lld", a, b,
             b, (long long)draw_odd(draw, 33, 127), a);
    return ask_of(draw, run, ASK_FLOPS | ASK_ROW_SECONDS | ASK_SECONDS | ASK_UNATTRIBUTED, text,
                  "a row for each layer without children, however deep");
}

static Status errors(Draw *draw, CaseRun *run) {
    static const struct {
        const char *text;
        Status status;
        const char *why;
    } models[] = {{"Linear(5,8) Mystery(8) @ 3x5", STATUS_UNKNOWN_OP, "Mystery cannot be counted"},
                  {"Linear(5,8) Linear(7,2) @ 3x5", STATUS_SHAPE,
                   "8 numbers do not go into Linear(7,2)"},
                  {"ReLU ReLU ReLU ReLU ReLU ReLU ReLU ReLU ReLU @ 3x5", STATUS_INVALID_ARGUMENT,
                   "nine rows, and there is room for 8"}};
    TimedCase timed = {.times = {.container_us = draw_between(draw, 5, 9)}};
    snprintf(timed.text, sizeof timed.text, "%s", models[draw->run].text);
    for (int i = 0; i <= MOST_ROWS; i++) timed.times.layer_us[i] = draw_between(draw, 40, 90);
    snprintf(run->input, sizeof run->input, "peak=9000 bandwidth=3000");
    timed_case_write(&timed, draw, run);
    snprintf(run->shown, CASE_LINE, "%s", timed.text);
    line_add(run->asked, "the status");
    line_add(run->formula, "%s", models[draw->run].why);
    run->status = models[draw->run].status;
    run_mistake_status(run, "error_ignored", STATUS_OK);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "flops_of_the_batch", .points = 1, .runs = 3, .make = flops_of_the_batch},
    {.name = "seconds_of_layers", .points = 1, .runs = 3, .make = seconds_of_layers},
    {.name = "columns_add_up", .points = 1, .runs = 3, .make = columns_add_up},
    {.name = "rates", .points = 1, .runs = 3, .make = rates},
    {.name = "amdahl", .points = 1, .runs = 3, .make = amdahl},
    {.name = "bounds_of_layers", .points = 1, .runs = 2, .make = bounds_of_layers},
    {.name = "nested", .points = 1, .runs = 2, .hidden = true, .make = nested},
    {.name = "errors", .points = 1, .runs = 3, .needs = "rates", .make = errors},
};

static const char *const symbols[] = {"layer_forward",
                                      "reference_count_flops",
                                      "reference_count_bytes",
                                      "reference_roofline",
                                      "layer_output_shape",
                                      "tensor_release",
                                      "scope_*",
                                      "error_status",
                                      "clock_gettime",
                                      "clock_getres",
                                      "malloc",
                                      "calloc",
                                      "realloc",
                                      "free",
                                      "fmax",
                                      "fmin",
                                      "isnan",
                                      NULL};

const Exercise exercise_09 = {.number = "09",
                              .name = "profile_forward_pass",
                              .function = "profile_forward_pass",
                              .title = "Profile a forward pass",
                              .minutes = 60,
                              .points = 8,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
