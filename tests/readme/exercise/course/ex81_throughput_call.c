// ex81_throughput_call.c -- exercise 81 in the worker: what runs is told to the grader, which lets
// its time pass.
#include "exercises/ex81_throughput.h"
#include "exercises/support/input.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

Status throughput_call(const char *input, Answer *answer);

Status throughput_call(const char *input, Answer *answer) {
    double per_second = POISON_REAL;
    answer_begin(answer);
    Status status = throughput(remote_work, NULL, input_integer(input, "runs", 0), &per_second);
    answer_status(answer, status);
    if (status == STATUS_OK) answer_real(answer, per_second);
    return STATUS_OK;
}
