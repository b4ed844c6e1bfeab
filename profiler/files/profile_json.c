// profile_json.c -- the JSON document, section by section (profiler/CONVENTIONS.md,
// section 5).
#include "profiler/files/profile_json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "layers/files/onnx.h"
#include "profiler/base/environment.h"
#include "profiler/files/profile_json_parts.h"
#include "profiler/machine/machine_parts.h"
#include "profiler/report/report_table.h"

// ---- sections --------------------------------------------------------------------------------
static void write_machine(JsonWriter *json, const Profile *profile) {
    if (!profile->has_machine) {
        member_null(json, "machine");
        member_text(json, "machine_reason",
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
    member_text(json, "name", profile->model);
    json_shape(json, "input_shape", profile->input);
    member_integer(json, "batch", profile->batch);
    member_integer(json, "accumulate", profile->accumulate);
    member_text(json, "dtype", precision_name(profile->precision));
    member_integer(json, "parameters", profile->parameters);
    member_integer(json, "parameters_stored", profile->parameters_stored);
    member_integer(json, "parameters_guessed", profile->parameters_guessed);
    member_integer(json, "trainable_parameters", profile->trainable_parameters);
    member_integer(json, "parameter_bytes", profile->parameter_bytes);
    member_real(json, "flops_per_parameter", profile_flops_per_parameter(profile));
    member_text(json, "optimizer", profile->optimizer[0] ? profile->optimizer : NULL);
    json_writer_end_object(json);
}

// Writes the figures of a device other than the host.
static void write_device(JsonWriter *json, const Profile *profile) {
    bool timed = profile->has_device_times, copied = profile->batch_copy.count > 0;
    member_real(json, "launch_seconds", latency_median(&profile->launch));
    if (timed)
        member_integer(json, "launches", profile->launches);
    else
        member_null(json, "launches");
    member_real(json, "device_busy_fraction", profile->device_busy_fraction);
    if (!timed) member_text(json, "launch_reason", "this device has no time of its own");
    member_real(json, "batch_copy_seconds", latency_median(&profile->batch_copy));
    if (copied)
        member_integer(json, "batch_copy_bytes", profile->batch_copy_bytes);
    else
        member_null(json, "batch_copy_bytes");
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
    if (totals[REPORT_STEP].latency.count > 0) {
        member_bool(json, "steady", profile->steady);
        member_bool(json, "trend", profile->trend);
        member_integer(json, "steps_per_sample", profile->steps_per_sample);
    } else {
        member_null(json, "steady");
        member_null(json, "trend");
        member_null(json, "steps_per_sample");
        member_text(json, "latency_reason", "nothing ran on the meta device");
    }
    member_real(json, "unattributed_seconds", profile->unattributed_seconds);
    json_writer_end_object(json);
}

static void write_metronome(JsonWriter *json, const Profile *profile) {
    const ProfileMetronome *metronome = &profile->metronome;
    if (metronome->product.count == 0) {
        member_null(json, "metronome");
        member_text(json, "metronome_reason", "it runs where processes are compared, as of --runs");
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
        member_text(json, "path", layer->path);
        member_text(json, "type", layer->type[0] ? layer->type : NULL);
        json_shape(json, "input_shape", layer->input);
        json_shape(json, "output_shape", layer->output);
        member_integer(json, "parameters", layer->parameters);
        member_integer(json, "saved_bytes", layer->saved_bytes);
        member_real(json, "speedup_without", speedup_without(profile, layer));
        member_count(json, "recomputed_flops", 2 * layer->phase[REPORT_RECOMPUTE].cost.macs);
        for (int p = 0; p < REPORT_STEP; p++)
            json_phase(json, &profile->machine, report_phase_name((ReportPhase)p), &layer->phase[p],
                       happened(layer->phase, p));
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_training(JsonWriter *json, const ProfileTraining *training) {
    if (!training->data) {
        member_null(json, "training");
        member_text(json, "training_reason", training->absent);
        return;
    }
    const FitResult *fit = &training->fit;
    json_writer_key(json, "training");
    json_writer_begin_object(json);
    member_text(json, "data", training->data);
    member_integer(json, "epochs", fit->epochs);
    member_integer(json, "steps", fit->steps);
    member_text(json, "schedule", schedule_name(training->schedule.kind));
    member_real(json, "learning_rate", (double)training->schedule.base);
    member_real(json, "final_learning_rate", training->final_rate);
    member_integer(json, "warmup_steps", training->schedule.warmup);
    member_real(json, "final_loss", fit->final_loss);
    member_real(json, "test_accuracy", training->test_accuracy);
    if (!isnan(training->held_out_loss)) {
        member_real(json, "held_out_loss", training->held_out_loss);
        member_real(json, "bigram_loss", training->bigram_loss);
    }
    double samples = fit->samples > 0 ? (double)fit->samples : (double)NAN; // all done before
    member_real(json, "samples_per_second", samples / fit->seconds);
    member_real(json, "data_wait_seconds", fit->data_wait_seconds);
    member_real(json, "seconds", fit->seconds);
    double losses[LOSS_COLUMNS];
    int parts = loss_curve_means(&training->curve, losses);
    json_writer_begin_array(json_writer_key(json, "losses"));
    for (int i = 0; i < parts; i++) json_writer_double(json, losses[i]);
    json_writer_end_array(json);
    member_bool(json, "cut_short", fit->cut_short);
    json_writer_end_object(json);
}

void json_date(JsonWriter *json, const char *key) {
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &utc);
    member_text(json, key, created);
}
void json_created(JsonWriter *json) { json_date(json, "created"); }

static void write_comparison(JsonWriter *json, const Profile *profile) {
    json_writer_begin_array(json_writer_key(json, "uncounted"));
    for (int i = 0; i < profile->n_uncounted; i++) json_writer_string(json, profile->uncounted[i]);
    json_writer_end_array(json);
    write_assumed(json, profile);
    if (profile->reconciled || profile->difference[0]) {
        member_bool(json, "reconciled", profile->reconciled);
    } else {
        member_null(json, "reconciled");
        member_text(json, "reconciled_reason", "nothing ran to compare with");
    }
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

void json_document(JsonWriter *json, const Profile *profile, const ProfileTraining *training,
                   const char *command) {
    json_writer_begin_object(json);
    member_text(json, "schema", "ridgepoint.profile/v1");
    json_created(json);
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
    write_training(json, training);
    json_generation(json, profile);
    write_comparison(json, profile);
    member_real(json, "profiler_overhead_percent", 100.0 * profile->overhead_fraction);
    member_real(json, "profiler_overhead_low_percent", 100.0 * profile->overhead_low);
    member_real(json, "profiler_overhead_high_percent", 100.0 * profile->overhead_high);
    json_writer_end_object(json);
}

Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, JsonWriter *json) {
    bool failed_before = error_pending(); // the document reports a failed training
    json_document(json, profile, training, command);
    if (failed_before || !error_pending()) return json_writer_close(json);
    json_writer_discard(json); // the document is incomplete
    return error_status();
}
