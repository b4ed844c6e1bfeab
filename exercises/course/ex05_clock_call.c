// ex05_clock_call.c -- exercise 05 in the worker: work and clock are the grader's. The worker
// checks that the work is called with its argument.
#include "exercises/ex05_clock.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

static int the_argument, calls_without;

static void work(void *argument) {
    if (argument != &the_argument) calls_without = 1;
    remote_work(argument);
}

Status clock_call(const char *input, Answer *answer);
Status clock_call(const char *input, Answer *answer) {
    double seconds = POISON_REAL;
    (void)input;
    calls_without = 0;
    answer_begin(answer);
    Status status = clock_elapsed(work, &the_argument, &seconds);
    answer_status(answer, status);
    if (status) return STATUS_OK;
    answer_real(answer, seconds);
    answer_integer(answer, calls_without);
    return STATUS_OK;
}
