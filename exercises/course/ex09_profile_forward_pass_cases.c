// ex09_profile_forward_pass_cases.c -- exercise 09 in the grader. FLOPs and bytes are the
// library's, times are the schedule's; wrong values are other quotients of the same numbers.
#include <stdio.h>

#include "exercises/course/parts.h"
#include "exercises/course/values.h"

enum { MOST_ROWS = 8 }; // FORWARD_MOST_ROWS

// ---- a run -------------------------------------------------------------------------------------
static void write_input(const ForwardQuestion *q, int ask, Draw *draw, CaseRun *run) {
    snprintf(run->input, sizeof run->input, "ask=%d rows=%d peak=%lld bandwidth=%lld", ask,
             q->timed.rows, (long long)q->peak, (long long)q->bandwidth);
    timed_case_write(&q->timed, draw, run);
}

// Draws a machine on which the heaviest layer is bound by arithmetic, though it reaches only a part
// of the peak; layers with less than a quarter of its intensity are bound by memory.
static void draw_machine(ForwardQuestion *q, Draw *draw) {
    const TimedCase *t = &q->timed;
    double work = (double)(t->flops[t->heaviest] * t->batch);
    double ridge = work / (double)t->bytes[t->heaviest] * draw_real(draw, 0.3, 0.8);
    double peak = work / t->seconds[t->heaviest] * draw_real(draw, 3.0, 20.0);
    q->peak = 1 + (int64_t)(peak / 1e6);
    q->bandwidth = 1 + (int64_t)((double)q->peak / ridge);
}

static Status ask_with(ForwardQuestion *q, int ask, Draw *draw, CaseRun *run, const char *formula) {
    write_input(q, ask, draw, run);
    line_add(run->asked, "the profile of one forward of the whole batch");
    line_add(run->formula, "%s", formula);
    expect_forward(q, ask, run);
    return STATUS_OK;
}

static Status ask_of(Draw *draw, CaseRun *run, int ask, const char *text, const char *formula) {
    ForwardQuestion q = {0};
    Status status = timed_case_draw(&q.timed, text, draw);
    if (status) return status;
    if (draw->run == 2) timed_case_hurry(&q.timed); // the discarded first run may be faster
    draw_machine(&q, draw);
    return ask_with(&q, ask, draw, run, formula);
}

// Three layers with sizes that all differ.
static const char *draw_model(Draw *draw, char text[TIMED_TEXT]) {
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    long long c = draw_odd(draw, 3, 29), batch = draw_odd(draw, 33, 127);
    const char *activation = draw_between(draw, 0, 1) ? "ReLU" : "Tanh";
    snprintf(text, TIMED_TEXT, "Linear(%lld,%lld) %s Linear(%lld,%lld) @ %lldx%lld", a, b,
             activation, b, c, batch, a);
    return text;
}

// The text of a run: the fixed texts first, then drawn ones.
static const char *model_of(Draw *draw, const char *const fixed[], int count,
                            char text[TIMED_TEXT]) {
    if (draw->run >= count) return draw_model(draw, text);
    snprintf(text, TIMED_TEXT, "%s", fixed[draw->run]);
    return text;
}

// ---- cases -------------------------------------------------------------------------------------
static const char plain[] = "Linear(211,403) ReLU Linear(403,7) @ 33x211";

static Status flops_of_the_batch(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        plain,
        "Linear(7,5) Tanh Linear(5,3) @ 4x6x7",               // rows of a sample are no batch
        "Linear(40000,50000) ReLU Linear(50000,3) @ 9x40000", // beyond 32 bits
        "Conv2d(3,3,3) ReLU MaxPool2d(2) @ 5x3x12x12"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, FIXED);
    return ask_of(&own, run, FORWARD_ASK_FLOPS, model_of(&own, fixed, FIXED, text),
                  "row: FLOPs of one sample * batch; whole: the sum of the rows");
}

// A second of the clock ends while the whole is measured, or while the slowest row is. In the first
// run counts take time, too, which is in no row.
static Status columns_add_up(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {plain, "Tanh Linear(305,411) ReLU Linear(411,9) @ 35x305"};
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, 2);
    ForwardQuestion q = {0};
    TimedCase *t = &q.timed;
    Status status = timed_case_draw(t, model_of(&own, fixed, 2, text), &own);
    if (status) return status;
    draw_machine(&q, &own);
    if (draw->run == 0) t->times.count_us = t->times.row_us[t->slowest] / 20;
    if (draw->run == 1) {
        double before = (t->whole + t->seconds[t->slowest]) / 2.0;
        for (int i = 0; i < t->slowest; i++) before += t->seconds[i];
        t->event_us += (int64_t)(1e6 * before);
    }
    return ask_with(&q,
                    FORWARD_ASK_ROW_SECONDS | FORWARD_ASK_SECONDS | FORWARD_ASK_UNATTRIBUTED |
                        FORWARD_ASK_SHARES,
                    &own, run,
                    "all of it warm; share = row / whole; unattributed = whole - sum of the rows");
}

static Status rates(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {plain};
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, 1);
    return ask_of(&own, run, FORWARD_ASK_RATES | FORWARD_ASK_SAMPLES,
                  model_of(&own, fixed, 1, text),
                  "FLOPs of the batch / seconds of the batch; batch / seconds of the whole");
}

// The slowest row is not the first or last, nor the one with the most FLOPs or the highest rate;
// then it is the last; then one of two; then one that takes less than the unattributed time.
static Status amdahl(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        "Linear(211,43) ReLU Linear(43,403) Tanh Linear(403,7) @ 33x211",
        "Linear(211,403) ReLU Linear(403,7) @ 33x211",
        "Linear(211,403) ReLU Linear(403,7) Tanh @ 33x211",
        "Linear(211,403) Tanh Linear(403,7) @ 33x211"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    static const int slowest[FIXED] = {3, 2, 1, 1};
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, FIXED);
    ForwardQuestion q = {0};
    Status status = timed_case_draw(&q.timed, model_of(&own, fixed, FIXED, text), &own);
    if (status) return status;
    if (draw->run < FIXED) timed_case_slow(&q.timed, slowest[draw->run]);
    if (draw->run == 2) timed_case_tie(&q.timed, 2);
    if (draw->run == 3) timed_case_containers(&q.timed);
    draw_machine(&q, &own);
    return ask_with(&q, FORWARD_ASK_AMDAHL, &own, run,
                    "1 / (1 - share of the row that takes the longest)");
}

// A machine on which exactly one mistake shows.
static const struct {
    const char *text;
    int64_t peak, bandwidth; // MFLOP/s, MB/s
    int row;                 // row that shows it
    const char *mistake;
} machines[] = {
    {"ReLU Conv2d(16,16,3) @ 2x16x34x34", 400000, 100000, 1, "bound_from_efficiency"},
    {"ReLU Conv2d(16,16,3) @ 2x16x34x34", 1000000, 100000, 0, "ridge_inverted"},
    {"ReLU Linear(512,512) @ 64x512", 400000, 100000, EVERY_ROW, "bound_per_sample"},
    {"Conv2d(16,16,3) ReLU @ 1x16x34x34", 450000, 10000, 0, "half_of_traffic"},
    {"Linear(40000,50000) ReLU @ 9x40000", 700000, 100000, 0, "integer_overflow"}, // 8 GB
    {"ReLU Linear(64,64) @ 3x64", 100000, 800000, 0, "on_the_ridge"},
    {"MaxPool2d(2) Flatten Linear(12,3) Dropout(0.5) ReLU @ 6x3x4x4", 9000, 3000, 0, "view_judged"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static Status bounds_of_layers(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    bool fixed = draw->run < MACHINES;
    snprintf(text, sizeof text, "Linear(%lld,%lld) ReLU Flatten Linear(%lld,3) @ %lldx%lld", a, b,
             b, (long long)draw_odd(draw, 65, 127), a);
    Draw own = timed_draw(draw, MACHINES);
    ForwardQuestion q = {0};
    Status status = timed_case_draw(&q.timed, fixed ? machines[draw->run].text : text, &own);
    if (status) return status;
    draw_machine(&q, &own);
    if (fixed) {
        q.peak = machines[draw->run].peak;
        q.bandwidth = machines[draw->run].bandwidth;
        q.mistake = machines[draw->run].mistake;
        q.watched = machines[draw->run].row;
    }
    return ask_with(&q, FORWARD_ASK_BOUNDS, &own, run, "intensity of the batch against the ridge");
}

static Status nested(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        "Linear(211,403) Sequential(Tanh Sequential(Linear(403,7) ReLU)) @ 33x211",
        "Sequential(Sequential(Linear(9,31)) ReLU) Linear(31,5) @ 17x9",
        "Linear(305,411) @ 35x305"};
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, 3);
    long long a = draw_odd(&own, 211, 399), b = draw_odd(&own, 401, 599);
    snprintf(text, sizeof text,
             "Linear(%lld,%lld) Sequential(Tanh Sequential(Linear(%lld,7) ReLU)) @ %lldx%lld", a, b,
             b, (long long)draw_odd(&own, 33, 127), a);
    return ask_of(&own, run, FORWARD_ASK_FLOPS | FORWARD_ASK_ROW_SECONDS | FORWARD_ASK_SECONDS,
                  draw->run < 3 ? fixed[draw->run] : text,
                  "a row for each layer without children, however deep, or alone");
}

// The most rows that fit; rows that compute and move nothing come first and last.
static Status all_rows(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {"Dropout(0.5) Linear(9,31) ReLU Sequential(Linear(31,17) "
                                        "Tanh Flatten) Linear(17,5) Dropout(0.1)"
                                        " @ 19x9",
                                        "Flatten ReLU Flatten @ 7x3x5"};
    Draw own = timed_draw(draw, 2);
    return ask_of(&own, run, FORWARD_ASK_FLOPS | FORWARD_ASK_RATES | FORWARD_ASK_SAMPLES,
                  fixed[draw->run],
                  "a row for each layer without children: also for those that do nothing");
}

enum { ERRORS = 7 }; // number of runs

static Status errors(Draw *draw, CaseRun *run) {
    static const struct {
        const char *text;
        Status status;
        const char *why;
    } models[] = {{"Linear(5,8) Mystery(8) @ 3x5", STATUS_UNKNOWN_OP, "Mystery cannot be counted"},
                  {"Linear(5,8) Linear(7,2) @ 3x5", STATUS_SHAPE,
                   "8 numbers do not go into Linear(7,2)"},
                  {"ReLU ReLU ReLU ReLU ReLU ReLU ReLU ReLU ReLU @ 3x5", STATUS_INVALID_ARGUMENT,
                   "nine rows, and there is room for 8"},
                  {"Linear(5,8) Sequential(ReLU Sequential(Mystery(8) ReLU)) @ 3x5",
                   STATUS_UNKNOWN_OP, "Mystery cannot be counted"},
                  {"ReLU Sequential(ReLU ReLU ReLU ReLU ReLU) Sequential(ReLU ReLU ReLU) @ 3x5",
                   STATUS_INVALID_ARGUMENT, "nine rows, and there is room for 8"}};
    Draw own = timed_draw(draw, ERRORS);
    enum { MODELS = sizeof models / sizeof models[0] };
    if (draw->run >= MODELS) {
        bool many = draw->run > MODELS;
        const char *few = "Linear(5,8) Sequential(ReLU Linear(8,2)) @ 3x5";
        timed_case_failures(many ? models[2].text : few, many ? models[2].status : STATUS_OK, &own,
                            run);
        return STATUS_OK;
    }
    TimedCase timed = {.times = {.container_us = draw_between(&own, 5, 9)}};
    snprintf(timed.text, sizeof timed.text, "%s", models[draw->run].text);
    for (int i = 0; i <= MOST_ROWS; i++) timed.times.row_us[i] = draw_between(&own, 40, 90);
    timed_case_write(&timed, &own, run);
    snprintf(run->shown, CASE_LINE, "%s", timed.text);
    line_add(run->asked, "the status");
    line_add(run->formula, "%s", models[draw->run].why);
    run->status = models[draw->run].status;
    run_mistake_status(run, "error_ignored", STATUS_OK);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "flops_of_the_batch",
     .points = 1,
     .runs = 5,
     .clauses = "3 5 8",
     .make = flops_of_the_batch},
    {.name = "columns_add_up",
     .points = 1,
     .runs = 3,
     .clauses = "1 2 4 9 10",
     .make = columns_add_up},
    {.name = "rates", .points = 1, .runs = 2, .clauses = "6 11 12", .make = rates},
    {.name = "amdahl", .points = 1, .runs = 5, .clauses = "13", .make = amdahl},
    {.name = "bounds_of_layers",
     .points = 1,
     .runs = MACHINES + 1,
     .clauses = "7",
     .make = bounds_of_layers},
    {.name = "nested", .points = 1, .runs = 4, .hidden = true, .clauses = "3", .make = nested},
    {.name = "all_rows",
     .points = 1,
     .runs = 2,
     .hidden = true,
     .clauses = "3 6",
     .make = all_rows},
    {.name = "errors",
     .points = 1,
     .runs = ERRORS,
     .needs = "rates",
     .clauses = "14 15 16 17",
     .make = errors},
};

const Exercise exercise_09 = {.number = "09",
                              .name = "profile_forward_pass",
                              .function = "profile_forward_pass",
                              .title = "Profile a forward pass",
                              .short_track = true,
                              .minutes = 60,
                              .points = 8,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
