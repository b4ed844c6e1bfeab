// fuzz_threshold.c -- texts for --threshold: any input becomes limits, by which a profile is
// judged, alone and compared with itself; or one message refuses it, and nothing is added.
#include <stdio.h>
#include <string.h>

#include "profiler/compare/threshold.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"

static double samples[] = {1e-3, 1.01e-3, 1.02e-3, 0.99e-3, 1e-3, 1.03e-3};
static Latency across = {.samples = samples, .count = 6};
static ProfileLayer layers[2] = {{.path = "fc1", .type = "Linear", .parameters = 7},
                                 {.path = "block.fc2", .type = "Linear"}};

static Profile profile_made(void) {
    Profile profile = {.layers = layers, .n_layers = 2, .batch = 4, .units = 4, .parameters = 7};
    promise(statistics_summarise(samples, 6, &across.statistics) == STATUS_OK);
    ProfilePhase phase = {.ops = 1,
                          .cost = {.macs = UINT64_C(1) << 61, .bytes_read = 64},
                          .latency = {.count = 10, .across = &across}};
    phase.latency.statistics = across.statistics;
    profile.totals[REPORT_STEP] = layers[0].phase[REPORT_FORWARD] = phase;
    profile.measured.peak.total = profile.predicted.peak.total = INT64_MAX;
    snprintf(profile.unit, sizeof profile.unit, "samples");
    return profile;
}

static void judge(ThresholdList *list, const Profile *profile) {
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    ProfileDiff diff;
    promise(profile_diff(profile, profile, true, &diff) == STATUS_OK);
    const ThresholdSides sides[] = {
        {.now = profile},
        {.now = profile, .base = profile, .diff = &diff},
        {.now = profile, .base = profile, .diff = &diff, .untimed = true}};
    for (int i = 0; i < 3; i++) {
        bool relative = false;
        for (int t = 0; t < list->n; t++) relative = relative || list->at[t].relative;
        if (i == 0 && relative) continue; // it needs a base
        promise(threshold_judge(list, &sides[i]) == STATUS_OK);
        int all = 0;
        for (int v = 0; v <= THRESHOLD_UNKNOWN; v++) all += threshold_count(list, v);
        promise(all == list->n);
        threshold_print(list, nowhere);
    }
    profile_diff_free(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const Profile profile = profile_made();
    ThresholdList list = {0};
    char *text = fuzz_text(bytes, size);
    promise(threshold_parse("latency:10ms", &list) == STATUS_OK);
    Status status = threshold_parse(text, &list);
    promise(list.n >= 1 && list.n <= THRESHOLD_MOST);
    if (status)
        promise_error(status);
    else
        judge(&list, &profile);
    free(text);
    promise_clean();
    return 0;
}
