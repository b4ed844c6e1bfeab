// ex03_count_bytes_call.c -- calls a student's count_bytes. Input: a model text with its shape.
#include "exercises/ex03_count_bytes.h"
#include "exercises/grader/worker.h"
#include "exercises/support/model_text.h"
#include "tensor/context.h"

Status count_bytes_call(const char *input, Answer *answer) {
    Shape shape;
    context_set_device(device_meta());
    Layer *model = model_from_text(input, &shape);
    if (!model) return error_status();
    layer_train(model, false);
    Traffic traffic = {POISON_INTEGER, POISON_INTEGER};
    answer_begin(answer);
    Status status = count_bytes(model, shape, &traffic);
    answer_status(answer, status);
    if (!status) {
        answer_integer(answer, traffic.bytes_read);
        answer_integer(answer, traffic.bytes_written);
    }
    layer_free(model);
    return STATUS_OK;
}
