// ex80_dot_product_call.c -- exercise 80 in the worker.
#include <stdlib.h>

#include "exercises/ex80_dot_product.h"
#include "exercises/support/worker.h"

Status dot_product_call(const char *input, Answer *answer);

Status dot_product_call(const char *input, Answer *answer) {
    enum { MOST = 64 };
    int64_t x[MOST], y[MOST], result = POISON_INTEGER;
    char *at;
    int64_t count = strtoll(input, &at, 10);
    if (count > MOST) return STATUS_INVALID_ARGUMENT;
    for (int64_t i = 0; i < count; i++) {
        x[i] = strtoll(at, &at, 10);
        y[i] = strtoll(at, &at, 10);
    }
    answer_begin(answer);
    Status status = dot_product(x, y, count, &result);
    answer_status(answer, status);
    if (status == STATUS_OK) answer_integer(answer, result);
    return STATUS_OK;
}
