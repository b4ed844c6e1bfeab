// openmetrics.c -- families of gauges with their labels, from one table.
#include "profiler/files/exports.h"

#include <string.h>

#include "layers/files/whole_file.h"
#include "profiler/base/environment.h"
#include "profiler/base/text.h"
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

static void begin(const char *scope, const char *name, const char *unit, const char *help,
                  WholeFile *file) {
    whole_file_print(file, "# TYPE ridgepoint_%s%s gauge\n", scope, name);
    if (unit) whole_file_print(file, "# UNIT ridgepoint_%s%s %s\n", scope, name, unit);
    whole_file_print(file, "# HELP ridgepoint_%s%s %s\n", scope, name, help);
}

// ---- quantities of a phase ---------------------------------------------------------------------
static double seconds_of(const ProfilePhase *phase) {
    return latency_median(latency_whole(&phase->latency));
}
static double flops_of(const ProfilePhase *phase) {
    return (double)op_cost_total_flops(phase->cost);
}
static double read_of(const ProfilePhase *phase) { return (double)phase->cost.bytes_read; }
static double written_of(const ProfilePhase *phase) { return (double)phase->cost.bytes_written; }

static const struct {
    const char *name, *unit, *help;
    double (*of)(const ProfilePhase *phase);
} quantities[] = {
    {"seconds", "seconds", "Median time.", seconds_of},
    {"flops", NULL, "Operations, of all kinds.", flops_of},
    {"read_bytes", "bytes", "Bytes that its ops read.", read_of},
    {"written_bytes", "bytes", "Bytes that its ops write.", written_of},
};
enum { QUANTITIES = sizeof(quantities) / sizeof(quantities[0]) };

static const ReportPhase phases[] = {REPORT_STEP, REPORT_FORWARD, REPORT_BACKWARD,
                                     REPORT_OPTIMIZER};
enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

static void put_phases(const Profile *profile, int q, WholeFile *file) {
    char family[40];
    snprintf(family, sizeof(family), "phase_%s", quantities[q].name);
    begin("phase_", quantities[q].name, quantities[q].unit, quantities[q].help, file);
    for (int p = 0; p < PHASES; p++) {
        const ProfilePhase *phase = &profile->totals[phases[p]];
        if (phase->ops > 0)
            put_line(profile, family, (Line){.phase = report_phase_name(phases[p])},
                     quantities[q].of(phase), file);
    }
}

// Writes layers without REPORT_STEP, which is the sum over phases.
static void put_layers(const Profile *profile, int q, WholeFile *file) {
    char family[40];
    snprintf(family, sizeof(family), "layer_%s", quantities[q].name);
    begin("layer_", quantities[q].name, quantities[q].unit, quantities[q].help, file);
    for (int i = 0; i < profile->n_layers; i++) {
        const ProfileLayer *layer = &profile->layers[i];
        char name[PROFILE_LAYER_NAME];
        profile_layer_name(profile, i, name); // lines with equal labels are invalid
        for (int p = 1; p < PHASES; p++) {
            const ProfilePhase *phase = &layer->phase[phases[p]];
            const Line line = {.layer = name,
                               .type = layer->type,
                               .phase = report_phase_name(phases[p])};
            if (phase->ops > 0) put_line(profile, family, line, quantities[q].of(phase), file);
        }
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
    const ProfilePhase *step = &profile->totals[REPORT_STEP];
    int64_t measured = profile->measured.peak.total;
    const struct {
        const char *name, *unit, *help;
        Line line;
        double value;
    } singles[] = {
        {"inference_seconds",
         "seconds",
         "Median time of a forward alone.",
         {0},
         latency_median(latency_whole(&profile->inference))},
        {"units_per_second",
         NULL,
         "Throughput; the unit says of what.",
         {.unit = profile->unit},
         (double)profile->units / seconds_of(step)},
        {"peak_bytes",
         "bytes",
         "Memory at the peak of a step.",
         {0},
         (double)(measured > 0 ? measured : profile->predicted.peak.total)},
        {"saved_bytes",
         "bytes",
         "Of it kept for backward.",
         {0},
         (double)profile->predicted.saved_bytes},
        {"parameters", NULL, "Of the model.", {0}, (double)profile->parameters},
    };
    put_info(file);
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        begin("", singles[i].name, singles[i].unit, singles[i].help, file);
        put_line(profile, singles[i].name, singles[i].line, singles[i].value, file);
    }
    for (int q = 0; q < QUANTITIES; q++) put_phases(profile, q, file);
    for (int q = 0; q < QUANTITIES; q++) put_layers(profile, q, file);
    whole_file_print(file, "# EOF\n");
    return whole_file_close(file);
}
