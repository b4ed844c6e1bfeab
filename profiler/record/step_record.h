// step_record.h -- an observer that records every op of a step (its kind, place and cost) and every
// change of memory. It works identically in a dry run and in a real run, so that both can be
// compared. All counts in reports are sums over these records.
#ifndef PROFILER_RECORD_STEP_RECORD_H
#define PROFILER_RECORD_STEP_RECORD_H

#include "layers/cost.h"
#include "profiler/machine/traffic.h"

RIDGEPOINT_API_BEGIN

enum { OP_RECORD_INPUTS = 6 }; // enough for all ops but those with lists of tensors

typedef struct OpRecord { // one executed op
    const Op *op;
    int site; // call site in the op's context; -1: outside any layer
    Phase phase;
    OpCost cost;
    OpTraffic traffic; // bytes by level of reuse
    int n_in;
    Shape in[OP_RECORD_INPUTS], out; // first inputs and first output; ndim -1: absent
    OpParams params;
    unsigned given; // SAVE_IN and SAVE_OUT bits of the tensors present
} OpRecord;

typedef struct MemoryEvent { // bytes allocated or freed
    int64_t delta;
    int64_t op; // number of ops that ended before
    int site;   // call site that requested them
    MemoryCategory category;
    Phase phase;         // phase of the request
    const char *running; // the op running now; NULL: none
} MemoryEvent;

typedef struct StepRecord {
    Observer observer; // first
    OpRecord *ops;     // in the order of their ends
    int64_t n_ops, op_capacity;
    MemoryEvent *memory;
    int64_t n_memory, memory_capacity;
    int64_t *saved_bytes; // index: site + 1; activation bytes the site saved first for backward
    int n_saved;
    double counted;    // count over all ops, to detect overflow of 64 bits (op_cost_check)
    Status status;     // out of memory during recording
    Reuse *reuse;      // tracks the level of each block; NULL: no levels
    bool only_traffic; // only tracks touched blocks, keeps no records
} StepRecord;

// Zeroes the record and starts to observe the current context. `machine` provides the levels for
// operands; it may be NULL, and is borrowed.
void step_record_start(StepRecord *record, const Machine *machine);
void step_record_stop(StepRecord *record);
void step_record_free(StepRecord *record);

RIDGEPOINT_API_END

#endif
