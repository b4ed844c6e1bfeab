// ex04_roofline_cases.c -- the cases of exercise 04: work and machines, judged by the profiler's
// own roofline (flat_roofline.h).
#include <math.h>
#include <stdio.h>

#include "exercises/course/model_case.h"
#include "exercises/scene/flat_roofline.h"

static const char *const bounds[] = {"COMPUTE_BOUND", "MEMORY_BOUND", NULL};
enum { COMPUTE, MEMORY };

// ---- a run -----------------------------------------------------------------------------------
static void show(const FlatWork *q, CaseRun *run) {
    snprintf(run->input, sizeof(run->input), "%lld %lld %.17g %.17g %.17g", (long long)q->flops,
             (long long)q->bytes, q->peak, q->bandwidth, q->seconds);
    line_add(run->shown, "%lld FLOP, %lld B on %.6g GFLOP/s and %.6g GB/s, measured %.6g s",
             (long long)q->flops, (long long)q->bytes, q->peak / 1e9, q->bandwidth / 1e9,
             q->seconds);
    line_add(run->asked, "where the work stands under the roofline");
}

static void expect_quotients(const FlatWork *q, const FlatRoofline *truth, CaseRun *run) {
    run_expect_real(run, "intensity", truth->intensity, 1e-9);
    run_mistake_real(run, "intensity_inverted", 1.0 / truth->intensity);
    run_mistake_real(run, "integer_division", floor(truth->intensity));
    run_mistake_real(run, "mac_vs_flop", truth->intensity / 2.0);
    run_mistake_real(run, "mac_vs_flop", truth->intensity * 2.0);
    if ((int32_t)q->bytes != 0)
        run_mistake_real(run, "integer_overflow",
                         (double)(int32_t)q->flops / (double)(int32_t)q->bytes);
    run_mistake_real(run, "gflop_for_flop", truth->intensity / 1e9);
    run_expect_real(run, "ridge", truth->ridge, 1e-9);
    run_mistake_real(run, "ridge_inverted", 1.0 / truth->ridge);
    run_mistake_real(run, "integer_division", floor(truth->ridge));
    run_mistake_real(run, "gflop_for_flop", truth->ridge / 1e9);
    run_mistake_real(run, "gflop_for_flop", truth->ridge * 1e9);
    if (q->flops == 0) run_mistake_status(run, "copy_refused", STATUS_INVALID_ARGUMENT);
}

static void expect_roof(const FlatWork *q, const FlatRoofline *truth, CaseRun *run) {
    double roof = truth->roof_seconds;
    run_expect_real(run, "roof_seconds", roof, 1e-9);
    run_mistake_real(run, "roof_added", truth->compute_seconds + truth->memory_seconds);
    run_mistake_real(run, "roof_lower", fmin(truth->compute_seconds, truth->memory_seconds));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * roof);
    run_mistake_real(run, "microseconds_for_seconds", 1e6 * roof);
    run_mistake_real(run, "gflop_for_flop", 1e9 * roof);
    run_mistake_real(run, "gflop_for_flop", 1e-9 * roof);
    run_mistake_real(run, "attainable_for_seconds", (double)q->flops / roof);
}

static void expect_fraction(const FlatWork *q, const FlatRoofline *truth, CaseRun *run) {
    run_expect_real(run, "roof_fraction", truth->roof_fraction, 1e-9);
    if (isnan(truth->roof_fraction)) {
        run_mistake_real(run, "unmeasured_divided", truth->roof_seconds / q->seconds);
        run_mistake_real(run, "unmeasured_is_zero", 0.0);
        run_mistake_status(run, "unmeasured_refused", STATUS_INVALID_ARGUMENT);
        return;
    }
    run_mistake_real(run, "fraction_inverted", 1.0 / truth->roof_fraction);
    run_mistake_real(run, "fraction_of_peak", truth->compute_seconds / q->seconds);
    run_mistake_real(run, "fraction_of_peak", truth->memory_seconds / q->seconds);
    run_mistake_real(run, "percent_for_fraction", 100.0 * truth->roof_fraction);
    if (truth->roof_fraction > 1.0) run_mistake_real(run, "fraction_cut_off", 1.0);
}

// The bound has only two values, so a wrong bound shows the mistake that the case is about.
static Status ask(CaseRun *run, FlatWork q, const char *mistake) {
    FlatRoofline truth = flat_roofline(&q);
    int bound = truth.compute_bound ? COMPUTE : MEMORY;
    show(&q, run);
    expect_quotients(&q, &truth, run);
    expect_roof(&q, &truth, run);
    expect_fraction(&q, &truth, run);
    run_expect_word(run, "bound", bound, bounds);
    run_mistake_integer(run, mistake, bound == MEMORY ? COMPUTE : MEMORY);
    line_add(run->formula, "%lld / %lld = %.6g %s %.6g = %.6g / %.6g; roof = %s",
             (long long)q.flops, (long long)q.bytes, truth.intensity,
             truth.compute_bound ? ">=" : "<", truth.ridge, q.peak, q.bandwidth,
             truth.compute_bound ? "FLOPs / peak" : "bytes / bandwidth");
    return STATUS_OK;
}

// Numbers for which float is always too coarse and 32 bits always suffice, so that these mistakes
// cost the same whatever is drawn.
static FlatWork drawn(Draw *draw, double least, double most, double slower) {
    double ridge = draw_real(draw, 10.1, 20.0), bandwidth = draw_real(draw, 1e10, 9e11);
    int64_t bytes = draw_odd(draw, 16777219, 33554431);
    FlatWork q = {.bytes = bytes, .bandwidth = bandwidth, .peak = ridge * bandwidth};
    q.flops = 1 + (int64_t)(draw_real(draw, least, most) * ridge * (double)bytes);
    q.seconds = slower * flat_roofline(&q).roof_seconds;
    return q;
}

// Linear(4096,4096,bias=false) in float32 at 1000 GFLOP/s and 200 GB/s.
static FlatWork product(int64_t rows, double seconds) {
    return (FlatWork){.flops = 2 * rows * 4096 * 4096,
                      .bytes = 4 * (4096 * 4096 + 2 * rows * 4096),
                      .peak = 1e12,
                      .bandwidth = 2e11,
                      .seconds = seconds};
}

// ---- cases -----------------------------------------------------------------------------------
// In the first two runs work below the ridge is slow and work above it is fast, so a bound guessed
// from efficiency is right there; later runs reveal that mistake.
static Status linear_4096(Draw *draw, CaseRun *run) {
    int64_t rows = draw->run == 0 ? 8 : draw->run == 1 ? 16 : draw_odd(draw, 17, 63);
    return ask(run, product(rows, rows < 16 ? 0.0067 : (double)rows * 3.5e-5), "bound_swapped");
}

// A measured machine with ridge 9.5635; work below and above the ridge, then so close to it that
// both have the same whole number.
static Status either_side(Draw *draw, CaseRun *run) {
    static const int64_t flops[] = {1000000, 32000000, 19000000};
    static const double seconds[] = {1e-3, 8.3e-5, 9e-4};
    return ask(run,
               (FlatWork){.flops = flops[draw->run],
                          .bytes = 2000000,
                          .peak = 401.667e9,
                          .bandwidth = 42e9,
                          .seconds = seconds[draw->run]},
               "bound_swapped");
}

// Work that is slow, yet bound by arithmetic; work close to its roof, yet bound by memory.
static Status low_efficiency(Draw *draw, CaseRun *run) {
    FlatWork q;
    if (draw->run < 2)
        q = draw->run == 0 ? product(16, 0.01074) : product(8, 0.00035);
    else if (draw->run == 2)
        q = drawn(draw, 1.3, 3.0, draw_real(draw, 19.0, 21.0));
    else
        q = drawn(draw, 0.6, 0.9, draw_real(draw, 1.02, 1.1));
    return ask(run, q, "bound_from_efficiency");
}

// Work on the ridge, one FLOP below it, and on a ridge that is not a whole number.
static Status on_the_ridge(Draw *draw, CaseRun *run) {
    static const FlatWork fixed[] = {{19000, 1000, 133e9, 7e9, 4e-7},
                                     {18999999999999, 1000000000000, 133e9, 7e9, 200.0},
                                     {2500, 1000, 5e11, 2e11, 1e-8}};
    int64_t bytes = 1000 * draw_between(draw, 1, 900), ridge = draw_between(draw, 3, 40);
    if (draw->run < 3)
        return ask(run, fixed[draw->run], draw->run == 1 ? "ridge_widened" : "on_the_ridge");
    return ask(run,
               (FlatWork){.flops = bytes * ridge,
                          .bytes = bytes,
                          .peak = 1e9 * 7.0 * (double)ridge,
                          .bandwidth = 7e9,
                          .seconds = 3.0 * (double)bytes / 7e9},
               "on_the_ridge");
}

static Status not_measured(Draw *draw, CaseRun *run) {
    static const double seconds[] = {0.0, -1.0, (double)NAN, -0.0, (double)-INFINITY};
    bool below = draw->run == 1;
    FlatWork q = drawn(draw, below ? 0.3 : 1.3, below ? 0.8 : 3.0, 1.0);
    q.seconds = seconds[draw->run];
    return ask(run, q, "bound_from_efficiency");
}

static Status refused(Draw *draw, CaseRun *run) {
    static const FlatWork questions[] = {
        {8, 4, 0.0, 1e9, 1.0},         {8, 4, 1e9, 0.0, 1.0},
        {8, 4, -1e9, 1e9, 1.0},        {8, 4, 1e9, -1e9, 1.0},
        {8, 4, (double)NAN, 1e9, 1.0}, {8, 4, 1e9, (double)NAN, 1.0},
        {-8, 4, 1e9, 1e9, 1.0},        {8, 0, 1e9, 1e9, 1.0},
        {8, -4, 1e9, 1e9, 1.0},        {0, 0, 1e9, 1e9, 1.0},
        {-8, -4, 1e9, 1e9, 1.0},       {8, 4, -1e9, -1e9, (double)NAN},
        {-1, 4, 1e9, 1e9, (double)NAN}};
    show(&questions[draw->run], run);
    run->status = STATUS_INVALID_ARGUMENT; // the exercise's own rule: the library's peaks are
    run_mistake_status(run, "ceiling_unchecked", STATUS_OK); // checked where they are read
    return STATUS_OK;
}

static Status units(Draw *draw, CaseRun *run) {
    bool below = draw->run % 2 == 0;
    return ask(run, drawn(draw, below ? 0.36 : 1.3, below ? 0.8 : 3.0, draw_real(draw, 2.9, 3.1)),
               "bound_swapped");
}

// Work without FLOPs, 64 bits of FLOPs and of bytes, machines below 1 FLOP/s and below 1 B/s, less
// than a femtosecond, a time below the roof.
static Status unusual(Draw *draw, CaseRun *run) {
    static const FlatWork fixed[] = {{0, 70000001, 1e12, 2e11, 7e-4},
                                     {9000000000000000001, 1, 1e12, 2e11, 2e7},
                                     {1, 9000000000000000001, 1e12, 2e11, 5e7},
                                     {3, 1, 0.75, 0.5, 17.0},
                                     {3, 2, 1e18, 2e17, 3e-17},
                                     {7000000, 1000000, 1e12, 2e11, 3e-6}};
    FlatWork copy = drawn(draw, 0.5, 0.9, 1.7);
    copy.flops = 0;
    return ask(run, draw->run < 6 ? fixed[draw->run] : copy, "bound_swapped");
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

// Without an intensity the bound is unknown; with one, the given low efficiency does not matter.
static Status by_hand_bound(Draw *draw, CaseRun *run) {
    static const char *const words[] = {"compute", "memory", "cannot_tell", NULL};
    enum { CANNOT_TELL = 2 };
    int bound = draw->practice ? CANNOT_TELL : (int)draw_between(draw, COMPUTE, CANNOT_TELL);
    long long ridge = draw_between(draw, 4, 30), bandwidth = draw_between(draw, 11, 60);
    long long peak = draw->practice ? 100 : ridge * bandwidth;
    long long reached = draw->practice ? 5 : draw_between(draw, 2, peak / 12);
    long long part = draw_between(draw, 2, 4), intensity = ridge * part;
    if (bound == MEMORY) intensity = ridge / part;
    if (bound == CANNOT_TELL)
        line_add(run->shown, "a layer reaches %lld of %lld GFLOP/s; no more is known", reached,
                 peak);
    else
        line_add(run->shown,
                 "a layer of %lld FLOP per byte reaches %lld of %lld GFLOP/s; memory gives %lld "
                 "GB/s",
                 intensity, reached, peak, bandwidth);
    line_add(run->asked, "what bounds it: compute, memory or cannot_tell");
    if (bound == CANNOT_TELL)
        line_add(run->formula, "neither its FLOPs nor its bytes are given: ask for the intensity");
    else
        line_add(run->formula, "%lld %c %lld / %lld, the ridge", intensity,
                 bound == MEMORY ? '<' : '>', peak, bandwidth);
    run_expect_word(run, "", bound, words);
    if (bound != MEMORY) run_mistake_integer(run, "bound_from_efficiency", MEMORY);
    if (bound != COMPUTE) run_mistake_integer(run, "bound_swapped", COMPUTE);
    return STATUS_OK;
}

// The numbers of the clauses are those of ex04_roofline.h.
static const ExerciseCase cases[] = {
    {.name = "by_hand_ridge", .points = 1, .runs = 1, .by_hand = "04_ridge", .make = by_hand_ridge},
    {.name = "by_hand_bound", .points = 1, .runs = 1, .by_hand = "04_bound", .make = by_hand_bound},
    {.name = "linear_4096", .points = 1, .runs = 3, .clauses = "1 2 3 4 5", .make = linear_4096},
    {.name = "either_side", .points = 1, .runs = 3, .clauses = "1 2 3", .make = either_side},
    {.name = "low_efficiency", .points = 1, .runs = 4, .clauses = "3", .make = low_efficiency},
    {.name = "on_the_ridge", .points = 1, .runs = 5, .clauses = "3", .make = on_the_ridge},
    {.name = "not_measured", .points = 1, .runs = 5, .clauses = "6", .make = not_measured},
    {.name = "refused",
     .points = 1,
     .runs = 13,
     .needs = "either_side",
     .clauses = "8 9",
     .make = refused},
    {.name = "units", .points = 1, .runs = 6, .hidden = true, .clauses = "1 2 4", .make = units},
    {.name = "unusual",
     .points = 1,
     .runs = 7,
     .hidden = true,
     .clauses = "5 7 10",
     .make = unusual},
};

const Exercise exercise_04 = {.number = "04",
                              .name = "roofline",
                              .function = "roofline",
                              .title = "Memory or compute: the roofline",
                              .short_track = true,
                              .minutes = 40,
                              .points = 10,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
