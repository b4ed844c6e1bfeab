// ex04_roofline_call.c -- calls a student's roofline. Input: flops, bytes, FLOP/s, bytes/s and
// measured seconds, with a space between; reals as strtod reads them, "nan" too.
#include "exercises/ex04_roofline.h"

#include <stdio.h>

#include "exercises/support/worker.h"

Status roofline_call(const char *input, Answer *answer) {
    long long flops, bytes;
    RooflineInput question;
    if (sscanf(input, "%lld %lld %lf %lf %lf", &flops, &bytes, &question.peak_flops_per_second,
               &question.bytes_per_second, &question.measured_seconds) != 5)
        return error_set(STATUS_FORMAT, "roofline: not five numbers: \"%s\"", input);
    question.flops = flops;
    question.bytes = bytes;
    RooflineResult result = {POISON_REAL, POISON_REAL, POISON_REAL, POISON_REAL,
                             (RooflineBound)0x5aaaaaaa};
    answer_begin(answer);
    Status status = roofline(&question, &result);
    answer_status(answer, status);
    if (status) return STATUS_OK;
    answer_real(answer, result.intensity);
    answer_real(answer, result.ridge);
    answer_real(answer, result.roof_seconds);
    answer_real(answer, result.roof_fraction);
    answer_integer(answer, (int64_t)result.bound);
    return STATUS_OK;
}
