// profile_json.c -- the JSON document. Every count exact, times in seconds, absent values null.
#include "profiler/profile_json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "profiler/environment.h"

static void text(JsonWriter *json, const char *key, const char *value) {
    json_writer_string(json_writer_key(json, key), value);
}
static void integer(JsonWriter *json, const char *key, int64_t value) {
    json_writer_int64(json_writer_key(json, key), value);
}
static void count(JsonWriter *json, const char *key, uint64_t value) {
    json_writer_uint64(json_writer_key(json, key), value);
}
static void real(JsonWriter *json, const char *key, double value) { // NaN becomes null
    json_writer_double(json_writer_key(json, key), value);
}
static void null(JsonWriter *json, const char *key) {
    json_writer_null(json_writer_key(json, key));
}

static void write_shape(JsonWriter *json, const char *key, Shape shape) {
    json_writer_key(json, key);
    if (shape.ndim < 0) {
        json_writer_null(json);
        return;
    }
    json_writer_begin_array(json);
    for (int i = 0; i < shape.ndim; i++) json_writer_int64(json, shape.dims[i]);
    json_writer_end_array(json);
}

// ---- latency and phase -----------------------------------------------------------------------
static void write_percentiles(JsonWriter *json, const Latency *latency) {
    static const struct {
        const char *name;
        double percent;
    } wanted[] = {{"p50", 50.0}, {"p90", 90.0}, {"p95", 95.0}, {"p99", 99.0}, {"p99.9", 99.9}};
    json_writer_key(json, "percentiles");
    json_writer_begin_object(json);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        double value;
        bool enough;
        int64_t missing;
        if (!statistics_percentile(latency->samples, latency->count, wanted[i].percent, &value,
                                   &enough, &missing) &&
            enough)
            real(json, wanted[i].name, value);
    }
    json_writer_end_object(json);
}

static void write_latency(JsonWriter *json, const char *key, const Latency *latency) {
    if (latency->count == 0) {
        null(json, key);
        return;
    }
    const LatencyStatistics *s = &latency->statistics;
    json_writer_key(json, key);
    json_writer_begin_object(json);
    integer(json, "n", s->n);
    real(json, "median", s->median);
    real(json, "mean", s->mean);
    real(json, "min", s->min);
    real(json, "max", s->max);
    real(json, "stddev", s->stddev);
    real(json, "iqr", s->iqr);
    json_writer_key(json, "ci95");
    json_writer_begin_array(json);
    json_writer_double(json, s->ci95_low);
    json_writer_double(json, s->ci95_high);
    json_writer_end_array(json);
    write_percentiles(json, latency);
    json_writer_key(json, "samples");
    json_writer_begin_array(json);
    for (int64_t i = 0; i < latency->count; i++) json_writer_double(json, latency->samples[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

static void write_cost(JsonWriter *json, const OpCost *cost) {
    count(json, "macs", cost->macs);
    count(json, "flops", 2 * cost->macs);
    count(json, "bias_flops", cost->bias_flops);
    count(json, "elementwise_flops", cost->elementwise_flops);
    count(json, "transcendental_flops", cost->transcendental_flops);
    count(json, "total_flops", op_cost_total_flops(*cost));
    count(json, "bytes_read", cost->bytes_read);
    count(json, "bytes_written", cost->bytes_written);
}

static void write_phase_members(JsonWriter *json, const Machine *machine,
                                const ProfilePhase *phase) {
    write_cost(json, &phase->cost);
    write_latency(json, "latency", &phase->latency);
    real(json, "intensity", profile_intensity(phase->cost));
    const Roofline *roofline = &phase->roofline; // zero without a machine: then all are null
    bool judged = roofline->judged;
    real(json, "roof_seconds", judged ? roofline->roof_seconds : (double)NAN);
    real(json, "roof_fraction", judged ? roofline->roof_fraction : (double)NAN);
    text(json, "bound", judged ? bound_name(roofline->bound) : NULL);
    text(json, "level", judged ? machine->levels[roofline->level].name : NULL);
}

static void write_phase(JsonWriter *json, const Machine *machine, const char *key,
                        const ProfilePhase *phase, bool happened) {
    if (!happened) {
        null(json, key);
        return;
    }
    json_writer_key(json, key);
    json_writer_begin_object(json);
    write_phase_members(json, machine, phase);
    json_writer_end_object(json);
}

// ---- sections --------------------------------------------------------------------------------
static void write_machine(JsonWriter *json, const Profile *profile) {
    if (!profile->has_machine) {
        null(json, "machine");
        text(json, "machine_reason", "nothing ran to be held against ceilings");
        return;
    }
    const Machine *machine = &profile->machine;
    json_writer_key(json, "machine");
    json_writer_begin_object(json);
    text(json, "source", machine->measured ? "measured" : "given");
    real(json, "peak_flops_per_second", machine->peak_flops_per_second);
    json_writer_key(json, "levels");
    json_writer_begin_array(json);
    for (int i = 0; i < machine->n_levels; i++) {
        const MachineLevel *level = &machine->levels[i];
        json_writer_begin_record(json);
        text(json, "name", level->name);
        if (level->bytes < INT64_MAX)
            integer(json, "bytes", level->bytes);
        else
            null(json, "bytes");
        real(json, "bytes_per_second", level->bytes_per_second);
        real(json, "ridge", machine_ridge(machine, i));
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    real(json, "dispatch_seconds", machine->dispatch_seconds);
    json_writer_end_object(json);
}

static void write_environment(JsonWriter *json, const Profile *profile) {
    Environment environment;
    environment_read(&environment);
    json_writer_key(json, "environment");
    json_writer_begin_object(json);
    text(json, "cpu", environment.cpu);
    integer(json, "cores", environment.cores);
    integer(json, "threads", profile->threads);
    text(json, "blas", environment.blas);
    text(json, "compiler", environment.compiler);
    text(json, "flags", environment.flags);
    text(json, "device", profile->device);
    null(json, "gpu");
    text(json, "gpu_reason", "this build has no GPU device");
    json_writer_end_object(json);
    write_machine(json, profile);
}

static void write_model(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "model");
    json_writer_begin_object(json);
    text(json, "name", profile->model);
    write_shape(json, "input_shape", profile->input);
    integer(json, "batch", profile->batch);
    text(json, "dtype", "float32");
    integer(json, "parameters", profile->parameters);
    integer(json, "trainable_parameters", profile->trainable_parameters);
    integer(json, "parameter_bytes", profile->parameter_bytes);
    text(json, "optimizer", profile->optimizer);
    json_writer_end_object(json);
}

static void write_totals(JsonWriter *json, const Profile *profile) {
    const ProfilePhase *totals = profile->totals;
    json_writer_key(json, "totals");
    json_writer_begin_object(json);
    for (int p = 0; p < REPORT_STEP; p++)
        write_phase(json, &profile->machine, report_phase_name((ReportPhase)p), &totals[p], true);
    json_writer_key(json, "step");
    json_writer_begin_object(json);
    write_phase_members(json, &profile->machine, &totals[REPORT_STEP]);
    real(json, "samples_per_second",
         (double)profile->batch / latency_median(&totals[REPORT_STEP].latency));
    json_writer_end_object(json);
    write_latency(json, "inference", &profile->inference);
    real(json, "cold_start_seconds", profile->cold_seconds);
    real(json, "unattributed_seconds", profile->unattributed_seconds);
    if (totals[REPORT_STEP].latency.count == 0)
        text(json, "latency_reason", "nothing ran on the meta device");
    json_writer_end_object(json);
}

static void write_memory_side(JsonWriter *json, const char *key, const ProfileMemory *memory,
                              const char *absent) {
    if (absent) {
        char reason[48];
        snprintf(reason, sizeof(reason), "%s_reason", key);
        null(json, key);
        text(json, reason, absent);
        return;
    }
    json_writer_key(json, key);
    json_writer_begin_object(json);
    for (int c = 0; c < MEM_COUNT; c++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_bytes", memory_category_name((MemoryCategory)c));
        integer(json, name, memory->peak.category[c]);
    }
    integer(json, "peak_bytes", memory->peak.total);
    integer(json, "saved_bytes", memory->saved_bytes);
    json_writer_end_object(json);
}

static void write_memory(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "memory");
    json_writer_begin_object(json);
    bool ran = profile->totals[REPORT_STEP].latency.count > 0;
    write_memory_side(json, "measured", &profile->measured,
                      ran ? NULL : "nothing ran on the meta device");
    write_memory_side(json, "predicted", &profile->predicted, NULL);
    integer(json, "unaccounted_bytes", profile->unaccounted_bytes);
    integer(json, "reserved_bytes", profile->reserved_bytes);
    if (profile->process_peak_bytes >= 0) {
        integer(json, "process_peak_bytes", profile->process_peak_bytes);
    } else {
        null(json, "process_peak_bytes");
        text(json, "process_peak_bytes_reason", "/proc/self/status has no VmHWM");
    }
    text(json, "peak_op", profile->measured.peak_op);
    integer(json, "inference_peak_bytes", profile->inference_bytes);
    integer(json, "bytes_per_sample", profile->bytes_per_sample);
    json_writer_end_object(json);
}

static void write_layers(JsonWriter *json, const Profile *profile) {
    json_writer_key(json, "layers");
    json_writer_begin_array(json);
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        json_writer_begin_object(json);
        text(json, "path", layer->path);
        text(json, "type", layer->type[0] ? layer->type : NULL);
        write_shape(json, "input_shape", layer->input);
        write_shape(json, "output_shape", layer->output);
        integer(json, "parameters", layer->parameters);
        integer(json, "saved_bytes", layer->saved_bytes);
        for (int p = 0; p < REPORT_STEP; p++) {
            bool part = p == REPORT_BACKWARD_INPUT || p == REPORT_BACKWARD_WEIGHT;
            bool happened = layer->phase[part ? REPORT_BACKWARD : p].ops > 0;
            write_phase(json, &profile->machine, report_phase_name((ReportPhase)p),
                        &layer->phase[p], happened);
        }
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_training(JsonWriter *json, const ProfileTraining *training) {
    if (!training->data) {
        null(json, "training");
        text(json, "training_reason", training->absent);
        return;
    }
    const FitResult *fit = &training->fit;
    json_writer_key(json, "training");
    json_writer_begin_object(json);
    text(json, "data", training->data);
    integer(json, "epochs", fit->epochs);
    integer(json, "steps", fit->steps);
    real(json, "final_loss", fit->final_loss);
    real(json, "test_accuracy", training->test_accuracy);
    real(json, "samples_per_second", (double)fit->samples / fit->seconds);
    real(json, "data_wait_seconds", fit->data_wait_seconds);
    json_writer_end_object(json);
}

static void write_created(JsonWriter *json) {
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &utc);
    text(json, "created", created);
}

Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, JsonWriter *json) {
    json_writer_begin_object(json);
    text(json, "schema", "ridgepoint.profile/v1");
    write_created(json);
    text(json, "command", command);
    write_environment(json, profile);
    write_model(json, profile);
    write_totals(json, profile);
    write_memory(json, profile);
    write_layers(json, profile);
    write_training(json, training);
    json_writer_key(json, "uncounted");
    json_writer_begin_array(json);
    for (int i = 0; i < profile->n_uncounted; i++) json_writer_string(json, profile->uncounted[i]);
    json_writer_end_array(json);
    if (profile->totals[REPORT_STEP].latency.count == 0)
        null(json, "reconciled");
    else
        json_writer_bool(json_writer_key(json, "reconciled"), profile->reconciled);
    text(json, "difference", profile->difference[0] ? profile->difference : NULL);
    real(json, "profiler_overhead_percent", 100.0 * profile->overhead_fraction);
    json_writer_end_object(json);
    return json_writer_close(json);
}
