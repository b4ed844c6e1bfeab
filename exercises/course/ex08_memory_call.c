// ex08_memory_call.c -- exercise 08 in the worker: a list of events, or a model on meta.
#include <string.h>

#include "exercises/course/ex08_values.h"
#include "exercises/ex08_memory.h"
#include "exercises/grader/worker.h"
#include "exercises/support/input.h"
#include "exercises/support/memory_text.h"
#include "exercises/support/model_text.h"

static void call_memory_use(const char *text, int64_t ask, Answer *answer) {
    AllocationEvent events[MOST_EVENTS];
    int64_t count = memory_text_read(text, events, MOST_EVENTS);
    MemorySummary summary;
    memset(&summary, 0xaa, sizeof summary); // POISON_INTEGER everywhere
    answer_begin(answer);
    Status status = memory_use(events, count, &summary);
    answer_status(answer, status);
    if (status) return;
    if (ask & ASK_LIVE) answer_integer(answer, summary.live);
    if (ask & ASK_PEAK) answer_integer(answer, summary.peak);
    if (ask & ASK_TOTAL) answer_integer(answer, summary.total);
    for (int k = 0; k < MEMORY_KINDS && (ask & ASK_AT_PEAK); k++)
        answer_integer(answer, summary.at_peak[k]);
    if (!(ask & ASK_LEAKS)) return;
    answer_integer(answer, summary.leaked_blocks);
    answer_integer(answer, summary.leaked_bytes);
}

static void call_training_memory(const Layer *model, Shape input, OptimizerKind optimizer,
                                 int64_t ask, Answer *answer) {
    TrainingMemory memory;
    memset(&memory, 0xaa, sizeof memory);
    answer_begin(answer);
    Status status = training_memory(model, input, optimizer, &memory);
    answer_status(answer, status);
    if (status) return;
    if (ask & ASK_PARAMETERS) answer_integer(answer, memory.parameter_bytes);
    if (ask & ASK_GRADIENTS) answer_integer(answer, memory.gradient_bytes);
    if (ask & ASK_OPTIMIZER) answer_integer(answer, memory.optimizer_bytes);
    if (ask & ASK_ACTIVATIONS) answer_integer(answer, memory.activation_bytes);
    if (ask & ASK_SUM) answer_integer(answer, memory.total_bytes);
}

Status memory_call(const char *input, Answer *answer);
Status memory_call(const char *input, Answer *answer) {
    int64_t ask = input_integer(input, "ask", 0);
    const char *events = strstr(input, "events="), *text = strstr(input, "model=");
    if (events) {
        call_memory_use(events + strlen("events="), ask, answer);
        return STATUS_OK;
    }
    Shape shape;
    context_set_device(device_meta());
    Layer *model = text ? model_from_text(text + strlen("model="), &shape) : NULL;
    if (!model) return text ? error_status() : STATUS_FORMAT;
    OptimizerKind optimizer = (OptimizerKind)input_integer(input, "optimizer", 0);
    call_training_memory(model, shape, optimizer, ask, answer);
    layer_free(model);
    error_clear();
    return STATUS_OK;
}
