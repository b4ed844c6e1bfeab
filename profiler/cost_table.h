// cost_table.h -- an observer that adds up, per call site and phase, what the ops that ran cost.
// It works the same in a dry run and in a real one; that the two agree is the point.
#ifndef PROFILER_COST_TABLE_H
#define PROFILER_COST_TABLE_H

#include "layers/cost.h"
#include "profiler/machine.h"

typedef struct CostRow {
    int site; // of the context it ran in; -1: outside any layer
    OpCost cost[PHASE_COUNT];
    uint64_t level_bytes[PHASE_COUNT][MACHINE_MAX_LEVELS]; // its bytes, by level of reuse
    int64_t calls[PHASE_COUNT];                            // ops run, views included
    int64_t saved_bytes; // activations that this site was the first to save for backward
    Shape input, output; // of its first and last op in forward
    bool has_forward;
} CostRow;

// The level of an operand is the smallest that holds what was moved since the operand was last
// touched. Blocks keep their stamp when the cache of storage.c recycles them: they are as warm.
typedef struct CostTable {
    Observer observer; // first
    CostRow *rows;     // in the order in which sites first ran an op
    int count, capacity;
    int *row_of_site; // index: site + 1; -1: none yet
    int site_capacity;
    int64_t ops;                      // all of them
    double flops;                     // their total, to notice when it passes 64 bits
    uint64_t uncounted_ops[OP_COUNT]; // how often an op without a cost ran
    Status status;                    // out of memory while counting
    const Machine *machine;           // whose levels; NULL: none are found
    bool only_traffic;                // stamps blocks, counts nothing
} CostTable;

// Zeroes it and begins to observe the current context. `machine` may be NULL, and is borrowed.
void cost_table_start(CostTable *table, const Machine *machine);
void cost_table_stop(CostTable *table);
void cost_table_free(CostTable *table);
int cost_table_row(const CostTable *table, int site); // -1: no op ran there

#endif
