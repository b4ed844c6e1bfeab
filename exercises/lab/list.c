// list.c -- ./lab: the exercises, how far each is, and what to type next. Nothing runs.
#include <stdio.h>
#include <string.h>

#include "exercises/lab/command.h"

static const char *state_words(const Exercise *exercise, const ProgressEntry *entry) {
    if (!entry || entry->last < 0) return "not started";
    if (strcmp(entry->state, "passed") == 0) return "passed";
    if (strcmp(entry->state, "not_implemented") == 0 || strcmp(entry->state, "missing") == 0)
        return entry->last > 0 ? "begun" : "not started";
    if (strcmp(entry->state, "not_compiled") == 0) return "does not compile";
    return exercise->points > 0 && entry->last > 0 ? "begun" : "failing";
}

static bool is_passed(const Lab *lab, const Exercise *exercise) {
    const ProgressEntry *entry = progress_find(&lab->progress, exercise->number);
    return entry && strcmp(entry->state, "passed") == 0;
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

static void next_page(const Lab *lab, Page *page) {
    const Exercise *next = next_exercise(lab);
    page_end_line(page);
    page_label(page, "next");
    if (!next) {
        page_piece(page, PAGE_GOOD, 0, "all done: ./lab submit");
        page_end_line(page);
        return;
    }
    char file[96];
    lab_file_name(next, file, sizeof file);
    const ProgressEntry *entry = progress_find(&lab->progress, next->number);
    bool started = entry && strcmp(state_words(next, entry), "not started") != 0;
    if (!started)
        page_print(page, PAGE_PLAIN, 0, "%s %s/%s, then", next->answers ? "fill in" : "edit",
                   lab->shown_folder, file);
    page_print(page, PAGE_BOLD, started ? 0 : 1, "./lab check %s", next->number);
    page_end_line(page);
    page_label(page, "more");
    page_print(page, PAGE_PLAIN, 0, "./lab hint %s   ./lab watch   ./lab --help", next->number);
    page_end_line(page);
}

void list_page(const Lab *lab, Page *page) {
    int points = 0, most = 0, minutes = 0;
    page_label(page, NULL);
    page_print(page, PAGE_BOLD, 0, "%-2s  %-24s %7s %7s %5s   %s", "#", "exercise", "minutes",
               "points", "best", "state");
    page_end_line(page);
    for (int i = 0; i < exercise_count; i++) {
        const ProgressEntry *entry = progress_find(&lab->progress, exercises[i]->number);
        row(lab, exercises[i], page);
        points += entry ? entry->best : 0;
        most += exercises[i]->stretch ? 0 : exercises[i]->points;
        minutes += exercises[i]->minutes;
    }
    page_label(page, NULL);
    page_print(page, PAGE_PLAIN, 0, "%-2s  %-24s %7d %7d %5d", "", "", minutes, most, points);
    page_end_line(page);
    next_page(lab, page);
}

int command_list(Lab *lab) {
    Page page = {.colour = lab->colour};
    list_page(lab, &page);
    return lab_show(&page);
}
