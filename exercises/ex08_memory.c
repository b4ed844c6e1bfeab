// ex08_memory.c -- exercise 08: memory, replayed and predicted. The task is in ex08_memory.h.
#include "exercises/ex08_memory.h"

Status memory_use(const AllocationEvent *events, int64_t count, MemorySummary *summary) {
    // TODO: replay the events; live, peak and its composition, total, leaks.
    (void)events;
    (void)count;
    (void)summary;
    return STATUS_NOT_IMPLEMENTED;
}

Status training_memory(const Layer *model, Shape input, OptimizerKind optimizer,
                       TrainingMemory *memory) {
    // TODO: parameters, gradients, optimizer state; then walk the layers, and add what they keep.
    (void)model;
    (void)input;
    (void)optimizer;
    (void)memory;
    return STATUS_NOT_IMPLEMENTED;
}
