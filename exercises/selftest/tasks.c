// tasks.c -- runs tasks, each in a process of its own, as many at a time as there are cores.
// A process that outlives its grader becomes a child of this process, and is counted.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_LANES = 8, TASK_SECONDS = 240 };

typedef struct Lanes {
    pid_t pids[MOST_LANES]; // 0: free
    int tasks[MOST_LANES];
    int count, done;
} Lanes;

static _Noreturn void live(const Task *task, Finding *finding) {
    alarm(TASK_SECONDS);
    const char *reason = task->plain ? alone_become(ALONE_PLAIN) : NULL;
    if (reason)
        finding_skip(finding, reason);
    else
        task->run(task, finding);
    if (error_pending()) finding_fail(finding, "%s", error_message());
    _exit(0);
}

static void progress(const TaskList *list, const Lanes *lanes, const char *name) {
    if (!isatty(STDOUT_FILENO)) return;
    printf("\r%4d/%d  %-60.60s", lanes->done, list->count, name);
    fflush(stdout);
}

static void start(const TaskList *list, Finding *findings, Lanes *lanes, int index) {
    int lane = 0;
    while (lanes->pids[lane] != 0) lane++;
    const Task *task = &list->tasks[index];
    progress(list, lanes, task->name);
    pid_t pid = fork();
    if (pid == 0) live(task, &findings[index]);
    if (pid < 0) {
        finding_fail(&findings[index], "fork: %s", strerror(errno));
        lanes->done++;
        return;
    }
    lanes->pids[lane] = pid;
    lanes->tasks[lane] = index;
}

// Waits for one child; a stranger is what some grader has ended, and its parent did not wait for.
static bool finish_one(Finding *findings, Lanes *lanes) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0) return errno == EINTR;
    int lane = 0;
    while (lane < MOST_LANES && lanes->pids[lane] != pid) lane++;
    if (lane == MOST_LANES) return true;
    lanes->pids[lane] = 0;
    lanes->done++;
    if (WIFSIGNALED(status)) {
        finding_fail(&findings[lanes->tasks[lane]], "the grader died of signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return true;
}

// Children that are left when every task has ended.
static int end_survivors(void) {
    char path[64];
    int count = 0, pid = 0;
    for (int tries = 0; tries < 100 && waitpid(-1, NULL, WNOHANG) >= 0; tries++) usleep(10000);
    for (int tries = 0; tries < 100; tries++) {
        snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
        FILE *file = fopen(path, "r");
        int found = 0;
        while (file != NULL && fscanf(file, "%d", &pid) == 1) {
            found++;
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
        }
        if (file != NULL) fclose(file);
        if (found == 0) break;
        count += found;
    }
    return count;
}

int tasks_run(const TaskList *list, Finding findings[]) {
    size_t bytes = ((size_t)list->count + 1) * sizeof *findings;
    Finding *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        error_set(STATUS_OUT_OF_MEMORY, "selftest: %zu bytes of shared memory. HINT: free some",
                  bytes);
        return 0;
    }
    memset(shared, 0, bytes);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    Lanes lanes = {.count = cores < 1 ? 1 : cores > MOST_LANES ? MOST_LANES : (int)cores};
    for (int begun = 0; lanes.done < list->count;) {
        if (begun < list->count && begun < lanes.done + lanes.count)
            start(list, shared, &lanes, begun++);
        else if (!finish_one(shared, &lanes))
            break;
    }
    if (isatty(STDOUT_FILENO)) printf("\r%-72s\r", "");
    memcpy(findings, shared, bytes - sizeof *findings);
    munmap(shared, bytes);
    return end_survivors();
}
