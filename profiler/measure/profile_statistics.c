// profile_statistics.c -- turns the samples of a profile into statistics: of each latency, of the
// steps' steadiness, of the overhead of observing, and of system time. Takes no samples.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/base/system.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"

Status latency_make_room(Latency *latency, int64_t samples) {
    latency->samples = memory_new((size_t)samples * sizeof(double));
    latency->count = 0;
    return latency->samples ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

Status latency_summarise(Latency *latency) {
    if (!latency->samples || latency->count == 0) return STATUS_OK;
    return statistics_summarise(latency->samples, latency->count, &latency->statistics);
}

// Uses the median: occasional losses to other programs show in the spread.
static void finish_system(Measurement *m) {
    TimeTerms *terms = &m->profile->totals[REPORT_STEP].terms;
    double steps = (double)(m->processor.count * m->profile->steps_per_sample);
    double faults = (double)m->faults / steps;
    terms->faults = faults > 0.0 ? faults * system_fault_seconds() : 0.0;
    terms->others = m->off_core.statistics.median + terms->faults;
}

// Compares each observed step with the unobserved one before it.
static Status finish_overhead(Profile *profile, Latency *observed) {
    const double *step = profile->totals[REPORT_STEP].latency.samples;
    for (int64_t i = 0; i < observed->count; i++) observed->samples[i] /= fmax(step[i], 1e-9);
    Status status = latency_summarise(observed);
    if (status || observed->count == 0) return status;
    const LatencyStatistics *ratio = &observed->statistics;
    profile->overhead_fraction = ratio->median - 1.0;
    if (!ratio->ci95_reached) return STATUS_OK;
    profile->overhead_low = ratio->ci95_low - 1.0;
    profile->overhead_high = ratio->ci95_high - 1.0;
    return STATUS_OK;
}

void profile_leave_out(Profile *profile, const char *what) {
    if (profile->n_left_out < PROFILE_LEFT_OUT) profile->left_out[profile->n_left_out++] = what;
}

static void finish_steady(Profile *profile) {
    const Latency *step = &profile->totals[REPORT_STEP].latency;
    const double spread = 0.1, drift = 0.03;
    profile->trend = statistics_trend(step->samples, step->count, drift);
    profile->steady = step->count >= STATISTICS_LEAST_TREND && !profile->trend &&
                      step->statistics.iqr <= spread * step->statistics.median;
}

char *profile_layer_name(const Profile *profile, int layer, char name[PROFILE_LAYER_NAME]) {
    if (!GIVEN(profile) || !GIVEN(name)) return NULL;
    const char *path = profile->layers[layer].path;
    int calls = 1;
    for (int i = 0; i < layer; i++) calls += strcmp(profile->layers[i].path, path) == 0;
    snprintf(name, PROFILE_LAYER_NAME, calls == 1 ? "%s" : "%s#%d", path, calls);
    return name;
}

double profile_layer_seconds(const ProfileLayer *layer) {
    if (!GIVEN(layer)) return (double)NAN;
    double total = 0.0;
    for (int i = 0; i < STEP_PARTS; i++)
        if (layer->phase[step_parts[i]].ops > 0)
            total += latency_median(&layer->phase[step_parts[i]].latency);
    return total;
}

static double at_run(const Latency *latency, int64_t run) {
    const Latency *across = latency->across;
    if (!across) return run == 0 ? latency_median(latency) : (double)NAN;
    return run >= 0 && run < across->count ? across->samples[run] : (double)NAN;
}

bool profile_computes(OpCost cost) { return profile_intensity(cost) >= 4.0; }

double profile_beat(const Profile *profile, int64_t run, bool computes) {
    if (!GIVEN(profile)) return (double)NAN;
    const ProfileMetronome *metronome = &profile->metronome;
    double product = at_run(&metronome->product, run), read = at_run(&metronome->read, run);
    double beat = computes ? product : sqrt(product * read);
    return beat > 0.0 ? beat : (double)NAN;
}

double profile_sharing(const Profile *profile, int64_t run) {
    if (!GIVEN(profile)) return (double)NAN;
    double sharing = at_run(&profile->metronome.sharing, run);
    return sharing >= 1.0 ? sharing : (double)NAN;
}

// Makes one sample: the others' share of the cores is known only for all rounds together.
static Status finish_sharing(Profile *profile) {
    ProfileMetronome *metronome = &profile->metronome;
    if (metronome->version == 0 || isnan(profile->others_share)) return STATUS_OK;
    Status status = latency_make_room(&metronome->sharing, 1);
    if (!status) latency_push(&metronome->sharing, 1.0 / (1.0 - fmin(profile->others_share, 0.99)));
    return status;
}

Status profile_finish(Measurement *m) {
    Profile *profile = m->profile;
    Status status = latency_summarise(&m->processor);
    if (!status) status = latency_summarise(&m->off_core);
    if (!status) finish_system(m);
    if (!status) status = profile_finish_kernels(m);
    if (!status) status = finish_sharing(profile);
    for (int i = 0; i < PROFILE_TIMES && !status; i++)
        status = latency_summarise(profile_time(profile, i));
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        status = latency_summarise(&profile->totals[p].latency);
    for (int64_t i = 0; i < profile->n_ops && !status; i++)
        status = latency_summarise(&profile->ops[i].latency);
    double layers = 0.0;
    for (int i = 0; i < profile->n_layers; i++) {
        for (int p = 0; p < REPORT_STEP && !status; p++)
            status = latency_summarise(&profile->layers[i].phase[p].latency);
        layers += profile_layer_seconds(&profile->layers[i]);
    }
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    profile->unattributed_seconds = step - layers;
    if (profile->has_device_times) profile->device_busy_fraction = fmin(1.0, layers / step);
    if (!status) status = finish_overhead(profile, &m->observed);
    if (!status) finish_steady(profile);
    profile->cpu_seconds = m->processor.statistics.mean;
    return status;
}
