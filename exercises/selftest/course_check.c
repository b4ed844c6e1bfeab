// course_check.c -- that the course holds together: points, files, hints, and that every
// mistake that can be named has its page, and every page can be reached.
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/pages.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20, ALL_POINTS = 100, STRETCH_POINTS = 30, PATH = 200, MOST_TOLD = 120 };

// The whole file, owned; NULL where there is none, which is no error here.
static char *read_text(const char *path) {
    char *text = access(path, R_OK) == 0 ? file_read(NULL, path, MOST_TEXT, NULL) : NULL;
    return text;
}

// ---- an exercise -------------------------------------------------------------------------------
static void check_points(const Task *task, Finding *finding) {
    const Exercise *exercise = task->exercise;
    int sum = 0;
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *one = &exercise->cases[i];
        bool found = one->needs == NULL;
        sum += one->points;
        for (int k = 0; k < exercise->n_cases; k++) {
            const char *name = exercise->cases[k].name;
            if (k != i && strcmp(name, one->name) == 0)
                finding_fail(finding, "two cases are called %s", name);
            if (k != i && one->needs && strcmp(name, one->needs) == 0) found = true;
        }
        if (!found) finding_fail(finding, "%s needs %s: no such case", one->name, one->needs);
    }
    if (sum != exercise->points)
        finding_fail(finding, "cases of %d points, %d announced", sum, exercise->points);
}

static void check_files(const Task *task, Finding *finding) {
    const Exercise *exercise = task->exercise;
    char file[TASK_NAME], stem[TASK_NAME], paths[8][PATH];
    int count = 0;
    exercise_file(exercise, file);
    snprintf(stem, sizeof stem, "ex%.8s_%.48s", exercise->number, exercise->name);
    snprintf(paths[count++], PATH, "exercises/%s", file);
    snprintf(paths[count++], PATH, "exercises/solutions/%s", file);
    snprintf(paths[count++], PATH, "exercises/course/%s_cases.c", stem);
    snprintf(paths[count++], PATH, "exercises/pages/ex%.8s.md", exercise->number);
    if (exercise->answers == NULL) {
        snprintf(paths[count++], PATH, "exercises/%s.h", stem);
        snprintf(paths[count++], PATH, "exercises/course/%s_call.c", stem);
    }
    if (exercise->points > 0) snprintf(paths[count++], PATH, "exercises/mutants/%s.txt", stem);
    for (int i = 0; i < count; i++) {
        if (access(paths[i], R_OK) != 0) finding_fail(finding, "%s is missing", paths[i]);
    }
}

static void check_hints(const Task *task, Finding *finding) {
    const char *number = task->exercise->number;
    for (int level = 1; level <= HINT_LEVELS; level++) {
        const char *hint = pages_hint(number, level);
        if (hint == NULL || hint[0] == '\0')
            finding_fail(finding, "pages/ex%s.md has no hint of level %d", number, level);
    }
}

// Each question by hand has its line to fill in.
static void check_by_hand(const Task *task, Finding *finding) {
    char *text = read_text("exercises/by_hand.txt");
    const Exercise *exercise = task->exercise;
    for (int i = 0; i < exercise->n_cases; i++) {
        const char *key = exercise->cases[i].by_hand;
        if (key == NULL || exercise->answers != NULL) continue;
        if (text == NULL || strstr(text, key) == NULL)
            finding_fail(finding, "exercises/by_hand.txt has no line for %s", key);
    }
    memory_free(text);
}

// Every run that the seeds make is sound, and names mistakes that there are.
static void check_runs(const Task *task, Finding *finding) {
    const Exercise *exercise = task->exercise;
    CaseRun *run = memory_new(sizeof *run);
    for (int i = 0; run && i < exercise->n_cases && !finding->failed; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        int runs = definition->runs > 1 ? definition->runs : 1;
        for (int k = 0; k < runs * task->seeds && !finding->failed; k++) {
            DrawKey key = {.secret = "", .student = "", .seed = (uint64_t)(k / runs)};
            if (exercise_run_make(exercise, definition, key, k % runs, NULL, run) != STATUS_OK)
                break; // the pending error is the finding
            for (int m = 0; m < run->n_mistakes; m++)
                if (pages_told(run->mistakes[m].name) == NULL)
                    finding_fail(finding, "case %s: pages/ has no mistake %s", definition->name,
                                 run->mistakes[m].name);
        }
        if (error_pending()) break;
    }
    memory_free(run);
}

// ---- all of them -------------------------------------------------------------------------------
static void check_sum(const Task *task, Finding *finding) {
    (void)task;
    int sum = 0, stretch = 0;
    for (int i = 0; i < exercise_count; i++) {
        *(exercises[i]->stretch ? &stretch : &sum) += exercises[i]->points;
    }
    if (sum != ALL_POINTS) finding_fail(finding, "%d points, not %d", sum, ALL_POINTS);
    if (stretch > STRETCH_POINTS)
        finding_fail(finding, "%d points to stretch, more than %d", stretch, STRETCH_POINTS);
}

static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
        if (begins && ends) return true;
    }
    return false;
}

// Is the page of that name mentioned in a file of this folder?
static bool is_mentioned(const char *folder, const char *name) {
    bool found = false;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries && !found && (entry = readdir(entries)) != NULL;) {
        char path[512];
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || end[1] == '\0') continue; // "." and "..", too
        if (strspn(end, ".chtx") != strlen(end)) continue;
        snprintf(path, sizeof path, "%.200s/%.255s", folder, entry->d_name);
        char *text = read_text(path);
        found = text != NULL && has_word(text, name);
        memory_free(text);
    }
    if (entries) closedir(entries);
    return found;
}

static bool is_mentioned_in_texts(const ExplainPage *page) {
    for (int i = 0; i < explain_page_count; i++)
        if (&explain_pages[i] != page && has_word(explain_pages[i].text, page->name)) return true;
    for (int i = 0; i < hint_page_count; i++)
        if (has_word(hint_pages[i].text, page->name)) return true;
    return false;
}

// A student comes to a page by a failure, or because something that is read names it.
static void check_pages(const Task *task, Finding *finding) {
    (void)task;
    for (int i = 0; i < explain_page_count; i++) {
        const ExplainPage *page = &explain_pages[i];
        if (pages_find(page->name) != page) finding_fail(finding, "two pages: %s", page->name);
        if (page->text[0] == '\0') finding_fail(finding, "%s is empty", page->name);
        if (page->told != NULL && strlen(page->told) > MOST_TOLD)
            finding_fail(finding, "%s: over %d characters", page->name, MOST_TOLD);
        if (!is_mentioned("exercises/course", page->name) &&
            !is_mentioned("exercises", page->name) && !is_mentioned_in_texts(page))
            finding_fail(finding, "page %s: nothing leads there", page->name);
    }
}

Status course_tasks(TaskList *list) {
    static const struct {
        const char *name;
        void (*run)(const Task *, Finding *);
    } checks[] = {{"points", check_points},
                  {"files", check_files},
                  {"hints", check_hints},
                  {"by hand", check_by_hand},
                  {"runs", check_runs}};
    for (int i = 0; i < exercise_count; i++) {
        if (!is_asked(list->options, exercises[i])) continue;
        for (size_t k = 0; k < sizeof checks / sizeof checks[0]; k++) {
            Task *task = task_add(list, GROUP_COURSE, exercises[i], checks[k].name, checks[k].run);
            if (task != NULL) task->seeds = list->options->seeds;
        }
    }
    if (list->options->only != NULL) return error_status();
    task_add(list, GROUP_COURSE, NULL, "points add up", check_sum);
    task_add(list, GROUP_COURSE, NULL, "pages", check_pages);
    return error_status();
}
