// ties.c -- which parameters of a file are tied: exporters store numbers again that they
// transposed, or that a layer reads under several names. And how many numbers are taken for shared.
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// Compares them as stored; `turned`: a is compared with the transpose of b.
static bool equal_numbers(Import *import, const Value *a, const Value *b, bool turned,
                          bool *varied) {
    int64_t n = shape_numel(a->shape);
    if (!a->stored || !b->stored || n < 1) return false;
    int64_t columns = turned ? a->shape.dims[1] : 1, rows = turned ? a->shape.dims[0] : 1;
    float *left = onnx_stored_new(import, a->stored, n);
    float *right = left ? onnx_stored_new(import, b->stored, n) : NULL;
    bool same = right != NULL;
    *varied = false;
    for (int64_t i = 0; i < n && same; i++) {
        int64_t at = turned ? i % columns * rows + i / columns : i;
        same = left[i] == right[at];
        *varied = *varied || left[i] != left[0];
    }
    memory_free(left);
    memory_free(right);
    return same;
}

bool onnx_same_numbers(Import *import, const Value *a, const Value *b) {
    bool varied;
    return equal_numbers(import, a, b, false, &varied);
}

// True if the file records other names for the two: parameters that only have the same numbers.
static bool are_told_apart(const Import *import, const Value *a, const Value *b) {
    const char *left = value_path(a), *right = value_path(b);
    return import->recorded && left && right && strcmp(left, right) != 0 &&
           told_of(import, left, strlen(left)) == TOLD_LEARNED &&
           told_of(import, right, strlen(right)) == TOLD_LEARNED;
}

// True if they are equal as used here. Numbers that are all equal do not show a tie.
static bool same_numbers(Import *import, const Value *a, const Value *b) {
    bool varied;
    return equal_numbers(import, a, b, a->flipped != b->flipped, &varied) && varied;
}

// True if one is the other's transpose as used here, under the same condition.
static bool turned_numbers(Import *import, const Value *a, const Value *b) {
    bool varied;
    return equal_numbers(import, a, b, a->flipped == b->flipped, &varied) && varied;
}

// The shape (rows, columns) as used here.
static Shape shape_here(const Value *value) {
    Shape shape = value->shape;
    return value->flipped ? SHAPE(shape.dims[1], shape.dims[0]) : shape;
}

// Ties a product's weights to an embedding's table with the same numbers: exporters store them
// twice, once transposed.
static void tie_to_table(Import *import, int at) {
    const Value *table = import->values[at];
    if (table->shape.ndim != 2 || table->flipped) return;
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        Value *other = import->values[i];
        const Step *product = other->role_step >= 0 ? import->steps[other->role_step] : NULL;
        if (i != at && other->rows.gates == 0 && other->kind == VALUE_PARAMETER &&
            other->readers > 0 && other->twin < 0 && product &&
            strcmp(product->op->name, "Gather") != 0 &&
            shape_equal(shape_here(other), table->shape) && !are_told_apart(import, table, other) &&
            same_numbers(import, table, other))
            other->twin = at;
    }
}

// Ties weights of a layer that was called again: the newer exporter transposes and stores them
// again, the older one names them again. For weights outside any layer it does nothing.
static void tie_to_last_call(Import *import, int at) {
    Value *value = import->values[at];
    const char *path = import->steps[value->role_step]->path;
    for (int i = 0; i < at && value->twin < 0 && !error_pending(); i++) {
        const Value *other = import->values[i];
        if (other->kind == VALUE_PARAMETER && other->readers > 0 && other->role_step >= 0 &&
            other->twin < 0 && other->flipped == value->flipped &&
            strcmp(other->role, value->role) == 0 && shape_equal(other->shape, value->shape) &&
            path && path[0] && import->steps[other->role_step]->path &&
            strcmp(import->steps[other->role_step]->path, path) == 0 &&
            same_numbers(import, other, value))
            value->twin = i;
    }
}

// Makes products by `from` products by the transpose of `to`.
static void multiply_turned(Import *import, int from, int to) {
    for (int i = 0; i < import->n_steps; i++) {
        Step *step = import->steps[i];
        if (step->dead || !step_is(step, "Linear") || step->in[1] != from) continue;
        step->op = onnx_operator("Gemm");
        step->params = (StepParams){.plain = {.value = {1.0f, 1.0f}}};
        step->in[1] = to;
        import->values[to]->readers++;
        import->values[from]->readers--;
    }
}

// Ties a layer's weight to another's transpose (a decoder's to the encoder's): the newer exporter
// stores it transposed under no name of its own, recorded as made from the other.
static void tie_to_name(Import *import, int at) {
    Value *value = import->values[at];
    if (!step_is(import->steps[value->role_step], "Linear") || value->shape.ndim != 2) return;
    for (int i = 0; i < import->n_values && value->twin < 0 && !error_pending(); i++) {
        const Value *other = import->values[i];
        if (i == at || other->kind != VALUE_PARAMETER || other->readers == 0 || other->twin >= 0 ||
            other->rows.gates > 0 || other->shape.ndim != 2 || !onnx_name_is_path(other->name) ||
            (value->path && strcmp(value->path, other->name) != 0) ||
            are_told_apart(import, value, other))
            continue;
        Shape here = shape_here(value), there = shape_here(other);
        bool turned = here.dims[0] == there.dims[1] && here.dims[1] == there.dims[0];
        if (shape_equal(here, there) && same_numbers(import, other, value)) {
            value->twin = i;
        } else if (turned && turned_numbers(import, other, value)) {
            multiply_turned(import, at, i);
            return;
        }
    }
}

Status import_tie(Import *import) {
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        const Value *value = import->values[i];
        if (value->kind != VALUE_PARAMETER || value->readers == 0 || value->role_step < 0 ||
            value->twin >= 0)
            continue;
        if (strcmp(import->steps[value->role_step]->op->name, "Gather") == 0) {
            tie_to_table(import, i);
        } else if (!onnx_name_is_path(value->name) && value->initial) {
            tie_to_last_call(import, i);
            if (value->twin < 0 && !error_pending()) tie_to_name(import, i);
        }
    }
    return error_status();
}

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

// The layers that read parameters. A reader of a parameter under its own name is that parameter's.
static int list_readers(const Import *import, Reader *readers) {
    int n = 0;
    for (int i = 0; i < import->n_steps && !error_pending(); i++) {
        const Step *step = import->steps[i];
        for (int k = 0; k < step->n_in && !step->dead && step->path && step->path[0]; k++) {
            int at = step->in[k];
            const Value *value = import_value(import, at);
            if (!value || value->kind != VALUE_PARAMETER || value->is_state || !value->stored)
                continue;
            const char *dot = strrchr(value->name, '.');
            bool named = value->twin < 0 && onnx_name_is_path(value->name);
            char *layer = !named ? memory_copy_string(step->path)
                                 : onnx_part(value->name, dot ? (size_t)(dot - value->name) : 0);
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
            strcmp(readers[i].layer, readers[i - 1].layer) != 0 && !value_is_uniform(import, value))
            shared = onnx_sum(shared, shape_numel(value->shape));
    }
    for (int i = 0; i < n; i++) memory_free(readers[i].layer);
    memory_free(readers);
    return shared;
}
