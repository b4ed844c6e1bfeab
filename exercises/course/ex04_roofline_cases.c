// ex04_roofline_cases.c -- the cases of exercise 04: work and machines, judged by the profiler's
// own roofline. What a time says of it (unexplained, overhead) is not asked: the bound is that of
// the same work without a time.
#include <math.h>
#include <stdio.h>

#include "exercises/course/model_case.h"
#include "profiler/machine/roofline.h"

static const char *const bounds[] = {"COMPUTE_BOUND", "MEMORY_BOUND", NULL};
enum { COMPUTE, MEMORY };

typedef struct Question {
    int64_t flops, bytes;
    double peak, bandwidth, seconds; // FLOP/s, bytes/s; measured
} Question;

// ---- a run -----------------------------------------------------------------------------------
static void show(const Question *q, CaseRun *run) {
    snprintf(run->input, sizeof(run->input), "%lld %lld %.17g %.17g %.17g", (long long)q->flops,
             (long long)q->bytes, q->peak, q->bandwidth, q->seconds);
    line_add(run->shown, "%lld FLOP, %lld B on %.6g GFLOP/s and %.6g GB/s, measured %.6g s",
             (long long)q->flops, (long long)q->bytes, q->peak / 1e9, q->bandwidth / 1e9,
             q->seconds);
    line_add(run->asked, "where the work stands under the roofline");
}

// What the library says; the bound is of the work alone.
static Roofline judge(const Question *q) {
    Machine machine = {.peak_flops_per_second = q->peak,
                       .levels = {{"DRAM", INT64_MAX, q->bandwidth}},
                       .n_levels = 1};
    RooflineInput input = {.cost.elementwise_flops = (uint64_t)q->flops,
                           .cost.bytes_read = (uint64_t)q->bytes,
                           .ops = 1,
                           .seconds = (double)NAN};
    Bound bound = roofline_judge(&machine, &input).bound;
    input.seconds = q->seconds;
    Roofline roofline = roofline_judge(&machine, &input);
    roofline.bound = bound;
    return roofline;
}

static void expect_quotients(const Question *q, const Roofline *truth, CaseRun *run) {
    run_expect_real(run, "intensity", truth->intensity, 1e-9);
    run_mistake_real(run, "intensity_inverted", (double)q->bytes / (double)q->flops);
    run_mistake_real(run, "integer_division", (double)(q->flops / q->bytes));
    run_mistake_real(run, "mac_vs_flop", truth->intensity / 2.0);
    run_expect_real(run, "ridge", truth->ridge, 1e-9);
    run_mistake_real(run, "ridge_inverted", q->bandwidth / q->peak);
    run_mistake_real(run, "integer_division", floor(truth->ridge));
    run_mistake_real(run, "gflop_for_flop", q->peak / 1e9 / q->bandwidth);
}

static void expect_times(const Question *q, const Roofline *truth, CaseRun *run) {
    double compute = truth->compute_seconds, memory = truth->memory_seconds;
    run_expect_real(run, "roof_seconds", truth->roof_seconds, 1e-9);
    run_mistake_real(run, "roof_added", compute + memory);
    run_mistake_real(run, "roof_lower", fmin(compute, memory));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * truth->roof_seconds);
    run_mistake_real(run, "gflop_for_flop", 1e9 * truth->roof_seconds);
    run_expect_real(run, "roof_fraction", truth->roof_fraction, 1e-9);
    if (isnan(truth->roof_fraction)) {
        run_mistake_real(run, "unmeasured_divided", truth->roof_seconds / q->seconds);
        run_mistake_real(run, "unmeasured_is_zero", 0.0);
    } else {
        run_mistake_real(run, "fraction_inverted", q->seconds / truth->roof_seconds);
        run_mistake_real(run, "fraction_of_peak", compute / q->seconds);
        run_mistake_real(run, "percent_for_fraction", 100.0 * truth->roof_fraction);
    }
}

// Two answers only, so a wrong one is named after what the case is there for.
static void expect_bound(const Roofline *truth, const char *mistake, CaseRun *run) {
    int bound = truth->bound == BOUND_MEMORY ? MEMORY : COMPUTE;
    run_expect_word(run, "bound", bound, bounds);
    run_mistake_integer(run, mistake, bound == MEMORY ? COMPUTE : MEMORY);
}

static Status ask(CaseRun *run, Question q, const char *mistake) {
    Roofline truth = judge(&q);
    show(&q, run);
    expect_quotients(&q, &truth, run);
    expect_times(&q, &truth, run);
    expect_bound(&truth, mistake, run);
    bool memory = truth.bound == BOUND_MEMORY;
    line_add(run->formula, "%lld / %lld = %.6g %s %.6g = %.6g / %.6g; roof = %s",
             (long long)q.flops, (long long)q.bytes, truth.intensity,
             memory ? "<" : ">=", truth.ridge, q.peak, q.bandwidth,
             memory ? "bytes / bandwidth" : "FLOPs / peak");
    return STATUS_OK;
}

// ---- cases -----------------------------------------------------------------------------------
// Linear(4096,4096,bias=false) in float32 at 1000 GFLOP/s and 200 GB/s. Below the ridge it reaches
// less than half of the peak, above it more: a verdict by efficiency is right here.
static Status linear_4096(Draw *draw, CaseRun *run) {
    int64_t rows = draw->run == 0 ? 8 : draw->run == 1 ? 16 : draw_odd(draw, 17, 99);
    return ask(run,
               (Question){.flops = 2 * rows * 4096 * 4096,
                          .bytes = 4 * (4096 * 4096 + 2 * rows * 4096),
                          .peak = 1e12,
                          .bandwidth = 2e11,
                          .seconds = rows < 16 ? 0.00081 : (double)rows * 6.7e-5},
               "bound_swapped");
}

// A measured machine, whose ridge is 9.5635; below it and above it.
static Status either_side(Draw *draw, CaseRun *run) {
    return ask(run,
               (Question){.flops = draw->run == 0 ? 1000000 : 32000000,
                          .bytes = 2000000,
                          .peak = 401.667e9,
                          .bandwidth = 42e9,
                          .seconds = 1.3e-4},
               "bound_swapped");
}

static Question drawn(Draw *draw, double least, double most, double slower) {
    double ridge = draw_real(draw, 3.1, 40.0), bandwidth = draw_real(draw, 1e10, 9e11);
    int64_t bytes = draw_between(draw, 1000001, 900000001);
    Question q = {.bytes = bytes, .bandwidth = bandwidth, .peak = ridge * bandwidth};
    q.flops = 1 + (int64_t)(draw_real(draw, least, most) * ridge * (double)bytes);
    q.seconds = slower * judge(&q).roof_seconds;
    return q;
}

// Slow, and bound by arithmetic all the same; the last run is close to its roof, and bound by
// memory all the same.
static Status low_efficiency(Draw *draw, CaseRun *run) {
    bool slow = draw->run < 2;
    Question q = slow ? drawn(draw, 1.3, 8.0, draw_real(draw, 12.0, 60.0))
                      : drawn(draw, 0.55, 0.9, draw_real(draw, 1.02, 1.1));
    return ask(run, q, "bound_from_efficiency");
}

static Status on_the_ridge(Draw *draw, CaseRun *run) {
    int64_t bytes = 1000 * draw_between(draw, 1, 900), ridge = draw_between(draw, 3, 40);
    return ask(run,
               (Question){.flops = bytes * ridge,
                          .bytes = bytes,
                          .peak = 1e9 * 7.0 * (double)ridge,
                          .bandwidth = 7e9,
                          .seconds = 3.0 * (double)bytes / 7e9},
               "on_the_ridge");
}

static Status not_measured(Draw *draw, CaseRun *run) {
    static const double seconds[] = {0.0, -1.0};
    Question q = drawn(draw, 1.3, 3.0, 1.0);
    q.seconds = draw->run < 2 ? seconds[draw->run] : (double)NAN;
    return ask(run, q, "bound_from_efficiency");
}

static Status no_arithmetic(Draw *draw, CaseRun *run) {
    Question q = drawn(draw, 0.5, 0.9, 1.0);
    q.flops = 0;
    q.seconds = draw_real(draw, 1.3, 3.0) * judge(&q).roof_seconds;
    return ask(run, q, "bound_swapped");
}

static Status bad_ceilings(Draw *draw, CaseRun *run) {
    static const Question questions[] = {{8, 4, 0.0, 1e9, 1.0},  {8, 4, 1e9, 0.0, 1.0},
                                         {8, 4, -1e9, 1e9, 1.0}, {8, 4, 1e9, -1e9, 1.0},
                                         {-8, 4, 1e9, 1e9, 1.0}, {8, 0, 1e9, 1e9, 1.0},
                                         {8, -4, 1e9, 1e9, 1.0}, {8, 4, (double)NAN, 1e9, 1.0}};
    show(&questions[draw->run], run);
    run->status = STATUS_INVALID_ARGUMENT; // the exercise's own rule: the library's peaks are
    run_mistake_status(run, "ceiling_unchecked", STATUS_OK); // checked where they are read
    return STATUS_OK;
}

static Status units(Draw *draw, CaseRun *run) {
    bool below = draw->run % 2 == 0;
    return ask(run, drawn(draw, below ? 0.36 : 1.3, below ? 0.8 : 3.0, draw_real(draw, 1.3, 3.0)),
               "bound_swapped");
}

// ---- by hand ---------------------------------------------------------------------------------
static Status by_hand_ridge(Draw *draw, CaseRun *run) {
    int64_t bandwidth = draw->practice ? 50 : draw_between(draw, 21, 95);
    int64_t peak = draw->practice ? 100 : bandwidth * draw_between(draw, 3, 30) / 2;
    double ridge = (double)peak / (double)bandwidth;
    line_add(run->shown, "a machine of %lld GFLOP/s and %lld GB/s", (long long)peak,
             (long long)bandwidth);
    line_add(run->asked, "its ridge in FLOP per byte, to 1 %%");
    line_add(run->formula, "%lld / %lld", (long long)peak, (long long)bandwidth);
    run_expect_real(run, "", ridge, 0.01);
    run_mistake_real(run, "ridge_inverted", 1.0 / ridge);
    run_mistake_real(run, "gflop_for_flop", 1e9 * ridge);
    return STATUS_OK;
}

static Status by_hand_bound(Draw *draw, CaseRun *run) {
    static const char *const words[] = {"compute", "memory", "cannot_tell", NULL};
    int64_t peak = draw->practice ? 100 : draw_between(draw, 80, 900);
    int64_t reached = draw->practice ? 5 : draw_between(draw, 2, peak / 12);
    line_add(run->shown, "a layer reaches %lld of %lld GFLOP/s; no more is known",
             (long long)reached, (long long)peak);
    line_add(run->asked, "what bounds it: compute, memory or cannot_tell");
    line_add(run->formula, "neither its FLOPs nor its bytes are given: ask for the intensity");
    run_expect_word(run, "", 2, words);
    run_mistake_integer(run, "bound_from_efficiency", MEMORY);
    run_mistake_integer(run, "bound_swapped", COMPUTE);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "by_hand_ridge", .points = 1, .runs = 1, .by_hand = "04_ridge", .make = by_hand_ridge},
    {.name = "by_hand_bound", .points = 1, .runs = 1, .by_hand = "04_bound", .make = by_hand_bound},
    {.name = "linear_4096", .points = 1, .runs = 3, .make = linear_4096},
    {.name = "either_side", .points = 1, .runs = 2, .make = either_side},
    {.name = "low_efficiency", .points = 1, .runs = 3, .make = low_efficiency},
    {.name = "on_the_ridge", .points = 1, .runs = 4, .make = on_the_ridge},
    {.name = "not_measured", .points = 1, .runs = 3, .make = not_measured},
    {.name = "no_arithmetic", .points = 1, .runs = 2, .make = no_arithmetic},
    {.name = "bad_ceilings", .points = 1, .runs = 8, .needs = "either_side", .make = bad_ceilings},
    {.name = "units", .points = 1, .runs = 6, .hidden = true, .make = units},
};

static const char *const symbols[] = {"fmax", "fmin", "isnan", NULL};

const Exercise exercise_04 = {.number = "04",
                              .name = "roofline",
                              .function = "roofline",
                              .title = "Memory or compute: the roofline",
                              .minutes = 40,
                              .points = 10,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
