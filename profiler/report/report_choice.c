// report_choice.c -- which layer a report points at, and whether its times are sure enough to point
// at any.
#include "profiler/report/report_table.h"

const ProfileLayer *report_slowest_layer(const Profile *profile) {
    const ProfileLayer *slowest = NULL;
    double most = -1.0;
    for (int i = 0; i < profile->n_layers; i++) {
        double seconds = profile_layer_seconds(&profile->layers[i]);
        if (!(seconds > most)) continue;
        most = seconds;
        slowest = &profile->layers[i];
    }
    return slowest;
}

const ProfileLayer *report_past_its_roof(const Profile *profile) {
    const ProfileLayer *farthest = NULL;
    for (int i = 0; i < profile->n_layers; i++) {
        const Roofline *roofline = &profile->layers[i].phase[REPORT_STEP].roofline;
        if (roofline_is_past(roofline) &&
            (!farthest ||
             roofline->roof_fraction > farthest->phase[REPORT_STEP].roofline.roof_fraction))
            farthest = &profile->layers[i];
    }
    return farthest;
}

bool report_is_noise(const Profile *profile) {
    const ProfileLayer *slowest = report_slowest_layer(profile);
    const LatencyStatistics *s = &profile->totals[REPORT_STEP].latency.statistics;
    return slowest && (!s->ci95_reached || s->iqr > 0.1 * s->median ||
                       profile->unattributed_seconds < -0.05 * s->median);
}
