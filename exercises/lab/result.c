// result.c -- what the formats need, from a grade that was just made.
#include "exercises/lab/result.h"

#include <stdio.h>

#include "exercises/grader/screen.h"
#include "tensor/memory.h"

static Status fill_case(const GradeResult *grade, const ExerciseResult *exercise,
                        const CaseResult *of_case, ResultCase *out) {
    const Exercise *definition = exercise->exercise;
    *out = (ResultCase){.state = of_case->state,
                        .points = of_case->points,
                        .most = of_case->definition->points,
                        .hidden = of_case->definition->hidden,
                        .stretch = definition->stretch};
    snprintf(out->exercise, RESULT_NAME, "%.10s %.50s", definition->number, definition->name);
    snprintf(out->name, RESULT_NAME, "%s", of_case->definition->name);
    snprintf(out->mistake, RESULT_NAME, "%s", of_case->mistake ? of_case->mistake : "");
    Page page = {.colour = false};
    if (of_case->state != CASE_PASSED) {
        Failure failure = failure_of(grade, exercise, of_case, "exercises");
        screen_failure(&page, &failure);
    }
    out->output = page.failed ? NULL : memory_copy_string(page_text(&page));
    page_free(&page);
    return error_status();
}

Status result_of(const GradeResult *grade, Result *result) {
    *result = (Result){.points = grade->points,
                       .most = grade->most_points,
                       .stretch_points = grade->stretch_points,
                       .seconds = grade->seconds};
    snprintf(result->student, RESULT_NAME, "%.63s", grade->student);
    text_clean(result->student);
    int count = 0;
    for (int i = 0; i < grade->n_exercises; i++) count += grade->exercises[i].n_cases;
    result->cases = memory_new((size_t)count * sizeof *result->cases + 1);
    if (!result->cases) return error_status();
    Status status = STATUS_OK;
    for (int i = 0; i < grade->n_exercises; i++) {
        const ExerciseResult *exercise = &grade->exercises[i];
        if (exercise->compiler) compiler_shorten(exercise->compiler);
        for (int k = 0; !status && k < exercise->n_cases; k++)
            status =
                fill_case(grade, exercise, &exercise->cases[k], &result->cases[result->n_cases++]);
    }
    return status;
}

void result_free(Result *result) {
    for (int i = 0; i < result->n_cases; i++) memory_free(result->cases[i].output);
    memory_free(result->cases);
    *result = (Result){.n_cases = 0};
}

ResultVerdict result_verdict(const ResultCase *of_case) {
    switch (of_case->state) {
    case CASE_PASSED:
        return VERDICT_PASSED;
    case CASE_NOT_IMPLEMENTED:
    case CASE_MISSING:
        return VERDICT_SKIPPED;
    case CASE_WRONG:
    case CASE_WITHHELD:
        return VERDICT_FAILED;
    default:
        return VERDICT_ERROR;
    }
}
