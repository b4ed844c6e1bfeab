// profile_runs.c -- reads medians from profiles in JSON with jansson, and adds them to this
// profile.
#include "profiler/files/saved.h"

#include <jansson.h>
#include <string.h>

#include "profiler/measure/profile_fields.h"
#include "tensor/memory.h"

typedef struct Run { // the run being read
    int number, of;  // its index in the samples of `across`, and their number
} Run;

static Status refuse(const Run *run, const char *place, const char *key, const char *what) {
    return error_set(
        STATUS_FORMAT,
        "run %d of %d: %s%s%.40s: %s. HINT: all of them profile the same, and complete",
        run->number + 1, run->of, place, place[0] && key[0] ? "." : "", key, what);
}

static Status make_room(Latency *latency, int of) {
    if (latency->across) memory_free(latency->across->samples); // from fewer runs
    memory_free(latency->across);
    latency->across = memory_new(sizeof(Latency));
    if (!latency->across) return error_status();
    latency->across->samples = memory_new((size_t)of * sizeof(double));
    if (!latency->across->samples) return error_status();
    latency->across->count = of;
    latency->across->samples[0] = latency->statistics.median;
    return STATUS_OK;
}

// Takes the median of a latency in JSON at place.key; key "": the latency itself.
static Status take(const Run *run, json_t *from, const char *place, const char *key,
                   Latency *latency) {
    if (latency->count == 0) return STATUS_OK;
    if (run->number == 1 && make_room(latency, run->of)) return error_status();
    json_t *median = json_object_get(from, "median");
    double seconds = json_is_number(median) ? json_number_value(median) : -1.0;
    if (!(seconds >= 0.0)) return refuse(run, place, key, "no median");
    latency->across->samples[run->number] = seconds;
    return STATUS_OK;
}

static Status take_phases(const Run *run, json_t *from, const char *place,
                          ProfilePhase phases[REPORT_COUNT]) {
    Status status = STATUS_OK;
    for (int p = 0; p < REPORT_COUNT && !status; p++) {
        const char *key = report_phase_name((ReportPhase)p);
        json_t *phase = json_object_get(from, key);
        status = take(run, json_object_get(phase, "latency"), place, key, &phases[p].latency);
    }
    return status;
}

static Status take_layer(const Run *run, json_t *from, ProfileLayer *layer) {
    const char *path = json_string_value(json_object_get(from, "path"));
    if (!path || strcmp(path, layer->path) != 0)
        return refuse(run, layer->path, "", "another layer stands in its place");
    return take_phases(run, from, layer->path, layer->phase);
}

// Takes the times of the whole that are no phase's.
static Status take_alone(const Run *run, json_t *document, Profile *profile) {
    Status status = STATUS_OK;
    json_t *version = json_object_get(json_object_get(document, "metronome"), "version");
    if (json_integer_value(version) != profile->metronome.version)
        return refuse(run, "metronome", "version", "differs from the first run's");
    for (int i = 0; i < PROFILE_TIMES && !status; i++) {
        const ProfileTime *time = &profile_times[i];
        if (!time->key) continue;
        json_t *from = json_object_get(json_object_get(document, time->place), time->key);
        status = take(run, from, time->place, time->key, profile_time(profile, i));
    }
    return status;
}

static Status take_document(const Run *run, json_t *document, Profile *profile) {
    json_t *totals = json_object_get(document, "totals");
    json_t *layers = json_object_get(document, "layers");
    if (json_array_size(layers) != (size_t)profile->n_layers)
        return refuse(run, "layers", "", "differ from this profile's");
    profile_take_difference(profile, document);
    Status status = take_phases(run, totals, "totals", profile->totals);
    if (!status) status = take_alone(run, document, profile);
    for (int i = 0; i < profile->n_layers && !status; i++)
        status = take_layer(run, json_array_get(layers, (size_t)i), &profile->layers[i]);
    return status;
}

static Status take_text(const Run *run, const char *text, Profile *profile) {
    json_error_t error;
    json_t *document = json_loads(text, 0, &error);
    if (!document) return refuse(run, "", "", error.text);
    Status status = take_document(run, document, profile);
    json_decref(document);
    return status;
}

// ---- statistics over runs --------------------------------------------------------------------
static Status summarise(Latency *latency) {
    Latency *across = latency->across;
    if (!across) return STATUS_OK;
    return statistics_summarise(across->samples, across->count, &across->statistics);
}

static Status summarise_phases(ProfilePhase phases[REPORT_COUNT]) {
    Status status = STATUS_OK;
    for (int p = 0; p < REPORT_COUNT && !status; p++) status = summarise(&phases[p].latency);
    return status;
}

Status profile_take_runs(Profile *profile, char *const documents[], int n) {
    Status status = STATUS_OK;
    for (int i = 0; i < n && !status; i++) {
        const Run run = {.number = i + 1, .of = n + 1};
        status = take_text(&run, documents[i], profile);
    }
    if (!status) status = summarise_phases(profile->totals);
    for (int i = 0; i < PROFILE_TIMES && !status; i++) status = summarise(profile_time(profile, i));
    for (int i = 0; i < profile->n_layers && !status; i++)
        status = summarise_phases(profile->layers[i].phase);
    return status;
}

// ---- one alone -------------------------------------------------------------------------------
Status run_figures_read(const char *document, RunFigures *figures) {
    SavedProfile saved;
    Status status = saved_profile_parse(document, strlen(document), "a run", &saved);
    const Profile *profile = &saved.profile;
    *figures = (RunFigures){.units = profile->units,
                            .beat = (double)NAN,
                            .peak_bytes = profile->measured.peak.total};
    if (!status) {
        figures->beat =
            profile_beat(profile, 0, profile_computes(profile->totals[REPORT_STEP].cost));
        figures->threads = profile->threads;
    }
    for (int p = 0; p < REPORT_COUNT; p++) {
        const Latency *latency = &profile->totals[p].latency;
        figures->phase[p] = latency->count > 0 ? latency->statistics.median : 0.0;
    }
    double step = figures->phase[REPORT_STEP];
    figures->units_per_second = (double)profile->units / step;
    if (!status && profile->difference[0])
        status = error_set(STATUS_STATE, "predicted is not executed: %s", profile->difference);
    saved_profile_free(&saved);
    if (status || (figures->units > 0 && step > 0.0)) return status;
    return error_set(STATUS_FORMAT,
                     "a run's profile has no time of a step. HINT: it is not complete");
}
