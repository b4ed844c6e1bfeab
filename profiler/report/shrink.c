// shrink.c -- rounds or prunes one weight at a time, runs the model, and restores the weight.
#include "profiler/report/shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- values ------------------------------------------------------------------------------------
static float to_bfloat16(float value) {
    uint32_t bits;
    if (isnan(value)) return value;
    memcpy(&bits, &value, sizeof(bits));
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

static void row_to_int8(float *row, int64_t n) {
    float most = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(row[i])) return;
        most = fmaxf(most, fabsf(row[i]));
    }
    float scale = most / 127.0f;
    for (int64_t i = 0; i < n && scale > 0.0f; i++)
        row[i] = fmaxf(-127.0f, fminf(127.0f, rintf(row[i] / scale))) * scale;
}

static int compare(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

// NaN counts as infinite, since it is not small.
static float magnitude(float value) { return isnan(value) ? INFINITY : fabsf(value); }

// Prunes `count` values; among values equal to the largest pruned one, the first ones go.
static Status prune(double ratio, float *values, int64_t n) {
    int64_t count = (int64_t)rint(ratio * (double)n), below = 0;
    if (count == 0) return STATUS_OK;
    float *sorted = memory_new((size_t)n * sizeof(float));
    if (!sorted) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; i++) sorted[i] = magnitude(values[i]);
    qsort(sorted, (size_t)n, sizeof(float), compare);
    float largest = sorted[count - 1];
    while (below < count && sorted[below] < largest) below++;
    int64_t as_large = count - below;
    for (int64_t i = 0; i < n; i++) {
        float size = magnitude(values[i]);
        if (size < largest || (size == largest && as_large-- > 0)) values[i] = 0.0f;
    }
    memory_free(sorted);
    return STATUS_OK;
}

Status shrink_values(ShrinkKind kind, double ratio, float *values, int64_t rows, int64_t columns) {
    if (!GIVEN(values)) return STATUS_INVALID_ARGUMENT;
    int64_t n = rows * columns;
    if (kind == SHRINK_PRUNED) return prune(ratio, values, n);
    for (int64_t i = 0; i < n && kind == SHRINK_BFLOAT16; i++) values[i] = to_bfloat16(values[i]);
    for (int64_t r = 0; r < rows && kind == SHRINK_INT8; r++)
        row_to_int8(values + r * columns, columns);
    return STATUS_OK;
}

// ---- trials ------------------------------------------------------------------------------------
typedef struct Weight {
    const char *path; // from the list
    Tensor *tensor;
    int64_t rows;
    float *original;
    double error[SHRINK_COUNT];
} Weight;

typedef struct Trials {
    Layer *model;
    Tensor *x;
    ShrinkOptions options;
    ParameterList list;
    Weight *weights; // parameters of two or more dimensions
    int n;
    double all[SHRINK_COUNT]; // errors with all weights shrunk
    float *tried;             // buffer for the largest weight
    float *y;                 // the model's output for x, followed by a second buffer
    int64_t y_count;
    int runs;
} Trials;

static Status run(Trials *trials, float **into) {
    Scope *scope = scope_open();
    Tensor *y = layer_forward(trials->model, trials->x);
    if (y) y = tensor_contiguous(y);
    if (y && !trials->y) {
        trials->y_count = y->numel;
        trials->y = memory_new(2 * (size_t)(y->numel + 1) * sizeof(float));
    }
    *into = trials->y ? trials->y + (trials->runs ? trials->y_count : 0) : NULL;
    if (y && *into) tensor_read_floats(y, *into);
    scope_close(scope);
    trials->runs++;
    if (trials->options.progress)
        trials->options.progress(trials->options.argument,
                                 (double)trials->runs / (SHRINK_COUNT * (trials->n + 1) + 1));
    return error_status();
}

static Status measure(Trials *trials, double *error) {
    float *moved;
    double distance = 0.0, size = 0.0;
    Status status = run(trials, &moved);
    if (status) return status;
    for (int64_t i = 0; i < trials->y_count; i++) {
        double y = (double)trials->y[i], by = (double)moved[i] - y;
        distance += by * by;
        size += y * y;
    }
    *error = size > 0.0 ? sqrt(distance / size) : (double)NAN;
    return STATUS_OK;
}

static Status shrink(Trials *trials, const Weight *weight, ShrinkKind kind) {
    int64_t n = weight->tensor->numel, rows = weight->rows;
    memcpy(trials->tried, weight->original, (size_t)n * sizeof(float));
    Status status = shrink_values(kind, trials->options.ratio, trials->tried, rows, n / rows);
    return status ? status : tensor_write_floats(weight->tensor, trials->tried);
}

static Status try_each(Trials *trials) {
    Status status = STATUS_OK;
    for (int i = 0; i < trials->n && !status; i++) {
        Weight *weight = &trials->weights[i];
        for (int k = 0; k < SHRINK_COUNT && !status; k++) {
            status = shrink(trials, weight, (ShrinkKind)k);
            if (!status) status = measure(trials, &weight->error[k]);
        }
        if (!status) status = tensor_write_floats(weight->tensor, weight->original);
    }
    for (int k = 0; k < SHRINK_COUNT && !status; k++) {
        for (int i = 0; i < trials->n && !status; i++)
            status = shrink(trials, &trials->weights[i], (ShrinkKind)k);
        if (!status) status = measure(trials, &trials->all[k]);
    }
    return status;
}

// Restores the weights even with an error pending.
static void restore(const Trials *trials) {
    Status status = error_status();
    char message[600];
    snprintf(message, sizeof(message), "%s", status ? error_message() : "");
    error_clear();
    for (int i = 0; i < trials->n; i++)
        if (trials->weights[i].original)
            tensor_write_floats(trials->weights[i].tensor, trials->weights[i].original);
    if (status) error_set(status, "%s", message);
}

// ---- weights -----------------------------------------------------------------------------------
static Status take_weights(Trials *trials) {
    Status status = layer_parameters(trials->model, &trials->list);
    if (status) return status;
    int64_t most = 1;
    trials->weights = memory_new((size_t)(trials->list.count + 1) * sizeof(Weight));
    for (int i = 0; i < trials->list.count && trials->weights; i++) {
        const ParameterEntry *entry = &trials->list.items[i];
        if (entry->tensor->shape.ndim < 2 || entry->tensor->numel == 0) continue;
        Weight *weight = &trials->weights[trials->n++];
        *weight = (Weight){entry->path, entry->tensor, entry->tensor->shape.dims[0], NULL, {0}};
        if (entry->tensor->numel > most) most = entry->tensor->numel;
        weight->original = memory_new((size_t)entry->tensor->numel * sizeof(float));
        if (!weight->original) return error_status();
        status = tensor_read_floats(entry->tensor, weight->original);
        if (!status) continue;
        memory_free(weight->original); // it has no values to restore
        weight->original = NULL;
        return status;
    }
    trials->tried = memory_new((size_t)most * sizeof(float));
    return error_status();
}

static void release(Trials *trials) {
    for (int i = 0; i < trials->n; i++) memory_free(trials->weights[i].original);
    memory_free(trials->weights);
    memory_free(trials->tried);
    memory_free(trials->y);
    parameter_list_free(&trials->list);
}

// ---- rows --------------------------------------------------------------------------------------
static void add_row(const Table *table, const char *path, int64_t count, int64_t scales,
                    const double error[SHRINK_COUNT]) {
    Text moved[SHRINK_COUNT];
    for (int k = 0; k < SHRINK_COUNT; k++)
        snprintf(moved[k].s, sizeof(moved[k].s),
                 !isfinite(error[k]) ? "-"
                 : error[k] < 9.999  ? "%.3f%%"
                                     : "%.0e%%",
                 100.0 * error[k]);
    table_add(table, (TableCells){path, text_bytes_si(4 * count).s, text_bytes_si(2 * count).s,
                                  text_bytes_si(count + 4 * scales).s, moved[SHRINK_BFLOAT16].s,
                                  moved[SHRINK_INT8].s, moved[SHRINK_PRUNED].s});
}

static void print(const Trials *trials, FILE *file) {
    int64_t count = 0, scales = 0;
    char pruned[16];
    snprintf(pruned, sizeof(pruned), "-%.3g%%", 100.0 * trials->options.ratio);
    Table table = {.title =
                       "SHRINK  one weight at a time, and how far the output moves: |y' - y| / |y|",
                   .headings = {"weight", "fp32", "bf16", "int8", "bf16", "int8", pruned},
                   .widths = {26, 9, 9, 9, 9, 9, 9},
                   .kinds = {TABLE_PATH}};
    table_begin(&table, file);
    for (int i = 0; i < trials->n; i++) {
        const Weight *weight = &trials->weights[i];
        add_row(&table, weight->path, weight->tensor->numel, weight->rows, weight->error);
        count += weight->tensor->numel;
        scales += weight->rows;
    }
    add_row(&table, "all of them", count, scales, trials->all);
    fprintf(file,
            "  int8: symmetric, a scale for each first index; %s: so many, the smallest,\n"
            "  are 0. Of the batch at hand, in evaluation mode. Vectors (biases, norms) stay.\n",
            pruned);
}

Status shrink_print(Layer *model, Tensor *x, ShrinkOptions options, FILE *file) {
    if (!GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    if (!(options.ratio >= 0.0 && options.ratio <= 1.0))
        return error_set(STATUS_INVALID_ARGUMENT, "shrink_print: a ratio of %g. HINT: 0 to 1",
                         options.ratio);
    Trials trials = {.model = model, .x = x, .options = options};
    LayerModes modes;
    float *y;
    Status status = layer_modes_save(model, &modes);
    if (status) return status;
    layer_train(model, false);
    no_grad_begin();
    status = take_weights(&trials);
    if (!status) status = run(&trials, &y);
    if (!status) status = try_each(&trials);
    restore(&trials);
    no_grad_end();
    layer_modes_restore(model, &modes);
    if (!status) print(&trials, file);
    release(&trials);
    return status;
}
