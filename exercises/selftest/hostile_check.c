// hostile_check.c -- hostile files, each handed in for a real exercise beside a right solution of
// another one: it gets the word that it announces, no point, and sees nothing of a secret; the
// other exercise does not notice, nothing is left, and a bystander lives. With calls looked at,
// without (so that confinement is what holds), and under bubblewrap in place of Landlock; as root
// and as a plain user. Only where nothing can be harmed: alone.h.
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20, WORDS = 120, SOURCE_LINE = 80, TRIES = 3 };
enum { LOOKED_AT, ANY_NAME, WRAPPED, MODES };

static const char *const mode_names[MODES] = {"", ", any name", ", any name, bubblewrap"};

// Hostile files look for it. It stands where every account may read it.
#define SECRET_FOLDER "/tmp/hostile-secret"
static const char secret_file[] = SECRET_FOLDER "/secret.h", secret_word[] = "Canary4711Word";
static const char secret_text[] = "static const char word[] = \"Canary4711Word\";\n";

// ---- one of them -------------------------------------------------------------------------------
#define SOURCES "exercises/hostile/hostile.txt"

// Word number `index` of "forbidden, exited/crashed"; where there is one only, that.
static void word_at(const char *words, int index, char *word) {
    const char *second = strchr(words, ',');
    if (second && index > 0) words = second + strspn(second, ", ");
    snprintf(word, SECTION_WORDS, "%.*s", (int)strcspn(words, ", "), words);
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

static bool is_clean(const char *text) {
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') return false;
    return true;
}

// Fails on a text that shows a secret. A compiler may quote the file, and with it LEAKED.
static void look_for_secret(const char *text, bool printed, Finding *finding) {
    if (text && (strstr(text, secret_word) || (printed && strstr(text, "LEAKED"))))
        finding_fail(finding, "it shows what it should not see: %.200s", text);
    if (!is_clean(text)) finding_fail(finding, "control characters in what it shows");
}

static void judge(const Task *task, const GradeResult *result, Finding *finding) {
    const CaseResult *own = &result->exercises[0].cases[0];
    char wanted[WORDS];
    word_at(task->words, task->mode == LOOKED_AT ? 0 : 1, wanted);
    if (!is_word(wanted, own->state))
        finding_fail(finding, "%s instead of %s: %s %.100s", case_state_word(own->state), wanted,
                     own->detail, own->output ? own->output : "");
    if (own->points > 0) finding_fail(finding, "it got a point");
    look_for_secret(own->output, true, finding);
    look_for_secret(own->detail, false, finding);
    look_for_secret(result->exercises[0].compiler, false, finding);
    look_for_secret(result->exercises[0].note, false, finding);
    const char *harm = bystander_harm(&task->list->bystander);
    if (harm) finding_fail(finding, "%s", harm);
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
    if (status == STATUS_OK && neighbour) status = scratch_add_solution(scratch, neighbour, 1, key);
    return status;
}

static const char *reason_to_skip(const Task *task, unsigned without) {
    if (task->list->not_alone) return task->list->not_alone;
    bool kept_in = confine_is_safe(confine_layers_but(without));
    return kept_in ? NULL : "nothing here would keep it in";
}

static void grade_hostile(const Task *task, Finding *finding) {
    Scratch scratch = {""};
    GradeResult result = {0};
    const Exercise *neighbour = neighbour_of(task->exercise);
    Exercise own = with_one_case(task->exercise);
    Exercise other = neighbour ? with_one_case(neighbour) : own;
    const Exercise *const both[] = {&own, &other};
    GradeOptions options = scratch_grade(&scratch, both, neighbour ? 2 : 1);
    options.any_name = task->mode != LOOKED_AT;
    options.secret_file = secret_file;
    if (task->mode == WRAPPED) options.without = LAYER_FILES;
    const char *reason = reason_to_skip(task, options.without);
    if (reason) {
        finding_skip(finding, reason);
        return;
    }
    Status status = scratch_new(&scratch);
    if (!status) status = fill(&scratch, task, neighbour, options.key);
    for (int tries = 0; tries < TRIES && !status; tries++) { // a machine that is busy may not do it
        grade_free(&result);
        status = grade(&options, &result);
        if (!result.machine_failed) break;
    }
    if (!status) judge(task, &result, finding);
    grade_free(&result);
    scratch_remove(&scratch);
}

// ---- what they left ----------------------------------------------------------------------------
// Last of all tasks: the files that hostile sources try to leave have names that begin so.
static void look_for_files(const Task *task, Finding *finding) {
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};
    if (task->list->not_alone) return;
    for (int i = 0; i < 3; i++) {
        DIR *folder = opendir(folders[i]);
        if (folder == NULL) continue;
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            if (strncmp(entry->d_name, "hostile-", 8) != 0) continue;
            if (i == 0 && strcmp(entry->d_name, strrchr(SECRET_FOLDER, '/') + 1) == 0) continue;
            finding_fail(finding, "%s/%.200s is still there", folders[i], entry->d_name);
        }
        closedir(folder);
    }
    char *text = file_read(NULL, secret_file, MOST_TEXT, NULL);
    if (text == NULL || strcmp(text, secret_text) != 0)
        finding_fail(finding, "the secret is not what it was");
    memory_free(text);
    const char *harm = bystander_harm(&task->list->bystander);
    if (harm) finding_fail(finding, "%s", harm);
}

static Status make_secret(void) {
    if (mkdir(SECRET_FOLDER, 0755) != 0)
        return error_set(STATUS_IO, SECRET_FOLDER " cannot be made. HINT: is it there already?");
    Status status = file_write(NULL, secret_file, secret_text, strlen(secret_text));
    (void)!chmod(secret_file, 0666); // nothing but confinement protects it
    return status;
}

// ---- all of them -------------------------------------------------------------------------------
static Status add_task(TaskList *list, const Exercise *exercise, const Section *section, int mode,
                       bool plain) {
    char name[TASK_NAME];
    snprintf(name, sizeof name, "%.28s%s%s", section->name, mode_names[mode],
             plain ? ", plain user" : "");
    Task *task = task_add(list, GROUP_HOSTILE, exercise, name, grade_hostile);
    if (task == NULL) return error_status();
    task->text = memory_new(section->length + 1);
    if (task->text == NULL) return error_status();
    memcpy(task->text, section->body, section->length);
    snprintf(task->words, sizeof task->words, "%s", section->mark);
    task->mode = mode;
    task->plain = plain;
    return STATUS_OK;
}

static Status add_section(TaskList *list, const Exercise *exercise, const Section *section) {
    bool root = geteuid() == 0, quick = list->options->quick;
    if (section->mark[0] == '\0') {
        return error_set(STATUS_FORMAT, SOURCES ": %s: what is it to get? HINT: see its head",
                         section->name);
    }
    Status status = STATUS_OK;
    for (int mode = 0; mode < (quick ? WRAPPED : MODES) && !status; mode++) {
        status = add_task(list, exercise, section, mode, false);
        if (!status && root && !quick) status = add_task(list, exercise, section, mode, true);
    }
    return status;
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
    char *text = file_read(NULL, SOURCES, MOST_TEXT, NULL);
    Section section;
    Status status = text ? STATUS_OK : error_status();
    for (const char *at = text; status == STATUS_OK && section_next(&at, &section);) {
        status = add_section(list, target, &section);
    }
    memory_free(text);
    if (status == STATUS_OK && !list->not_alone) {
        status = make_secret();
        list->bystander = bystander_start();
    }
    if (status == STATUS_OK) task_add(list, GROUP_HOSTILE, NULL, "files left", look_for_files);
    return status ? status : error_status();
}
