// step_record.h -- an observer that keeps every op of a step: what it was, where it ran, what it
// cost, and every change of memory on the way. It works the same in a dry run and in a real one;
// that the two agree is the point. Whatever a report counts is a sum over these records.
#ifndef PROFILER_RECORD_STEP_RECORD_H
#define PROFILER_RECORD_STEP_RECORD_H

#include "layers/cost.h"
#include "profiler/machine/traffic.h"

RIDGEPOINT_API_BEGIN

enum { OP_RECORD_INPUTS = 6 }; // as many as any op but a list of tensors has

typedef struct OpRecord { // one executed op
    const Op *op;
    int site; // of the context it ran in; -1: outside any layer
    Phase phase;
    OpCost cost;
    OpTraffic traffic; // its bytes, by level of reuse
    int n_in;
    Shape in[OP_RECORD_INPUTS], out; // of its first inputs and first output; ndim -1: absent
    OpParams params;
    unsigned given; // SAVE_IN and SAVE_OUT bits of the tensors that there were
} OpRecord;

typedef struct MemoryEvent { // bytes taken or given back
    int64_t delta;
    int64_t op; // how many ops had ended before
    int site;   // that asked for them
    MemoryCategory category;
    Phase phase;         // in which they were asked for
    const char *running; // the op that is running now; NULL: none
} MemoryEvent;

typedef struct StepRecord {
    Observer observer; // first
    OpRecord *ops;     // in the order in which they ended
    int64_t n_ops, op_capacity;
    MemoryEvent *memory;
    int64_t n_memory, memory_capacity;
    int64_t *saved_bytes; // index: site + 1; activations that it was the first to save for backward
    int n_saved;
    double counted;    // of all ops, to notice when it passes 64 bits (op_cost_check)
    Status status;     // out of memory while recording
    Reuse *reuse;      // which level holds what; NULL: levels are not found
    bool only_traffic; // sees what ops touch, keeps nothing
} StepRecord;

// Zeroes it and begins to observe the current context. `machine`, whose levels operands are found
// at, may be NULL, and is borrowed.
void step_record_start(StepRecord *record, const Machine *machine);
void step_record_stop(StepRecord *record);
void step_record_free(StepRecord *record);

RIDGEPOINT_API_END

#endif
