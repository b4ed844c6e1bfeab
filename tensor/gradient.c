// gradient.c -- where the gradient of a leaf lives: in the leaf, or, in a dry run, in a table of
// the context: there most leaves are somebody else's and must stay as they are.
#include "tensor/handle.h"
#include "tensor/memory.h"

typedef struct DryGradient { // open addressing, keyed by the leaf
    Tensor *leaf, *grad;
    bool empty;
} DryGradient;

typedef struct DryGradients {
    int count, capacity; // capacity is a power of two, at most half full
    DryGradient *entries;
} DryGradients;

static DryGradient *find(const DryGradients *table, const Tensor *leaf) {
    uintptr_t hash = ((uintptr_t)leaf >> 4) * 0x9E3779B97F4A7C15u;
    for (uintptr_t i = hash >> 32;; i++) {
        DryGradient *entry = &table->entries[i & (uintptr_t)(table->capacity - 1)];
        if (entry->leaf == leaf || !entry->leaf) return entry;
    }
}

static Status grow(DryGradients *table) {
    DryGradients bigger = {.count = table->count, .capacity = 2 * table->capacity};
    bigger.entries = memory_new((size_t)bigger.capacity * sizeof(DryGradient));
    if (!bigger.entries) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < table->capacity; i++)
        if (table->entries[i].leaf) *find(&bigger, table->entries[i].leaf) = table->entries[i];
    memory_free(table->entries);
    *table = bigger;
    return STATUS_OK;
}

static DryGradients *table_of(Context *context) {
    if (context->dry_gradients) return context->dry_gradients;
    DryGradients *table = memory_new(sizeof(DryGradients));
    if (!table) return NULL;
    table->capacity = 64;
    table->entries = memory_new((size_t)table->capacity * sizeof(DryGradient));
    if (!table->entries) {
        memory_free(table);
        return NULL;
    }
    context->dry_gradients = table;
    return table;
}

Tensor **context_gradient(Tensor *leaf, bool **empty) {
    Context *context = context_current();
    bool own = leaf->storage && leaf->storage->ledger == context->ledger; // made in this context
    if (!context->dry_run || own) {
        *empty = &leaf->grad_empty;
        return &leaf->grad;
    }
    DryGradients *table = table_of(context);
    if (!table) return NULL;
    if (2 * table->count >= table->capacity && grow(table)) return NULL;
    DryGradient *entry = find(table, leaf);
    if (!entry->leaf) {
        *entry = (DryGradient){.leaf = leaf};
        table->count++;
    }
    *empty = &entry->empty;
    return &entry->grad;
}

void gradient_free_dry(Context *context) {
    DryGradients *table = context->dry_gradients;
    if (!table) return;
    for (int i = 0; i < table->capacity; i++)
        if (table->entries[i].grad) tensor_disown(table->entries[i].grad);
    memory_free(table->entries);
    memory_free(table);
    context->dry_gradients = NULL;
}
