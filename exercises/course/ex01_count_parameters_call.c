// ex01_count_parameters_call.c -- calls a student's count_parameters. Input: a model text.
#include "exercises/ex01_count_parameters.h"
#include "exercises/grader/worker.h"
#include "exercises/support/model_text.h"
#include "tensor/context.h"

Status count_parameters_call(const char *input, Answer *answer) {
    Shape shape;
    context_set_device(device_meta());
    Layer *model = model_from_text(input, &shape);
    if (!model) return error_status();
    int64_t count = POISON_INTEGER;
    answer_begin(answer);
    Status status = count_parameters(model, &count);
    answer_status(answer, status);
    if (!status) answer_integer(answer, count);
    layer_free(model);
    return STATUS_OK;
}
