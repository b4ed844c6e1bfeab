// measure.c -- samples that are long enough for the clock, and their text.
#include "tests/bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double measure_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double timed(const Work *work, int64_t times) {
    double start = measure_now();
    work->run(work->state, times);
    return (measure_now() - start) / (double)times;
}

double measure_work(Work *work, double seconds) {
    if (!work->run) return (double)NAN;
    if (work->estimate < seconds) {
        double first = timed(work, 1);
        if (work->estimate == 0.0) work->estimate = first;
    }
    double wanted = seconds / work->estimate;
    work->estimate = timed(work, wanted < 1.0 ? 1 : wanted > 1e9 ? 1000000000 : (int64_t)wanted);
    return work->estimate;
}

static double own_cpu_seconds(int who) {
    struct rusage use;
    getrusage(who, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

double measure_cpu_seconds(bool own) {
    if (own) return own_cpu_seconds(RUSAGE_SELF) + own_cpu_seconds(RUSAGE_CHILDREN);
    long long user = 0, nice = 0, kernel = 0; // in ticks
    FILE *file = fopen("/proc/stat", "r");
    int fields = file ? fscanf(file, "cpu %lld %lld %lld", &user, &nice, &kernel) : 0;
    if (file) fclose(file);
    return fields == 3 ? (double)(user + nice + kernel) / (double)sysconf(_SC_CLK_TCK)
                       : (double)NAN;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double measure_median(double *values, int n) {
    if (n == 0) return (double)NAN;
    qsort(values, (size_t)n, sizeof(double), ascending);
    return 0.5 * (values[n / 2] + values[(n - 1) / 2]);
}

char *measure_text(double seconds, char text[MEASURE_TEXT]) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    double value = seconds * 1e9;
    while (unit < 3 && value >= 999.5) {
        value /= 1000.0;
        unit++;
    }
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (isnan(seconds))
        snprintf(text, MEASURE_TEXT, "-");
    else
        snprintf(text, MEASURE_TEXT, "%.*f %s", decimals, value, units[unit]);
    return text;
}

void *measure_room(size_t bytes) {
    enum { LINE = 64 };
    size_t rounded = (bytes / LINE + 1) * LINE;
    void *memory = aligned_alloc(LINE, rounded);
    if (memory) return memory;
    fprintf(stderr, "bench: no room for %zu bytes\n", rounded);
    exit(1);
}

void *measure_memory(size_t bytes) { return memset(measure_room(bytes), 0, bytes); }

double measure_budget(double otherwise) {
    const char *text = getenv("RIDGEPOINT_BENCH_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0.0;
    return seconds > 0.0 ? seconds : otherwise;
}
