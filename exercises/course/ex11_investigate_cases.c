// ex11_investigate_cases.c -- exercise 11: compares a student's answers with the student's own
// sweep.csv and with each other. It does not judge any time.
#include <stdio.h>

#include "exercises/course/answers.h"
#include "exercises/course/sweep_text.h"

enum { MOST_BATCH = 1024 };
#define TOLERANCE 0.01 // copied numbers may be rounded

// Asks the student for something else first: the run expects no values, and no answer is right.
static Status refuse(CaseRun *run, const char *mistake, const char *why) {
    run->status = STATUS_FORMAT;
    snprintf(run->shown, CASE_LINE, "%s", why);
    run_mistake_status(run, mistake, STATUS_OK);
    return STATUS_OK;
}

static void say(CaseRun *run, const char *shown, const char *asked, const char *formula) {
    snprintf(run->shown, CASE_LINE, "%s", shown);
    snprintf(run->asked, CASE_LINE, "%s", asked);
    snprintf(run->formula, CASE_LINE, "%s", formula);
}

// ---- the prediction ----------------------------------------------------------------------------
static const char *const comparisons[] = {"too_low", "right", "too_high", NULL};

static bool own_answer(const Draw *draw, const char *key, const ExpectedValue *kind, Value *own) {
    Answers answers = {.name = "answers.txt", .text = (char *)draw->beside};
    char problem[CASE_LINE];
    return answers_value(&answers, key, kind, own, problem) == ANSWER_GIVEN;
}

static bool own_batch(const Draw *draw, const char *key, int64_t *batch) {
    Value own = {.integer = 0};
    bool given = own_answer(draw, key, &(ExpectedValue){.kind = VALUE_INTEGER}, &own);
    *batch = own.integer;
    return given;
}

static bool is_batch(int64_t n) { return n >= 1 && n <= MOST_BATCH && (n & (n - 1)) == 0; }

// Any batch of the sweep is right, since the guess is the student's own; without a guess the answer
// is missing.
static Status predicted_knee(Draw *draw, CaseRun *run) {
    int64_t own;
    bool given = own_batch(draw, "predicted_knee", &own);
    say(run, "answers.txt", "a batch of the sweep, guessed before it", "yours");
    if (given && !is_batch(own)) return refuse(run, "knee_no_batch", "1, 2, 4, 8 ... 1024");
    run_expect_integer(run, "predicted_knee", given ? own : 1);
    return STATUS_OK;
}

static Status prediction(Draw *draw, CaseRun *run) {
    int64_t predicted, measured;
    Value own;
    ExpectedValue word = {.kind = VALUE_WORD, .words = comparisons};
    bool given = own_batch(draw, "predicted_knee", &predicted);
    given = own_batch(draw, "measured_knee", &measured) && given;
    say(run, "answers.txt", "your predicted knee, against the measured one",
        "predicted < measured: too_low; equal: right; else too_high");
    if (!given && own_answer(draw, "prediction", &word, &own))
        return refuse(run, "prediction_missing", "first the two batches that it compares");
    int right = !given || predicted == measured ? 1 : predicted < measured ? 0 : 2;
    run_expect_word(run, "prediction", right, comparisons);
    for (int i = 0; i < 3 && given; i++) run_mistake_integer(run, "prediction_turned", i);
    return STATUS_OK;
}

// ---- read off ----------------------------------------------------------------------------------
static bool read_sweep(Draw *draw, CaseRun *run, Sweep *sweep) {
    char problem[CASE_LINE];
    if (sweep_read(draw->beside, sweep, problem) && sweep_is_of(sweep, draw->token, problem))
        return true;
    refuse(run, "sweep_unreadable", problem);
    return false;
}

static Status measured_knee(Draw *draw, CaseRun *run) {
    Sweep sweep;
    say(run, "your sweep.csv", "the knee, by the rule in answers.txt",
        "the first batch with samples_per_second >= 0.8 * the best");
    if (!read_sweep(draw, run, &sweep)) return STATUS_OK;
    int fastest = 0;
    for (int i = 1; i < sweep.n_rows; i++)
        if (sweep.rows[i].seconds < sweep.rows[fastest].seconds) fastest = i;
    run_expect_integer(run, "measured_knee", sweep.rows[sweep.knee].batch);
    run_mistake_integer(run, "best_for_knee", sweep.rows[sweep.best].batch);
    run_mistake_integer(run, "knee_by_latency", sweep.rows[fastest].batch);
    if (sweep.knee > 0)
        run_mistake_integer(run, "knee_too_early", sweep.rows[sweep.knee - 1].batch);
    run_mistake_integer(run, "last_for_best", sweep.rows[sweep.n_rows - 1].batch);
    return STATUS_OK;
}

static Status read_off(Draw *draw, CaseRun *run) {
    Sweep sweep;
    say(run, "your sweep.csv", "the best samples a second, and seconds at the knee",
        "the largest in its column; in the knee's line");
    if (!read_sweep(draw, run, &sweep)) return STATUS_OK;
    const SweepRow *best = &sweep.rows[sweep.best], *knee = &sweep.rows[sweep.knee];
    run_expect_real(run, "best_samples_per_second", best->samples_per_second, TOLERANCE);
    run_mistake_real(run, "steps_for_samples", 1.0 / best->seconds);
    run_mistake_real(run, "last_for_best", sweep.rows[sweep.n_rows - 1].samples_per_second);
    run_mistake_real(run, "knee_for_best", knee->samples_per_second);
    run_expect_real(run, "seconds_at_knee", knee->seconds, TOLERANCE);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * knee->seconds);
    run_mistake_real(run, "throughput_inverted", knee->seconds / (double)knee->batch);
    run_mistake_real(run, "best_for_knee", best->seconds);
    return STATUS_OK;
}

static Status gain(Draw *draw, CaseRun *run) {
    Sweep sweep;
    say(run, "your sweep.csv", "how many times the samples a second of batch 1",
        "best samples_per_second / that of batch 1");
    if (!read_sweep(draw, run, &sweep)) return STATUS_OK;
    const SweepRow *best = &sweep.rows[sweep.best], *first = &sweep.rows[0];
    double right = best->samples_per_second / first->samples_per_second;
    run_expect_real(run, "gain", right, TOLERANCE);
    run_mistake_real(run, "ratio_inverted", 1.0 / right);
    run_mistake_real(run, "gain_of_seconds", best->seconds / first->seconds);
    run_mistake_real(run, "percent_for_fraction", 100.0 * right);
    run_mistake_real(run, "last_for_best",
                     sweep.rows[sweep.n_rows - 1].samples_per_second / first->samples_per_second);
    return STATUS_OK;
}

// ---- why ---------------------------------------------------------------------------------------
static const char *const changes[] = {"falls", "stays", "rises", NULL};
static const char *const below[] = {"few_share_the_weights", "more_arithmetic_per_sample",
                                    "clock_too_coarse", NULL};
static const char *const above[] = {"arithmetic_per_sample_stays", "weights_are_read_again",
                                    "memory_is_full", NULL};

static Status explain(Draw *draw, CaseRun *run) {
    static const struct {
        const char *key;
        int right;
        const char *const *words;
        const char *mistake;
    } questions[] = {{"flops_per_sample", 1, changes, "flops_depend_on_batch"},
                     {"bytes_per_sample", 0, changes, "weights_per_sample"},
                     {"intensity", 2, changes, "intensity_of_batch"},
                     {"why_below", 0, below, "knee_misexplained"},
                     {"why_above", 0, above, "knee_misexplained"}};
    (void)draw;
    say(run, "answers.txt", "what the batch changes, and why there is a knee",
        "by exercises 02 and 03: FLOPs per sample, weights once a batch");
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        run_expect_word(run, questions[i].key, questions[i].right, questions[i].words);
        for (int word = 0; questions[i].words[word]; word++)
            run_mistake_integer(run, questions[i].mistake, word);
    }
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "predicted_knee",
     .points = 1,
     .runs = 1,
     .beside = "answers.txt",
     .make = predicted_knee},
    {.name = "measured_knee", .points = 2, .runs = 1, .beside = "sweep.csv", .make = measured_knee},
    {.name = "read_off", .points = 1, .runs = 1, .beside = "sweep.csv", .make = read_off},
    {.name = "gain", .points = 1, .runs = 1, .beside = "sweep.csv", .make = gain},
    {.name = "prediction",
     .points = 1,
     .runs = 1,
     .needs = "measured_knee",
     .beside = "answers.txt",
     .make = prediction},
    {.name = "explain", .points = 2, .runs = 1, .make = explain},
};

const Exercise exercise_11 = {.number = "11",
                              .name = "investigate",
                              .function = "investigate",
                              .title = "Investigate: the batch-size knee",
                              .minutes = 45,
                              .points = 8,
                              .answers = "answers.txt",
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
