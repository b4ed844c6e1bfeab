// fuzz_sweep.c -- documents for the reader of sweeps: for any input it takes the points, which can
// be judged, printed, written and read again unchanged; or it says why not.
#include <stdio.h>
#include <string.h>

#include "profiler/compare/sweep.h"
#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

static const char command[] = "profile_mlp", cpu[] = "CPU";

static void begin(Sweep *sweep, bool learns) {
    *sweep = (Sweep){.n_axes = 2,
                     .axes = {{"batch", {"1", "8", "64"}, 3}, {"threads", {"1", "2"}, 2}},
                     .learns = learns,
                     .limits = {.seconds = learns ? 0.0 : 1e-3, .bytes = learns ? 1 << 20 : 0}};
    promise(sweep_begin(sweep) == STATUS_OK);
}

static bool same(double a, double b) { return a == b || (a != a && b != b); }

static void check_same(const SweepPoint *a, const SweepPoint *b) {
    promise(a->state == b->state || a->state != SWEEP_MEASURED);
    if (a->state != SWEEP_MEASURED || b->state != SWEEP_MEASURED) return;
    promise(a->peak_bytes == b->peak_bytes && a->total_flops == b->total_flops);
    promise(same(a->seconds, b->seconds));
    if (a->high > 0.0) promise(same(a->low, b->low) && same(a->high, b->high));
    if (a->seconds > 0.0) promise(same(a->units_per_second, b->units_per_second));
}

static void write_and_read(const Sweep *sweep) {
    char *text = NULL;
    size_t size;
    Sweep again;
    FILE *stream = open_memstream(&text, &size);
    JsonWriter *json = stream ? json_writer_new(stream, "it") : NULL;
    promise(json && sweep_write_json(sweep, command, cpu, json) == STATUS_OK);
    fclose(stream);
    begin(&again, sweep->learns);
    FuzzFile file = fuzz_file(text, size);
    promise(sweep_read_json(file.path, command, cpu, &again) == STATUS_OK);
    for (int64_t i = 0; i < sweep->n; i++) check_same(&sweep->points[i], &again.points[i]);
    fuzz_file_end(&file);
    sweep_free(&again);
    free(text);
}

static void read_file(const char *path, bool learns, uint64_t failing) {
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    Sweep sweep;
    begin(&sweep, learns);
    memory_fail_at(failing);
    Status status = sweep_read_json(path, command, cpu, &sweep);
    memory_fail_at(0);
    if (status) {
        promise_error(status);
        for (int64_t i = 0; i < sweep.n; i++) promise(sweep.points[i].state == SWEEP_OPEN);
    } else {
        promise(sweep_judge(&sweep) == STATUS_OK);
        promise(sweep.chosen >= -1 && sweep.chosen < sweep.n);
        sweep_print(&sweep, nowhere);
        write_and_read(&sweep);
    }
    sweep_free(&sweep);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    FuzzFile file = fuzz_file(bytes, size);
    read_file(file.path, false, 0);
    read_file(file.path, true, 0);
    read_file(file.path, false, 1 + size % 3);
    fuzz_file_end(&file);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return json_mutate(bytes, size, most, seed);
}
