// questions.c -- ./lab whoami takes the key that a course hands out; ./lab questions shows the
// questions by hand with the key's numbers. Answers go into by_hand.txt; ./lab check says which are
// right.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"

static void say(Page *page, const char *label, PageStyle style, const char *text) {
    page_label(page, label);
    page_piece(page, style, 0, text);
    page_end_line(page);
}

// ---- whose numbers ------------------------------------------------------------------------------
int command_whoami(Lab *lab) {
    const char *key = lab->argument;
    if (key && !progress_take_key(&lab->progress, key))
        return lab_refuse(LAB_USAGE,
                          "whoami %.80s: no key, or a mistyped one; a key looks like "
                          "ada-7f3a2c91b04d55e1, as your teacher hands it out",
                          key);
    if (key && progress_write(lab->folder, &lab->progress)) return lab_fail();
    Page page = {.colour = lab->colour};
    if (lab->progress.key[0]) {
        say(&page, NULL, PAGE_PLAIN, lab->progress.student);
        say(&page, "key", PAGE_PLAIN, lab->progress.key);
        say(&page, "next", PAGE_PLAIN,
            "./lab questions: the numbers are yours now, and they score");
    } else {
        say(&page, NULL, PAGE_PLAIN, "nobody: numbers are those of practice, and do not score");
        say(&page, "next", PAGE_PLAIN,
            "./lab whoami KEY, with the key that your teacher hands out");
    }
    return lab_show(&page);
}

// ---- questions ----------------------------------------------------------------------------------
// Copies the text after "key =" in the student's file; false: none.
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

static Status question(const Lab *lab, const Exercise *exercise, const ExerciseCase *definition,
                       const char *answers, Page *page) {
    CaseRun *run = memory_new(sizeof *run);
    if (!run) return error_status();
    DrawKey key = lab_grade_options(lab).key;
    Status status = exercise_run_make(exercise, definition, key, 0, NULL, run);
    char answer[CASE_LINE] = "";
    bool answered = find_answer(answers, definition->by_hand, answer, sizeof answer);
    if (!status) {
        say(page, definition->by_hand, PAGE_PLAIN, "");
        say(page, "given", PAGE_PLAIN, run->shown);
        say(page, "asked", PAGE_BOLD, run->asked);
        say(page, "answer", answered ? PAGE_PLAIN : PAGE_DIM, answered ? answer : "(none yet)");
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

// The text of the student's file; "" if there is no file yet.
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

static void whose(const Lab *lab, Page *page) {
    page_label(page, NULL);
    if (!lab->progress.key[0])
        page_piece(page, PAGE_BOLD, 0,
                   "Practice, which does not score. Your own: ./lab whoami KEY");
    else
        page_print(page, PAGE_PLAIN, 0, "The numbers are those of %s.", lab->progress.key);
    page_end_line(page);
}

// In a course without keys a name suffices: the key is then made from the name alone. A key that
// the student already has for that name stays.
static Status take_student(Lab *lab) {
    const char *student = lab->options.student;
    char token[KEY_TOKEN], key[KEY_TEXT];
    if (!student || strcasecmp(student, lab->progress.student) == 0) return STATUS_OK;
    key_token("", student, token);
    key_write(student, token, key);
    if (!progress_take_key(&lab->progress, key))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--student %.80s: no name. HINT: as your teacher has it in the list",
                         student);
    return progress_write(lab->folder, &lab->progress);
}

int command_questions(Lab *lab) {
    const Exercise *only = lab->argument ? lab_exercise(lab) : NULL;
    if (lab->argument && !only) return LAB_USAGE;
    if (take_student(lab)) return lab_fail();
    char *answers = read_answers(lab);
    if (!answers) return lab_fail();
    Page page = {.colour = lab->colour};
    int count = 0;
    Status status = STATUS_OK;
    for (int i = 0; !status && i < exercise_count; i++)
        if ((!only || exercises[i] == only) &&
            !exercises[i]->answers) // text exercises ask in their contract
            status = questions_of(lab, exercises[i], answers, &page, &count);
    memory_free(answers);
    if (!status) {
        if (count > 0) page_end_line(&page);
        how_to_answer(lab, count, &page);
        whose(lab, &page);
        return lab_show(&page);
    }
    page_free(&page);
    return lab_fail();
}
