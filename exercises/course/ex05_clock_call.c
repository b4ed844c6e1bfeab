// ex05_clock_call.c -- exercise 05 in the worker: work on the virtual clock.
#include "exercises/ex05_clock.h"
#include "exercises/grader/worker.h"
#include "exercises/support/virtual_work.h"

Status clock_call(const char *input, Answer *answer);
Status clock_call(const char *input, Answer *answer) {
    VirtualWork work = virtual_work_read(input);
    double seconds = POISON_REAL;
    virtual_clock_start(virtual_clock_read(input));
    answer_begin(answer);
    Status status = clock_elapsed(virtual_work_run, &work, &seconds);
    answer_status(answer, status);
    if (!status) answer_real(answer, seconds);
    return STATUS_OK;
}
