// check.c -- ./lab check: grades the student's files, shows a failure, and keeps the best score.
#include <stdio.h>
#include <string.h>

#include "exercises/lab/command.h"
#include "exercises/lab/screen.h"

static bool is_skipped(CaseState state) {
    return state == CASE_NOT_IMPLEMENTED || state == CASE_MISSING;
}

static bool is_right(CaseState state) { return state == CASE_PASSED || state == CASE_PRACTICE; }

static void count_cases(const ExerciseResult *result, CheckCount *count) {
    for (int i = 0; i < result->n_cases; i++) {
        CaseState state = result->cases[i].state;
        count->passed += is_right(state);
        count->broken += state == CASE_GRADER_FAILED;
        count->skipped += is_skipped(state);
        count->failed += !is_right(state) && !is_skipped(state);
    }
}

// The most instructive case comes first: a failure, then an unwritten function, then a missing
// answer.
static const CaseResult *first_failure(const ExerciseResult *result) {
    static const CaseState last[] = {CASE_NOT_IMPLEMENTED, CASE_MISSING};
    for (int i = 0; i < result->n_cases; i++) {
        CaseState state = result->cases[i].state;
        if (!is_right(state) && !is_skipped(state)) return &result->cases[i];
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < result->n_cases; i++)
            if (result->cases[i].state == last[k]) return &result->cases[i];
    return NULL;
}

// ---- what a student reads ----------------------------------------------------------------------
static void failure_page(const Lab *lab, const GradeResult *grade, const ExerciseResult *result,
                         const CaseResult *of_case, Page *page) {
    if (result->compiler) compiler_shorten(result->compiler);
    Failure failure = failure_of(grade, result, of_case, lab->shown_folder);
    screen_failure(page, &failure);
}

// "also       linear_512_b64 FAIL   relu_free WITHHELD": a word for each other case.
static void others_page(const ExerciseResult *result, const CaseResult *shown, Page *page) {
    bool any = false;
    for (int i = 0; i < result->n_cases; i++) {
        const CaseResult *of_case = &result->cases[i];
        bool same = of_case->state == shown->state && shown->state != CASE_WRONG;
        same = same || (is_skipped(of_case->state) && is_skipped(shown->state));
        if (of_case == shown || of_case->state == CASE_PASSED || same) continue;
        if (!any) page_label(page, "also");
        page_print(page, PAGE_PLAIN, any ? 3 : 0, "%s %s", of_case->definition->name,
                   screen_word(of_case->state));
        any = true;
    }
    if (any) page_end_line(page);
}

static void passed_page(const ExerciseResult *result, int cases, Page *page) {
    page_label(page, NULL);
    page_print(page, PAGE_BOLD, 0, "%s %s", result->exercise->number, result->exercise->name);
    page_print(page, PAGE_PLAIN, page->column < 26 ? 28 - page->column : 2, "%d/%d", result->points,
               result->most_points);
    page_print(page, PAGE_GOOD, 3, "PASS");
    page_print(page, PAGE_PLAIN, 3, cases == 1 ? "%d case" : "all %d cases", cases);
    page_end_line(page);
}

static void note_page(const ExerciseResult *result, Page *page) {
    if (!result->note[0]) return;
    page_label(page, "note");
    page_piece(page, PAGE_PLAIN, 0, result->note);
    page_end_line(page);
}

static void exercise_page(Lab *lab, const GradeResult *grade, const ExerciseResult *result,
                          Page *page) {
    const CaseResult *failure = first_failure(result);
    CheckCount count = {0};
    count_cases(result, &count);
    if (!failure) {
        passed_page(result, count.passed, page);
        note_page(result, page);
    }
    // Practice cases are shown with their formula, because practice is for learning.
    for (int i = 0; (!failure || lab->options.all) && i < result->n_cases; i++) {
        if (result->cases[i].state == CASE_PASSED) continue;
        failure_page(lab, grade, result, &result->cases[i], page);
        page_end_line(page);
    }
    if (!failure || lab->options.all) return;
    failure_page(lab, grade, result, failure, page);
    others_page(result, failure, page);
    note_page(result, page);
}

static void row_page(const ExerciseResult *result, Page *page) {
    const CaseResult *failure = first_failure(result);
    CheckCount count = {0};
    count_cases(result, &count);
    char points[32];
    snprintf(points, sizeof points, "%d/%d", result->points, result->exercise->points);
    page_label(page, NULL);
    page_print(page, PAGE_PLAIN, 0, "%s  %-24s %7s", result->exercise->number,
               result->exercise->name, points);
    if (!failure)
        page_piece(page, PAGE_GOOD, 3, "passed");
    else if (is_skipped(failure->state) && count.passed == 0)
        page_piece(page, PAGE_DIM, 3,
                   failure->state == CASE_MISSING ? "not answered yet" : "not implemented yet");
    else
        page_print(page, PAGE_BAD, 3, "%s: %.31s", screen_word(failure->state),
                   failure->definition->name);
    page_end_line(page);
}

// ---- keeping the score -------------------------------------------------------------------------
static void remember(Lab *lab, const ExerciseResult *result) {
    ProgressEntry *entry = progress_entry(&lab->progress, result->exercise->number);
    const CaseResult *failure = first_failure(result);
    entry->last = result->points;
    if (result->points > entry->best) entry->best = result->points;
    snprintf(entry->state, sizeof entry->state, "%s",
             case_state_word(failure                                ? failure->state
                             : result->points < result->most_points ? CASE_PRACTICE
                                                                    : CASE_PASSED));
    snprintf(lab->progress.exercise, sizeof lab->progress.exercise, "%s", result->exercise->number);
    snprintf(lab->progress.mistake, sizeof lab->progress.mistake, "%s",
             failure && failure->mistake ? failure->mistake : "");
}

// A check succeeds even if the score file cannot be written; one line then says so.
static void keep(const Lab *lab) {
    if (progress_write(lab->folder, &lab->progress)) {
        lab_refuse(0, "%s", error_message());
        error_clear();
    }
}

Status check_exercises(Lab *lab, const Exercise *only, Page *page, CheckCount *count) {
    GradeOptions options = lab_grade_options(lab);
    GradeResult grade_result;
    if (only) options.only_exercise = only->number;
    Status status = grade(&options, &grade_result);
    if (!status && !count->told && !confine_is_safe(grade_result.layers) && !options.sanitize)
        lab_refuse(0, "this machine can confine no program (see exercises/README.md): your code "
                      "runs with your rights");
    count->told = true;
    for (int i = 0; !status && i < grade_result.n_exercises; i++) {
        const ExerciseResult *result = &grade_result.exercises[i];
        if (only)
            exercise_page(lab, &grade_result, result, page);
        else
            row_page(result, page);
        count_cases(result, count);
        if (!lab->options.case_name) remember(lab, result);
    }
    if (!status && !lab->options.case_name) keep(lab);
    grade_free(&grade_result);
    return status;
}

// ---- the command -------------------------------------------------------------------------------
static const ExerciseCase *find_case(const Exercise *exercise, const char *name) {
    for (int i = 0; i < exercise->n_cases; i++)
        if (strcmp(exercise->cases[i].name, name) == 0) return &exercise->cases[i];
    return NULL;
}

static int refuse_options(const Lab *lab, const Exercise *exercise) {
    const LabOptions *options = &lab->options;
    const char *alone = options->gdb ? "gdb" : options->case_name ? "case NAME" : NULL;
    if (!exercise && alone)
        return lab_refuse(LAB_USAGE, "--%s needs an exercise, as in ./lab check 02 --%s", alone,
                          alone);
    if (exercise && options->case_name && !find_case(exercise, options->case_name))
        return lab_refuse(LAB_USAGE,
                          "--case %s: exercise %s has no such case; ./lab check %s --all",
                          options->case_name, exercise->number, exercise->number);
    return LAB_DONE;
}

int command_check(Lab *lab) {
    const Exercise *exercise = lab->argument ? lab_exercise(lab) : NULL;
    if (lab->argument && !exercise) return LAB_USAGE;
    int refused = refuse_options(lab, exercise);
    if (refused) return refused;
    if (lab->options.gdb) return debugger_run(lab, exercise);
    Page page = {.colour = lab->colour};
    CheckCount count = {0};
    if (check_exercises(lab, exercise, &page, &count)) {
        page_free(&page);
        return lab_fail();
    }
    if (!exercise) {
        page_label(&page, NULL);
        page_print(&page, PAGE_PLAIN, 0, "%d passed, %d failed, %d skipped", count.passed,
                   count.failed, count.skipped);
        page_end_line(&page);
    }
    int shown = lab_show(&page);
    if (!shown && count.broken > 0) return LAB_FILE;
    // A skeleton is a failure only if its exercise was requested, not in a check of everything.
    bool failed = count.failed > 0 || (exercise && count.skipped > 0);
    return shown ? shown : failed ? LAB_FAILED : LAB_DONE;
}
