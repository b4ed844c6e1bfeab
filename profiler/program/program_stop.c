// program_stop.c -- SIGINT and SIGTERM: while a model is loaded, and until a measurement begins,
// they end the process, as ever. From then on the first lets the work end between two steps, so
// that what was measured and learnt so far is told and written; the second ends the process.
#include <signal.h>
#include <unistd.h>

#include "profiler/program/program.h"
#include "tensor/clock.h"

// A handler can reach nothing else: which signal has come, and when, and the process that measures
// for this one, whose figures are not waited for.
static volatile sig_atomic_t stopped_by, helper;
static volatile int64_t stopped_at;

// timeout(1) and the like tell a process, and then its group: that is one wish, not two.
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
        raise(number); // comes when this handler has returned
    }
}

void program_watch_signals(void) {
    const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART}, was;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 2; i++) // not of a process in the background, which is to live on
        if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

void program_watch_helper(int process) {
    program_watch_signals();
    helper = process;
    if (stopped_by && process > 0) kill(process, SIGKILL); // it came before there was one to tell
}

bool program_is_stopped(void) { return stopped_by != 0; }

int program_stop_code(int code) { return stopped_by ? 128 + stopped_by : code; }
