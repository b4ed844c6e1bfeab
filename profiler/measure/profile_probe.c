// profile_probe.c -- estimates the effect of advice: a few steps with a change, alternating with
// unchanged steps, right after the profile. Not here: choosing the advice (advice/advice*.c), and
// trying it in separate processes (program/program_try.c).
#include <math.h>

#include "profiler/base/system.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/ops.h"

enum {
    WARM_STEPS = 2,            // per block: restores caches after the other work
    MOST_EXTRA_BYTES = 1 << 30 // extra memory for a larger batch
};

typedef struct Change {
    ProbeKind kind;
    Work work;
    int threads;
    double batch;      // factor on the samples
    const char *marks; // layers to mark for recomputation; NULL: unchanged
} Change;

typedef struct Blocks { // timed steps per block, and rounds, at most PROBE_ROUNDS
    int64_t steps;
    int rounds;
} Blocks;

// ---- changes -----------------------------------------------------------------------------------
static Tensor *kept(Tensor *t) { return t ? tensor_keep(t) : NULL; }

static Tensor *times_four(Tensor *t) {
    Tensor *const parts[] = {t, t, t, t};
    return t ? kept(tensor_concat(parts, PROBE_LARGER, 0)) : NULL;
}

static void change_batch(Change *change) {
    no_grad_begin();
    Scope *scope = scope_open();
    change->work.x = times_four(change->work.x);
    change->work.labels = times_four(change->work.labels);
    scope_close(scope);
    no_grad_end();
}

// Builds the model for the other batch, if shapes are fixed in it. Only for a forward, because a
// step's optimizer belongs to the original model.
static void change_model(Change *change) {
    Work *work = &change->work;
    RandomState random = context_current()->random;
    work->model =
        work->source.model_new(work->source.argument, PROBE_LARGER * work->x->shape.dims[0]);
    if (work->model) layer_train(work->model, false);
    context_current()->random = random;
}

static void change_make(const Measurement *m, ProbeKind kind, Change *change) {
    *change = (Change){kind, *m->work, context_current()->threads, 1.0, NULL};
    if (kind == PROBE_LARGER_BATCH) {
        if (m->work->source.model_new) change_model(change);
        change->batch = PROBE_LARGER;
        change_batch(change);
    } else if (kind == PROBE_SGD) {
        OptimizerConfig sgd = optimizer_defaults(OPTIMIZER_SGD);
        sgd.learning_rate = 0.0f;
        change->work.optimizer = optimizer_new(m->work->model, sgd);
    } else if (kind == PROBE_RECOMPUTE) {
        change->marks = m->profile->recompute.pattern;
    } else {
        change->threads = profile_threads_enough(m->profile);
    }
}

static void change_free(const Measurement *m, Change *change) {
    if (change->kind == PROBE_SGD) optimizer_free(change->work.optimizer);
    if (change->batch == 1.0) return;
    if (change->work.model != m->work->model) layer_free(change->work.model);
    tensor_free(change->work.x);
    if (m->work->labels) tensor_free(change->work.labels);
}

// ---- useful changes ----------------------------------------------------------------------------
int profile_threads_enough(const Profile *profile) {
    if (!GIVEN(profile)) return 0;
    const double spare = 0.15; // of a thread: not missed if it is only this busy
    const LatencyStatistics *step = &profile->totals[REPORT_STEP].latency.statistics;
    double busy = profile->cpu_seconds / fmax(step->mean, step->median);
    // The caller computes or spins: less than one thread says that other work had the cores.
    bool told = busy >= 1.0 - spare && busy < (double)profile->threads; // not NaN
    return told ? (int)fmax(1.0, ceil(busy - spare)) : profile->threads;
}

static bool fits(const Measurement *m, int64_t batches) {
    const Profile *profile = m->profile;
    int64_t more = profile->bytes_per_sample * profile->batch * batches;
    if (m->work->source.model_new) more += profile->parameter_bytes;
    return more <= MOST_EXTRA_BYTES && system_has_memory(more);
}

static bool is_of_use(const Measurement *m, ProbeKind kind) {
    const Profile *profile = m->profile;
    bool anew = m->work->source.model_new && m->work->kind != PROFILE_INFERENCE;
    bool whole = m->work->kind != PROFILE_BACKWARD && !profile->one_batch && !anew;
    const Latency *update = &profile->totals[REPORT_OPTIMIZER].latency;
    switch (kind) {
    case PROBE_LARGER_BATCH:
        return whole && profile->batch >= 1 && fits(m, PROBE_LARGER - 1);
    case PROBE_SGD:
        return m->work->optimizer && profile->measured.peak.category[MEM_OPTIMIZER] > 0 &&
               latency_median(update) > 0.0;
    case PROBE_RECOMPUTE:
        return profile->recompute.pattern[0] != '\0';
    default:
        return profile_threads_enough(profile) < profile->threads;
    }
}

// ---- steps -------------------------------------------------------------------------------------
// Seconds per step of a block of steps.
static double time_block(const Change *change, int64_t steps) {
    const Work *work = &change->work;
    StepTimes times;
    int before = context_current()->threads;
    int64_t marked;
    if (change->marks) layer_recompute_matching(work->model, change->marks, &marked);
    context_set_threads(change->threads);
    for (int i = 0; i < WARM_STEPS; i++) work_step(work, &times);
    double begun = clock_seconds();
    for (int64_t i = 0; i < steps; i++) work_step(work, &times);
    double seconds = (clock_seconds() - begun) / (double)steps;
    context_set_threads(before);
    if (change->marks) profile_unmark(work->model);
    return seconds;
}

// Alternates with unchanged steps; finds units/s with the change over units/s without, as the
// middle half of the rounds, because other work on the cores may have caused the extremes.
static void look(const Measurement *m, ProbeKind kind, Blocks blocks) {
    double ratio[PROBE_ROUNDS];
    int i = 0;
    const Change none = {kind, *m->work, context_current()->threads, 1.0, NULL};
    Change change;
    change_make(m, kind, &change);
    for (; i < blocks.rounds && !error_pending(); i++) {
        double without = time_block(&none, blocks.steps);
        double with = time_block(&change, blocks.steps);
        double at = change.batch * without / with;
        int k = i;
        for (; k > 0 && ratio[k - 1] > at; k--) ratio[k] = ratio[k - 1];
        ratio[k] = at;
    }
    int left_out = i / 4;
    if (!error_pending()) // otherwise impossible, but no error of the profile
        m->profile->probes[kind] = (Probe){i, ratio[left_out], ratio[i - 1 - left_out], 0};
    error_clear();
    change_free(m, &change);
}

// Plans as many blocks as time allows; rounds 0: no time.
static Blocks plan(const Measurement *m, ProbeKind kind, double seconds) {
    double batch = kind == PROBE_LARGER_BATCH ? PROBE_LARGER : 1.0;
    double step = latency_median(&m->profile->totals[REPORT_STEP].latency) * (1.0 + batch);
    int64_t repeat = m->profile->steps_per_sample;
    const Blocks plans[] = {{5 * repeat, PROBE_ROUNDS}, {5 * repeat, 5}, {2 * repeat, 3}};
    for (int i = 0; i < 3; i++)
        if (step * (double)((WARM_STEPS + plans[i].steps) * plans[i].rounds) <= seconds)
            return plans[i];
    return (Blocks){0};
}

void profile_measure_probes(const Measurement *m) {
    const double share = 0.1, least = 0.3; // of the profile's time, for each probe
    double gone = clock_seconds() - m->work->begun;
    double seconds = m->options.probe_seconds > 0.0
                         ? m->options.probe_seconds
                         : fmax(least * m->options.seconds, share * gone);
    if (!m->work->x->device->on_host || m->options.probe_seconds < 0.0) return;
    bool asked = m->options.probe_seconds > 0.0; // ignore other time limits
    int wanted = 0, tried = 0;
    bool (*stop)(void) = m->options.stop;
    for (int kind = 0; kind < PROBE_COUNT && !(stop && stop()); kind++) {
        if (!is_of_use(m, (ProbeKind)kind)) continue;
        wanted++;
        double left = m->limits.until[STAGE_PROBES] - clock_seconds();
        Blocks blocks = plan(m, (ProbeKind)kind, asked ? seconds : fmin(seconds, left));
        profile_tell_done(m, STAGE_PROBES, kind, PROBE_COUNT, 0.0);
        if (blocks.rounds == 0 || (m->limits.brief && !asked)) continue;
        look(m, (ProbeKind)kind, blocks);
        tried++;
    }
    if (wanted > 0 && tried == 0) profile_leave_out(m->profile, "trying what would help");
}

void profile_predict_probes(const Work *work, OptimizerConfig config, Shape out, Profile *profile) {
    ProfileMemory memory;
    int64_t more = (PROBE_LARGER - 1) * profile->batch;
    Probe *larger = &profile->probes[PROBE_LARGER_BATCH];
    if (larger->rounds > 0 && !profile_predict_peak(work, config, out, more, &memory))
        larger->bytes = profile->predicted.peak.total - memory.peak.total;
    error_clear(); // the probe ran, so only the dry run can lack memory
    if (profile->probes[PROBE_RECOMPUTE].rounds > 0)
        profile->probes[PROBE_RECOMPUTE].bytes =
            profile->predicted.peak.total - profile->recompute.pattern_bytes;
}
