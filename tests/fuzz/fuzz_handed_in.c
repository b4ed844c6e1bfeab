// fuzz_handed_in.c -- texts that students hand in: tables, answers, keys; and the lines on memory
// that the grader and its workers exchange. Any input is read or refused with a reason, and results
// that can be written are read again as the same.
#include <stdio.h>
#include <string.h>

#include "exercises/course/answers.h"
#include "exercises/course/mystery_record.h"
#include "exercises/course/sweep_text.h"
#include "exercises/course/text_file.h"
#include "exercises/support/memory_text.h"
#include "tests/fuzz/fuzz.h"

static void one_line(const char *problem) {
    promise(problem[0] != '\0' && strchr(problem, '\n') == NULL);
}

static void sweep(const char *text) {
    char problem[CASE_LINE];
    Sweep read;
    if (!sweep_read(text, &read, problem)) {
        one_line(problem);
        return;
    }
    promise(read.n_rows >= SWEEP_LEAST_ROWS && read.best < read.n_rows && read.knee <= read.best);
    if (!sweep_is_of(&read, "0123456789ab", problem)) one_line(problem);
}

static void mystery(const char *text) {
    char problem[CASE_LINE], written[MYSTERY_TEXT], again[MYSTERY_TEXT];
    MysteryRecord record;
    if (!mystery_read(text, &record, problem)) {
        one_line(problem);
        return;
    }
    const MysteryFinding finding = mystery_find(&record);
    promise(finding.cause <= CAUSE_COUNT && finding.place <= PLACE_COUNT);
    promise(mystery_text(&record, written) < MYSTERY_TEXT);
    if (mystery_read(written, &record, problem)) { // small numbers may have become 0
        promise(mystery_text(&record, again) < MYSTERY_TEXT && strcmp(written, again) == 0);
    }
}

static void answers(char *text) {
    static const char *const words[] = {"compute", "memory", NULL};
    const ExpectedValue expected[] = {{.name = "a", .kind = VALUE_INTEGER},
                                      {.name = "b", .kind = VALUE_REAL},
                                      {.name = "c", .kind = VALUE_WORD, .words = words}};
    text_clean(text);
    const Answers given = {.name = "answers.txt", .text = text};
    for (int i = 0; i < 3; i++) {
        Value value;
        char problem[CASE_LINE];
        AnswerEnd end = answers_value(&given, expected[i].name, &expected[i], &value, problem);
        if (end != ANSWER_GIVEN) one_line(problem);
        if (end == ANSWER_GIVEN && i == 2) promise(value.integer >= 0 && value.integer < 2);
    }
}

static void key(const char *text) {
    char student[KEY_STUDENT], token[KEY_TOKEN], written[KEY_TEXT];
    if (!key_read(text, student, token)) return;
    key_write(student, token, written);
    promise(key_read(written, student, token));
}

static void memory(const char *text) {
    enum { MOST = 300 };
    static AllocationEvent events[MOST], again[MOST];
    static char written[MOST * 80];
    int64_t n = memory_text_read(text, events, MOST);
    promise(n >= 0 && n <= MOST);
    written[0] = '\0';
    memory_text_write(events, n, written, sizeof written);
    promise(memory_text_read(written, again, MOST) == n);
    for (int64_t i = 0; i < n; i++)
        promise(again[i].id == events[i].id && again[i].is_free == events[i].is_free);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    switch (bytes[0] % 5) {
    case 0:
        sweep(text);
        break;
    case 1:
        mystery(text);
        break;
    case 2:
        answers(text);
        break;
    case 3:
        key(text);
        break;
    default:
        memory(text);
        break;
    }
    free(text);
    promise(!error_pending());
    return 0;
}
