// hostile_check.c -- hostile files, each handed in for a real exercise beside a right solution of
// another one: it gets the word that it announces, no point and no answer, and leaves nothing; the
// other exercise does not notice. With the list of symbols, without it (so that containment is what
// holds), and without the list of system calls either; as root and as a plain user.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/text_file.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 64 << 10, WORDS = 120, SOURCE_LINE = 80 };
enum { WITH_LIST, WITHOUT_LIST, BARE, MODES };

static const char *const mode_names[MODES] = {"", ", any symbol", ", any symbol and system call"};

// ---- one of them -------------------------------------------------------------------------------
// Word number `index` of "forbidden, exited/crashed, timed_out".
static void word_at(const char *words, int index, char *word) {
    for (; index > 0; index--) {
        words += strcspn(words, ",");
        words += strspn(words, ", ");
    }
    snprintf(word, WORDS, "%.*s", (int)strcspn(words, ",-\n"), words);
    word[strcspn(word, " ")] = '\0';
}

// Is `state` one of "exited/crashed"?
static bool is_word(const char *words, CaseState state) {
    const char *wanted = case_state_word(state);
    size_t length = strlen(wanted);
    for (const char *at = words; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, wanted, length) == 0 && (at[length] == '/' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static const ExerciseCase *first_code_case(const Exercise *exercise) {
    for (int i = 0; exercise->answers == NULL && i < exercise->n_cases; i++) {
        if (exercise->cases[i].by_hand == NULL) return &exercise->cases[i];
    }
    return NULL;
}

// An exercise of which one case is asked: a file that never ends is to cost seconds once.
static Exercise with_one_case(const Exercise *exercise) {
    Exercise one = *exercise;
    one.cases = first_code_case(exercise);
    one.n_cases = 1;
    return one;
}

static const Exercise *neighbour_of(const Exercise *exercise) {
    for (int i = 0; i < exercise_count; i++) {
        bool solved = exercises[i] != exercise && first_code_case(exercises[i]) != NULL;
        if (solved && first_code_case(exercises[i])->needs == NULL) return exercises[i];
    }
    return NULL;
}

static void judge(const Task *task, const GradeResult *result, Finding *finding) {
    const CaseResult *own = &result->exercises[0].cases[0];
    char wanted[WORDS], bare[WORDS];
    word_at(task->words, task->mode, wanted);
    word_at(task->words, BARE, bare);
    // Where system calls cannot be listed, a file gets as far as without the list.
    bool listed = (result->layers & LAYER_SECCOMP) || task->mode != WITHOUT_LIST;
    if (!is_word(wanted, own->state) && (listed || !is_word(bare, own->state)))
        finding_fail(finding, "%s instead of %s: %s", case_state_word(own->state), wanted,
                     own->detail);
    if (own->points > 0) finding_fail(finding, "it got a point");
    if (own->output && strstr(own->output, "LEAKED")) finding_fail(finding, "%s", own->output);
    if (result->n_exercises < 2) return;
    const CaseResult *other = &result->exercises[1].cases[0];
    if (other->state == CASE_PASSED) return;
    finding_fail(finding, "beside it, exercise %s is %s: %s", result->exercises[1].exercise->number,
                 case_state_word(other->state), other->detail);
}

static Status fill(const Scratch *scratch, const Task *task, const Exercise *neighbour,
                   DrawKey key) {
    char name[TASK_NAME], first[SOURCE_LINE];
    int length = (int)strcspn(task->exercise->function, " ");
    snprintf(first, sizeof first, "#define EXERCISE %.*s\n", length, task->exercise->function);
    exercise_file(task->exercise, name);
    char *source = memory_new(strlen(first) + strlen(task->text) + 1);
    if (source == NULL) return error_status();
    strcat(strcpy(source, first), task->text);
    Status status = scratch_write(scratch, name, source);
    memory_free(source);
    if (status == STATUS_OK && neighbour) status = scratch_add_solution(scratch, neighbour, key);
    return status;
}

static void grade_hostile(const Task *task, Finding *finding) {
    Scratch scratch;
    GradeResult result = {0};
    const Exercise *neighbour = neighbour_of(task->exercise);
    Exercise own = with_one_case(task->exercise);
    Exercise other = neighbour ? with_one_case(neighbour) : own;
    const Exercise *const both[] = {&own, &other};
    Status status = scratch_new(&scratch);
    GradeOptions options = scratch_grade(&scratch, both, neighbour ? 2 : 1);
    if (task->mode != WITH_LIST) options.any_symbol = true;
    if (task->mode == BARE) options.without = LAYER_SECCOMP;
    if (!status) status = fill(&scratch, task, neighbour, options.key);
    if (!status) status = grade(&options, &result);
    if (!status) judge(task, &result, finding);
    grade_free(&result);
    scratch_remove(&scratch);
}

// ---- what they left ----------------------------------------------------------------------------
// Last of all tasks: the files that hostile sources try to leave have names that begin so.
static void look_for_files(const Task *task, Finding *finding) {
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};
    (void)task;
    for (int i = 0; i < 3; i++) {
        DIR *folder = opendir(folders[i]);
        if (folder == NULL) continue;
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            if (strncmp(entry->d_name, "hostile-", 8) != 0) continue;
            finding_fail(finding, "%s/%.200s is still there", folders[i], entry->d_name);
        }
        closedir(folder);
    }
}

// ---- all of them -------------------------------------------------------------------------------
static Status add_task(TaskList *list, const Exercise *exercise, const char *file, const char *text,
                       int mode, bool plain) {
    char name[TASK_NAME];
    snprintf(name, sizeof name, "%.28s%s%s", file, mode_names[mode], plain ? ", plain user" : "");
    Task *task = task_add(list, GROUP_HOSTILE, exercise, name, grade_hostile);
    if (task == NULL) return error_status();
    task->text = memory_copy_string(text);
    task->mode = mode;
    task->plain = plain;
    static const char mark[] = "// hostile: ";
    task->words = task->text ? task->text + strlen(mark) : NULL;
    if (task->text == NULL || strncmp(task->text, mark, strlen(mark)) == 0) return error_status();
    return error_set(STATUS_FORMAT,
                     "exercises/hostile/%s: it begins with \"%s\". HINT: see its "
                     "README",
                     file, mark);
}

static Status add_file(TaskList *list, const Exercise *exercise, const char *file) {
    char *text = file_read("exercises/hostile", file, MOST_TEXT, NULL);
    bool root = geteuid() == 0, quick = list->options->quick;
    Status status = error_status();
    for (int mode = 0; mode < (quick ? BARE : MODES) && !status; mode++) {
        status = add_task(list, exercise, file, text, mode, false);
        if (!status && root && !quick) status = add_task(list, exercise, file, text, mode, true);
    }
    memory_free(text);
    return status;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_source(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 2 && strcmp(entry->d_name + length - 2, ".c") == 0;
}

// The first exercise that is asked for and has one function to attack.
static const Exercise *target_of(const TaskList *list) {
    for (int i = 0; i < exercise_count; i++) {
        const Exercise *exercise = exercises[i];
        if (!is_asked(list->options, exercise) || first_code_case(exercise) == NULL) continue;
        if (strchr(exercise->function, ' ') == NULL) return exercise;
    }
    return NULL;
}

Status hostile_tasks(TaskList *list) {
    const Exercise *target = target_of(list);
    if (target == NULL) return STATUS_OK;
    struct dirent **entries;
    int count = scandir("exercises/hostile", &entries, is_source, by_name);
    if (count <= 0) {
        return error_set(STATUS_IO, "exercises/hostile: no sources. HINT: run this in the project");
    }
    Status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK) status = add_file(list, target, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (status == STATUS_OK) task_add(list, GROUP_HOSTILE, NULL, "files left", look_for_files);
    return status ? status : error_status();
}
