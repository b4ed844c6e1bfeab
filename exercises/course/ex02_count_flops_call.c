// ex02_count_flops_call.c -- calls a student's count_flops. Input: a model text with its shape.
#include "exercises/ex02_count_flops.h"
#include "exercises/grader/worker.h"
#include "exercises/support/model_text.h"
#include "tensor/context.h"

Status count_flops_call(const char *input, Answer *answer) {
    Shape shape;
    context_set_device(device_meta());
    Layer *model = model_from_text(input, &shape);
    if (!model) return error_status();
    int64_t flops = POISON_INTEGER;
    answer_begin(answer);
    Status status = count_flops(model, shape, &flops);
    answer_status(answer, status);
    if (!status) answer_integer(answer, flops);
    layer_free(model);
    return STATUS_OK;
}
