// ex03_count_bytes_call.c -- calls a student's count_bytes. Input: a model text with its shape.
#include "exercises/ex03_count_bytes.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

Status count_bytes_call(const char *input, Answer *answer) {
    Shape shape;
    Layer *model = remote_model(input, &shape);
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
    return STATUS_OK;
}
