// program_stop.c -- SIGINT and SIGTERM: until a measurement begins, they end the process as usual.
// From then on, the first one ends the work between two steps, so that the results so far are
// printed and written; the second one ends the process.
#include <signal.h>
#include <unistd.h>

#include "profiler/program/program.h"
#include "tensor/clock.h"

// Globals, since a handler can reach nothing else: the signal and its time in nanoseconds, and the
// measuring child process, which the handler kills.
static volatile sig_atomic_t stopped_by, helper;
static volatile int64_t stopped_at;

// timeout(1) and the like signal a process, and then its group: this counts as one signal.
static void take(int number) {
    static const char text[] = "\nstopping with what there is; once more stops at once\n";
    const int64_t one_wish = 200 * 1000 * 1000; // nanoseconds
    int64_t now = clock_nanoseconds();
    if (!stopped_by) {
        stopped_by = number;
        stopped_at = now;
        if (helper > 0) kill(helper, SIGKILL);
        ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
        (void)ignored;
    } else if (now - stopped_at > one_wish) {
        signal(number, SIG_DFL);
        raise(number); // delivered after this handler returns
    }
}

void program_watch_signals(void) {
    const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART}, was;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 2; i++) // ignored signals stay so, as for background processes
        if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

void program_watch_helper(int process) {
    program_watch_signals();
    helper = process;
    if (stopped_by && process > 0) kill(process, SIGKILL); // the signal came before the process
}

bool program_is_stopped(void) { return stopped_by != 0; }

int program_stop_code(int code) { return stopped_by ? 128 + stopped_by : code; }
