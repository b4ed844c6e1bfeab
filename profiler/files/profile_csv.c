// profile_csv.c -- rows of a profile, for a spreadsheet.
#include "profiler/files/exports.h"

#include <inttypes.h>

#include "profiler/base/escape.h"
#include "profiler/measure/profile_fields.h"

static void put_real(WholeFile *file, double value) {
    whole_file_print(file, isfinite(value) ? ",%.9g" : ",", value);
}

// Writes the columns of a scope (profile_fields.h): counts, empty if `of` is NULL, or their names.
static void put_fields(WholeFile *file, FieldScope scope, const void *of, bool names) {
    for (const ProfileField *field = profile_fields(scope); field->key; field++) {
        if (!(field->uses & FIELD_CSV)) continue;
        whole_file_print(file, ",%s", names ? field->key : "");
        if (of) whole_file_print(file, "%" PRId64, profile_field_count(field, of));
    }
}

static void put_row(const Profile *profile, const ProfileLayer *layer, ReportPhase p,
                    WholeFile *file) {
    const ProfilePhase *phase = &layer->phase[p];
    double seconds = latency_median(&phase->latency);
    bool judged = profile->has_machine && phase->latency.count > 0;
    escape_csv(file, layer->path);
    whole_file_print(file, ",");
    escape_csv(file, layer->type);
    whole_file_print(file, ",%s", report_phase_name(p));
    put_fields(file, FIELDS_LAYER, p == REPORT_FORWARD ? layer : NULL, false); // once: they sum up
    put_fields(file, FIELDS_PHASE, phase, false);
    put_real(file, seconds);
    put_real(file, profile->has_machine ? phase->roofline.roof_seconds : (double)NAN);
    put_real(file, judged ? phase->roofline.roof_seconds / seconds : (double)NAN);
    whole_file_print(file, ",%s\r\n", judged ? bound_name(phase->roofline.bound) : "");
}

Status profile_write_csv(const Profile *profile, const char *path) {
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_print(file, "layer,type,phase");
    put_fields(file, FIELDS_LAYER, NULL, true);
    put_fields(file, FIELDS_PHASE, NULL, true);
    whole_file_print(file, ",seconds,roof_seconds,roof_fraction,bound\r\n");
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < STEP_PARTS; p++)
            if (profile->layers[i].phase[step_parts[p]].ops > 0)
                put_row(profile, &profile->layers[i], step_parts[p], file);
    return whole_file_close(file);
}
