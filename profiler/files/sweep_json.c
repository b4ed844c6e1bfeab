// sweep_json.c -- writes and reads the document of a sweep, and reads the profiles of a point. All
// input is checked as untrusted.
#include "profiler/files/saved.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/input_file.h"
#include "profiler/base/text.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/measure/ratio.h"
#include "tensor/memory.h"

static const char schema[] = "ridgepoint.sweep/v1";
static const char *const states[] = {"open", "measured", "failed"};
static const double none = (double)NAN, most_seconds = 1e9, most_loss = 1e30;

// ---- writing -----------------------------------------------------------------------------------
static void write_axes(JsonWriter *json, const Sweep *sweep) {
    json_writer_begin_array(json_writer_key(json, "axes"));
    for (int a = 0; a < sweep->n_axes; a++) {
        const SweepAxis *axis = &sweep->axes[a];
        json_writer_begin_object(json);
        member_text(json, "name", axis->name);
        json_writer_begin_array(json_writer_key(json, "values"));
        for (int v = 0; v < axis->n; v++) json_writer_string(json, axis->values[v]);
        json_writer_end_array(json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_training(JsonWriter *json, const SweepPoint *point) {
    member_real(json, "final_loss", point->loss);
    member_real(json, "test_accuracy", point->accuracy);
    member_integer(json, "steps", point->steps);
    member_real(json, "seconds", point->train_seconds);
    member_real(json, "target_seconds", point->target_seconds);
    json_writer_begin_array(json_writer_key(json, "losses"));
    for (int i = 0; i < point->n_losses; i++) json_writer_double(json, point->losses[i]);
    json_writer_end_array(json);
}

static void write_point(JsonWriter *json, const Sweep *sweep, int64_t i) {
    const SweepPoint *point = &sweep->points[i];
    bool timed = point->seconds > 0.0;
    int at[SWEEP_AXES];
    sweep_place(sweep, i, at);
    json_writer_begin_record(json);
    json_writer_begin_array(json_writer_key(json, "at"));
    for (int a = 0; a < sweep->n_axes; a++) json_writer_string(json, sweep->axes[a].values[at[a]]);
    json_writer_end_array(json);
    member_text(json, "state", states[point->state]);
    if (point->state == SWEEP_MEASURED) {
        member_real(json, "step_seconds", timed ? point->seconds : none);
        member_real(json, "step_low_seconds", point->high > 0.0 ? point->low : none);
        member_real(json, "step_high_seconds", point->high > 0.0 ? point->high : none);
        member_real(json, "metronome_seconds", point->beat > 0.0 ? point->beat : none);
        member_real(json, "units_per_second", timed ? point->units_per_second : none);
        member_integer(json, "peak_bytes", point->peak_bytes);
        member_integer(json, "total_flops", point->total_flops);
        if (sweep->learns) write_training(json, point);
        member_bool(json, "pareto", point->pareto);
        member_bool(json, "within_limits", !point->over);
    }
    member_bool(json, "chosen", i == sweep->chosen);
    json_writer_end_object(json);
}

static void write_fits(JsonWriter *json, const Sweep *sweep) {
    int axis = sweep_axis(sweep, "batch"), at[SWEEP_AXES];
    json_writer_begin_array(json_writer_key(json, "fits"));
    for (int64_t i = 0; axis >= 0 && i < sweep->n; i++) {
        SweepFit fit;
        sweep_place(sweep, i, at);
        if (at[axis] != 0 || !sweep_fit(sweep, axis, i, &fit)) continue;
        json_writer_begin_record(json);
        member_integer(json, "first_point", i);
        member_integer(json, "from_batch", fit.from);
        member_real(json, "fixed_seconds", fit.fixed);
        member_real(json, "seconds_per_batch", fit.each);
        member_real(json, "error", fit.error);
        member_integer(json, "predicted_batch", fit.batch);
        member_real(json, "predicted_seconds", fit.seconds);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

Status sweep_write_json(const Sweep *sweep, const char *command, const char *cpu,
                        JsonWriter *json) {
    json_writer_begin_object(json);
    member_text(json, "schema", schema);
    json_date(json, "created");
    member_text(json, "command", command);
    member_text(json, "cpu", cpu);
    member_text(json, "unit", sweep->unit);
    member_bool(json, "trained", sweep->learns);
    member_real(json, "target_loss", sweep->target);
    write_axes(json, sweep);
    json_writer_begin_array(json_writer_key(json, "points"));
    for (int64_t i = 0; i < sweep->n; i++) write_point(json, sweep, i);
    json_writer_end_array(json);
    write_fits(json, sweep);
    json_writer_end_object(json);
    return json_writer_close(json);
}

// ---- reading -----------------------------------------------------------------------------------
static Status refuse(const char *path, const char *what) {
    return error_set(STATUS_FORMAT, "%s: %s. HINT: name another file, or remove this one", path,
                     what);
}

static double real(json_t *object, const char *key, double unknown) {
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : unknown;
}

// An optional member: null, or a number in a range. read_members returns false for anything else.
typedef struct Member {
    const char *key;
    double *value, least, most;
} Member;

static bool read_members(json_t *from, const Member *members, int n) {
    for (int i = 0; i < n; i++) {
        const Member *member = &members[i];
        json_t *value = json_object_get(from, member->key);
        if (!value || json_is_null(value)) continue;
        *member->value = json_number_value(value);
        if (!json_is_number(value) ||
            !(*member->value >= member->least && *member->value <= member->most))
            return false;
    }
    return true;
}

static bool read_count(json_t *from, const char *key, int64_t *count) {
    json_t *value = json_object_get(from, key);
    *count = json_integer_value(value);
    return json_is_integer(value) && *count >= 0;
}

// Reads a step count that may be multiplied by a training's parts (sweep_judge). Absent: 0.
static bool read_steps(json_t *from, int64_t *steps) {
    json_t *value = json_object_get(from, "steps");
    *steps = 0;
    return !value || (read_count(from, "steps", steps) && *steps <= INT64_MAX / (2 * SWEEP_LOSSES));
}

static bool read_losses(json_t *losses, SweepPoint *point) {
    size_t n = json_array_size(losses);
    if (n > SWEEP_LOSSES) return false;
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_array_get(losses, i);
        point->losses[i] = json_number_value(value);
        if (!json_is_number(value) || fabs(point->losses[i]) > most_loss) return false;
    }
    point->n_losses = (int)n;
    return true;
}

// Reads a point; false: it is none. A failed point stays open, to be tried again.
static bool read_point(json_t *from, SweepPoint *point) {
    const char *state = json_string_value(json_object_get(from, "state"));
    *point = (SweepPoint){.loss = none, .accuracy = none, .train_seconds = none};
    if (!state) return false;
    if (strcmp(state, states[SWEEP_MEASURED]) != 0)
        return strcmp(state, states[SWEEP_OPEN]) == 0 || strcmp(state, states[SWEEP_FAILED]) == 0;
    point->state = SWEEP_MEASURED;
    const Member members[] = {{"step_seconds", &point->seconds, 1e-12, most_seconds},
                              {"step_low_seconds", &point->low, 0.0, most_seconds},
                              {"step_high_seconds", &point->high, 0.0, most_seconds},
                              {"metronome_seconds", &point->beat, 1e-12, most_seconds},
                              {"units_per_second", &point->units_per_second, 0.0, 1e18},
                              {"final_loss", &point->loss, -most_loss, most_loss},
                              {"test_accuracy", &point->accuracy, 0.0, 1.0},
                              {"seconds", &point->train_seconds, 0.0, most_seconds}};
    return read_members(from, members, sizeof(members) / sizeof(members[0])) &&
           read_count(from, "peak_bytes", &point->peak_bytes) &&
           read_count(from, "total_flops", &point->total_flops) &&
           read_steps(from, &point->steps) && read_losses(json_object_get(from, "losses"), point);
}

static bool is_text(json_t *object, const char *key, const char *text) {
    const char *value = json_string_value(json_object_get(object, key));
    return value && strcmp(value, text) == 0;
}

// Discards all points if one of them is invalid.
static Status read_document(json_t *document, const char *path, const char *command,
                            const char *cpu, Sweep *sweep) {
    json_t *points = json_object_get(document, "points"), *unit;
    if (!is_text(document, "schema", schema)) return refuse(path, "it is not a sweep");
    if (!is_text(document, "command", command))
        return refuse(path, "it is a sweep of another command");
    if (!is_text(document, "cpu", cpu)) return refuse(path, "it is a sweep of another processor");
    if (json_array_size(points) != (size_t)sweep->n) return refuse(path, "it lacks points");
    for (int64_t i = 0; i < sweep->n; i++)
        if (!read_point(json_array_get(points, (size_t)i), &sweep->points[i])) {
            char what[48];
            snprintf(what, sizeof(what), "points[%lld] is not a point", (long long)i);
            memset(sweep->points, 0, (size_t)sweep->n * sizeof(SweepPoint));
            return refuse(path, what);
        }
    unit = json_object_get(document, "unit");
    if (json_is_string(unit))
        text_take_plain(json_string_value(unit), sweep->unit, sizeof(sweep->unit));
    return STATUS_OK;
}

Status sweep_read_json(const char *path, const char *command, const char *cpu, Sweep *sweep) {
    size_t size;
    if (access(path, F_OK) != 0 && errno == ENOENT) return STATUS_OK;
    char *text = input_file_read(path, 1 << 26, &size);
    if (!text) return error_status();
    json_t *document = json_loadb(text, size, 0, NULL);
    Status status = document ? read_document(document, path, command, cpu, sweep)
                             : refuse(path, "it is not a sweep");
    json_decref(document);
    memory_free(text);
    return status;
}

// ---- one point ---------------------------------------------------------------------------------
static Status read_training(const char *text, SweepPoint *point) {
    json_t *document = json_loads(text, 0, NULL);
    if (!document) return error_set(STATUS_OUT_OF_MEMORY, "--sweep: no room to read a point");
    json_t *training = json_object_get(document, "training");
    point->loss = real(training, "final_loss", none);
    point->accuracy = real(training, "test_accuracy", none);
    point->train_seconds = real(training, "seconds", none);
    if (!read_steps(training, &point->steps)) point->steps = 0;
    read_losses(json_object_get(training, "losses"), point); // written by ourselves
    json_decref(document);
    return STATUS_OK;
}

// The median beat; 0: the metronome did not run.
static double median_beat(const Profile *profile, int n) {
    LatencyStatistics statistics;
    double beats[RATIO_MOST];
    for (int i = 0; i < n; i++) {
        beats[i] = profile_beat(profile, i, false);
        if (isnan(beats[i])) return 0.0;
    }
    return statistics_summarise(beats, n, &statistics) ? 0.0 : statistics.median;
}

Status sweep_point_read(char *const documents[], int n, SweepPoint *point, char unit[16]) {
    SavedProfile saved;
    const Profile *profile = &saved.profile;
    Status status = saved_profile_parse(documents[0], strlen(documents[0]), "a point", &saved);
    if (!status && n > 1) status = profile_take_runs(&saved.profile, documents + 1, n - 1);
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    const Latency *all = latency_whole(&step->latency);
    const LatencyStatistics *s = &all->statistics;
    if (!status) {
        bool timed = all->count > 0;
        int64_t measured = profile->measured.peak.total;
        *point = (SweepPoint){.state = SWEEP_MEASURED,
                              .seconds = timed ? s->median : 0.0,
                              .low = s->ci95_low,
                              .high = s->ci95_high,
                              .units_per_second = timed ? (double)profile->units / s->median : 0.0,
                              .peak_bytes = measured ? measured : profile->predicted.peak.total,
                              .total_flops = (int64_t)op_cost_total_flops(step->cost)};
        point->beat = median_beat(profile, n);
        snprintf(unit, 16, "%.15s", profile->unit);
        status = read_training(documents[0], point);
    }
    if (!status && profile->difference[0])
        status = error_set(STATUS_STATE, "predicted is not executed: %s", profile->difference);
    saved_profile_free(&saved);
    return status;
}
