// report_choice.c -- whether times are sure enough to predict from, and which layer is past its
// roof. Not here: which takes most of a step (measure/rank.h).
#include "profiler/report/report_table.h"

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

bool report_is_busy(const Profile *profile) {
    const double least = 0.2;
    return profile->others_share >= least; // not NaN
}

bool report_is_noise(const Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    const LatencyStatistics *s = &step->statistics;
    return step->count > 0 && (!s->ci95_reached || s->iqr > 0.1 * s->median ||
                               profile->unattributed_seconds < -0.05 * s->median);
}
