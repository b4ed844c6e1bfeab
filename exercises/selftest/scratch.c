// scratch.c -- submissions made from what the course holds: solutions, their mutants, skeletons,
// hostile sources.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20 };

Status scratch_new(Scratch *scratch) {
    *scratch = (Scratch){"/tmp/ridgepoint-selftest-XXXXXX"};
    if (mkdtemp(scratch->folder) != NULL && chmod(scratch->folder, 0755) == 0) return STATUS_OK;
    scratch->folder[0] = '\0';
    return error_set(STATUS_IO, "scratch_new: no folder in /tmp: %s. HINT: is it full?",
                     strerror(errno));
}

// The folder holds plain files only: it is opened as a folder and emptied, and no link is followed.
void scratch_remove(Scratch *scratch) {
    int opened = scratch->folder[0] == '\0'
                     ? -1
                     : open(scratch->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = opened < 0 ? NULL : fdopendir(opened);
    if (entries == NULL) return;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
    rmdir(scratch->folder);
    scratch->folder[0] = '\0';
}

Status scratch_write(const Scratch *scratch, const char *name, const char *text) {
    return file_write(scratch->folder, name, text, strlen(text));
}

Status scratch_copy(const Scratch *scratch, const char *from, const char *name) {
    size_t count = 0;
    char *text = file_read(NULL, from, MOST_TEXT, &count);
    Status status = text ? file_write(scratch->folder, name, text, count) : error_status();
    memory_free(text);
    return status;
}

void exercise_file(const Exercise *exercise, char name[TASK_NAME]) {
    if (exercise->answers)
        snprintf(name, TASK_NAME, "%s", exercise->answers);
    else
        snprintf(name, TASK_NAME, "ex%.8s_%.48s.c", exercise->number, exercise->name);
}

// The right answer to each question by hand, which every student has other numbers in.
static Status add_by_hand(const Scratch *scratch, const Exercise *exercise, DrawKey key) {
    char text[4096] = "", value[VALUE_TEXT];
    size_t used = 0;
    CaseRun *run = memory_new(sizeof *run);
    Status status = error_status();
    for (int i = 0; run && i < exercise->n_cases && status == STATUS_OK; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        if (definition->by_hand == NULL || exercise->answers != NULL) continue;
        key.seed = 0; // as ./lab questions asks them
        status = exercise_run_make(exercise, definition, key, 0, NULL, run);
        if (status == STATUS_OK && used < sizeof text) {
            value_text(&run->values[0], run->values[0].value, value);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s = %s\n",
                                     definition->by_hand, value);
        }
    }
    memory_free(run);
    if (status != STATUS_OK || used == 0) return status;
    char path[128];
    snprintf(path, sizeof path, "%s/by_hand.txt", scratch->folder);
    FILE *file = fopen(path, "a"); // several exercises share it
    if (file == NULL || fputs(text, file) < 0)
        status = error_set(STATUS_IO, "%s: %s. HINT: is /tmp full?", path, strerror(errno));
    if (file != NULL) fclose(file);
    return status;
}

// Copies the files that the exercise's cases need; they lie beside the solution.
static Status add_beside(const Scratch *scratch, const Exercise *exercise) {
    Status status = STATUS_OK;
    for (int i = 0; i < exercise->n_cases && status == STATUS_OK; i++) {
        const char *beside = exercise->cases[i].beside;
        char from[PATH_MAX], to[PATH_MAX];
        if (beside == NULL) continue;
        snprintf(from, sizeof from, "exercises/solutions/%s", beside);
        snprintf(to, sizeof to, "%s/%s", scratch->folder, beside);
        if (access(from, R_OK) == 0 && access(to, F_OK) != 0) {
            status = scratch_copy(scratch, from, beside);
        }
    }
    return status;
}

// Further styles are sections of "exercises/solutions/ex02_count_flops.styles", "== 2" and so on.
static char *read_styles(const Exercise *exercise) {
    char path[PATH_MAX], name[TASK_NAME];
    exercise_file(exercise, name);
    snprintf(path, sizeof path, "exercises/solutions/%.*s.styles", (int)strcspn(name, "."), name);
    return file_read(NULL, path, MOST_TEXT, NULL);
}

static bool find_style(const char *text, int style, Section *section) {
    char number[16];
    snprintf(number, sizeof number, "%d", style);
    for (const char *at = text; section_next(&at, section);)
        if (strcmp(section->name, number) == 0) return true;
    return false;
}

Status scratch_count_styles(const Exercise *exercise, int *count) {
    Section section;
    *count = 1;
    if (exercise->answers) return STATUS_OK; // what is no code has one solution only
    char *text = read_styles(exercise);
    if (text == NULL) return error_status();
    while (find_style(text, *count + 1, &section)) ++*count;
    memory_free(text);
    if (*count >= LEAST_STYLES) return STATUS_OK;
    return error_set(STATUS_FORMAT, "exercise %s: no solution begins with \"== %d\". HINT: add it",
                     exercise->number, *count + 1);
}

static Status add_style(const Scratch *scratch, const Exercise *exercise, const char *name,
                        int style) {
    Section section;
    char *text = read_styles(exercise);
    if (text == NULL) return error_status();
    Status status = find_style(text, style, &section)
                        ? file_write(scratch->folder, name, section.body, section.length)
                        : STATUS_FORMAT;
    memory_free(text);
    return status;
}

static Status add_file(const Scratch *scratch, const Exercise *exercise, int style) {
    char name[TASK_NAME], from[PATH_MAX], to[PATH_MAX];
    exercise_file(exercise, name);
    snprintf(to, sizeof to, "%s/%s", scratch->folder, name);
    if (access(to, F_OK) == 0) return STATUS_OK;
    if (style > 1) return add_style(scratch, exercise, name, style);
    snprintf(from, sizeof from, "exercises/solutions/%s", name);
    return scratch_copy(scratch, from, name);
}

Status scratch_add_solution(const Scratch *scratch, const Exercise *exercise, int style,
                            DrawKey key) {
    Status status = add_file(scratch, exercise, style);
    if (status == STATUS_OK) status = add_beside(scratch, exercise);
    if (status == STATUS_OK) status = add_by_hand(scratch, exercise, key);
    return status;
}

GradeOptions scratch_grade(const Scratch *scratch, const Exercise *const list[], int count) {
    return (GradeOptions){
        .exercises = list,
        .n_exercises = count,
        .folder = scratch->folder,
        .parts = "build/lab",
        .key = {.secret = "self-test", .student = "somebody"},
    };
}

const CaseResult *first_wrong(const ExerciseResult *result) {
    const CaseResult *withheld = NULL;
    for (int i = 0; i < result->n_cases; i++) {
        const CaseResult *one = &result->cases[i];
        if (one->state == CASE_WITHHELD && withheld == NULL) withheld = one;
        if (one->state != CASE_PASSED && one->state != CASE_WITHHELD) return one;
    }
    return withheld;
}
