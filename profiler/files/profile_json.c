// profile_json.c -- the JSON document, section by section (profiler/CONVENTIONS.md,
// section 5).
#include "profiler/files/profile_json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "layers/files/onnx.h"
#include "profiler/base/environment.h"
#include "profiler/files/profile_file.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/machine/machine_parts.h"
#include "profiler/report/report_table.h"
#include "tensor/given.h"

// ---- sections --------------------------------------------------------------------------------
static void write_machine(JsonWriter *json, const Profile *profile) {
    if (!profile->has_machine) {
        member_absent(json, "machine",
                      profile->totals[REPORT_STEP].latency.count > 0
                          ? "no ceilings were given"
                          : "nothing ran to be held against ceilings");
        return;
    }
    const Machine *machine = &profile->machine;
    json_writer_key(json, "machine");
    json_writer_begin_object(json);
    member_text(json, "source", machine->measured ? "measured" : "given");
    member_text(json, "name", machine->fingerprint[0] ? machine->fingerprint : NULL);
    if (machine->memory_bytes > 0) member_integer(json, "memory_bytes", machine->memory_bytes);
    member_real(json, "peak_flops_per_second", machine->peak_flops_per_second);
    machine_write_raise(json, &machine->raise);
    machine_write_levels(json, machine);
    bool dispatched = machine->dispatch_seconds > 0.0; // false: not in the user's file
    member_real(json, "dispatch_seconds", dispatched ? machine->dispatch_seconds : (double)NAN);
    member_real(json, "wake_seconds", machine->wake_seconds);
    machine_write_device(json, machine);
    json_writer_end_object(json);
}

static void write_environment(JsonWriter *json, const Profile *profile) {
    Environment environment;
    environment_read(&environment);
    json_writer_key(json, "environment");
    json_writer_begin_object(json);
    member_text(json, "cpu", environment.cpu);
    member_integer(json, "cores", environment.cores);
    member_integer(json, "threads", profile->threads);
    member_text(json, "blas", environment.blas);
    member_text(json, "compiler", environment.compiler);
    member_text(json, "flags", environment.flags);
    member_text(json, "device", profile->device);
    char gpu[ENVIRONMENT_DEVICE] = "";
    bool used = strcmp(profile->device, "cpu") != 0 && strcmp(profile->device, "meta") != 0;
    if (used) environment_device(profile->device, gpu);
    member_text(json, "gpu", gpu[0] ? gpu : NULL);
    if (!gpu[0]) member_text(json, "gpu_reason", "no GPU was used");
    json_writer_end_object(json);
}

// Writes the facts missing in the model's file, and the assumptions made.
static void write_assumed(JsonWriter *json, const Profile *profile) {
    json_writer_begin_array(json_writer_key(json, "assumed"));
    for (int i = 0; i < profile->n_assumed; i++) {
        json_writer_begin_object(json);
        member_text(json, "what", profile->assumed[i].what);
        member_text(json, "taken", profile->assumed[i].taken);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_model(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "model");
    json_writer_begin_object(json);
    json_fields(json, FIELDS_MODEL, profile);
    member_text(json, "dtype", precision_name(profile->precision));
    member_real(json, "flops_per_parameter", profile_flops_per_parameter(profile));
    json_writer_end_object(json);
}

// Writes the figures of a device other than the host.
static void write_device(JsonWriter *json, const Profile *profile) {
    bool timed = profile->has_device_times, copied = profile->batch_copy.count > 0;
    member_real(json, "launch_seconds", latency_median(&profile->launch));
    member_integer_if(json, timed, "launches", profile->launches);
    member_real(json, "device_busy_fraction", profile->device_busy_fraction);
    if (!timed) member_text(json, "launch_reason", "this device has no time of its own");
    member_real(json, "batch_copy_seconds", latency_median(&profile->batch_copy));
    member_integer_if(json, copied, "batch_copy_bytes", profile->batch_copy_bytes);
    if (!copied) member_text(json, "batch_copy_reason", "the batch is where it is needed");
}

// True if the phase happened; if backward did, both its parts count as happened.
static bool happened(const ProfilePhase *phases, int p) {
    bool part = p == REPORT_BACKWARD_INPUT || p == REPORT_BACKWARD_WEIGHT;
    return phases[part ? REPORT_BACKWARD : p].ops > 0;
}

static void write_totals(JsonWriter *json, const Profile *profile) {
    const ProfilePhase *totals = profile->totals;
    json_writer_key(json, "totals");
    json_writer_begin_object(json);
    for (int p = 0; p < REPORT_STEP; p++)
        json_phase(json, &profile->machine, report_phase_name((ReportPhase)p), &totals[p],
                   p == REPORT_FORWARD || happened(totals, p));
    member_count(json, "recomputed_flops", 2 * totals[REPORT_RECOMPUTE].cost.macs);
    json_writer_key(json, "step");
    json_writer_begin_object(json);
    json_phase_members(json, &profile->machine, &totals[REPORT_STEP]);
    member_real(json, "samples_per_second",
                (double)(profile->accumulate * profile->batch) /
                    latency_median(&totals[REPORT_STEP].latency));
    member_text(json, "unit", profile->unit);
    member_real(json, "units_per_second",
                (double)profile->units / latency_median(&totals[REPORT_STEP].latency));
    write_device(json, profile);
    json_writer_end_object(json);
    json_latency(json, "inference", &profile->inference);
    json_latency(json, "data_wait", &profile->data_wait);
    if (profile->data_wait.count == 0) member_text(json, "data_wait_reason", "nothing was loaded");
    member_real(json, "cpu_seconds", profile->cpu_seconds);
    const ProfilePhase *step = &totals[REPORT_STEP];
    bool ran = step->latency.count > 0;
    member_real(json, "other_work_share", profile->others_share);
    member_real(json, "off_core_seconds",
                ran ? step->terms.others - step->terms.faults : (double)NAN);
    member_real(json, "fault_seconds", ran ? step->terms.faults : (double)NAN);
    member_real(json, "cold_start_seconds", profile->cold_seconds);
    member_integer(json, "warmup_steps", profile->warmup);
    member_bool_if(json, ran, "steady", profile->steady);
    member_bool_if(json, ran, "trend", profile->trend);
    member_integer_if(json, ran, "steps_per_sample", profile->steps_per_sample);
    if (!ran) member_text(json, "latency_reason", "nothing ran on the meta device");
    member_real(json, "unattributed_seconds", profile->unattributed_seconds);
    json_writer_end_object(json);
}

static void write_metronome(JsonWriter *json, const Profile *profile) {
    const ProfileMetronome *metronome = &profile->metronome;
    if (metronome->product.count == 0) {
        member_absent(json, "metronome", "it runs where processes are compared, as of --runs");
        return;
    }
    json_writer_begin_object(json_writer_key(json, "metronome"));
    member_integer(json, "version", metronome->version);
    json_latency(json, "product", &metronome->product);
    json_latency(json, "read", &metronome->read);
    json_latency(json, "sharing", &metronome->sharing);
    json_writer_end_object(json);
}

// The step's speedup without the layer (Amdahl); NaN without times.
static double speedup_without(const Profile *profile, const ProfileLayer *layer) {
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    double left = step - profile_layer_seconds(layer);
    return left > 0.0 ? step / left : (double)NAN;
}

static void write_layers(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "layers");
    json_writer_begin_array(json);
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        json_writer_begin_object(json);
        json_fields(json, FIELDS_LAYER, layer);
        member_real(json, "speedup_without", speedup_without(profile, layer));
        member_count(json, "recomputed_flops", 2 * layer->phase[REPORT_RECOMPUTE].cost.macs);
        for (int p = 0; p < REPORT_STEP; p++)
            json_phase(json, &profile->machine, report_phase_name((ReportPhase)p), &layer->phase[p],
                       happened(layer->phase, p));
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

void json_date(JsonWriter *json, const char *key) {
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &utc);
    member_text(json, key, created);
}

static void write_comparison(JsonWriter *json, const Profile *profile) {
    json_writer_begin_array(json_writer_key(json, "uncounted"));
    for (int i = 0; i < profile->n_uncounted; i++) json_writer_string(json, profile->uncounted[i]);
    json_writer_end_array(json);
    write_assumed(json, profile);
    if (profile->reconciled || profile->difference[0])
        member_bool(json, "reconciled", profile->reconciled);
    else
        member_absent(json, "reconciled", "nothing ran to compare with");
    member_text(json, "difference", profile->difference[0] ? profile->difference : NULL);
}

static void write_config(JsonWriter *json, const char *lines) {
    if (!lines) {
        member_null(json, "config");
        return;
    }
    json_writer_begin_array(json_writer_key(json, "config"));
    while (*lines) {
        char line[4200]; // longer than any path
        int length = (int)strcspn(lines, "\n");
        snprintf(line, sizeof(line), "%.*s", length, lines);
        json_writer_string(json, line);
        lines += length + (lines[length] == '\n');
    }
    json_writer_end_array(json);
}

static void write_document(JsonWriter *json, const Profile *profile,
                           const ProfileTraining *training, const char *command) {
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.profile/v1");
    json_date(json, "created");
    member_text(json, "command", command);
    write_config(json, profile->config);
    member_text(json, "kind", profile_kind_name(profile->kind));
    member_bool(json, "cut_short", profile->cut_short);
    json_writer_begin_array(json_writer_key(json, "left_out"));
    for (int i = 0; i < profile->n_left_out; i++) json_writer_string(json, profile->left_out[i]);
    json_writer_end_array(json);
    write_environment(json, profile);
    write_machine(json, profile);
    write_model(json, profile);
    write_totals(json, profile);
    write_metronome(json, profile);
    json_memory(json, profile);
    write_layers(json, profile);
    json_ops(json, profile);
    json_rank(json, profile);
    json_advice(json, profile);
    json_training(json, training);
    json_generation(json, profile);
    write_comparison(json, profile);
    member_real(json, "profiler_overhead_percent", 100.0 * profile->overhead_fraction);
    member_real(json, "profiler_overhead_low_percent", 100.0 * profile->overhead_low);
    member_real(json, "profiler_overhead_high_percent", 100.0 * profile->overhead_high);
    json_writer_end_object(json);
}

// Closes the document, or if it is incomplete leaves the file as it was.
static Status close_document(JsonWriter *json) {
    if (!error_pending()) return json_writer_close(json);
    json_writer_discard(json);
    return error_status();
}

Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, JsonWriter *json) {
    bool failed_before = error_pending(); // the document reports a failed training
    write_document(json, profile, training, command);
    return failed_before ? json_writer_close(json) : close_document(json);
}

Status profile_write_json_each(const Profile *const profiles[], int n, const char *command,
                               JsonWriter *json) {
    const ProfileTraining none = {.absent = "networks are compared, not trained"};
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.comparison/v1");
    json_date(json, "created");
    member_text(json, "command", command);
    json_writer_begin_array(json_writer_key(json, "models"));
    for (int i = 0; i < n; i++) write_document(json, profiles[i], &none, command);
    json_writer_end_array(json);
    json_writer_end_object(json);
    return close_document(json);
}

Status profile_write_file(const Profile *profile, const char *command, const char *path) {
    if (!GIVEN(profile)) return STATUS_INVALID_ARGUMENT;
    const ProfileTraining none = {.absent = "not a part of this profile"};
    JsonWriter *json = json_file_open(path);
    return json ? profile_write_json(profile, &none, command, json) : error_status();
}
