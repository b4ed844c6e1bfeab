// grade.c -- grades one submission, or a class: copies each submission (stage.c) and runs the lab
// program on it, so that a submission that breaks the grader harms no other. Submissions of a class
// that were graded before, with the same files, numbers and grader, are left alone.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/confine.h"
#include "exercises/instructor/instructor.h"
#include "layers/files/whole_file.h"
#include "tensor/memory.h"

enum { MOST_SECONDS = 900, MOST_ARGUMENTS = 12, MOST_PROGRAM = 256 << 20, MARK_BYTES = 4096 };

// ---- the lab program ---------------------------------------------------------------------------
static _Noreturn void live(const char *const argv[], const char *log) {
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0) _exit(126);
    int file = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : STDOUT_FILENO;
    if (file < 0 || (log && (dup2(file, 1) < 0 || dup2(file, 2) < 0))) _exit(126);
    alarm(MOST_SECONDS); // survives exec
    execv(argv[0], (char *const *)(void *)argv);
    _exit(127);
}

// Runs the lab program on the staged files, to write results into an existing folder. Its output
// goes to the file `log`, or with NULL to our output. True if it ended with status 0, and in time.
static bool lab_run(const Orders *orders, const char *student, const Stage *stage,
                    const char *folder, const char *log) {
    const char *argv[MOST_ARGUMENTS] = {orders->lab, "grade", stage->room.path, "--output", folder};
    int count = 5;
    if (student != NULL) {
        argv[count++] = "--student";
        argv[count++] = student;
    }
    if (orders->secret != NULL) {
        argv[count++] = "--secret";
        argv[count++] = orders->secret;
    }
    if (orders->disposable) argv[count++] = "--disposable";
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) live(argv, log);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        if (confine_is_called_off()) (void)kill(child, SIGTERM);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- one submission ----------------------------------------------------------------------------
// Makes the folder of the results: --output, or one beside the submission.
static Status make_output(const Orders *orders, const char *suffix, char folder[PATH_MAX]) {
    int length = (int)strlen(orders->argument);
    while (length > 1 && orders->argument[length - 1] == '/') length--;
    if (orders->output != NULL)
        snprintf(folder, PATH_MAX, "%s", orders->output);
    else
        snprintf(folder, PATH_MAX, "%.*s%s", length, orders->argument, suffix);
    if (mkdir(folder, 0755) == 0 || errno == EEXIST) return STATUS_OK;
    return error_set(STATUS_IO, "%.300s: %s. HINT: --output names another folder", folder,
                     strerror(errno));
}

// Grades one submission; a refused one is graded as empty, so that there is a result.
static int grade_path(const Orders *orders, Stage *stage, const char *folder) {
    int end = INSTRUCTOR_DONE;
    if (stage_fill_from(stage, orders->argument) != STATUS_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", error_message());
        text_clean(why);
        end = instructor_refuse(INSTRUCTOR_FAILED, "refused: %s", why);
        error_clear();
    } else if (stage->note[0] != '\0') {
        instructor_refuse(INSTRUCTOR_DONE, "%s", stage->note);
    }
    if (lab_run(orders, orders->student, stage, folder, NULL)) return end;
    return instructor_refuse(INSTRUCTOR_FILE, "%s: the grader failed", orders->argument);
}

int command_grade(const Orders *orders) {
    char folder[PATH_MAX];
    if (make_output(orders, "-grade", folder)) return instructor_fail();
    ConfineHold hold;
    confine_hold(&hold);
    Stage *stage = memory_new(sizeof *stage);
    Status status = stage ? stage_new(stage) : error_status();
    int end = status ? instructor_fail() : grade_path(orders, stage, folder);
    if (stage) stage_remove(stage);
    memory_free(stage);
    confine_release(&hold);
    return end;
}

// ---- a class: what was graded before -----------------------------------------------------------
typedef struct ClassRun {
    const Orders *orders;
    char output[PATH_MAX];
    char grader[STAGE_DIGEST], secret[STAGE_DIGEST]; // digests, to notice changes
    int outcomes[OUTCOME_COUNT];
} ClassRun;

// Writes a text of everything that a grade depends on, to notice any change.
static void write_mark(const ClassRun *run, const Member *member, const Stage *stage,
                       const char *note, char mark[MARK_BYTES]) {
    int used = snprintf(mark, MARK_BYTES, "grader %s\nsecret %s\nstudent %s\nnote %s\n",
                        run->grader, run->secret, member->student, note);
    char files[STAGE_MOST_FILES * (STAGE_DIGEST + STAGE_NAME + 2)] = "", sum[STAGE_DIGEST];
    size_t length = 0;
    for (int i = 0; i < stage->n_files; i++) {
        length += (size_t)snprintf(files + length, sizeof files - length, "%s %s\n",
                                   stage->files[i].digest, stage->files[i].name);
    }
    digest_text(files, length, sum);
    snprintf(mark + used, MARK_BYTES - (size_t)used, "files %s\n", sum);
}

static void member_path(const ClassRun *run, const Member *member, const char *name,
                        char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.3900s/%s%s%s", run->output, member->folder, name[0] ? "/" : "",
             name);
}

static bool is_graded(const ClassRun *run, const Member *member, const char *mark, Result *result) {
    char path[PATH_MAX];
    member_path(run, member, "graded", path);
    char *before = run->orders->again ? NULL : file_read(NULL, path, MARK_BYTES, NULL);
    bool same = before != NULL && strcmp(before, mark) == 0;
    memory_free(before);
    member_path(run, member, "", path);
    bool read = same && result_read(path, result) == STATUS_OK;
    if (!read) result_free(result);
    error_clear(); // an unreadable mark or result counts as missing
    return read;
}

static Status write_file(const char *path, const char *text) {
    WholeFile *file = whole_file_open(path);
    if (file == NULL) return error_status();
    whole_file_write(file, text, strlen(text));
    return whole_file_close(file);
}

// ---- a class: each submission ------------------------------------------------------------------
static void conclude(Graded *graded, bool done, const char *folder) {
    Status status = result_read(folder, &graded->result);
    if (done && status == STATUS_OK) return;
    graded->outcome = OUTCOME_BROKEN;
    snprintf(graded->note, sizeof graded->note, "the grader failed; it says why in %s/grader.log",
             graded->member->folder);
    error_clear();
}

// Each submission gets a result: if the grader fails, a result of zero remains.
static Status grade_staged(const ClassRun *run, const Stage *stage, const char *mark,
                           Graded *graded) {
    char folder[PATH_MAX], marked[PATH_MAX], result[PATH_MAX], log[PATH_MAX];
    const Member *member = graded->member;
    member_path(run, member, "", folder);
    member_path(run, member, "graded", marked);
    member_path(run, member, "result.json", result);
    member_path(run, member, "grader.log", log);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        return error_set(STATUS_IO, "%.300s: %s. HINT: is it writable?", folder, strerror(errno));
    }
    unlink(marked);
    unlink(result);
    bool done = lab_run(run->orders, member->student, stage, folder, log);
    conclude(graded, done, folder);
    Status status = student_report_write(graded, run->output);
    bool marks = status == STATUS_OK && graded->outcome != OUTCOME_BROKEN;
    return marks ? write_file(marked, mark) : status;
}

static void take_notes(Graded *graded, const Stage *stage, const char *refused) {
    char entries[32] = "";
    const char *const notes[] = {refused, graded->member->note, entries,
                                 refused[0] ? "" : stage->note};
    size_t used = 0, size = sizeof graded->note;
    if (graded->member->n_parts > 1)
        snprintf(entries, sizeof entries, "of %d entries", graded->member->n_parts);
    for (int i = 0; i < 4 && used < size; i++) {
        if (notes[i][0] == '\0') continue;
        used +=
            (size_t)snprintf(graded->note + used, size - used, "%s%s", used ? "; " : "", notes[i]);
    }
    text_clean(graded->note);
    for (char *c = graded->note; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t') *c = '?'; // keeps it one line
}

static void refuse_submission(Graded *graded, const Stage *stage) {
    char refused[512];
    graded->outcome = OUTCOME_REFUSED;
    snprintf(refused, sizeof refused, "refused: %.500s", error_message());
    take_notes(graded, stage, refused);
    error_clear();
}

static Status grade_member(const ClassRun *run, Graded *graded) {
    char mark[MARK_BYTES];
    const Member *member = graded->member;
    if (member->n_parts == 0) {
        graded->outcome = OUTCOME_ABSENT;
        return STATUS_OK;
    }
    ConfineHold hold;
    Stage *stage = memory_new(sizeof *stage);
    if (stage == NULL) return error_status();
    confine_hold(&hold);
    Status status = stage_new(stage);
    if (status == STATUS_OK && stage_fill(stage, member) == STATUS_OK)
        take_notes(graded, stage, "");
    else if (!status && (error_status() == STATUS_OUT_OF_MEMORY || room_is_full(&stage->room)))
        status = error_status(); // the machine's fault
    else if (!status)
        refuse_submission(graded, stage);
    if (status == STATUS_OK) {
        write_mark(run, member, stage, graded->note, mark);
        bool known = is_graded(run, member, mark, &graded->result);
        if (!known)
            status = grade_staged(run, stage, mark, graded);
        else if (graded->outcome != OUTCOME_REFUSED)
            graded->outcome = OUTCOME_UNCHANGED;
    }
    stage_remove(stage);
    memory_free(stage);
    confine_release(&hold);
    return status;
}

// ---- a class: all of it ------------------------------------------------------------------------
static Status digest_file(const char *path, char digest[STAGE_DIGEST]) {
    size_t count = 0;
    char *bytes = file_read(NULL, path, MOST_PROGRAM, &count);
    if (bytes == NULL) return error_status();
    digest_text(bytes, count, digest);
    memory_free(bytes);
    return STATUS_OK;
}

static Status prepare(ClassRun *run) {
    const Orders *orders = run->orders;
    if (make_output(orders, "-grades", run->output)) return error_status();
    Status status = digest_file(orders->lab, run->grader);
    if (status == STATUS_OK && orders->secret) status = digest_file(orders->secret, run->secret);
    return status;
}

static Status grade_members(ClassRun *run, Graded *graded, const Class *class) {
    Status status = STATUS_OK;
    for (int i = 0; i < class->count && status == STATUS_OK; i++) {
        graded[i].member = &class->members[i];
        status = grade_member(run, &graded[i]);
        run->outcomes[graded[i].outcome]++;
        class_print_member(&graded[i], i, class->count);
    }
    if (status == STATUS_OK)
        status = class_csv_write(graded, class->count, class->possible, run->output);
    return status ? status
                  : gradebook_write(graded, class->count, class->possible, run->orders->assignment,
                                    run->output);
}

int command_grade_all(const Orders *orders) {
    ClassRun *run = memory_new(sizeof *run);
    Class class = {.count = 0};
    if (run == NULL) return instructor_fail();
    run->orders = orders;
    Status status = prepare(run);
    if (status == STATUS_OK) status = class_read(orders->argument, &class);
    if (status == STATUS_OK && orders->roster) status = class_add_roster(&class, orders->roster);
    class_pass_over(&class, orders->argument, orders->roster);
    class_pass_over(&class, orders->argument, orders->written);
    if (status == STATUS_OK && orders->written) status = class_add_written(&class, orders->written);
    Graded *graded = status ? NULL : memory_new(((size_t) class.count + 1) * sizeof *graded);
    if (graded != NULL) status = grade_members(run, graded, &class);
    const int *outcomes = run->outcomes;
    if (status == STATUS_OK && graded != NULL) {
        class_print_skipped(&class);
        printf("%s/class.csv:\n  %d graded now, %d before, %d refused, %d failed, %d absent; "
               "%d skipped\n",
               run->output, outcomes[OUTCOME_GRADED], outcomes[OUTCOME_UNCHANGED],
               outcomes[OUTCOME_REFUSED], outcomes[OUTCOME_BROKEN], outcomes[OUTCOME_ABSENT],
               class.n_skipped);
    }
    bool all = outcomes[OUTCOME_BROKEN] + outcomes[OUTCOME_REFUSED] + class.n_skipped == 0;
    int end = all ? INSTRUCTOR_DONE : INSTRUCTOR_FAILED;
    for (int i = 0; graded && i < class.count; i++) result_free(&graded[i].result);
    memory_free(graded);
    class_free(&class);
    memory_free(run);
    return error_pending() ? instructor_fail() : end;
}
