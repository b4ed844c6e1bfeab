// profile.c -- ./lab profile: builds profile_program with the student's files, and runs it.
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/lab/command.h"

static int run(char *const arguments[]) {
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = 127 << 8;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_profile(Lab *lab) {
    char files[PATH_MAX + 16];
    snprintf(files, sizeof files, "STUDENT_FILES=%s", lab->folder);
    char *const build[] = {"make", "--no-print-directory", "-s", "lab-profile", files, NULL};
    char *const profile[] = {"build/lab/profile", NULL};
    fflush(stdout);
    if (run(build) != 0)
        return lab_refuse(LAB_FILE, "profile: make lab-profile failed; its messages are above");
    int status = run(profile);
    return status > 128 ? LAB_FAILED : status;
}
