// ex00_predict_cases.c -- exercise 00: checks that a guess is a number. Every guess is right,
// because it is the student's own.
#include <stdio.h>

#include "exercises/course/answers.h"

static Status guess(Draw *draw, CaseRun *run, const char *key, const char *compare) {
    Answers answers = {.name = "predict.txt", .text = (char *)draw->beside};
    ExpectedValue number = {.kind = VALUE_REAL, .value.real = 1.0, .tolerance = 0.5};
    Value own;
    char problem[CASE_LINE];
    AnswerEnd end = answers_value(&answers, key, &number, &own, problem);
    bool given = end == ANSWER_GIVEN && own.real > 0.0;
    snprintf(run->shown, CASE_LINE, "%s, in predict.txt", key);
    snprintf(run->asked, CASE_LINE, "a number above 0, whichever you think");
    snprintf(run->formula, CASE_LINE, "yours; then compare with %s of ./profile_mlp", compare);
    run_expect_real(run, key, given ? own.real : 1.0, 1e-9);
    return STATUS_OK;
}

static Status parameters(Draw *draw, CaseRun *run) {
    return guess(draw, run, "parameters", "params in the line `step`");
}

static Status step_megaflop(Draw *draw, CaseRun *run) {
    return guess(draw, run, "step_megaflop", "MFLOP in the line `step`");
}

static Status step_microseconds(Draw *draw, CaseRun *run) {
    return guess(draw, run, "step_microseconds", "Training step");
}

static const ExerciseCase cases[] = {
    {.name = "parameters", .runs = 1, .beside = "predict.txt", .make = parameters},
    {.name = "step_megaflop", .runs = 1, .beside = "predict.txt", .make = step_megaflop},
    {.name = "step_microseconds", .runs = 1, .beside = "predict.txt", .make = step_microseconds},
};

const Exercise exercise_00 = {.number = "00",
                              .name = "predict",
                              .function = "predict",
                              .title = "Guess three numbers first",
                              .minutes = 10,
                              .points = 0,
                              .answers = "predict.txt",
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
