// weights.c -- sorts a copy of each parameter, and reads percentiles off it.
#include "profiler/report/weights.h"

#include <math.h>
#include <stdlib.h>

#include "profiler/report/text.h"
#include "tensor/memory.h"

static int compare(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

// Sorted number ceil(percent / 100 * n), from 1: a value that is there.
static float nearest_rank(const float *sorted, int64_t n, double percent) {
    if (n == 0) return NAN;
    int64_t rank = (int64_t)ceil(percent / 100.0 * (double)n);
    return sorted[rank < 1 ? 0 : rank - 1];
}

// Counts, and copies what is finite to `finite`; returns how many.
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
    statistics->mean = sum / (double)kept; // NaN of nothing
    double squares = 0.0;
    for (int64_t i = 0; i < kept; i++) {
        double distance = (double)finite[i] - statistics->mean;
        squares += distance * distance;
    }
    statistics->deviation = sqrt(squares / (double)kept);
    return kept;
}

Status weights_summarise(const Tensor *parameter, WeightStatistics *statistics) {
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
    if (!finite) return STATUS_OUT_OF_MEMORY;
    int64_t kept = n ? sift((const float *)tensor_raw(parameter), n, finite, statistics)
                     : sift(finite, 0, finite, statistics);
    qsort(finite, (size_t)kept, sizeof(float), compare);
    statistics->min = kept ? finite[0] : NAN;
    statistics->max = kept ? finite[kept - 1] : NAN;
    statistics->p1 = nearest_rank(finite, kept, 1.0);
    statistics->p25 = nearest_rank(finite, kept, 25.0);
    statistics->median = nearest_rank(finite, kept, 50.0);
    statistics->p75 = nearest_rank(finite, kept, 75.0);
    statistics->p99 = nearest_rank(finite, kept, 99.0);
    memory_free(finite);
    return STATUS_OK;
}

// In seven columns, the first of them blank, whatever the size.
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

static void print_row(const char *path, const WeightStatistics *s, FILE *file) {
    Text name = text_pad_right(text_fit(path, 14).s, 14);
    double zeros = s->count ? (double)s->zeros / (double)s->count : (double)NAN;
    fprintf(file, "%s%9s%6s%7s%7s%8s%7s%7s%7s%8s\n", name.s, text_short_count(s->count).s,
            text_percent(zeros).s, cell(s->mean).s, cell(s->deviation).s, cell((double)s->min).s,
            cell((double)s->p1).s, cell((double)s->median).s, cell((double)s->p99).s,
            cell((double)s->max).s);
    if (s->not_finite > 0)
        fprintf(file, "  %s of them are NaN or infinite, and left out\n",
                text_count(s->not_finite).s);
}

Status weights_print(const Layer *model, FILE *file) {
    ParameterList list;
    Status status = layer_parameters(model, &list);
    if (status) return status;
    fprintf(file, "WEIGHTS\n%-14s%9s%6s%7s%7s%8s%7s%7s%7s%8s\n", "parameter", "count", "zero",
            "mean", "std", "min", "p1", "p50", "p99", "max");
    for (int i = 0; i < list.count && !status; i++) {
        WeightStatistics statistics;
        status = weights_summarise(list.items[i].tensor, &statistics);
        if (!status) print_row(list.items[i].path, &statistics, file);
    }
    parameter_list_free(&list);
    return status;
}
