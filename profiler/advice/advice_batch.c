// advice_batch.c -- the effects of a larger batch and of recomputing, which trades time for memory.
// Part of a step's time does not depend on its number of samples; the profile shows which.
#include <math.h>

#include "profiler/advice/advice_rules.h"
#include "profiler/base/text.h"

enum {
    LARGER = PROBE_LARGER, // factor of the batch: that of 2 is often within two runs' spread
    MOST_BATCH = 1 << 24,
};
static const double least_gain = 0.02; // certain share of samples/s that is worth it

double advice_known(double seconds) { return isfinite(seconds) && seconds > 0.0 ? seconds : 0.0; }

double advice_optimizer_seconds(const Profile *profile) {
    double sum = 0.0;
    for (int i = 0; i < profile->n_layers; i++)
        sum += advice_known(latency_median(&profile->layers[i].phase[REPORT_OPTIMIZER].latency));
    return sum;
}

// ---- time that the samples of a step share -----------------------------------------------------
// The observed steps, which give the layers' times, may have been faster than those that give the
// total; and a median is only as certain as the spread. The unattributed time beyond both is the
// time between the ops.
static double between_ops(const Profile *profile) {
    const LatencyStatistics *step = &profile->totals[REPORT_STEP].latency.statistics;
    double faster = advice_known(-profile->overhead_fraction) * step->median;
    return advice_known(profile->unattributed_seconds - faster - advice_known(step->iqr));
}

// Adds a phase's dispatch time; returns its time that might not grow with the batch. For a matrix
// product that is all time beyond arithmetic at the peak: reading weights, repacking in the BLAS.
static double add_phase(const Machine *machine, const ProfilePhase *phase, SharedTime *shared) {
    double seconds = advice_known(latency_median(&phase->latency));
    double dispatch = fmin(machine->dispatch_seconds * (double)phase->ops, seconds);
    shared->dispatch += dispatch;
    if (phase->cost.macs == 0) return dispatch;
    return fmax(dispatch, seconds - phase->roofline.compute_seconds);
}

SharedTime advice_shared_time(const Profile *profile) {
    static const ReportPhase phases[] = {REPORT_FORWARD, REPORT_BACKWARD_INPUT,
                                         REPORT_BACKWARD_WEIGHT};
    double step = latency_median(&profile->totals[REPORT_STEP].latency), beyond = 0.0;
    SharedTime shared = {.optimizer = advice_optimizer_seconds(profile),
                         .between = between_ops(profile)};
    for (int i = 0; profile->has_machine && i < profile->n_layers; i++)
        for (int p = 0; p < 3; p++)
            beyond += add_phase(&profile->machine, &profile->layers[i].phase[phases[p]], &shared);
    double always = shared.optimizer + shared.between;
    // Medians of parts may add up to more than the median of the whole.
    shared.least = fmin(always + shared.dispatch, step);
    shared.most = profile->has_machine ? fmin(always + beyond, step) : (double)NAN;
    return shared;
}

// Relative gain in samples/s with `times` times the batch.
static double gain(double times, double step, double shared) {
    return times * step / (shared + times * (step - shared)) - 1.0;
}

// ---- in words ----------------------------------------------------------------------------------
static void say_shared(const Profile *profile, const SharedTime *shared, double step,
                       Advice *advice) {
    char upper[64] = "";
    if (!isnan(shared->most))
        snprintf(upper, sizeof(upper), "; with all but arithmetic at the peak %.10s",
                 text_duration(shared->most).s);
    snprintf(advice->evidence, sizeof(advice->evidence),
             "of %.10s any batch pays: optimizer %.10s, between ops %.10s, dispatch %.10s%s; per "
             "extra sample: %.12s",
             text_duration(step).s, text_duration(shared->optimizer).s,
             text_duration(shared->between).s, text_duration(shared->dispatch).s, upper,
             text_bytes_si(profile->bytes_per_sample).s);
}

// ---- the rules ---------------------------------------------------------------------------------
bool advice_larger_batch(const Profile *profile, double step, Advice *advice) {
    SharedTime shared = advice_shared_time(profile);
    if (profile->one_batch || profile->batch < 1 || profile->batch > MOST_BATCH / LARGER)
        return false;
    int64_t more = profile->bytes_per_sample * (LARGER - 1) * profile->batch;
    snprintf(advice->check, sizeof(advice->check), "--batch %lld",
             (long long)(LARGER * profile->batch));
    double least = gain(LARGER, step, shared.least), most = gain(LARGER, step, shared.most);
    Text by = advice_range(least, most);
    if (advice_probed(profile, PROBE_LARGER_BATCH, step, advice)) {
        more = -profile->probes[PROBE_LARGER_BATCH].bytes;
        least = advice->gain_low;
        by = advice_range(advice->gain_low, advice->gain_high);
    } else {
        advice->seconds = (1.0 - 1.0 / LARGER) * shared.least;
        say_shared(profile, &shared, step, advice);
    }
    advice->bytes = -more;
    advice->worth = least >= least_gain;
    if (!advice->worth)
        snprintf(advice->text, sizeof(advice->text),
                 "larger batch: only %+.0f%% is sure, not worth it", 100.0 * least);
    else
        snprintf(advice->text, sizeof(advice->text), "larger batch: %.32s %.15s/s, %s%.12s", by.s,
                 profile->unit, more >= 0 ? "+" : "", text_bytes_si(more).s);
    return true;
}

// Advice that keeps the batch and takes less memory, at some cost in time. (An MLP saves nothing:
// each layer keeps the input of the next.)
bool advice_recompute(const Profile *profile, double step, Advice *advice) {
    const char *pattern = profile->recompute.pattern;
    snprintf(advice->check, sizeof(advice->check), "--recompute '%s'", pattern);
    if (!advice_probed(profile, PROBE_RECOMPUTE, step, advice)) return false;
    snprintf(advice->apply, sizeof(advice->apply), "--recompute %s", pattern); // no shell reads it
    advice->bytes = profile->probes[PROBE_RECOMPUTE].bytes;
    advice->worth = true;
    advice->seconds = (double)NAN;
    snprintf(advice->text, sizeof(advice->text), "recomputing %s: -%.12s, %.32s %.15s/s", pattern,
             text_bytes_si(advice->bytes).s, advice_range(advice->gain_low, advice->gain_high).s,
             profile->unit);
    return true;
}
