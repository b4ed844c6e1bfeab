// ex02_count_flops_call.c -- exercise 02 in the worker. Input: "twice=1 times=2", each optional,
// and "model=" with a model text and its shape at the end; `times` multiplies the rows of the
// second call.
#include <string.h>

#include "exercises/ex02_count_flops.h"
#include "exercises/support/input.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

Status count_flops_call(const char *input, Answer *answer);
Status count_flops_call(const char *input, Answer *answer) {
    Shape shape;
    const char *text = strstr(input, "model=");
    if (!text) return error_set(STATUS_FORMAT, "exercise 02: no model. HINT: model=... at the end");
    Layer *model = remote_model(text + strlen("model="), &shape);
    if (!model) return error_status();
    int64_t flops = POISON_INTEGER, again = POISON_INTEGER;
    bool twice = input_integer(input, "twice", 0) != 0;
    answer_begin(answer); // answers come after the last call, which may read a clock
    Status status = count_flops(model, shape, &flops);
    shape.dims[1] *= input_integer(input, "times", 1);
    if (!status && twice && count_flops(model, shape, &again)) again = POISON_INTEGER;
    answer_status(answer, status);
    if (!status) answer_integer(answer, flops);
    if (!status && twice) answer_integer(answer, again);
    return STATUS_OK;
}
