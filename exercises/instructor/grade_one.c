// grade_one.c -- grades one submission: copies out what is graded and runs the lab program over it.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/instructor/instructor.h"
#include "tensor/memory.h"

enum { MOST_SECONDS = 900, MOST_ARGUMENTS = 12 };

static _Noreturn void live(const char *const argv[], const char *log) {
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0) _exit(126);
    int file = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : STDOUT_FILENO;
    if (file < 0 || (log && (dup2(file, 1) < 0 || dup2(file, 2) < 0))) _exit(126);
    alarm(MOST_SECONDS); // stays over exec
    execv(argv[0], (char *const *)(void *)argv);
    _exit(127);
}

bool lab_run(const Orders *orders, const char *student, const Stage *stage, const char *folder,
             const char *log) {
    const char *argv[MOST_ARGUMENTS] = {orders->lab, "grade", stage->folder, "--output", folder};
    int count = 5;
    if (student != NULL) {
        argv[count++] = "--student";
        argv[count++] = student;
    }
    if (orders->secret != NULL) {
        argv[count++] = "--secret";
        argv[count++] = orders->secret;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) live(argv, log);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A submission that is refused is graded as empty, so that there is a result.
static int grade_path(const Orders *orders, Stage *stage, const char *folder) {
    int end = INSTRUCTOR_DONE;
    if (stage_fill(stage, orders->argument) != STATUS_OK) {
        end = instructor_refuse(INSTRUCTOR_FAILED, "refused: %s", error_message());
        error_clear();
    }
    if (lab_run(orders, orders->student, stage, folder, NULL)) return end;
    return instructor_refuse(INSTRUCTOR_FILE, "%s: the grader failed", orders->argument);
}

int command_grade(const Orders *orders) {
    char folder[PATH_MAX];
    int length = (int)strlen(orders->argument);
    while (length > 1 && orders->argument[length - 1] == '/') length--;
    if (orders->output)
        snprintf(folder, sizeof folder, "%s", orders->output);
    else
        snprintf(folder, sizeof folder, "%.*s-grade", length, orders->argument);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        return instructor_refuse(INSTRUCTOR_FILE, "%s: %s", folder, strerror(errno));
    }
    Stage *stage = memory_new(sizeof *stage);
    Status status = stage ? stage_new(stage) : error_status();
    int end = status ? instructor_fail() : grade_path(orders, stage, folder);
    if (stage) stage_remove(stage);
    memory_free(stage);
    return end;
}
