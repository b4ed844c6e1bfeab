// profile_read.c -- reads a profile with jansson. Missing, mistyped or out-of-range members are
// refused with their place; members that only newer writers know may be absent.
#include "profiler/files/saved.h"
#include "profiler/measure/profile_words.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/input_file.h"
#include "profiler/base/text.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/measure/ratio.h"
#include "tensor/memory.h"

enum { MOST_LAYERS = 1 << 14 };
// Limits that no step exceeds; sums of a few counts stay within their types.
static const double least_seconds = 1e-12, most_seconds = 1e9;
static const int64_t most_count = INT64_C(1) << 61;

typedef struct Reader { // the place in the document
    const char *name;
    char place[160];
} Reader;

static Status refuse(const Reader *reader, const char *key, const char *expected) {
    const char *between = reader->place[0] && key[0] ? "." : "";
    return error_set(STATUS_FORMAT,
                     "%s: %s%s%s: expected %s. HINT: it is not a whole profile, such as --save "
                     "FILE writes",
                     reader->name, reader->place, between, key, expected);
}

static bool known(json_t *value) { return value && !json_is_null(value); }

// ---- members -----------------------------------------------------------------------------------
static Status read_count(const Reader *reader, json_t *object, const char *key, int64_t *count) {
    json_t *value = json_object_get(object, key);
    *count = json_integer_value(value);
    if (json_is_integer(value) && *count >= 0 && *count <= most_count) return STATUS_OK;
    return refuse(reader, key, "a whole number from 0 to 2^61");
}

// Reads printable text, cut to `size`, which fits any text of this program; absent: "".
static Status read_text(const Reader *reader, json_t *object, const char *key, char *text,
                        size_t size) {
    json_t *value = json_object_get(object, key);
    text[0] = '\0';
    if (!known(value)) return STATUS_OK;
    if (!json_is_string(value)) return refuse(reader, key, "text");
    text_take_plain(json_string_value(value), text, size);
    return STATUS_OK;
}

// Reads a rate >= 1; 0 if it is unknown.
static Status read_rate(const Reader *reader, json_t *object, const char *key, double *rate) {
    json_t *value = json_object_get(object, key);
    *rate = json_number_value(value);
    if (!known(value) || (*rate >= 1.0 && *rate < 1e24)) return STATUS_OK;
    return refuse(reader, key, "a rate from 1 on");
}

// Reads seconds; a difference of two clock readings may be 0.
static Status read_seconds(const Reader *reader, const char *key, json_t *value, double *seconds) {
    *seconds = json_number_value(value);
    bool any = *seconds == 0.0 || (*seconds >= least_seconds && *seconds < most_seconds);
    return json_is_number(value) && any ? STATUS_OK : refuse(reader, key, "seconds");
}

static Status read_share(const Reader *reader, const char *key, json_t *value, double *share) {
    *share = json_number_value(value);
    bool fits = json_is_number(value) && *share >= 0.0 && *share <= 1.0;
    return fits ? STATUS_OK : refuse(reader, key, "a share, 0 to 1");
}

// Reads the members of a scope (profile_fields.h) that comparisons need into the struct `of`.
static Status read_fields(const Reader *reader, json_t *from, FieldScope scope, void *of) {
    Status status = STATUS_OK;
    for (const ProfileField *field = profile_fields(scope); field->key && !status; field++) {
        void *at = profile_field_at(field, of);
        if (!(field->uses & FIELD_READ)) continue;
        status = field->kind == FIELD_TEXT ? read_text(reader, from, field->key, at, field->size)
                                           : read_count(reader, from, field->key, at);
    }
    return status;
}

// ---- times -------------------------------------------------------------------------------------
// Reads the medians of all runs, if there were several.
static Status read_across(const Reader *reader, json_t *from, Latency *latency) {
    json_t *samples = json_object_get(json_object_get(from, "across_runs"), "samples");
    size_t n = json_array_size(samples);
    if (n == 0) return STATUS_OK;
    if (n > RATIO_MOST) return refuse(reader, "across_runs.samples", "at most 1000");
    Latency *across = latency->across = memory_new(sizeof(Latency));
    if (across) across->samples = memory_new(n * sizeof(double));
    if (!across || !across->samples) return error_status();
    across->count = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        if (read_seconds(reader, "across_runs.samples", json_array_get(samples, i),
                         &across->samples[i]))
            return error_status();
    return statistics_summarise(across->samples, across->count, &across->statistics);
}

static Status read_latency(Reader *reader, json_t *from, Latency *latency) {
    LatencyStatistics *statistics = &latency->statistics;
    size_t length = strlen(reader->place);
    if (!known(from)) return STATUS_OK;
    snprintf(reader->place + length, sizeof(reader->place) - length, ".latency");
    Status status = read_count(reader, from, "n", &latency->count);
    if (!status)
        status =
            read_seconds(reader, "median", json_object_get(from, "median"), &statistics->median);
    json_t *ci95 = json_object_get(from, "ci95");
    if (!status && json_array_size(ci95) == 2) { // missing with few samples
        status = read_seconds(reader, "ci95", json_array_get(ci95, 0), &statistics->ci95_low);
        if (!status)
            status = read_seconds(reader, "ci95", json_array_get(ci95, 1), &statistics->ci95_high);
    }
    if (!status) status = read_across(reader, from, latency);
    if (!status) reader->place[length] = '\0';
    return status;
}

// ---- phases and layers -------------------------------------------------------------------------
static Status read_phase(Reader *reader, json_t *from, ProfilePhase *phase) {
    if (read_fields(reader, from, FIELDS_PHASE, phase)) return error_status();
    phase->ops = 1; // the phase happened
    return read_latency(reader, json_object_get(from, "latency"), &phase->latency);
}

static Status read_phases(Reader *reader, json_t *from, ProfilePhase phases[REPORT_COUNT]) {
    size_t length = strlen(reader->place);
    for (int p = 0; p < REPORT_COUNT; p++) {
        const char *name = report_phase_name((ReportPhase)p);
        json_t *phase = json_object_get(from, name);
        if (!known(phase)) continue;
        snprintf(reader->place + length, sizeof(reader->place) - length, ".%s", name);
        if (read_phase(reader, phase, &phases[p])) return error_status();
        reader->place[length] = '\0';
    }
    return STATUS_OK;
}

static Status read_layer(Reader *reader, json_t *from, ProfileLayer *layer) {
    Status status = known(json_object_get(from, "path"))
                        ? read_fields(reader, from, FIELDS_LAYER, layer)
                        : refuse(reader, "path", "the path of a layer");
    if (!status && !layer->path[0]) status = refuse(reader, "path", "the path of a layer");
    return status ? status : read_phases(reader, from, layer->phase);
}

static Status read_layers(Reader *reader, json_t *layers, Profile *profile) {
    size_t n = json_array_size(layers);
    if (!json_is_array(layers) || n > MOST_LAYERS)
        return refuse(reader, "layers", "an array of at most 16384");
    profile->layers = memory_new(n * sizeof(ProfileLayer));
    if (n > 0 && !profile->layers) return error_status();
    profile->n_layers = (int)n;
    for (size_t i = 0; i < n; i++) {
        snprintf(reader->place, sizeof(reader->place), "layers[%zu]", i);
        if (read_layer(reader, json_array_get(layers, i), &profile->layers[i]))
            return error_status();
    }
    return STATUS_OK;
}

// ---- sections ----------------------------------------------------------------------------------
static Status read_peak(const Reader *reader, json_t *from, ProfileMemory *memory) {
    Status status = read_fields(reader, from, FIELDS_USE, &memory->peak);
    return status ? status : read_fields(reader, from, FIELDS_MEMORY, memory);
}

static Status read_memory(Reader *reader, json_t *memory, Profile *profile) {
    snprintf(reader->place, sizeof(reader->place), "memory.predicted");
    Status status = read_peak(reader, json_object_get(memory, "predicted"), &profile->predicted);
    json_t *measured = json_object_get(memory, "measured");
    snprintf(reader->place, sizeof(reader->place), "memory.measured");
    if (!status && known(measured)) status = read_peak(reader, measured, &profile->measured);
    snprintf(reader->place, sizeof(reader->place), "memory");
    if (!status && known(json_object_get(memory, "step_allocations")))
        status = read_count(reader, memory, "step_allocations", &profile->allocations);
    return status;
}

static Status read_kind(const Reader *reader, json_t *document, ProfileKind *kind) {
    char name[16];
    if (read_text(reader, document, "kind", name, sizeof(name))) return error_status();
    for (int k = 0; k <= PROFILE_INFERENCE; k++)
        if (strcmp(name, profile_kind_name((ProfileKind)k)) == 0) {
            *kind = (ProfileKind)k;
            return STATUS_OK;
        }
    return refuse(reader, "kind", "training, backward or inference");
}

void profile_take_difference(Profile *profile, const json_t *document) {
    const char *difference = json_string_value(json_object_get(document, "difference"));
    if (profile->difference[0] || !json_is_false(json_object_get(document, "reconciled"))) return;
    profile->reconciled = false;
    text_take_plain(difference && difference[0] ? difference : "it does not say in what",
                    profile->difference, sizeof(profile->difference));
}

static Status read_environment(Reader *reader, json_t *from, SavedProfile *saved) {
    Environment *environment = &saved->environment;
    Profile *profile = &saved->profile;
    int64_t cores, threads;
    snprintf(reader->place, sizeof(reader->place), "environment");
    const struct {
        const char *key;
        char *text;
        size_t size;
    } texts[] = {{"cpu", environment->cpu, sizeof(environment->cpu)},
                 {"blas", environment->blas, sizeof(environment->blas)},
                 {"compiler", environment->compiler, sizeof(environment->compiler)},
                 {"flags", environment->flags, sizeof(environment->flags)},
                 {"device", profile->device, sizeof(profile->device)},
                 {"gpu", saved->gpu, sizeof(saved->gpu)}};
    Status status = read_count(reader, from, "cores", &cores);
    if (!status) status = read_count(reader, from, "threads", &threads);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !status; i++)
        status = read_text(reader, from, texts[i].key, texts[i].text, texts[i].size);
    if (status) return status;
    environment->cores = (int)(cores < INT32_MAX ? cores : INT32_MAX);
    profile->threads = (int)(threads < INT32_MAX ? threads : INT32_MAX);
    return STATUS_OK;
}

static Status read_totals(Reader *reader, json_t *totals, SavedProfile *saved) {
    Profile *profile = &saved->profile;
    snprintf(reader->place, sizeof(reader->place), "totals");
    Status status = read_phases(reader, totals, profile->totals);
    if (status) return status;
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    json_t *from = json_object_get(totals, "step"),
           *others = json_object_get(totals, "other_work_share");
    double median = latency_median(step), rate = 0.0;
    if (profile->totals[REPORT_STEP].ops == 0) return refuse(reader, "step", "an object");
    snprintf(reader->place, sizeof(reader->place), "totals.step");
    bool whole =
        step->count == 0 || (median > 0.0 && (!step->across || step->across->statistics.min > 0.0));
    if (!status && !whole) status = refuse(reader, "latency", "times above 0");
    if (!status) status = read_rate(reader, from, "units_per_second", &rate);
    if (!status) status = read_text(reader, from, "unit", profile->unit, sizeof(profile->unit));
    snprintf(reader->place, sizeof(reader->place), "totals");
    if (!status && known(others))
        status = read_share(reader, "other_work_share", others, &profile->others_share);
    if (status || step->count == 0) return status;
    profile->units = (int64_t)fmin(rate * median + 0.5, 1e15);
    return STATUS_OK;
}

// Reads the times of the whole that are no phase's, as far as runs are compared by them.
static Status read_alone(Reader *reader, json_t *document, Profile *profile) {
    Status status = STATUS_OK;
    for (int i = 0; i < PROFILE_TIMES && !status; i++) {
        const ProfileTime *time = &profile_times[i];
        if (!time->key) continue;
        snprintf(reader->place, sizeof(reader->place), "%s.%s", time->place, time->key);
        json_t *from = json_object_get(json_object_get(document, time->place), time->key);
        status = read_latency(reader, from, profile_time(profile, i));
    }
    return status;
}

static Status read_metronome(Reader *reader, json_t *from, ProfileMetronome *metronome) {
    int64_t version;
    if (!known(from)) return STATUS_OK;
    snprintf(reader->place, sizeof(reader->place), "metronome");
    Status status = read_count(reader, from, "version", &version);
    metronome->version = (int)(version < INT32_MAX ? version : INT32_MAX);
    return status;
}

static Status read_document(json_t *document, const char *name, SavedProfile *saved) {
    Reader reader = {.name = name};
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (!schema || strcmp(schema, "ridgepoint.profile/v1") != 0)
        return error_set(
            STATUS_FORMAT,
            "%s: its schema is %.60s, and not ridgepoint.profile/v1. HINT: --save FILE "
            "writes such a profile",
            name, schema ? schema : "missing");
    Status status = read_text(&reader, document, "created", saved->created, 32);
    if (!status) status = read_kind(&reader, document, &saved->profile.kind);
    snprintf(reader.place, sizeof(reader.place), "model");
    if (!status)
        status =
            read_fields(&reader, json_object_get(document, "model"), FIELDS_MODEL, &saved->profile);
    if (!status)
        status = read_environment(&reader, json_object_get(document, "environment"), saved);
    if (!status) status = read_totals(&reader, json_object_get(document, "totals"), saved);
    if (!status)
        status = read_metronome(&reader, json_object_get(document, "metronome"),
                                &saved->profile.metronome);
    if (!status) status = read_alone(&reader, document, &saved->profile);
    if (!status)
        status = read_memory(&reader, json_object_get(document, "memory"), &saved->profile);
    reader.place[0] = '\0';
    saved->profile.reconciled = json_is_true(json_object_get(document, "reconciled"));
    profile_take_difference(&saved->profile, document);
    return status ? status
                  : read_layers(&reader, json_object_get(document, "layers"), &saved->profile);
}

Status saved_profile_parse(const char *text, size_t size, const char *name, SavedProfile *saved) {
    *saved = (SavedProfile){.profile.others_share = (double)NAN};
    json_error_t error;
    json_t *document = json_loadb(text, size, 0, &error);
    if (!document && json_error_code(&error) == json_error_out_of_memory)
        return error_set(STATUS_OUT_OF_MEMORY, "%s: no room to read it", name);
    if (!document)
        return error_set(STATUS_FORMAT,
                         "%s: line %d: not JSON: %s. HINT: --save FILE writes a profile", name,
                         error.line, error.text);
    Status status = read_document(document, name, saved);
    json_decref(document);
    return status;
}

Status saved_profile_read(const char *path, SavedProfile *saved) {
    size_t size = 0;
    *saved = (SavedProfile){.profile.others_share = (double)NAN};
    if (access(path, F_OK) != 0)
        return error_set(STATUS_IO, "%s: %s. HINT: --save %s makes it", path, strerror(errno),
                         path);
    char *text = input_file_read(path, SAVED_PROFILE_MOST_BYTES, &size);
    Status status = text ? saved_profile_parse(text, size, path, saved) : error_status();
    memory_free(text);
    return status;
}

void saved_profile_free(SavedProfile *saved) { profile_free(&saved->profile); }
