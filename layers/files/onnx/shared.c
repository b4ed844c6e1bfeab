// shared.c -- how many numbers of a file may be shared by several layers, which it does not say:
// those that it stores once for them, and equal ones that it stores for each. Ties: ties.c.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- numbers that several layers read --------------------------------------------------------
int64_t onnx_sum(int64_t a, int64_t b) {
    int64_t both;
    return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

static int by_stored(const void *a, const void *b) {
    const Value *left = *(Value *const *)a, *right = *(Value *const *)b;
    return (left->stored > right->stored) - (left->stored < right->stored);
}

int64_t onnx_copied_numbers(Import *import) {
    Value **all = memory_new(((size_t)import->n_values + 1) * sizeof *all);
    int64_t copies = 0;
    int n = 0;
    for (int i = 0; i < import->n_values && all; i++) {
        Value *value = import->values[i];
        if (value->kind == VALUE_PARAMETER && value->stored && value->slot >= 0 &&
            value->twin < 0 && !value->is_state && value->rows.gates == 0)
            all[n++] = value;
    }
    if (all) qsort(all, (size_t)n, sizeof *all, by_stored);
    for (int i = 0, first = 0; i < n; i++) {
        if (all[i]->stored != all[first]->stored) first = i;
        if (i == first) continue;
        const char *a = all[first]->name, *b = all[i]->name;
        bool named = onnx_name_is_path(a) && onnx_name_is_path(b);
        bool own = a[0] && b[0] && (named || value_is_uniform(import, all[i]));
        if (!own || !all[i]->initial) copies = onnx_sum(copies, shape_numel(all[i]->shape));
    }
    memory_free(all);
    return copies;
}

// A parameter, and a layer that reads its numbers.
typedef struct Reader {
    int value;
    char *layer; // its path
} Reader;

static int by_value_and_layer(const void *a, const void *b) {
    const Reader *left = a, *right = b;
    if (left->value != right->value) return left->value < right->value ? -1 : 1;
    return strcmp(left->layer, right->layer);
}

// The layer of a step, as its node says it: "block.fc" for "/block/fc_1/Gemm", its second call.
// Where no node names a layer, as after an optimiser, each step counts as one.
static char *layer_of_step(const Import *import, int at) {
    const Node *node = import->steps[at]->node;
    char number[32];
    snprintf(number, sizeof number, "step %d", at);
    if (!node || !onnx_is_placed(node)) return memory_copy_string(number);
    char *path = onnx_path_of_node(node);
    size_t n = path ? strlen(path) : 0, digits = n;
    while (digits > 0 && isdigit((unsigned char)path[digits - 1])) digits--;
    if (digits < n && digits > 1 && path[digits - 1] == '_') path[digits - 1] = '\0';
    return path;
}

// The layer that reads the value in step number `at`; NULL: none, or an error.
static char *layer_of(const Import *import, int at, const Value *value) {
    const Step *step = import->steps[at];
    bool own = value->twin < 0 && onnx_name_is_path(value->name);
    bool placed = step->node && onnx_is_placed(step->node);
    bool weight = value->role && step->op->module && value->rows.gates == 0;
    if (weight && (own || !placed)) return layer_of_step(import, at);
    if (!step->path || !step->path[0]) return NULL;
    if (!own) return memory_copy_string(step->path);
    // A reader of a parameter under its own name is that parameter's.
    const char *dot = strrchr(value->name, '.');
    return onnx_part(value->name, dot ? (size_t)(dot - value->name) : 0);
}

static int list_readers(const Import *import, Reader *readers) {
    int n = 0;
    for (int i = 0; i < import->n_steps && !error_pending(); i++) {
        const Step *step = import->steps[i];
        for (int k = 0; k < step->n_in && !step->dead; k++) {
            int at = step->in[k];
            const Value *value = import_value(import, at);
            if (!value || value->kind != VALUE_PARAMETER || value->is_state || !value->stored)
                continue;
            char *layer = layer_of(import, i, value);
            if (layer) readers[n++] = (Reader){value->twin >= 0 ? value->twin : at, layer};
        }
    }
    return n;
}

int64_t onnx_shared_numbers(Import *import) {
    size_t most = 1;
    for (int i = 0; i < import->n_steps; i++) most += (size_t)import->steps[i]->n_in;
    Reader *readers = import->recorded ? NULL : memory_new(most * sizeof *readers);
    int n = readers ? list_readers(import, readers) : 0;
    int64_t shared = 0;
    if (n > 0) qsort(readers, (size_t)n, sizeof *readers, by_value_and_layer);
    for (int i = 1; i < n; i++) {
        Value *value = import->values[readers[i].value];
        if (readers[i].value == readers[i - 1].value &&
            strcmp(readers[i].layer, readers[i - 1].layer) != 0 &&
            (!value_is_uniform(import, value) || onnx_name_is_layers(value->name)))
            shared = onnx_sum(shared, shape_numel(value->shape));
    }
    for (int i = 0; i < n; i++) memory_free(readers[i].layer);
    memory_free(readers);
    return shared;
}

// ---- equal numbers, stored for each ------------------------------------------------------------
typedef struct Sample {
    uint64_t hash;
    Value *value;
} Sample;

// A hash of the shape and of some numbers.
static uint64_t sample_of(const Value *value) {
    enum { SAMPLES = 64 };
    const ProtobufCBinaryData *raw = &value->stored->raw_data;
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < value->shape.ndim; i++)
        hash = (hash ^ (uint64_t)value->shape.dims[i]) * 1099511628211u;
    for (size_t i = 0; i < SAMPLES && raw->len > 0; i++)
        hash = (hash ^ raw->data[i * (raw->len - 1) / (SAMPLES - 1)]) * 1099511628211u;
    return hash;
}

static int by_hash(const void *a, const void *b) {
    const Sample *left = a, *right = b;
    return (left->hash > right->hash) - (left->hash < right->hash);
}

int64_t onnx_equal_numbers(Import *import) {
    Sample *all =
        import->recorded ? NULL : memory_new(((size_t)import->n_values + 1) * sizeof *all);
    int64_t equal = 0;
    int n = 0;
    for (int i = 0; i < import->n_values && all; i++) {
        Value *value = import->values[i];
        if (value->kind == VALUE_PARAMETER && value->stored && value->initial && value->slot >= 0 &&
            value->twin < 0 && !value->is_state && value->rows.gates == 0)
            all[n++] = (Sample){sample_of(value), value};
    }
    if (n > 0) qsort(all, (size_t)n, sizeof *all, by_hash);
    for (int i = 0, first = 0; i < n && !error_pending(); i++) {
        Value *a = all[first].value, *b = all[i].value;
        bool alike = i > first && all[i].hash == all[first].hash && a->stored != b->stored &&
                     shape_equal(a->shape, b->shape) &&
                     !(onnx_name_is_path(a->name) && onnx_name_is_path(b->name));
        if (all[i].hash != all[first].hash) first = i;
        alike = alike && !value_is_uniform(import, b) && onnx_same_numbers(import, a, b);
        if (alike || b->maybe_tied) equal = onnx_sum(equal, shape_numel(b->shape));
    }
    memory_free(all);
    return equal;
}
