// step_record.c -- one record per op and per change of memory, with the operands' levels.
#include "profiler/record/step_record.h"

#include <string.h>

#include "tensor/given.h"
#include "tensor/memory.h"

// Makes room for one more item; NULL when out of memory, and the items are unchanged.
static void *room_for(void *items, int64_t count, int64_t *capacity, size_t size) {
    if (count < *capacity) return items;
    int64_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = memory_resize(items, (size_t)count * size, (size_t)larger * size);
    if (grown) *capacity = larger;
    return grown;
}

// ---- the observer ----------------------------------------------------------------------------
static Shape shape_of(const Tensor *t) { return t ? t->shape : (Shape){.ndim = -1}; }

static void describe(OpRecord *record, const OpCall *call) {
    record->op = call->op;
    record->n_in = call->n_in;
    for (int i = 0; i < OP_RECORD_INPUTS; i++)
        record->in[i] = shape_of(i < call->n_in ? call->in[i] : NULL);
    record->out = shape_of(call->n_out ? call->out[0] : NULL);
    record->params = call->params;
    record->given = op_given(call);
}

static void keep_op(Observer *observer, const OpCall *call) {
    StepRecord *record = (StepRecord *)observer;
    const Context *context = context_current();
    if (context->error.status) return; // the op failed
    OpRecord one = {.site = context->site, .phase = context->phase, .cost = op_cost(call)};
    Status status = STATUS_OK;
    if (record->reuse && !(call->op->flags & OP_VIEW))
        status = traffic_of_call(record->reuse, call, &one.cost, &one.traffic);
    if (status) record->status = status;
    if (record->only_traffic || status) return;
    OpRecord *ops = room_for(record->ops, record->n_ops, &record->op_capacity, sizeof(OpRecord));
    if (!ops) {
        record->status = STATUS_OUT_OF_MEMORY;
        return;
    }
    record->ops = ops;
    describe(&one, call);
    ops[record->n_ops++] = one;
    op_cost_check(one.cost, &record->counted);
}

static void keep_memory(Observer *observer, const Storage *storage, int64_t delta) {
    StepRecord *record = (StepRecord *)observer;
    bool gone = delta < 0 && !storage->data; // its address may be reused by a cold storage
    if (gone && record->reuse) reuse_drop(record->reuse, (uintptr_t)storage);
    if (record->only_traffic) return;
    MemoryEvent *memory =
        room_for(record->memory, record->n_memory, &record->memory_capacity, sizeof(MemoryEvent));
    if (!memory) {
        record->status = STATUS_OUT_OF_MEMORY;
        return;
    }
    record->memory = memory;
    memory[record->n_memory++] = (MemoryEvent){.delta = delta,
                                               .op = record->n_ops,
                                               .site = storage->site,
                                               .category = storage->category,
                                               .phase = (Phase)storage->phase,
                                               .running = context_current()->running};
}

static void keep_saved(Observer *observer, const Storage *storage, int site) {
    StepRecord *record = (StepRecord *)observer;
    if (storage->category != MEM_ACTIVATION || record->only_traffic) return;
    if (context_current()->phase == PHASE_RECOMPUTE) return; // kept only briefly, within backward
    if (site + 1 >= record->n_saved) {
        int n = 2 * (site + 1) + 32;
        int64_t *grown =
            memory_resize(record->saved_bytes, (size_t)record->n_saved * sizeof(int64_t),
                          (size_t)n * sizeof(int64_t));
        if (!grown) {
            record->status = STATUS_OUT_OF_MEMORY;
            return;
        }
        memset(grown + record->n_saved, 0, (size_t)(n - record->n_saved) * sizeof(int64_t));
        record->saved_bytes = grown;
        record->n_saved = n;
    }
    record->saved_bytes[site + 1] += storage->bytes;
}

void step_record_start(StepRecord *record, const Machine *machine) {
    if (!GIVEN(record)) return;
    memset(record, 0, sizeof(*record));
    record->reuse = machine ? reuse_new(machine) : NULL;
    if (machine && !record->reuse) record->status = STATUS_OUT_OF_MEMORY;
    record->observer.op_end = keep_op;
    record->observer.storage = keep_memory;
    record->observer.saved = keep_saved;
    observer_add(&record->observer);
}

void step_record_stop(StepRecord *record) {
    if (GIVEN(record)) observer_remove(&record->observer);
}

void step_record_free(StepRecord *record) {
    if (!GIVEN(record)) return;
    memory_free(record->ops);
    memory_free(record->memory);
    memory_free(record->saved_bytes);
    reuse_free(record->reuse);
    memset(record, 0, sizeof(*record));
}
