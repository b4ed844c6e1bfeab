// screen.c -- turns a grader's result into words, and the words into a screen.
#include "exercises/lab/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/grader/judge.h"
#include "exercises/lab/pages.h"
#include "exercises/support/worker.h"

const char *screen_word(CaseState state) {
    static const char *const words[CASE_STATE_COUNT] = {
        [CASE_PASSED] = "PASS",
        [CASE_WRONG] = "FAIL",
        [CASE_NOT_IMPLEMENTED] = "NOT IMPLEMENTED",
        [CASE_NOT_COMPILED] = "DOES NOT COMPILE",
        [CASE_FORBIDDEN] = "NOT ALLOWED",
        [CASE_CRASHED] = "CRASHED",
        [CASE_TIMED_OUT] = "TIMED OUT",
        [CASE_EXITED] = "EXITED",
        [CASE_FLOODED] = "TOO MUCH OUTPUT",
        [CASE_OUT_OF_MEMORY] = "OUT OF MEMORY",
        [CASE_FORGED] = "FORGED",
        [CASE_WITHHELD] = "WITHHELD",
        [CASE_MISSING] = "MISSING",
        [CASE_PRACTICE] = "PRACTICE",
        [CASE_OTHER_KEY] = "OTHER KEY",
        [CASE_GRADER_FAILED] = "GRADER FAILED",
    };
    return (unsigned)state < CASE_STATE_COUNT ? words[state] : "UNKNOWN";
}

// ---- what the grader found, in words -----------------------------------------------------------
static void add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void status_words(Status status, char *text, size_t size) {
    snprintf(text, size, "%s (%s)", status_name(status), status_text(status));
}

static bool is_poison(const ExpectedValue *expected, Value got) {
    return expected->kind == VALUE_REAL ? got.real == POISON_REAL : got.integer == POISON_INTEGER;
}

static void compare_values(const CaseResult *result, Failure *failure, Relation *relation) {
    const ExpectedValue *expected = &result->asked->values[result->value];
    char text[VALUE_TEXT];
    snprintf(failure->value, sizeof failure->value, "%s", expected->name);
    snprintf(failure->expected, SCREEN_TEXT, "%s", value_text(expected, expected->value, text));
    snprintf(failure->got, SCREEN_TEXT, "%s", value_text(expected, result->got, text));
    *relation = relation_of(expected->kind, expected->value, result->got);
    if (!is_poison(expected, result->got)) return;
    snprintf(failure->got, sizeof failure->got, "nothing: the function did not store a result");
    *relation = (Relation){{0}, {0}};
}

// Fills in `expected` and `got` for a wrong value, or for a wrong status (then without a formula).
static void fill_comparison(const CaseResult *result, Failure *failure) {
    const CaseRun *run = result->asked;
    bool wrong = result->state == CASE_WRONG;
    Relation relation = {{0}, {0}};
    if (result->value >= 0 && result->value < run->n_values) {
        compare_values(result, failure, &relation);
        bool told = !run->values[result->value].recorded; // sent, so the formula applies
        snprintf(failure->formula, sizeof failure->formula, "%s", told ? run->formula : "");
    } else {
        status_words(run->status, failure->expected, sizeof failure->expected);
        status_words(result->status, failure->got, sizeof failure->got);
    }
    if (wrong) snprintf(failure->relation, sizeof failure->relation, "%s", relation.text);
    if (!wrong)
        snprintf(failure->likely, sizeof failure->likely,
                 "%s. Your own, which do: ./lab whoami KEY", case_state_text(result->state));
    else if (!result->mistake)
        snprintf(failure->likely, sizeof failure->likely, "no known pattern%s%s",
                 relation.difference[0] ? ", difference " : "", relation.difference);
}

// For a sealed case, fills in only the student's answer and the mistake that it looks like.
static void fill_sealed(const CaseResult *result, Failure *failure) {
    const CaseRun *run = result->asked;
    char text[VALUE_TEXT];
    if (result->value >= 0 && result->value < run->n_values) {
        const ExpectedValue *expected = &run->values[result->value];
        snprintf(failure->value, sizeof failure->value, "%s", expected->name);
        snprintf(failure->got, SCREEN_TEXT, "%s", value_text(expected, result->got, text));
    }
    if (!result->mistake) snprintf(failure->likely, sizeof failure->likely, "no known pattern");
}

// For any other end, fills in the state's text and the detail, unless the compiler's text has it.
static void fill_ending(const CaseResult *result, Failure *failure) {
    const char *text = case_state_text(result->state), *detail = result->detail;
    if (failure->compiler && strstr(failure->compiler, detail)) detail = "";
    // An exit status could reveal the input of a hidden case.
    if (result->definition->hidden && result->state == CASE_EXITED) detail = "";
    if (result->state == CASE_WITHHELD && result->definition->needs)
        snprintf(failure->got, sizeof failure->got, "%s: %s", text, result->definition->needs);
    else
        snprintf(failure->got, sizeof failure->got, "%s%s%s", text, detail[0] ? ": " : "", detail);
}

static void hide(Failure *failure) {
    failure->shown[0] = failure->asked[0] = failure->formula[0] = '\0';
    failure->expected[0] = failure->relation[0] = failure->value[0] = '\0';
    if (failure->state == CASE_WRONG) failure->got[0] = '\0';
    if (failure->mistake[0] == '\0') failure->likely[0] = '\0'; // a difference reveals something
    failure->printed = NULL;                                    // it may contain the input
}

// ---- where to look and what to type ------------------------------------------------------------
static void fill_commands(const GradeResult *grade, const ExerciseResult *exercise,
                          const char *folder, Failure *failure) {
    const Exercise *definition = exercise->exercise;
    char *look = failure->look_at, *again = failure->again, *more = failure->more;
    const size_t size = SCREEN_TEXT;
    const char *text_file = failure->by_hand ? "by_hand.txt" : definition->answers;
    if (text_file)
        snprintf(look, size, "%s/%s", folder, text_file);
    else
        snprintf(look, size, "%s/ex%s_%s.c", folder, definition->number, definition->name);
    char name[FUNCTION_NAME];
    int line = exercise->lines[failure->function];
    if (!text_file && line > 0 && exercise_function(definition, failure->function, name))
        add(look, size, ":%d  %s()", line, name);
    snprintf(again, size, "./lab check %s", definition->number);
    if (strcmp(folder, "exercises") != 0) add(again, size, " --files %s", folder);
    if (!failure->hidden && failure->case_name[0])
        add(again, size, " --case %s", failure->case_name);
    if (grade->seed != 0) add(again, size, " --seed %llu", (unsigned long long)grade->seed);
    if (failure->state == CASE_CRASHED) add(again, size, " --gdb");
    snprintf(more, size, "./lab %s %s", failure->by_hand ? "questions" : "hint",
             definition->number);
    if (failure->state == CASE_NOT_IMPLEMENTED)
        add(more, size, "   what is asked: exercises/ex%s_%s.h", definition->number,
            definition->name);
    if (failure->mistake[0]) add(more, size, "   ./lab explain %s", failure->mistake);
}

static void fill_mistake(const char *mistake, Failure *failure) {
    const char *text = pages_told(mistake);
    snprintf(failure->mistake, sizeof failure->mistake, "%s", mistake);
    snprintf(failure->likely, sizeof failure->likely, "%s%s%s", mistake, text ? ": " : "",
             text ? text : "");
}

// An unusable file fails as a whole: all its cases say the same.
static void fill_file(Failure *failure) {
    failure->case_name = "";
    failure->shown[0] = failure->asked[0] = '\0';
    failure->lost = failure->most - failure->points;
}

Failure failure_of(const GradeResult *grade, const ExerciseResult *exercise,
                   const CaseResult *result, const char *folder) {
    const ExerciseCase *definition = result->definition;
    Failure failure = {.exercise = exercise->exercise,
                       .case_name = definition->name,
                       .state = result->state,
                       .hidden = definition->hidden,
                       .by_hand = definition->by_hand != NULL,
                       .function = definition->function,
                       .points = exercise->points,
                       .most = exercise->most_points,
                       .lost = definition->points - result->points,
                       .printed = result->output};
    bool whole_file =
        result->state == CASE_NOT_COMPILED || (result->state == CASE_FORBIDDEN && !result->asked);
    if (whole_file) failure.compiler = exercise->compiler;
    if (result->mistake) fill_mistake(result->mistake, &failure);
    if (result->asked) {
        snprintf(failure.shown, sizeof failure.shown, "%s", result->asked->shown);
        snprintf(failure.asked, sizeof failure.asked, "%s", result->asked->asked);
    }
    bool judged = result->state == CASE_WRONG || result->state == CASE_PRACTICE;
    if (result->asked && judged && result->sealed)
        fill_sealed(result, &failure);
    else if (result->asked && judged)
        fill_comparison(result, &failure);
    else
        fill_ending(result, &failure);
    if (whole_file) fill_file(&failure);
    if (definition->hidden) hide(&failure);
    if (folder[0]) fill_commands(grade, exercise, folder, &failure);
    return failure;
}

// ---- the screen --------------------------------------------------------------------------------
static void field(Page *page, const char *label, PageStyle style, const char *text,
                  const char *beside, int gap) {
    if (!text[0] && !beside[0]) return;
    page_label(page, label);
    page_piece(page, style, 0, text);
    page_piece(page, PAGE_PLAIN, gap, beside);
    page_end_line(page);
}

static void header(Page *page, const Failure *failure) {
    char score[32], title[64];
    snprintf(title, sizeof title, "%.8s %.48s", failure->exercise->number, failure->exercise->name);
    snprintf(score, sizeof score, "%d/%d", failure->points, failure->most);
    page_label(page, NULL);
    page_piece(page, PAGE_BOLD, 0, title);
    page_piece(page, PAGE_PLAIN, page->column < 26 ? 28 - page->column : 2, score);
    if (failure->case_name[0])
        page_print(page, PAGE_PLAIN, 3, "%s %s", failure->hidden ? "hidden case" : "case",
                   failure->case_name);
    bool right = failure->state == CASE_PASSED || failure->state == CASE_PRACTICE;
    page_piece(page, right ? PAGE_GOOD : PAGE_BAD, 3, screen_word(failure->state));
    if (failure->lost > 0) page_print(page, PAGE_PLAIN, 3, "-%d", failure->lost);
    page_end_line(page);
}

// Shows the first lines of the program's output, as a sample.
static void printed(Page *page, const char *text) {
    enum { MOST_LINES = 5, MOST_COLUMNS = 2 * (PAGE_WIDTH - PAGE_LABEL) };
    const char *end = text ? text : "";
    int lines = 0;
    while (*end && lines < MOST_LINES) {
        const char *begin = end;
        end += strcspn(begin, "\n");
        page_label(page, lines++ == 0 ? "printed" : "");
        int length = end - begin < MOST_COLUMNS ? (int)(end - begin) : MOST_COLUMNS;
        page_print(page, PAGE_DIM, 0, "%.*s", length, begin);
        page_end_line(page);
        end += *end == '\n';
    }
    if (*end) field(page, "", PAGE_DIM, "...", "", 0);
}

void screen_failure(Page *page, const Failure *failure) {
    char asked[CASE_LINE + 8] = "";
    if (failure->asked[0]) snprintf(asked, sizeof asked, "asked: %s", failure->asked);
    // The remarks beside `expected` and `got` begin in the same column.
    int expected = (int)strlen(failure->expected), got = (int)strlen(failure->got);
    int widest = expected > got ? expected : got;
    int gap = widest <= 32 ? widest + 4 : 0;
    char formula[CASE_LINE + 2] = "";
    bool equals = failure->formula[0] && failure->formula[0] != '=';
    if (failure->formula[0])
        snprintf(formula, sizeof formula, "%s%s", equals ? "= " : "", failure->formula);

    header(page, failure);
    field(page, "input", PAGE_PLAIN, failure->shown, asked, 6);
    field(page, "value", PAGE_PLAIN, failure->value, "", 0);
    field(page, "expected", PAGE_GOOD, failure->expected, formula, gap ? gap - expected : 4);
    field(page, "got", PAGE_BAD, failure->got, failure->relation, gap ? gap - got : 4);
    if (failure->compiler) page_lines(page, PAGE_PLAIN, PAGE_LABEL, failure->compiler);
    printed(page, failure->printed);
    bool practice = failure->state == CASE_PRACTICE;
    field(page, practice ? "this is" : "likely", PAGE_BOLD, failure->likely, "", 0);
    field(page, "look at", PAGE_PLAIN, failure->look_at, "", 0);
    field(page, "again", PAGE_PLAIN, failure->again, "", 0);
    field(page, "more", PAGE_PLAIN, failure->more, "", 0);
}
