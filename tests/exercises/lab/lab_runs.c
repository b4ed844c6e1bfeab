// lab_runs.c -- files and runs for the tests of ./lab.
#include "tests/exercises/lab/lab_runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/judge.h"
#include "tests/helpers/harness.h"

static char folder[PATH_MAX]; // "": there is none

// ---- files -------------------------------------------------------------------------------------
static void put(const char *name, const char *bytes, size_t size) {
    char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static char *take(const char *path, size_t *size) {
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is not there", path);
    char *text = malloc(MOST + 1);
    *size = fread(text, 1, MOST, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

void lab_put(const char *name, const char *text) { put(name, text, strlen(text)); }

void lab_copy(const char *from, const char *name) {
    size_t size;
    char *text = take(from, &size);
    put(name, text, size);
    free(text);
}

void lab_solve(const char *number_and_name) {
    char from[PATH_MAX], name[128];
    snprintf(name, sizeof name, "ex%s.c", number_and_name);
    snprintf(from, sizeof from, "exercises/solutions/%s", name);
    lab_copy(from, name);
}

void lab_solve_by_hand(const char *secret, const char *student) {
    char text[4096] = "", value[VALUE_TEXT];
    DrawKey key = {.secret = secret, .student = student};
    CaseRun *run = calloc(1, sizeof *run);
    for (int i = 0; i < exercise_count; i++)
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *one = &exercises[i]->cases[k];
            size_t used = strlen(text);
            if (!one->by_hand) continue;
            ck_assert_int_eq(exercise_run_make(exercises[i], one, key, 0, NULL, run), STATUS_OK);
            snprintf(text + used, sizeof text - used, "%s = %s\n", one->by_hand,
                     value_text(&run->values[0], run->values[0].value, value));
        }
    free(run);
    lab_put("by_hand.txt", text);
}

char *lab_take(const char *name) {
    char path[PATH_MAX + 256];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return take(path, &size);
}

// Deletes the files of one folder, and the folder; a folder with subfolders stays.
static void empty(const char *below) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s%s", folder, below);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = directory >= 0 ? fdopendir(directory) : NULL;
    if (!list) return;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        unlinkat(dirfd(list), entry->d_name, 0); // fails for folders
    closedir(list);
    rmdir(path);
}

void lab_folder_remove(void) {
    if (strncmp(folder, "/tmp/lab-", 9) != 0) return;
    empty("/.lab/backup");
    empty("/.lab");
    empty("/out");
    empty("");
    folder[0] = '\0';
}

const char *lab_folder(void) {
    lab_folder_remove();
    snprintf(folder, sizeof folder, "/tmp/lab-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    glob_t found;
    ck_assert_int_eq(glob("exercises/.lab/skeletons/*", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        lab_copy(found.gl_pathv[i], strrchr(found.gl_pathv[i], '/') + 1);
    globfree(&found);
    return folder;
}

const char *lab_text_folder(void) {
    char command[PATH_MAX + 16];
    lab_folder();
    snprintf(command, sizeof command, "rm %s/ex*.c", folder);
    ck_assert_int_eq(system(command), 0);
    return folder;
}

// ---- runs --------------------------------------------------------------------------------------
void lab_assert_in(const char *text, const char *part) {
    ck_assert_msg(text && strstr(text, part), "lacks \"%s\":\n%.3000s", part,
                  text ? text : "nothing");
}

// Fails unless the program's own words are all ASCII.
static void assert_narrow(const char *text) {
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        ck_assert_msg(length <= 80, "%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

char *lab_run_bare(const char *arguments, int status, const char *part) {
    ProgramRun run = program_run(program_path("lab"), arguments, PROGRAM_CAPTURED);
    ck_assert_msg(run.status == status, "lab %s: exit status %d instead of %d\n%.3000s%.300s",
                  arguments, run.status, status, run.out, run.err);
    lab_assert_in(run.out, part);
    assert_narrow(run.out);
    free(run.err);
    return run.out;
}

static char *with_files(const char *arguments) {
    size_t size = strlen(arguments) + strlen(folder) + 16;
    char *all = malloc(size);
    snprintf(all, size, "%s --files %s", arguments, folder);
    return all;
}

char *lab_run(const char *arguments, int status, const char *part) {
    char *all = with_files(arguments), *out = lab_run_bare(all, status, part);
    free(all);
    return out;
}

void lab_refused(const char *arguments, int status, const char *first, const char *second) {
    char *all = folder[0] ? with_files(arguments) : strdup(arguments);
    ProgramRun run = program_run(program_path("lab"), all, PROGRAM_CAPTURED);
    ck_assert_msg(run.status == status, "lab %s: exit status %d instead of %d\n%s%s", all,
                  run.status, status, run.out, run.err);
    ck_assert_msg(program_count_lines(run.err) == 1, "lab %s: not one line: %s", all, run.err);
    ck_assert_int_eq(strncmp(run.err, "lab: ", 5), 0);
    lab_assert_in(run.err, first);
    lab_assert_in(run.err, second);
    program_run_free(&run);
    free(all);
}
