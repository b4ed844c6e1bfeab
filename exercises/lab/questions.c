// questions.c -- ./lab questions: what is asked by hand before some exercises, with the student's
// own numbers. Answers go into by_hand.txt; ./lab check says which are right.
#include <stdio.h>
#include <string.h>

#include "exercises/grader/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"

// What stands after "key =" in the student's file; false: nothing.
static bool find_answer(const char *text, const char *key, char *answer, size_t size) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *at = line + strspn(line, " \t");
        if (strncmp(at, key, length) != 0) continue;
        at += length + strspn(at + length, " \t");
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, " \t");
        snprintf(answer, size, "%.*s", (int)strcspn(at, "\r\n#"), at);
        return answer[0] != '\0';
    }
    return false;
}

static void line(Page *page, const char *label, PageStyle style, const char *text) {
    page_label(page, label);
    page_piece(page, style, 0, text);
    page_end_line(page);
}

static Status question(const Lab *lab, const Exercise *exercise, const ExerciseCase *definition,
                       const char *answers, Page *page) {
    CaseRun *run = memory_new(sizeof *run);
    if (!run) return error_status();
    DrawKey key = lab_grade_options(lab).key;
    Status status = exercise_run_make(exercise, definition, key, 0, NULL, run);
    char answer[CASE_LINE] = "";
    bool answered = find_answer(answers, definition->by_hand, answer, sizeof answer);
    if (!status) {
        line(page, definition->by_hand, PAGE_PLAIN, "");
        line(page, "given", PAGE_PLAIN, run->shown);
        line(page, "asked", PAGE_BOLD, run->asked);
        line(page, "answer", answered ? PAGE_PLAIN : PAGE_DIM, answered ? answer : "(none yet)");
    }
    memory_free(run);
    return status;
}

static Status questions_of(const Lab *lab, const Exercise *exercise, const char *answers,
                           Page *page, int *count) {
    bool first = true;
    Status status = STATUS_OK;
    for (int i = 0; !status && i < exercise->n_cases; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        if (!definition->by_hand) continue;
        if (first) {
            if (*count > 0) page_end_line(page);
            page_label(page, NULL);
            page_print(page, PAGE_BOLD, 0, "before %s %s", exercise->number, exercise->name);
            page_end_line(page);
        }
        first = false;
        *count += 1;
        status = question(lab, exercise, definition, answers, page);
    }
    return status;
}

// The student's file; "" where there is none yet.
static char *read_answers(const Lab *lab) {
    char *text = file_read(lab->folder, "by_hand.txt", LAB_MOST_BYTES, NULL);
    if (text || error_status() != STATUS_IO) return text;
    error_clear();
    return memory_copy_string("");
}

static void how_to_answer(const Lab *lab, int count, Page *page) {
    page_label(page, NULL);
    if (count == 0)
        page_piece(page, PAGE_PLAIN, 0, "There is no question by hand.");
    else
        page_print(page, PAGE_PLAIN, 0, "Answers go into %s/by_hand.txt, each a line: key = answer",
                   lab->shown_folder);
    page_end_line(page);
}

int command_questions(Lab *lab) {
    const Exercise *only = lab->argument ? lab_exercise(lab) : NULL;
    if (lab->argument && !only) return LAB_USAGE;
    char *answers = read_answers(lab);
    if (!answers) return lab_fail();
    Page page = {.colour = lab->colour};
    int count = 0;
    Status status = STATUS_OK;
    for (int i = 0; !status && i < exercise_count; i++)
        if ((!only || exercises[i] == only) &&
            !exercises[i]->answers) // these ask in their contract
            status = questions_of(lab, exercises[i], answers, &page, &count);
    memory_free(answers);
    if (!status) {
        if (count > 0) page_end_line(&page);
        how_to_answer(lab, count, &page);
        return lab_show(&page);
    }
    page_free(&page);
    return lab_fail();
}
