// threshold.c -- the table of quantities that limits are for: parsing a limit, and finding the
// value in a profile. Not here: judging limits (threshold_judge.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/threshold_parts.h"
#include "profiler/measure/profile_fields.h"
#include "tensor/memory.h"

// ---- units -------------------------------------------------------------------------------------
typedef struct Unit {
    Kind kind;
    const char *name; // "": for numbers without a unit
    double value;
} Unit;

static const Unit units[] = {
    {OF_TIME, "ns", 1e-9},     {OF_TIME, "us", 1e-6},     {OF_TIME, "ms", 1e-3},
    {OF_TIME, "s", 1.0},       {OF_TIME, "min", 60.0},    {OF_RATE, "/s", 1.0},
    {OF_RATE, "k/s", 1e3},     {OF_RATE, "M/s", 1e6},     {OF_BYTES, "B", 1.0},
    {OF_BYTES, "kB", 1e3},     {OF_BYTES, "MB", 1e6},     {OF_BYTES, "GB", 1e9},
    {OF_BYTES, "TB", 1e12},    {OF_BYTES, "KiB", 1024.0}, {OF_BYTES, "MiB", 1048576.0},
    {OF_BYTES, "GiB", 0x1p30}, {OF_BYTES, "TiB", 0x1p40}, {OF_COUNT, "", 1.0},
    {OF_COUNT, "k", 1e3},      {OF_COUNT, "M", 1e6},      {OF_COUNT, "G", 1e9},
    {OF_COUNT, "T", 1e12},
};
static const char *const kind_units[] = {[OF_TIME] = "a time, as 10ms",
                                         [OF_RATE] = "a rate, as 1000samples/s",
                                         [OF_BYTES] = "a size, as 64MB",
                                         [OF_COUNT] = "a count, as 161.2M"};

static const Unit *unit_of(Kind kind, const char *text) {
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (units[i].kind == kind && strcmp(units[i].name, text) == 0) return &units[i];
    return NULL;
}

// ---- keys --------------------------------------------------------------------------------------
static Found found_time(const Latency *latency) {
    const Latency *all = latency_whole(latency);
    const LatencyStatistics *s = &all->statistics;
    if (all->count == 0 || !(s->ci95_high > 0.0)) return (Found){.value = (double)NAN};
    return (Found){s->median, s->ci95_low, s->ci95_high, latency->across ? all->count : 1};
}

static Found find_phase(const Profile *profile, const ThresholdKey *key) {
    return found_time(&profile->totals[key->of].latency);
}

Status threshold_find_layer(const ProfileLayer *layer, Found *found) {
    Latency runs = {0}; // sum of the phases, for each run
    bool happened = false;
    *found = (Found){0};
    for (int p = 0; p < STEP_PARTS; p++) {
        const Latency *latency = &layer->phase[step_parts[p]].latency, *across = latency->across;
        Found part = found_time(latency);
        if (latency->count == 0) continue;
        happened = true;
        *found = (Found){found->value + part.value, found->low + part.low, found->high + part.high,
                         part.runs};
        if (!across) continue;
        if (!runs.samples) runs.samples = memory_new((size_t)across->count * sizeof(double));
        if (!runs.samples) return error_status();
        // Phases have equally many runs if this program measured them; in a file they may differ.
        if (runs.count == 0 || across->count < runs.count) runs.count = across->count;
        for (int64_t i = 0; i < runs.count; i++) runs.samples[i] += across->samples[i];
    }
    if (!happened) found->value = (double)NAN;
    LatencyStatistics *s = &runs.statistics;
    Status status = runs.count > 0 ? statistics_summarise(runs.samples, runs.count, s) : STATUS_OK;
    if (runs.count > 0 && !status)
        *found = (Found){s->median, s->ci95_low, s->ci95_high, runs.count};
    memory_free(runs.samples);
    return status;
}

// For an inference profile, the step itself is the forward.
static Found find_inference(const Profile *profile, const ThresholdKey *key) {
    (void)key;
    return found_time(profile->kind == PROFILE_INFERENCE ? &profile->totals[REPORT_STEP].latency
                                                         : &profile->inference);
}

static Found find_percentile(const Profile *profile, const ThresholdKey *key) {
    const Latency *latency = &profile->totals[REPORT_STEP].latency;
    double value = (double)NAN;
    bool enough;
    int64_t missing;
    if (latency->samples && statistics_percentile(latency->samples, latency->count, 0.1 * key->of,
                                                  &value, &enough, &missing))
        return (Found){.value = (double)NAN};
    return (Found){value, value, value, 1};
}

static Found find_rate(const Profile *profile, const ThresholdKey *key) {
    (void)key;
    Found step = found_time(&profile->totals[REPORT_STEP].latency);
    double n = (double)profile->units;
    return (Found){n / step.value, n / step.high, n / step.low, step.runs};
}

static Found find_count(const Profile *profile, const ThresholdKey *key) {
    const void *scopes[FIELD_SCOPES] = {[FIELDS_PHASE] = &profile->totals[REPORT_STEP],
                                        [FIELDS_MEMORY] = &profile->predicted,
                                        [FIELDS_MODEL] = profile};
    const ProfileField *field = profile_field((FieldScope)key->of, key->field);
    double value = (double)profile_field_count(field, scopes[key->of]);
    return (Found){value, value, value, 0}; // exact
}

static const ThresholdKey keys[] = {
    {"latency", OF_TIME, find_phase, REPORT_STEP, true, "a step, the median", NULL},
    {"forward", OF_TIME, find_phase, REPORT_FORWARD, false, "its forward", NULL},
    {"backward", OF_TIME, find_phase, REPORT_BACKWARD, false, "its backward", NULL},
    {"optimizer", OF_TIME, find_phase, REPORT_OPTIMIZER, false, "its optimizer", NULL},
    {"inference", OF_TIME, find_inference, 0, false, "a forward alone", NULL},
    {"p90", OF_TIME, find_percentile, 900, false, "of ten steps the slowest", NULL},
    {"p95", OF_TIME, find_percentile, 950, false, "of twenty", NULL},
    {"p99", OF_TIME, find_percentile, 990, false, "of a hundred", NULL},
    {"throughput", OF_RATE, find_rate, 0, true, "samples, images or tokens per second, at least",
     NULL},
    {"layer", OF_TIME, NULL, 0, true, "layer:PATTERN:LIMIT, each layer's part of a step", NULL},
    {"peak_memory", OF_BYTES, find_count, FIELDS_MEMORY, true, "of a step", "peak_bytes"},
    {"saved_memory", OF_BYTES, find_count, FIELDS_MEMORY, true, "kept for backward", "saved_bytes"},
    {"parameters", OF_COUNT, find_count, FIELDS_MODEL, true, "of the model", "parameters"},
    {"flops", OF_COUNT, find_count, FIELDS_PHASE, true, "of a step, all kinds", "total_flops"},
    {"macs", OF_COUNT, find_count, FIELDS_PHASE, true, "of a step", "macs"},
    {"bytes", OF_BYTES, find_count, FIELDS_PHASE, true, "that the ops of a step read and write",
     "bytes"},
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

// ---- parsing -----------------------------------------------------------------------------------
static Status refuse(const char *part, const char *what) {
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--threshold %.60s: %s. HINT: --help thresholds lists them", part, what);
}

// Reads "+5%" or "-10%" as a share.
static bool read_share(const char *text, double *share) {
    char *end;
    *share = 0.01 * strtod(text, &end);
    bool sign = text[0] == '+' || text[0] == '-';
    return sign && end > text + 1 && strcmp(end, "%") == 0 && *share > -1.0 && *share < 1e6;
}

// Reads a plain number; refuses other forms that strtod accepts, " 1", "0x1p4", "inf".
static bool read_number(const char *text, double *value, char **end) {
    size_t digits = strspn(text, "0123456789.");
    *value = strtod(text, end);
    return digits > 0 && *end > text && !strpbrk(text, "xX") && *value >= 0.0 && *value < 1e18;
}

// A rate may name its unit, as in "1000samples/s"; the profile must then have the same unit.
static void take_rate_unit(char **unit, Threshold *threshold) {
    size_t word = strspn(*unit, "abcdefghijklmnopqrstuvwxyz");
    if (word < 2 || word >= sizeof(threshold->unit) || strcmp(*unit + word, "/s") != 0) return;
    snprintf(threshold->unit, sizeof(threshold->unit), "%.*s", (int)word, *unit);
    *unit += word;
}

static Status read_limit(const char *text, Threshold *threshold) {
    const ThresholdKey *key = threshold->key;
    char *end, message[120];
    threshold->relative = read_share(text, &threshold->limit);
    if (threshold->relative && key->relative) return STATUS_OK;
    if (threshold->relative)
        return refuse(threshold->text, "beside a base times are of latency, throughput and layer");
    double value;
    bool number = read_number(text, &value, &end);
    if (key->kind == OF_RATE) take_rate_unit(&end, threshold);
    const Unit *unit = unit_of(key->kind, end);
    snprintf(message, sizeof(message), "expected %s%s", kind_units[key->kind],
             key->relative ? ", or +5%" : "");
    if (!number || !unit) return refuse(threshold->text, message);
    threshold->limit = value * unit->value;
    return STATUS_OK;
}

// Colons separate key, layer and limit.
static Status read_one(Threshold *threshold) {
    char copy[sizeof(threshold->text)], *limit;
    snprintf(copy, sizeof(copy), "%s", threshold->text);
    limit = strrchr(copy, ':');
    if (!limit) return refuse(copy, "expected KEY:LIMIT");
    *limit++ = '\0';
    char *layer = strchr(copy, ':');
    if (layer) *layer++ = '\0';
    for (int i = 0; i < KEYS && !threshold->key; i++)
        if (strcmp(keys[i].name, copy) == 0) threshold->key = &keys[i];
    if (!threshold->key) return refuse(threshold->text, "unknown key");
    bool of_layer = !threshold->key->find;
    if (of_layer != (layer && layer[0]))
        return refuse(threshold->text, of_layer ? "expected layer:PATTERN:LIMIT" : "one limit");
    if (of_layer && strlen(layer) >= sizeof(threshold->layer))
        return refuse(threshold->text, "a shorter pattern");
    if (of_layer) snprintf(threshold->layer, sizeof(threshold->layer), "%s", layer);
    return read_limit(limit, threshold);
}

Status threshold_parse(const char *text, ThresholdList *list) {
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0) return refuse("", "an empty limit between commas");
        if (list->n == THRESHOLD_MOST) return refuse(text, "more than 32 limits");
        Threshold *threshold = &list->at[list->n];
        *threshold = (Threshold){0};
        if (length >= sizeof(threshold->text)) return refuse(text, "too long");
        memcpy(threshold->text, text, length);
        if (read_one(threshold)) return error_status();
        for (int i = 0; i < list->n; i++)
            if (strcmp(list->at[i].text, threshold->text) == 0)
                return refuse(threshold->text, "this limit twice");
        list->n++;
        if (!text[length]) return STATUS_OK;
        text += length + 1;
    }
}

bool threshold_is_percentile(const Threshold *threshold) {
    return threshold->key->find == find_percentile;
}

bool threshold_needs_times(const ThresholdList *list) {
    bool needs = false;
    for (int i = 0; i < list->n; i++)
        needs = needs || list->at[i].key->kind == OF_TIME || list->at[i].key->kind == OF_RATE;
    return needs;
}

const char *threshold_key(int i, const char **what) {
    if (i >= KEYS) return NULL;
    *what = keys[i].what;
    return keys[i].name;
}
