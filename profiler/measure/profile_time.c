// profile_time.c -- latencies: whole steps unobserved, layers and ops from observed steps, in
// turns, so that drift of the machine affects both alike and their difference is the profiler's
// overhead. For a device with its own time there is a third turn, in which its queue is held back
// while the host fills it: otherwise its times would include waiting for launches.
#include <math.h>

#include "profiler/base/system.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum {
    STEADY_WINDOW = 5, // steps; two successive windows with equal medians are steady
    MOST_WARMUP = 200,
    KERNELS_EVERY = 3, // rounds
};
static const double steady_tolerance = 0.02;

// Overhead of the clock between two readings.
static double clock_cost(void) {
    enum { READINGS = 1000 };
    int64_t least = INT64_MAX, before = clock_nanoseconds();
    for (int i = 0; i < READINGS; i++) {
        int64_t now = clock_nanoseconds();
        if (now - before < least) least = now - before;
        before = now;
    }
    return 1e-9 * (double)least;
}

// ---- room for samples ------------------------------------------------------------------------
// `whole`: samples of whole steps and their phases; `parts`: of layers and ops.
static Status make_rooms(Profile *profile, int64_t whole, int64_t parts) {
    Status status = STATUS_OK;
    if (profile->kind != PROFILE_INFERENCE) status = latency_make_room(&profile->inference, parts);
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        if (profile->totals[p].ops > 0)
            status = latency_make_room(&profile->totals[p].latency, whole);
    for (int i = 0; i < profile->n_layers && !status; i++)
        for (int p = 0; p < REPORT_STEP && !status; p++)
            if (profile->layers[i].phase[p].ops > 0)
                status = latency_make_room(&profile->layers[i].phase[p].latency, parts);
    for (int64_t i = 0; i < profile->n_ops && !status; i++)
        status = latency_make_room(&profile->ops[i].latency, parts);
    return status;
}

static void take_times(Profile *profile, StepTimes times) {
    latency_push(&profile->totals[REPORT_FORWARD].latency, times.forward);
    latency_push(&profile->totals[REPORT_BACKWARD].latency, times.backward);
    latency_push(&profile->totals[REPORT_OPTIMIZER].latency, times.optimizer);
    latency_push(&profile->totals[REPORT_STEP].latency, times.total);
}

// ---- the measurement -------------------------------------------------------------------------
typedef enum Turn { UNOBSERVED, OBSERVED, HELD } Turn;

// Mean of one sample's steps, without the time of the clock and the metronome.
static Status sample(Measurement *m, Turn turn, StepTimes *mean) {
    int64_t steps = m->profile->steps_per_sample, stamps = work_stamps(m->work);
    double batches = (double)work_batches(m->work); // the clock is read twice per batch
    bool marked = turn == UNOBSERVED && m->marks;
    Status status = STATUS_OK;
    *mean = (StepTimes){0};
    if (turn == OBSERVED) profile_begin_inside(m);
    for (int64_t i = 0; i < steps && !status; i++) {
        StepTimes times = {0};
        status = turn == HELD ? profile_hold(m) : STATUS_OK;
        if (!status) status = work_step_marked(m->work, marked ? stamps * i : -1, &times);
        mean->launching += times.launching;
        mean->forward += fmax(0.0, times.forward - batches * m->clock);
        mean->backward += fmax(0.0, times.backward - batches * m->clock);
        mean->optimizer += fmax(0.0, times.optimizer - m->clock);
        mean->total += fmax(0.0, times.total - (2.0 + 2.0 * batches) * m->clock);
    }
    m->beaten = profile_end_inside(m);
    mean->forward -= m->beaten.forward;
    mean->backward -= m->beaten.backward;
    mean->optimizer -= m->beaten.optimizer;
    mean->total -= m->beaten.total;
    double *sums[] = {&mean->forward, &mean->backward, &mean->optimizer, &mean->total,
                      &mean->launching};
    for (int i = 0; i < 5; i++) *sums[i] /= (double)steps;
    return marked && !status ? profile_mark_phases(m, mean) : status;
}

static Status begin_watching(Measurement *m) {
    timeline_rewind(&m->timeline, 0);
    return timeline_start(&m->timeline);
}

// Samples whole steps, unobserved, or observed if the measurement is brief.
static Status whole_sample(Measurement *m) {
    StepTimes times;
    Turn turn = m->limits.brief ? OBSERVED : UNOBSERVED;
    Status status = turn == OBSERVED ? begin_watching(m) : profile_reserve_marks(m);
    bool watching = turn == OBSERVED && !status;
    double steps = (double)m->profile->steps_per_sample;
    int64_t faults = system_page_faults();
    double before = system_processor_seconds(), from = clock_seconds(),
           on_core = system_thread_seconds();
    if (!status) status = sample(m, turn, &times);
    double off_core = clock_seconds() - from - (system_thread_seconds() - on_core);
    m->faults += system_page_faults() - faults;
    double passed = system_processor_seconds() - before - m->beaten.total;
    double around = clock_seconds() - from - m->beaten.total;
    Status stopped = watching ? timeline_stop(&m->timeline) : STATUS_OK;
    if (status || stopped) return status ? status : stopped;
    m->step = times;
    latency_push(&m->processor, passed / around * times.total); // its share of the enclosing time
    latency_push(&m->off_core, fmax(0.0, off_core) / steps);
    take_times(m->profile, times);
    return turn == OBSERVED ? profile_take_events(m) : STATUS_OK;
}

static Status watched_sample(Measurement *m, Turn turn, StepTimes *times) {
    Status status = begin_watching(m);
    if (status) return status;
    status = sample(m, turn, times);
    Status stopped = timeline_stop(&m->timeline);
    return status ? status : stopped;
}

static Status observed_sample(Measurement *m) {
    StepTimes times;
    Status status = watched_sample(m, OBSERVED, &times);
    if (status) return status;
    latency_push(&m->observed, times.total);
    if (!m->profile->has_device_times) return profile_take_events(m);
    m->launching = times.launching;
    status = profile_take_launches(m);
    if (!status) status = watched_sample(m, HELD, &times);
    return status ? status : profile_take_events(m);
}

static bool is_stopped(const Measurement *m) { return m->options.stop && m->options.stop(); }

// Runs the requested number of steps; none if the measurement is brief; otherwise until times are
// steady, or half of the time is used up.
static Status warm_up(Measurement *m) {
    bool asked = m->options.warmup > 0;
    double start = clock_seconds(), seconds[MOST_WARMUP];
    int64_t done = 0, most = asked ? m->options.warmup : m->limits.brief ? 0 : MOST_WARMUP;
    bool steady = false;
    while (done < most && !(steady && !asked)) {
        bool late = !asked && (clock_seconds() - start > 0.5 * m->options.seconds ||
                               clock_seconds() > m->limits.until[STAGE_WARM_UP]);
        if (done >= 2 && (late || is_stopped(m))) break;
        StepTimes times;
        Status status = work_step(m->work, &times);
        if (status) return status;
        seconds[done++ % MOST_WARMUP] = times.total;
        m->step = times;
        profile_tell_done(m, STAGE_WARM_UP, done, most, start);
        if (done <= MOST_WARMUP)
            steady = statistics_steady(seconds, done, STEADY_WINDOW, steady_tolerance);
    }
    m->profile->warmup = done > 0 ? done : 2; // the very first and the counted one
    m->profile->steps_per_sample = 1;
    if (done == 0) return STATUS_OK;
    double least = seconds[0]; // other work may have used the core in any step
    for (int64_t i = 1; i < done && i < MOST_WARMUP; i++) least = fmin(least, seconds[i]);
    least = fmax(least, 1e-9); // a coarse clock may read 0
    if (least < PROFILE_LEAST_SAMPLE)
        m->profile->steps_per_sample = (int64_t)ceil(PROFILE_LEAST_SAMPLE / least);
    return STATUS_OK;
}

// Runs rounds: unobserved and observed steps in turns, the metronome, and in every third round the
// kernels alone. Runs as many rounds as requested, or until the time is used up, within bounds.
// Percentiles that need more samples continue with unobserved steps only.
static Status run_rounds(Measurement *m, int64_t rounds, int64_t enough) {
    const ProfileOptions *o = &m->options;
    double start = clock_seconds();
    int64_t samples = enough > rounds ? enough : rounds;
    int64_t kernels_at = (rounds < KERNELS_EVERY ? rounds : KERNELS_EVERY) - 1;
    for (int64_t i = 0; i < samples; i++) {
        double gone = clock_seconds() - start;
        bool late = o->iterations == 0 && i >= PROFILE_FEWEST_SAMPLES && gone > o->seconds;
        bool over = o->most_seconds > 0.0 && gone > o->most_seconds;
        if (i > 0 && (over || is_stopped(m) || profile_is_over(m, STAGE_ROUNDS, i))) break;
        bool observe = i < rounds && !late;
        if (!observe && i >= enough) break;
        profile_tell_done(m, STAGE_ROUNDS, i, samples, start);
        Status status = whole_sample(m);
        if (!status && observe && !m->limits.brief) status = observed_sample(m);
        bool kernels = observe && i % KERNELS_EVERY == kernels_at;
        if (!status && observe) status = profile_run_between(m, kernels, i + 1 == samples);
        if (status) return status;
    }
    return STATUS_OK;
}

static Status measure_inference(Measurement *m, int64_t rounds) {
    if (m->work->kind == PROFILE_INFERENCE) return STATUS_OK; // the steps were inference already
    if (m->limits.brief) {
        profile_leave_out(m->profile, "forward alone");
        return STATUS_OK;
    }
    layer_train(m->work->model, false);
    double start = clock_seconds();
    int64_t inner = m->profile->steps_per_sample;
    int64_t done = 0, planned = m->profile->warmup + rounds;
    for (; done < m->profile->warmup && !is_stopped(m); done++) {
        if (profile_is_over(m, STAGE_INFERENCE, done)) break;
        profile_tell_done(m, STAGE_INFERENCE, done, planned, start);
        work_infer_seconds(m->work);
    }
    if (m->profile->totals[REPORT_STEP].latency.count < rounds)
        rounds = m->profile->totals[REPORT_STEP].latency.count;
    for (int64_t i = 0; i < rounds && !is_stopped(m); i++) {
        if (profile_is_over(m, STAGE_INFERENCE, i)) break;
        double sum = 0.0;
        profile_tell_done(m, STAGE_INFERENCE, done++, planned, start);
        for (int64_t k = 0; k < inner; k++)
            sum += fmax(0.0, work_infer_seconds(m->work) - m->clock);
        latency_push(&m->profile->inference, sum / (double)inner);
        if (m->options.iterations == 0 && i >= PROFILE_FEWEST_SAMPLES &&
            clock_seconds() - start > 0.5 * m->options.seconds)
            break;
    }
    layer_train(m->work->model, true);
    return error_status();
}

static bool next_batches(Loader *loader, int64_t count) { // batches of a step; false: no more
    Batch batch;
    bool more = true;
    for (int64_t i = 0; i < count && more; i++) more = loader_next(loader, &batch);
    return more;
}

// Measures a training loop's wait for its next batches, with a step between two of them.
static Status measure_data_wait(Measurement *m) {
    if (!m->options.loader) return STATUS_OK;
    if (m->limits.brief) {
        profile_leave_out(m->profile, "the wait for data");
        return STATUS_OK;
    }
    Status status = latency_make_room(&m->profile->data_wait, PROFILE_MOST_WAITS);
    double start = clock_seconds();
    for (int i = 0; i < PROFILE_MOST_WAITS && !status && !is_stopped(m); i++) {
        bool late = clock_seconds() - start > 0.25 * m->options.seconds;
        if ((i >= PROFILE_FEWEST_SAMPLES && late) || profile_is_over(m, STAGE_WAITS, i)) break;
        StepTimes ignored;
        profile_tell_done(m, STAGE_WAITS, i, PROFILE_MOST_WAITS, start);
        status = work_step(m->work, &ignored);
        double before = clock_seconds();
        bool more = next_batches(m->options.loader, work_batches(m->work));
        double waited = clock_seconds() - before - m->clock;
        if (!status) status = error_status();
        if (more)
            latency_push(&m->profile->data_wait, fmax(0.0, waited));
        else
            loader_start_epoch(m->options.loader);
    }
    return status;
}

Status profile_measure(const Work *work, ProfileOptions options, Profile *profile) {
    Measurement m = {.work = work, .options = options, .profile = profile, .clock = clock_cost()};
    m.limits = profile_limits(work, &options);
    m.step = (StepTimes){.total = work->step_seconds}; // until a step is measured
    int64_t rounds = options.iterations > 0 ? options.iterations
                     : m.limits.brief       ? m.limits.fewest
                                            : PROFILE_MOST_SAMPLES;
    int64_t enough = options.percentiles ? statistics_samples_needed(99.9) : 0;
    int64_t samples = enough > rounds ? enough : rounds;
    Latency *own[] = {&m.observed, &m.processor, &m.off_core};
    Status status = warm_up(&m);
    if (!status) status = make_rooms(profile, samples, rounds);
    for (int i = 0; i < 3 && !status; i++) status = latency_make_room(own[i], samples);
    if (!status) status = profile_begin_device(&m, rounds);
    if (!status) status = profile_begin_between(&m, 1 + rounds / KERNELS_EVERY, rounds);
    TimelineOptions events = {.capacity = profile->n_ops * profile->steps_per_sample + 16,
                              .device = work->x->device};
    if (!status) status = timeline_new(&m.timeline, events);
    double waited = system_waiting_seconds(), worked = system_processor_seconds();
    if (!status) status = run_rounds(&m, rounds, enough);
    waited = system_waiting_seconds() - waited;
    worked = system_processor_seconds() - worked;
    profile->others_share = waited / fmax(waited + worked, 1e-9); // NaN stays
    if (!status) status = measure_inference(&m, rounds);
    if (!status) status = measure_data_wait(&m);
    if (!status) status = profile_measure_copy(&m);
    if (!status) status = profile_finish(&m);
    profile_take_process(profile);
    if (!status && !is_stopped(&m)) profile_measure_probes(&m);
    profile->cut_short = is_stopped(&m);
    profile_end_between(&m);
    timeline_free(&m.timeline);
    for (int i = 0; i < 3; i++) memory_free(own[i]->samples);
    memory_free(m.marks);
    return status;
}
