// gbench.c -- writes the JSON format of github.com/google/benchmark (docs/user_guide.md).
#include "profiler/files/exports.h"

#include <stdio.h>

#include "profiler/base/environment.h"
#include "profiler/files/profile_json_parts.h"
#include "tensor/version.h"

static void write_context(JsonWriter *json, const Profile *profile, const char *command) {
    Environment environment;
    environment_read(&environment);
    json_writer_begin_object(json_writer_key(json, "context"));
    json_date(json, "date");
    member_text(json, "executable", command);
    member_integer(json, "num_cpus", environment.cores);
    json_writer_begin_array(json_writer_key(json, "caches"));
    json_writer_end_array(json);
    member_text(json, "library_build_type", "release");
    member_text(json, "ridgepoint", ridgepoint_version());
    member_text(json, "model", profile->model);
    member_text(json, "device", profile->device);
    member_text(json, "cpu", environment.cpu);
    json_writer_end_object(json);
}

// Writes one name, with a repetition for each process.
static void write_family(JsonWriter *json, const char *name, int *family, const Latency *latency) {
    const Latency *across = latency->across;
    int64_t runs = across ? across->count : 1;
    if (latency->count == 0) return;
    for (int64_t run = 0; run < runs; run++) {
        double seconds = across ? across->samples[run] : latency->statistics.median;
        json_writer_begin_record(json);
        member_text(json, "name", name);
        member_integer(json, "family_index", *family);
        member_integer(json, "per_family_instance_index", 0);
        member_text(json, "run_name", name);
        member_text(json, "run_type", "iteration");
        member_integer(json, "repetitions", runs);
        member_integer(json, "repetition_index", run);
        member_integer(json, "threads", 1);
        member_integer(json, "iterations", latency->count);
        member_real(json, "real_time", 1e9 * seconds);
        member_real(json, "cpu_time", 1e9 * seconds);
        member_text(json, "time_unit", "ns");
        json_writer_end_object(json);
    }
    ++*family;
}

static void write_benchmarks(JsonWriter *json, const Profile *profile) {
    int family = 0;
    json_writer_begin_array(json_writer_key(json, "benchmarks"));
    write_family(json, "step", &family, &profile->totals[REPORT_STEP].latency);
    for (int p = 0; p < STEP_PARTS; p++)
        write_family(json, report_phase_name(step_parts[p]), &family,
                     &profile->totals[step_parts[p]].latency);
    write_family(json, "inference", &family, &profile->inference);
    for (int i = 0; i < profile->n_layers; i++) {
        char layer[PROFILE_LAYER_NAME], name[PROFILE_LAYER_NAME + 24];
        profile_layer_name(profile, i, layer); // equal names would count as repetitions
        for (int p = 0; p < STEP_PARTS; p++) {
            snprintf(name, sizeof(name), "%s/%s", layer, report_phase_name(step_parts[p]));
            write_family(json, name, &family, &profile->layers[i].phase[step_parts[p]].latency);
        }
    }
    json_writer_end_array(json);
}

Status gbench_write(const Profile *profile, const char *command, const char *path) {
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    json_writer_begin_object(json);
    write_context(json, profile, command);
    write_benchmarks(json, profile);
    json_writer_end_object(json);
    return json_writer_close(json);
}
