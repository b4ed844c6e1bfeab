// cost_table.c -- counting, per call site and phase.
#include "profiler/cost_table.h"

#include <string.h>

#include "tensor/memory.h"

int cost_table_row(const CostTable *table, int site) {
    return site + 1 < table->site_capacity ? table->row_of_site[site + 1] : -1;
}

static Status map_site(CostTable *table, int site, int row) {
    if (site + 1 >= table->site_capacity) {
        int capacity = table->site_capacity ? 2 * table->site_capacity : 64;
        while (capacity <= site + 1) capacity *= 2;
        int *grown = memory_resize(table->row_of_site, (size_t)table->site_capacity * sizeof(int),
                                   (size_t)capacity * sizeof(int));
        if (!grown) return STATUS_OUT_OF_MEMORY;
        for (int i = table->site_capacity; i < capacity; i++) grown[i] = -1;
        table->row_of_site = grown;
        table->site_capacity = capacity;
    }
    table->row_of_site[site + 1] = row;
    return STATUS_OK;
}

static CostRow *row_of(CostTable *table, int site) {
    int row = cost_table_row(table, site);
    if (row >= 0) return &table->rows[row];
    if (table->count == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 32;
        CostRow *grown = memory_resize(table->rows, (size_t)table->count * sizeof(CostRow),
                                       (size_t)capacity * sizeof(CostRow));
        if (!grown) return NULL;
        table->rows = grown;
        table->capacity = capacity;
    }
    if (map_site(table, site, table->count)) return NULL;
    table->rows[table->count] = (CostRow){.site = site};
    return &table->rows[table->count++];
}

// ---- where operands were ---------------------------------------------------------------------
// Adds up the operands' bytes by level, stamps them, and moves the counter on.
static void find_levels(const Machine *machine, const OpCall *call,
                        uint64_t bytes[MACHINE_MAX_LEVELS]) {
    const Op *op = call->op;
    uint64_t *counter = &context_current()->ledger->traffic, start = *counter;
    for (int i = 0; i < call->n_in + call->n_out; i++) {
        bool input = i < call->n_in;
        const Tensor *t = input ? call->in[i] : call->out[i - call->n_in];
        if (!t || t->storage->traffic > start) continue; // absent, or an operand twice
        uint64_t last = t->storage->traffic, distance = last ? start - last : UINT64_MAX;
        bool both_ways = input && op->mutates && op->mutates(call, i);
        uint64_t n = (uint64_t)tensor_distinct_bytes(t) << both_ways;
        bytes[machine_level(machine, distance)] += n;
        *counter += n;
        t->storage->traffic = start + 1; // moved to the end of the op below
    }
    for (int i = 0; i < call->n_in + call->n_out; i++) {
        const Tensor *t = i < call->n_in ? call->in[i] : call->out[i - call->n_in];
        if (t) t->storage->traffic = *counter + 1;
    }
    *counter += 1; // so that a stamp is never 0, and never the next op's start
}

// The op's own count of bytes, shared out as its operands were.
static void add_levels(CostTable *table, CostRow *row, Phase phase, const OpCall *call,
                       const OpCost *cost) {
    uint64_t found[MACHINE_MAX_LEVELS] = {0}, total = 0, given = 0;
    find_levels(table->machine, call, found);
    int last = table->machine->n_levels - 1;
    for (int i = 0; i <= last; i++) total += found[i];
    if (table->only_traffic || total == 0) return;
    uint64_t all = cost->bytes_read + cost->bytes_written;
    for (int i = 0; i <= last; i++) {
        uint64_t share = (uint64_t)((double)all * (double)found[i] / (double)total);
        row->level_bytes[phase][i] += share;
        given += share;
    }
    row->level_bytes[phase][last] += all - given; // what rounding left
}

static void count_op(Observer *observer, const OpCall *call) {
    CostTable *table = (CostTable *)observer;
    const Context *context = context_current();
    if (context->error.status) return; // it failed
    CostRow *row = row_of(table, context->site);
    if (!row) {
        table->status = STATUS_OUT_OF_MEMORY;
        return;
    }
    OpCost cost = op_cost(call);
    bool view = call->op->flags & OP_VIEW;
    if (table->machine && !view) add_levels(table, row, context->phase, call, &cost);
    if (table->only_traffic) return;
    table->ops++;
    row->calls[context->phase]++;
    cost_add(&row->cost[context->phase], cost);
    if (!call->op->cost) table->uncounted_ops[call->op->id]++;
    table->flops += (double)op_cost_total_flops(cost);
    if (table->flops > 0.9 * (double)INT64_MAX)
        error_set(STATUS_OVERFLOW, "the step takes more FLOPs than 64 bits count. HINT: a smaller "
                                   "batch, or fewer layers");
    if (context->phase != PHASE_FORWARD || call->n_out == 0) return;
    if (!row->has_forward) row->input = tensor_shape(call->in[0]);
    row->output = tensor_shape(call->out[0]);
    row->has_forward = true;
}

static void count_saved(Observer *observer, const Storage *storage, int site) {
    if (storage->category != MEM_ACTIVATION || ((CostTable *)observer)->only_traffic) return;
    CostRow *row = row_of((CostTable *)observer, site);
    if (row)
        row->saved_bytes += storage->bytes;
    else
        ((CostTable *)observer)->status = STATUS_OUT_OF_MEMORY;
}

void cost_table_start(CostTable *table, const Machine *machine) {
    memset(table, 0, sizeof(*table));
    table->machine = machine;
    table->observer.op_end = count_op;
    table->observer.saved = count_saved;
    observer_add(&table->observer);
}

void cost_table_stop(CostTable *table) { observer_remove(&table->observer); }

void cost_table_free(CostTable *table) {
    memory_free(table->rows);
    memory_free(table->row_of_site);
    memset(table, 0, sizeof(*table));
}
