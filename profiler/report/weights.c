// weights.c -- the distribution of each parameter. Counting finds percentiles without sorting: a
// model has up to a hundred million weights, and each tensor needs seven.
#include "profiler/report/weights.h"

#include <math.h>

#include "profiler/base/table.h"
#include "profiler/base/text.h"
#include "tensor/given.h"
#include "tensor/math.h"
#include "tensor/memory.h"

// ---- the value of a rank -----------------------------------------------------------------------
enum { HALF = 16, BINS = 1 << HALF };

typedef struct Ranks {
    const float *values; // finite
    int64_t n;
    int64_t upper[BINS]; // number of values with these upper bits
    int64_t lower[BINS]; // number with these lower bits, for one upper half
} Ranks;

// Integers in the order of the values, and back. Both zeros are +0.
static uint32_t key_of(float value) {
    uint32_t bits = math_to_bits(value + 0.0f);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
static float value_of(uint32_t key) { return math_from_bits(key >> 31 ? key & 0x7fffffffu : ~key); }

// Finds the bin with number *rank, from 0; then *rank counts from that bin's first.
static uint32_t find_bin(const int64_t bins[BINS], int64_t *rank) {
    uint32_t bin = 0;
    while (*rank >= bins[bin]) *rank -= bins[bin++];
    return bin;
}

// The value of number `rank`, from 0, in sorted order.
static float value_at(Ranks *ranks, int64_t rank) {
    uint32_t upper = find_bin(ranks->upper, &rank);
    for (int i = 0; i < BINS; i++) ranks->lower[i] = 0;
    for (int64_t i = 0; i < ranks->n; i++) {
        uint32_t key = key_of(ranks->values[i]);
        if (key >> HALF == upper) ranks->lower[key & (BINS - 1)]++;
    }
    return value_of(upper << HALF | find_bin(ranks->lower, &rank));
}

// Number ceil(percent / 100 * n), from 1: an existing value.
static float nearest_rank(Ranks *ranks, double percent) {
    if (ranks->n == 0) return NAN;
    int64_t rank = (int64_t)ceil(percent / 100.0 * (double)ranks->n);
    return value_at(ranks, rank < 1 ? 0 : rank - 1);
}

// ---- a parameter -------------------------------------------------------------------------------
// Counts, and copies finite values to `finite`; returns their number.
static int64_t sift(const float *values, int64_t n, float *finite, WeightStatistics *statistics) {
    int64_t kept = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        int kind = fpclassify(values[i]);
        statistics->zeros += kind == FP_ZERO;
        statistics->subnormal += kind == FP_SUBNORMAL;
        if (kind == FP_NAN || kind == FP_INFINITE) {
            statistics->not_finite++;
            continue;
        }
        finite[kept++] = values[i];
        sum += (double)values[i];
    }
    statistics->mean = sum / (double)kept; // NaN if empty
    double squares = 0.0;
    for (int64_t i = 0; i < kept; i++) {
        double distance = (double)finite[i] - statistics->mean;
        squares += distance * distance;
    }
    statistics->deviation = sqrt(squares / (double)kept);
    return kept;
}

static void rank_all(Ranks *ranks, WeightStatistics *statistics) {
    for (int64_t i = 0; i < ranks->n; i++) ranks->upper[key_of(ranks->values[i]) >> HALF]++;
    statistics->min = nearest_rank(ranks, 0.0);
    statistics->p1 = nearest_rank(ranks, 1.0);
    statistics->p25 = nearest_rank(ranks, 25.0);
    statistics->median = nearest_rank(ranks, 50.0);
    statistics->p75 = nearest_rank(ranks, 75.0);
    statistics->p99 = nearest_rank(ranks, 99.0);
    statistics->max = nearest_rank(ranks, 100.0);
}

Status weights_summarise(const Tensor *parameter, WeightStatistics *statistics) {
    if (!GIVEN(statistics)) return STATUS_INVALID_ARGUMENT;
    *statistics = (WeightStatistics){0};
    if (!parameter) return error_set(STATUS_INVALID_ARGUMENT, "weights: there is none (NULL)");
    statistics->count = parameter->numel;
    bool readable = parameter->dtype == DTYPE_FLOAT32 && (parameter->flags & TENSOR_CONTIGUOUS) &&
                    parameter->device->on_host;
    if (!readable)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "weights: a parameter that is not contiguous float32 with data. HINT: "
                         "nothing can be read on the meta device");
    int64_t n = parameter->numel;
    float *finite = memory_new((size_t)(n ? n : 1) * sizeof(float));
    Ranks *ranks = finite ? memory_new(sizeof(Ranks)) : NULL;
    if (ranks) {
        ranks->values = finite;
        ranks->n = n ? sift((const float *)tensor_raw(parameter), n, finite, statistics)
                     : sift(finite, 0, finite, statistics);
        rank_all(ranks, statistics);
    }
    Status status = ranks ? STATUS_OK : STATUS_OUT_OF_MEMORY;
    memory_free(ranks);
    memory_free(finite);
    return status;
}

// Formats in at most seven columns, the first blank, for any magnitude.
static Text cell(double value) {
    Text text;
    double size = fabs(value);
    bool plain = size == 0.0 || (size >= 0.001 && size < 999.5);
    if (isnan(value))
        snprintf(text.s, sizeof(text.s), "-");
    else
        snprintf(text.s, sizeof(text.s),
                 !plain         ? "%.0e"
                 : size < 9.995 ? "%.3f"
                 : size < 99.95 ? "%.2f"
                                : "%.1f",
                 value);
    return text;
}

static void add_row(const Table *table, const char *path, const WeightStatistics *s) {
    double zeros = s->count ? (double)s->zeros / (double)s->count : (double)NAN;
    table_add(table, (TableCells){path, text_short_count(s->count).s, text_percent(zeros).s,
                                  cell(s->mean).s, cell(s->deviation).s, cell((double)s->min).s,
                                  cell((double)s->p1).s, cell((double)s->median).s,
                                  cell((double)s->p99).s, cell((double)s->max).s});
    if (s->not_finite == 0) return;
    Text note;
    snprintf(note.s, sizeof(note.s), "%.32s of them are NaN or infinite, and left out",
             text_count(s->not_finite).s);
    table_note(table, 2, note.s);
}

Status weights_print(const Layer *model, FILE *file) {
    if (!GIVEN(file)) return STATUS_INVALID_ARGUMENT;
    ParameterList list;
    Table table = {.title = "WEIGHTS",
                   .headings = {"parameter", "count", "zero", "mean", "std", "min", "p1", "p50",
                                "p99", "max"},
                   .widths = {14, 9, 6, 7, 7, 8, 7, 7, 7, 8},
                   .kinds = {TABLE_PATH}};
    Status status = layer_parameters(model, &list);
    if (status) return status;
    table_begin(&table, file);
    for (int i = 0; i < list.count && !status; i++) {
        WeightStatistics statistics;
        status = weights_summarise(list.items[i].tensor, &statistics);
        if (!status) add_row(&table, list.items[i].path, &statistics);
    }
    parameter_list_free(&list);
    return status;
}
