// grade_case.c -- how a case ends: its state, its detail, the value that was wrong.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/grader/grade_parts.h"
#include "exercises/grader/text_file.h"
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
