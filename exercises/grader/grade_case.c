// grade_case.c -- how a case ends: its state, its detail, the value that was wrong; and what it
// counts.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/grade_parts.h"
#include "tensor/memory.h"

enum { MOST_BESIDE = 1 << 20 };

static const struct {
    const char *word, *text;
} states[] = {
#define CASE_STATE_ENTRY(name, word, text) {word, text},
    CASE_STATE_LIST(CASE_STATE_ENTRY)
#undef CASE_STATE_ENTRY
};

const char *case_state_word(CaseState state) { return states[state].word; }
const char *case_state_text(CaseState state) { return states[state].text; }

void case_end(CaseResult *result, CaseState state, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->detail, sizeof result->detail, format, arguments);
    va_end(arguments);
    text_clean(result->detail);
    result->state = state;
}

Status case_fail(CaseResult *result) {
    Status status = error_status();
    case_end(result, CASE_GRADER_FAILED, "%s", error_message());
    if (status == STATUS_OUT_OF_MEMORY) return status;
    error_clear();
    return STATUS_OK;
}

Status case_judged(CaseResult *result, const Verdict *verdict, const CaseRun *run, int index) {
    if (verdict->right) {
        case_end(result, CASE_PASSED, "%s", "");
        return STATUS_OK;
    }
    bool skeleton = verdict->value < 0 && verdict->got.integer == STATUS_NOT_IMPLEMENTED;
    case_end(result, skeleton ? CASE_NOT_IMPLEMENTED : CASE_WRONG, "%s", "");
    result->run = index;
    result->value = verdict->value;
    result->got = verdict->got;
    result->status = verdict->value < 0 ? (Status)verdict->got.integer : run->status;
    result->mistake = skeleton ? NULL : verdict->mistake;
    result->asked = memory_new(sizeof *run);
    if (!result->asked) return error_status();
    *result->asked = *run;
    return STATUS_OK;
}

char *case_beside(const Grading *grading, CaseResult *result) {
    const char *name = result->definition->beside;
    char *text = name ? file_read(grading->options->folder, name, MOST_BESIDE, NULL) : NULL;
    if (text) text_clean(text);
    if (!name || text) return text;
    if (error_status() == STATUS_OUT_OF_MEMORY) return NULL;
    case_end(result, CASE_MISSING, "%s%s", name,
             error_status() == STATUS_FORMAT ? " is far too large" : "");
    error_clear();
    return NULL;
}

void case_free(CaseResult *result) {
    memory_free(result->asked);
    memory_free(result->output);
}

// ---- points ------------------------------------------------------------------------------------
static const CaseResult *find_case(const ExerciseResult *result, const char *name) {
    for (int i = 0; i < result->n_cases; i++)
        if (strcmp(result->cases[i].definition->name, name) == 0) return &result->cases[i];
    return NULL;
}

void points_withhold(ExerciseResult *result) {
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < result->n_cases; i++) {
            CaseResult *one = &result->cases[i];
            const char *needs = one->definition->needs;
            const CaseResult *sibling = needs ? find_case(result, needs) : one;
            if (one->state != CASE_PASSED || (sibling && sibling->state == CASE_PASSED)) continue;
            case_end(one, CASE_WITHHELD, "%s", needs);
            again = true;
        }
    }
}

void points_add(ExerciseResult *result) {
    for (int i = 0; i < result->n_cases; i++) {
        CaseResult *one = &result->cases[i];
        one->points = one->state == CASE_PASSED ? one->definition->points : 0;
        result->points += one->points;
        result->most_points += one->definition->points;
    }
}

void points_add_exercise(GradeResult *result, const ExerciseResult *one) {
    if (one->exercise->stretch) {
        result->stretch_points += one->points;
    } else {
        result->points += one->points;
        result->most_points += one->most_points;
    }
    for (int i = 0; i < one->n_cases; i++) {
        bool passed = one->cases[i].state == CASE_PASSED;
        if (one->cases[i].state == CASE_GRADER_FAILED) result->machine_failed = true;
        result->passed += passed;
        result->failed += !passed;
    }
}
