// fuzz_profile.c -- documents for the readers of saved profiles: for any input they return a
// profile that can be compared and does not differ from itself, or there is one message.
#include <stdio.h>
#include <string.h>

#include "profiler/compare/profile_diff.h"
#include "profiler/compare/threshold.h"
#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_mutator.h"

static void judge(const Profile *profile, const ProfileDiff *diff) {
    const ThresholdSides sides = {.now = profile, .base = profile, .diff = diff};
    ThresholdList list = {0};
    promise(threshold_parse("latency:1ms,layer:*:1ms,layer:*:+5%,latency:+5%,throughput:1k/s,"
                            "peak_memory:+0%,flops:+0%,macs:1G,bytes:1kB",
                            &list) == STATUS_OK);
    promise(threshold_judge(&list, &sides) == STATUS_OK);
    int judged = 0;
    for (int verdict = THRESHOLD_HOLDS; verdict <= THRESHOLD_UNKNOWN; verdict++)
        judged += threshold_count(&list, (ThresholdVerdict)verdict);
    promise(judged == list.n);
}

static void compare(const SavedProfile *saved, FILE *nowhere) {
    const DiffStory story = {.with = "", .base = "itself", .build = "", .unit = "samples"};
    ProfileDiff diff;
    Status status = profile_diff(&saved->profile, &saved->profile, true, &diff);
    if (status)
        promise_error(status);
    else {
        promise(diff.n_counts == 0 && diff.step.sure == 0);
        promise(diff.step.before == diff.step.after);
        diff_print(&diff, &story, nowhere);
        judge(&saved->profile, &diff);
    }
    profile_diff_free(&diff);
    const DiffReason reason = profile_diff_reason(saved, saved);
    promise(reason.environment[0] == '\0' && reason.work[0] == '\0');
}

static void read_one(const char *text, size_t size, uint64_t failing, FILE *nowhere) {
    SavedProfile saved;
    memory_fail_at(failing);
    Status status = saved_profile_parse(text, size, "input", &saved);
    memory_fail_at(0);
    if (status)
        promise_error(status);
    else
        compare(&saved, nowhere);
    saved_profile_free(&saved);
    promise_clean();
}

// Reads the document as a run of others, and as a point of a sweep.
static void read_runs(char *text) {
    char *const documents[] = {text, text, text};
    RunFigures figures;
    SweepPoint point;
    char unit[16];
    Status status = run_figures_read(text, &figures);
    if (status)
        promise_error(status);
    else
        promise(figures.units > 0 && figures.units_per_second > 0.0);
    status = sweep_point_read(documents, 3, &point, unit);
    if (status)
        promise_error(status);
    else
        promise(point.state == SWEEP_MEASURED && point.low <= point.high);
    promise_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    char *text = fuzz_text(bytes, size);
    read_one(text, size, 0, nowhere);
    read_one(text, size, 1 + size % 13, nowhere);
    read_runs(text);
    free(text);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
    return json_mutate(bytes, size, most, seed);
}
