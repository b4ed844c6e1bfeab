// planted_profile.c -- fills only the fields that comparisons read.
#include "tests/profiler/compare/planted_profile.h"

#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static unsigned state;

static double about(double seconds) {
    state = state * 1103515245u + 12345u;
    return seconds * (0.995 + 0.01 * (double)(state >> 8) / (double)(1u << 24));
}

static void plant_latency(Latency *latency, double seconds, int runs) {
    latency->count = 10;
    latency->statistics.median = about(seconds);
    if (runs == 1) return;
    Latency *across = latency->across = memory_new(sizeof(Latency));
    across->samples = memory_new((size_t)runs * sizeof(double));
    across->count = runs;
    for (int i = 0; i < runs; i++) across->samples[i] = about(seconds);
    ck_assert_int_eq(statistics_summarise(across->samples, runs, &across->statistics), 0);
}

static void plant_beats(Latency *latency, double seconds, int64_t runs) {
    latency_free(latency);
    latency->count = 10;
    latency->statistics.median = seconds;
    if (runs == 1) return;
    Latency *across = latency->across = memory_new(sizeof(Latency));
    across->samples = memory_new((size_t)runs * sizeof(double));
    across->count = runs;
    for (int64_t i = 0; i < runs; i++) across->samples[i] = seconds;
    ck_assert_int_eq(statistics_summarise(across->samples, runs, &across->statistics), 0);
}

void planted_metronome(Profile *profile, double product, double read) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    int64_t runs = step->across ? step->across->count : 1;
    profile->metronome.version = 1;
    plant_beats(&profile->metronome.product, product, runs);
    plant_beats(&profile->metronome.read, read, runs);
}

static void plant_phase(ProfilePhase *phase, double seconds, int runs) {
    phase->ops = 1;
    phase->cost = (OpCost){.macs = 1000, .elementwise_flops = 10, .bytes_read = 64};
    plant_latency(&phase->latency, seconds, runs);
}

Profile planted_profile(int runs, unsigned seed) {
    static const char *const paths[] = {"fc1", "relu1", "fc2"};
    static const double seconds[] = {0.4e-3, 0.1e-3, 0.2e-3};
    Profile profile = {.kind = PROFILE_TRAINING, .model = "planted", .batch = 4, .units = 4};
    state = seed;
    snprintf(profile.unit, sizeof(profile.unit), "samples");
    profile.layers = memory_new(3 * sizeof(ProfileLayer));
    profile.n_layers = 3;
    for (int i = 0; i < 3; i++) {
        ProfileLayer *layer = &profile.layers[i];
        snprintf(layer->path, sizeof(layer->path), "%s", paths[i]);
        layer->parameters = 100 * i;
        plant_phase(&layer->phase[REPORT_FORWARD], seconds[i], runs);
        plant_phase(&layer->phase[REPORT_BACKWARD], seconds[i] - 0.1e-4, runs);
    }
    plant_phase(&profile.layers[0].phase[REPORT_OPTIMIZER], 0.05e-3, runs);
    plant_phase(&profile.totals[REPORT_FORWARD], 0.5e-3, runs);
    plant_phase(&profile.totals[REPORT_STEP], 1e-3, runs);
    planted_metronome(&profile, 0.2e-3, 0.2e-3);
    profile.allocations = 7;
    profile.parameters = 300;
    profile.predicted.peak = (MemoryUse){.total = 1000, .category[MEM_PARAMETER] = 1000};
    return profile;
}

ProfileLayer *planted_layer(Profile *profile, const char *path) {
    for (int i = 0; i < profile->n_layers; i++)
        if (strcmp(profile->layers[i].path, path) == 0) return &profile->layers[i];
    ck_abort_msg("no layer %s", path);
    return NULL;
}

void planted_slow(Profile *profile, const char *path, ReportPhase phase, double times) {
    Latency *latency = path ? &planted_layer(profile, path)->phase[phase].latency
                            : &profile->totals[REPORT_STEP].latency;
    Latency *across = latency->across;
    latency->statistics.median *= times;
    for (int64_t i = 0; across && i < across->count; i++) across->samples[i] *= times;
    if (across)
        ck_assert_int_eq(statistics_summarise(across->samples, across->count, &across->statistics),
                         0);
}
