// openmetrics.c -- families of gauges with their labels.
#include "profiler/files/exports.h"

#include <string.h>

#include "layers/files/whole_file.h"
#include "profiler/base/environment.h"
#include "profiler/base/text.h"
#include "profiler/measure/profile_fields.h"
#include "tensor/version.h"

// ---- one line ----------------------------------------------------------------------------------
static void put_label(WholeFile *file, const char *name, const char *value) {
    whole_file_print(file, "%s=\"", name);
    for (const char *c = value; *c;) {
        int bytes = text_printable_bytes(c);
        if (*c == '\\' || *c == '"') whole_file_print(file, "\\");
        whole_file_print(file, "%.*s", bytes > 0 ? bytes : 1, bytes > 0 ? c : "?");
        c += bytes > 0 ? bytes : 1;
    }
    whole_file_print(file, "\"");
}

typedef struct Line { // NULL: label omitted
    const char *layer, *type, *phase, *unit;
} Line;

static void put_line(const Profile *profile, const char *family, Line line, double value,
                     WholeFile *file) {
    if (!isfinite(value)) return;
    whole_file_print(file, "ridgepoint_%s{", family);
    put_label(file, "model", profile->model);
    put_label(file, ",device", profile->device);
    whole_file_print(file, ",batch=\"%lld\",threads=\"%d\"", (long long)profile->batch,
                     profile->threads);
    if (line.layer) put_label(file, ",layer", line.layer);
    if (line.type) put_label(file, ",type", line.type);
    if (line.phase) put_label(file, ",phase", line.phase);
    if (line.unit) put_label(file, ",unit", line.unit);
    whole_file_print(file, "} %.15g\n", value);
}

static void begin(const char *family, const char *unit, const char *help, WholeFile *file) {
    whole_file_print(file, "# TYPE ridgepoint_%s gauge\n", family);
    if (unit) whole_file_print(file, "# UNIT ridgepoint_%s %s\n", family, unit);
    whole_file_print(file, "# HELP ridgepoint_%s %s\n", family, help);
}

static const char *unit_of(const ProfileField *field) {
    return field->kind == FIELD_BYTES ? "bytes" : NULL;
}

// ---- phases ------------------------------------------------------------------------------------
static double seconds_of(const ProfilePhase *phase) {
    return latency_median(latency_whole(&phase->latency));
}

// A gauge of phases: a count of the table (profile_fields.h), or with NULL their time.
static double value_of(const ProfileField *field, const ProfilePhase *phase) {
    return field ? (double)profile_field_count(field, phase) : seconds_of(phase);
}

// Writes a gauge of the phases of the whole step (`scope` "phase_") or of all layers ("layer_").
static void put_phases(const Profile *profile, const char *scope, const ProfileField *field,
                       WholeFile *file) {
    char family[40];
    const char *name = field ? field->metric : "seconds";
    bool of_layers = strcmp(scope, "layer_") == 0;
    snprintf(family, sizeof(family), "%s%s", scope, name);
    begin(family, field ? unit_of(field) : "seconds", field ? field->help : "Median time.", file);
    for (int i = 0; i < (of_layers ? profile->n_layers : 1); i++) {
        const ProfilePhase *phases = of_layers ? profile->layers[i].phase : profile->totals;
        char layer[PROFILE_LAYER_NAME]; // lines with equal labels are invalid
        Line line = {.layer = of_layers ? profile_layer_name(profile, i, layer) : NULL,
                     .type = of_layers ? profile->layers[i].type : NULL};
        if (!of_layers && phases[REPORT_STEP].ops > 0) {
            line.phase = report_phase_name(REPORT_STEP);
            put_line(profile, family, line, value_of(field, &phases[REPORT_STEP]), file);
        }
        for (int p = 0; p < STEP_PARTS; p++) { // a layer's step is their sum
            line.phase = report_phase_name(step_parts[p]);
            if (phases[step_parts[p]].ops > 0)
                put_line(profile, family, line, value_of(field, &phases[step_parts[p]]), file);
        }
    }
}

// Writes the gauges of a scope other than phases.
static void put_fields(const Profile *profile, FieldScope scope, const void *of, WholeFile *file) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++) {
        if (!field->metric) continue;
        begin(field->metric, unit_of(field), field->help, file);
        put_line(profile, field->metric, (Line){0}, (double)profile_field_count(field, of), file);
    }
}

// ---- the whole ---------------------------------------------------------------------------------
static void put_info(WholeFile *file) {
    Environment environment;
    environment_read(&environment);
    whole_file_print(file, "# TYPE ridgepoint info\n# HELP ridgepoint What it was measured on.\n"
                           "ridgepoint_info{");
    put_label(file, "version", ridgepoint_version());
    put_label(file, ",cpu", environment.cpu);
    put_label(file, ",blas", environment.blas);
    put_label(file, ",compiler", environment.compiler);
    whole_file_print(file, "} 1\n");
}

Status openmetrics_write(const Profile *profile, const char *path) {
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    put_info(file);
    begin("inference_seconds", "seconds", "Median time of a forward alone.", file);
    put_line(profile, "inference_seconds", (Line){0},
             latency_median(latency_whole(&profile->inference)), file);
    begin("units_per_second", NULL, "Throughput; the unit says of what.", file);
    put_line(profile, "units_per_second", (Line){.unit = profile->unit},
             (double)profile->units / seconds_of(&profile->totals[REPORT_STEP]), file);
    bool measured = profile->measured.peak.total > 0;
    put_fields(profile, FIELDS_MEMORY, measured ? &profile->measured : &profile->predicted, file);
    put_fields(profile, FIELDS_MODEL, profile, file);
    for (int i = 0; i < 2; i++) {
        const char *scope = i == 0 ? "phase_" : "layer_";
        put_phases(profile, scope, NULL, file);
        for (const ProfileField *field = profile_fields(FIELDS_PHASE); field->key; field++)
            if (field->metric) put_phases(profile, scope, field, file);
    }
    whole_file_print(file, "# EOF\n");
    return whole_file_close(file);
}
