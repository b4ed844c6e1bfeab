// ties.c -- which parameters of a file are tied: exporters store numbers again that they
// transposed, or that a layer reads under several names. Guesses about that: shared.c.
#include <math.h>
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
        same = left[i] == right[at] || (isnan(left[i]) && isnan(right[at]));
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

// True if the exporter recorded that it made the one from the other, under its own name.
static bool is_made_of(const Import *import, const Value *value, const Value *other) {
    return import->recorded && value->path && strcmp(value->path, other->name) == 0;
}

// True if they are equal, as used here or, `turned`, as used here transposed. Numbers that are all
// equal do not show a tie, but a record does; without one it is a guess, which is said.
static bool are_tied(Import *import, const Value *a, Value *b, bool turned) {
    bool varied;
    if (!equal_numbers(import, a, b, (a->flipped != b->flipped) != turned, &varied)) return false;
    bool sure = varied || is_made_of(import, b, a);
    if (!sure && !import->recorded && !onnx_name_is_path(b->name)) b->maybe_tied = true;
    return sure;
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
            are_tied(import, table, other, false))
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
            are_tied(import, other, value, false))
            value->twin = i;
    }
}

// Makes linear layers by `from` products by `to` as it is stored: (k, n).
static void multiply_by(Import *import, int from, int to) {
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
        if (shape_equal(here, there) && are_tied(import, other, value, false)) {
            value->twin = i;
        } else if (turned && are_tied(import, other, value, true)) {
            multiply_by(import, at, i);
            return;
        }
    }
}

// A value that the exporter made of a parameter which the file has, too, is no parameter of its
// own.
static void demote_made(Import *import, int at) {
    Value *value = import->values[at];
    const Value *of = value->path ? import_value(import, import_find(import, value->path)) : NULL;
    if (!value->folded || value->kind != VALUE_PARAMETER || value->twin >= 0 || !of ||
        of == value || of->kind != VALUE_PARAMETER || of->readers == 0 || value->readers == 0)
        return;
    if (value->flipped) multiply_by(import, at, at);
    value->flipped = false;
    value->kind = VALUE_CONSTANT;
    learned_count(import, -shape_numel(value->shape));
}

Status import_tie(Import *import) {
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        const Value *value = import->values[i];
        if (value->kind != VALUE_PARAMETER || value->readers == 0 || value->role_step < 0 ||
            value->twin >= 0)
            continue;
        if (strcmp(import->steps[value->role_step]->op->name, "Gather") == 0) {
            tie_to_table(import, i);
        } else if (!onnx_name_is_path(value->name) && !onnx_name_ends_as_weight(value->name) &&
                   value->initial) {
            tie_to_last_call(import, i);
            if (value->twin < 0 && !error_pending()) tie_to_name(import, i);
        }
    }
    for (int i = 0; i < import->n_values && import->recorded && !error_pending(); i++)
        demote_made(import, i);
    return error_status();
}
