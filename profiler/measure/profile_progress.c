// profile_progress.c -- time limits of a profile's stages, their expected times, estimated from a
// step's time, and the progress: the elapsed share of all seconds. Not here: the stages.
#include <math.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"

// ---- limits ------------------------------------------------------------------------------------
Limits profile_limits(const Work *work, const ProfileOptions *o) {
    const double most = 20.0 * o->seconds;
    Limits limits = {.fewest = PROFILE_FEWEST_SAMPLES};
    for (int s = 0; s < STAGE_COUNT; s++) limits.until[s] = HUGE_VAL;
    if (o->iterations > 0 || o->percentiles || o->most_seconds > 0.0 || !(o->seconds > 0.0))
        return limits;
    const double share[STAGE_COUNT] = {[STAGE_WARM_UP] = 0.3,
                                       [STAGE_ROUNDS] = 0.6,
                                       [STAGE_INFERENCE] = 0.75,
                                       [STAGE_WAITS] = 0.8,
                                       [STAGE_PROBES] = 0.9};
    limits.fewest = PROFILE_FEWEST_ROUNDS;
    limits.brief = work->step_seconds >= o->seconds && work->x->device->on_host;
    for (int s = 0; s < STAGE_COUNT; s++) limits.until[s] = work->begun + share[s] * most;
    return limits;
}

bool profile_is_over(const Measurement *m, ProfileStage stage, int64_t samples) {
    return samples >= m->limits.fewest && clock_seconds() > m->limits.until[stage];
}

// ---- expected times ----------------------------------------------------------------------------
// Time of `most` runs, limited by `limit`, but at least that of `fewest` runs.
static double limited(double each, double fewest, double most, double limit) {
    return fmin(fmax(limit, fewest * each), most * each);
}

static void expect_brief(const StepTimes *step, double seconds[STAGE_COUNT]) {
    for (int s = 0; s < STAGE_COUNT; s++) seconds[s] = 0.0;
    seconds[STAGE_ROUNDS] = (PROFILE_FEWEST_ROUNDS + 1.5) * step->total; // with kernels alone
}

// Expected seconds of each stage, from a step's time.
static void expect(const Work *work, const ProfileOptions *o, const StepTimes *step,
                   double seconds[STAGE_COUNT]) {
    const Limits limits = profile_limits(work, o);
    if (limits.brief) {
        expect_brief(step, seconds);
        return;
    }
    bool kernels = o->machine && work->x->device->on_host; // of every third round, in 3 more steps
    double round = (kernels ? 3.0 : 2.0) * step->total, forward = fmax(step->forward, 1e-9);
    forward /= (double)work_batches(work); // per batch
    double fewest = o->iterations > 0 ? (double)o->iterations : (double)limits.fewest;
    double most = o->iterations > 0 ? (double)o->iterations : PROFILE_MOST_SAMPLES;
    double enough = o->percentiles ? (double)statistics_samples_needed(99.9) : 0.0;
    double warmup = o->warmup > 0 ? (double)o->warmup : 2.0;
    seconds[STAGE_WARM_UP] = limited(step->total, warmup, fmax(warmup, 10.0), 0.5 * o->seconds);
    double usual = fmin(fmax(o->seconds, PROFILE_FEWEST_SAMPLES * round),
                        limits.until[STAGE_ROUNDS] - work->begun);
    seconds[STAGE_ROUNDS] = limited(round, fewest, most, usual);
    seconds[STAGE_ROUNDS] = fmax(seconds[STAGE_ROUNDS], enough * step->total);
    if (o->most_seconds > 0.0) seconds[STAGE_ROUNDS] = fmin(seconds[STAGE_ROUNDS], o->most_seconds);
    seconds[STAGE_INFERENCE] =
        work->kind == PROFILE_INFERENCE
            ? 0.0
            : limited(forward, warmup + fewest, warmup + most, 0.5 * o->seconds);
    seconds[STAGE_WAITS] =
        o->loader ? limited(step->total, fewest, PROFILE_MOST_WAITS, 0.25 * o->seconds) : 0.0;
    seconds[STAGE_PROBES] = kernels ? 0.2 * o->seconds : 0.0; // a rough estimate
}

// Reports progress: in `stage`, the fraction `done` of it; `ahead`: seconds before all stages.
static void tell(const Work *work, const ProfileOptions *options, const StepTimes *step,
                 ProfileStage stage, double done, double ahead) {
    if (!options->progress) return;
    double seconds[STAGE_COUNT], gone = clock_seconds() - work->begun;
    expect(work, options, step, seconds);
    seconds[stage] *= 1.0 - done;
    for (int s = (int)stage; s < STAGE_COUNT; s++) ahead += seconds[s];
    options->progress(options->argument, gone / (gone + ahead));
}

void profile_tell(const Work *work, const ProfileOptions *options, const StepTimes *step,
                  double steps) {
    tell(work, options, step, STAGE_WARM_UP, 0.0, steps * step->total);
}

void profile_tell_done(const Measurement *m, ProfileStage stage, int64_t samples, int64_t planned,
                       double start) {
    double counted = (double)samples / (double)planned;
    double seconds[STAGE_COUNT];
    expect(m->work, &m->options, &m->step, seconds);
    double timed = (clock_seconds() - start) / fmax(seconds[stage], 1e-9);
    bool by_time = m->options.iterations == 0 && !m->options.percentiles && stage < STAGE_PROBES &&
                   !m->limits.brief;
    bool has_limit = m->options.most_seconds > 0.0 && stage == STAGE_ROUNDS; // the first counts
    double share = by_time ? timed : has_limit ? fmax(timed, counted) : counted;
    tell(m->work, &m->options, &m->step, stage, fmin(1.0, share), 0.0);
}
