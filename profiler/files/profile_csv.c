// profile_csv.c -- rows of a profile, for a spreadsheet.
#include "profiler/files/exports.h"

#include <inttypes.h>

#include "profiler/base/escape.h"

static void put_real(WholeFile *file, double value) {
    whole_file_print(file, isfinite(value) ? ",%.9g" : ",", value);
}

static void put_row(const Profile *profile, const ProfileLayer *layer, ReportPhase p,
                    WholeFile *file) {
    const ProfilePhase *phase = &layer->phase[p];
    const OpCost *cost = &phase->cost;
    double seconds = latency_median(&phase->latency);
    bool judged = profile->has_machine && phase->latency.count > 0;
    escape_csv(file, layer->path);
    whole_file_print(file, ",");
    escape_csv(file, layer->type);
    whole_file_print(file, ",%s,", report_phase_name(p));
    if (p == REPORT_FORWARD) // only once, so that columns sum up
        whole_file_print(file, "%" PRId64 ",%" PRId64, layer->parameters, layer->saved_bytes);
    else
        whole_file_print(file, ",");
    whole_file_print(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                     op_cost_total_flops(*cost), cost->macs, cost->bytes_read, cost->bytes_written);
    put_real(file, seconds);
    put_real(file, profile->has_machine ? phase->roofline.roof_seconds : (double)NAN);
    put_real(file, judged ? phase->roofline.roof_seconds / seconds : (double)NAN);
    whole_file_print(file, ",%s\r\n", judged ? bound_name(phase->roofline.bound) : "");
}

Status profile_write_csv(const Profile *profile, const char *path) {
    static const ReportPhase phases[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_print(file, "layer,type,phase,parameters,saved_bytes,total_flops,macs,bytes_read,"
                           "bytes_written,seconds,roof_seconds,roof_fraction,bound\r\n");
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < 3; p++)
            if (profile->layers[i].phase[phases[p]].ops > 0)
                put_row(profile, &profile->layers[i], phases[p], file);
    return whole_file_close(file);
}
