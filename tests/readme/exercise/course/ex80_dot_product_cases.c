// ex80_dot_product_cases.c -- exercise 80 in the grader.
#include <stdio.h>
#include <string.h>

#include "exercises/course/exercise.h"

// "count x0 y0 x1 y1 ...": primes, so that no wrong sum is right by chance.
static Status pairs(Draw *draw, CaseRun *run) {
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    int64_t count = draw_between(draw, 2, 6), sum = 0, last = 0;
    snprintf(run->input, sizeof run->input, "%d", (int)count);
    for (int64_t i = 0; i < count; i++) {
        int x = primes[draw_between(draw, 0, 9)], y = primes[draw_between(draw, 0, 9)];
        size_t used = strlen(run->input);
        snprintf(run->input + used, sizeof run->input - used, " %d %d", x, y);
        last = (int64_t)x * y;
        sum += last;
    }
    snprintf(run->shown, CASE_LINE, "pairs: %.150s", run->input);
    snprintf(run->formula, CASE_LINE, "the sum of their %d products", (int)count);
    run_expect_integer(run, "", sum);
    run_mistake_integer(run, "last_forgotten", sum - last);
    run_mistake_integer(run, "sum_overwritten", last);
    return STATUS_OK;
}

static Status nothing(Draw *draw, CaseRun *run) {
    (void)draw;
    strcpy(run->input, "0");
    strcpy(run->shown, "no pairs");
    run_expect_integer(run, "", 0);
    return STATUS_OK;
}

static Status negative(Draw *draw, CaseRun *run) {
    snprintf(run->input, sizeof run->input, "%d", -(int)draw_between(draw, 1, 9));
    snprintf(run->shown, CASE_LINE, "count %.20s", run->input);
    run->status = STATUS_INVALID_ARGUMENT;
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "pairs", .points = 1, .runs = 4, .clauses = "1", .make = pairs},
    {.name = "nothing", .points = 1, .runs = 1, .clauses = "2", .needs = "pairs", .make = nothing},
    {.name = "negative",
     .points = 1,
     .runs = 1,
     .clauses = "3",
     .hidden = true,
     .needs = "pairs",
     .make = negative},
};

const Exercise exercise_80 = {.number = "80",
                              .name = "dot_product",
                              .function = "dot_product",
                              .title = "Multiply and add",
                              .minutes = 10,
                              .points = 3,
                              .stretch = true,
                              .cases = cases,
                              .n_cases = 3};
