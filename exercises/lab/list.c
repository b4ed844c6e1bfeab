// list.c -- ./lab: the next thing to read or type, and the progress of each exercise. Nothing runs.
#include <stdio.h>
#include <string.h>

#include "exercises/lab/command.h"

enum { READING_MINUTES = 15 }; // time to read reading.md

static const char *state_words(const Exercise *exercise, const ProgressEntry *entry) {
    if (!entry || entry->last < 0) return "not started";
    if (strcmp(entry->state, "passed") == 0) return "passed";
    if (strcmp(entry->state, "practice") == 0) return "passed but for your key";
    if (strcmp(entry->state, "not_implemented") == 0 || strcmp(entry->state, "missing") == 0)
        return entry->last > 0 ? "begun" : "not started";
    if (strcmp(entry->state, "not_compiled") == 0) return "does not compile";
    return exercise->points > 0 && entry->last > 0 ? "begun" : "failing";
}

static bool is_passed(const Lab *lab, const Exercise *exercise) {
    const ProgressEntry *entry = progress_find(&lab->progress, exercise->number);
    return entry && (strcmp(entry->state, "passed") == 0 || strcmp(entry->state, "practice") == 0);
}

static void row(const Lab *lab, const Exercise *exercise, Page *page) {
    const ProgressEntry *entry = progress_find(&lab->progress, exercise->number);
    char best[16] = "-";
    if (entry && entry->last >= 0) snprintf(best, sizeof best, "%d", entry->best);
    page_label(page, NULL);
    page_print(page, PAGE_PLAIN, 0, "%s  %-24s %7d %7d %5s", exercise->number, exercise->name,
               exercise->minutes, exercise->points, best);
    page_piece(page, is_passed(lab, exercise) ? PAGE_GOOD : PAGE_PLAIN, 3,
               state_words(exercise, entry));
    page_end_line(page);
}

static const Exercise *next_exercise(const Lab *lab) {
    for (int i = 0; i < exercise_count; i++)
        if (!is_passed(lab, exercises[i]) && !exercises[i]->stretch) return exercises[i];
    for (int i = 0; i < exercise_count; i++)
        if (!is_passed(lab, exercises[i])) return exercises[i];
    return NULL;
}

static bool is_started(const Lab *lab, const Exercise *exercise) {
    const ProgressEntry *entry = progress_find(&lab->progress, exercise->number);
    return entry && strcmp(state_words(exercise, entry), "not started") != 0;
}

// A student who has written no code yet may not have read any either.
static void first_step(const Lab *lab, Page *page) {
    for (int i = 0; i < exercise_count; i++)
        if (!exercises[i]->answers && is_started(lab, exercises[i])) return;
    page_label(page, "first");
    page_print(page, PAGE_PLAIN, 0, "read exercises/reading.md: %d minutes", READING_MINUTES);
    page_end_line(page);
}

// The files to read and to write for an exercise not yet begun, and the time that it takes.
static void begin_step(const Lab *lab, const Exercise *next, Page *page) {
    char file[96];
    lab_file_name(next, file, sizeof file);
    if (next->answers) {
        page_print(page, PAGE_PLAIN, 0, "read %s/%s and fill it in:", lab->shown_folder, file);
    } else {
        page_print(page, PAGE_PLAIN, 0, "read exercises/ex%s_%s.h", next->number, next->name);
        page_print(page, PAGE_PLAIN, 1, "and write %s/%s:", lab->shown_folder, file);
    }
    page_print(page, PAGE_PLAIN, 1, "%d minutes", next->minutes);
    page_end_line(page);
    page_label(page, "then");
}

static void next_steps(const Lab *lab, Page *page) {
    const Exercise *next = next_exercise(lab);
    first_step(lab, page);
    page_label(page, "next");
    if (next) {
        if (!is_started(lab, next)) begin_step(lab, next, page);
        page_print(page, PAGE_BOLD, 0, "./lab check %s", next->number);
        page_end_line(page);
        page_label(page, "more");
        page_print(page, PAGE_PLAIN, 0, "./lab hint %s   ./lab watch   ./lab --help", next->number);
    } else {
        page_piece(page, PAGE_GOOD, 0,
                   lab->progress.key[0] ? "all done: ./lab submit"
                                        : "./lab whoami KEY, and the questions by hand once more");
    }
    page_end_line(page);
    if (!lab->progress.key[0]) {
        page_label(page, "key");
        page_piece(page, PAGE_PLAIN, 0, "none yet, so questions by hand are practice:");
        page_piece(page, PAGE_BOLD, 1, "./lab whoami KEY");
        page_end_line(page);
    }
    page_end_line(page);
}

// Sums over the course's exercises, or over the stretch exercises.
static void sum_row(const Lab *lab, bool stretch, Page *page) {
    int points = 0, most = 0, minutes = 0;
    for (int i = 0; i < exercise_count; i++) {
        const ProgressEntry *entry = progress_find(&lab->progress, exercises[i]->number);
        if (exercises[i]->stretch != stretch) continue;
        points += entry ? entry->best : 0;
        most += exercises[i]->points;
        minutes += exercises[i]->minutes;
    }
    page_label(page, NULL);
    page_print(page, PAGE_PLAIN, 0, "%-2s  %-24s %7d %7d %5d", "", stretch ? "and to stretch" : "",
               minutes, most, points);
    page_end_line(page);
}

void list_page(const Lab *lab, Page *page) {
    next_steps(lab, page);
    page_label(page, NULL);
    page_print(page, PAGE_BOLD, 0, "%-2s  %-24s %7s %7s %5s   %s", "#", "exercise", "minutes",
               "points", "best", "state");
    page_end_line(page);
    for (int i = 0; i < exercise_count; i++) row(lab, exercises[i], page);
    sum_row(lab, false, page);
    sum_row(lab, true, page);
}

int command_list(Lab *lab) {
    Page page = {.colour = lab->colour};
    list_page(lab, &page);
    return lab_show(&page);
}
