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

static void count_op(Observer *observer, const OpCall *call) {
    CostTable *table = (CostTable *)observer;
    const Context *context = context_current();
    if (context->error.status) return; // it failed
    CostRow *row = row_of(table, context->site);
    if (!row) {
        table->status = STATUS_OUT_OF_MEMORY;
        return;
    }
    table->ops++;
    row->calls[context->phase]++;
    OpCost cost = op_cost(call);
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
    if (storage->category != MEM_ACTIVATION) return;
    CostRow *row = row_of((CostTable *)observer, site);
    if (row)
        row->saved_bytes += storage->bytes;
    else
        ((CostTable *)observer)->status = STATUS_OUT_OF_MEMORY;
}

void cost_table_start(CostTable *table) {
    memset(table, 0, sizeof(*table));
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
