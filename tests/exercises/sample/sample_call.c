// sample_call.c -- the worker's side of the tests' own exercise: `Status sample(int64_t n, int64_t
// *twice, double *half)`. Input: n.
#include <stdlib.h>

#include "exercises/support/worker.h"

Status sample(int64_t n, int64_t *twice, double *half);

Status sample_call(const char *input, Answer *answer);
Status sample_call(const char *input, Answer *answer) {
    int64_t twice = POISON_INTEGER;
    double half = POISON_REAL;
    if (input[0] == '!') return error_set(STATUS_FORMAT, "no number");
    answer_begin(answer);
    Status status = sample(strtoll(input, NULL, 10), &twice, &half);
    answer_status(answer, status);
    if (status) return STATUS_OK;
    answer_integer(answer, twice);
    answer_real(answer, half);
    return STATUS_OK;
}
