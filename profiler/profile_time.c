// profile_time.c -- latencies: whole steps unobserved, layers and ops from observed steps, in
// turns, so that drift of the machine meets both alike and their difference is the profiler's
// overhead.
#include <math.h>

#include "profiler/profile_parts.h"
#include "profiler/system.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum {
    MOST_SAMPLES = 200,
    FEWEST_SAMPLES = 10,
    STEADY_WINDOW = 5, // steps; two windows in a row whose medians agree are steady
    MOST_WARMUP = 200,
    MOST_WAITS = 50, // steps timed for data
};
static const double steady_tolerance = 0.02;

// What reading the clock adds to what lies between two readings.
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
static Status make_room(Latency *latency, int64_t samples) {
    latency->samples = memory_new((size_t)samples * sizeof(double));
    latency->count = 0;
    return latency->samples ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

// `whole`: of whole steps and their phases; `parts`: of layers and ops.
static Status make_rooms(Profile *profile, int64_t whole, int64_t parts) {
    Status status = STATUS_OK;
    if (profile->kind != PROFILE_INFERENCE) status = make_room(&profile->inference, parts);
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        if (profile->totals[p].ops > 0) status = make_room(&profile->totals[p].latency, whole);
    for (int i = 0; i < profile->n_layers && !status; i++)
        for (int p = 0; p < REPORT_STEP && !status; p++)
            if (profile->layers[i].phase[p].ops > 0)
                status = make_room(&profile->layers[i].phase[p].latency, parts);
    for (int64_t i = 0; i < profile->n_ops && !status; i++)
        status = make_room(&profile->ops[i].latency, parts);
    return status;
}

static void push(Latency *latency, double seconds) {
    if (latency->samples) latency->samples[latency->count++] = seconds;
}

static Status summarise(Latency *latency) {
    if (!latency->samples || latency->count == 0) return STATUS_OK;
    return statistics_summarise(latency->samples, latency->count, &latency->statistics);
}

// ---- one observed step, added up by layer ------------------------------------------------------
static void add_seconds(ProfilePhase *phase, double seconds) {
    Latency *latency = &phase->latency;
    if (latency->samples) latency->samples[latency->count - 1] += seconds;
}

// The events of a sample's steps: op by op the same as the step that was counted.
static Status take_events(Profile *profile, const Timeline *timeline, double clock) {
    int64_t steps = profile->steps_per_sample;
    if (timeline->dropped > 0 || timeline->count != steps * profile->n_ops)
        return error_set(STATUS_STATE, "profile: this step ran ops that the counted one did not. "
                                       "HINT: a model must do the same work at every step");
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < REPORT_STEP; p++) push(&profile->layers[i].phase[p].latency, 0.0);
    push(&profile->totals[REPORT_BACKWARD_INPUT].latency, 0.0);
    push(&profile->totals[REPORT_BACKWARD_WEIGHT].latency, 0.0);
    for (int64_t i = 0; i < profile->n_ops; i++) {
        ProfileOp *op = &profile->ops[i];
        double seconds = 0.0;
        for (int64_t k = 0; k < steps; k++) {
            const ProfileEvent *event = &timeline->events[k * profile->n_ops + i];
            if (event->op != op->record.op || event->phase != op->record.phase)
                return error_set(STATUS_STATE,
                                 "profile: op %lld was %s, now it is %s. HINT: a "
                                 "model must do the same work at every step",
                                 (long long)i, op->record.op->name, event->op->name);
            seconds += fmax(0.0, 1e-9 * (double)event_self_nanoseconds(event) - clock);
        }
        seconds /= (double)steps;
        push(&op->latency, seconds);
        ProfilePhase *phases = profile->layers[op->layer].phase;
        ReportPhase phase = profile_report_phase(op->record.phase);
        add_seconds(&phases[phase], seconds);
        if (phase != REPORT_BACKWARD_INPUT && phase != REPORT_BACKWARD_WEIGHT) continue;
        add_seconds(&phases[REPORT_BACKWARD], seconds);
        add_seconds(&profile->totals[phase], seconds);
    }
    return STATUS_OK;
}

static void take_times(Profile *profile, StepTimes times) {
    push(&profile->totals[REPORT_FORWARD].latency, times.forward);
    push(&profile->totals[REPORT_BACKWARD].latency, times.backward);
    push(&profile->totals[REPORT_OPTIMIZER].latency, times.optimizer);
    push(&profile->totals[REPORT_STEP].latency, times.total);
}

static Status finish(Profile *profile, const Latency *observed, const Latency *processor) {
    Status status = summarise(&profile->inference);
    if (!status) status = summarise(&profile->data_wait);
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        status = summarise(&profile->totals[p].latency);
    for (int64_t i = 0; i < profile->n_ops && !status; i++)
        status = summarise(&profile->ops[i].latency);
    double layers = 0.0;
    for (int i = 0; i < profile->n_layers; i++) {
        for (int p = 0; p < REPORT_STEP && !status; p++)
            status = summarise(&profile->layers[i].phase[p].latency);
        layers += profile_layer_seconds(&profile->layers[i]);
    }
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    profile->unattributed_seconds = step - layers;
    profile->overhead_fraction = observed->statistics.median / step - 1.0;
    // The mean: the system adds other threads' time in lumps, which a median would miss.
    profile->cpu_seconds = processor->statistics.mean;
    return status;
}

// ---- the measurement -------------------------------------------------------------------------
typedef struct Measurement {
    const Work *work;
    ProfileOptions options;
    Profile *profile;
    Timeline timeline;
    Latency observed;  // whole steps of the observed pass
    Latency processor; // processor time of the unobserved ones
    double clock;      // what a reading adds
} Measurement;

// The mean of the steps of one sample, without what reading the clock took.
static Status sample(Measurement *m, StepTimes *mean) {
    int64_t steps = m->profile->steps_per_sample;
    *mean = (StepTimes){0};
    for (int64_t i = 0; i < steps; i++) {
        StepTimes times;
        Status status = work_step(m->work, &times);
        if (status) return status;
        mean->forward += fmax(0.0, times.forward - m->clock);
        mean->backward += fmax(0.0, times.backward - m->clock);
        mean->optimizer += fmax(0.0, times.optimizer - m->clock);
        mean->total += fmax(0.0, times.total - 4.0 * m->clock); // of the five readings in it
    }
    mean->forward /= (double)steps;
    mean->backward /= (double)steps;
    mean->optimizer /= (double)steps;
    mean->total /= (double)steps;
    return STATUS_OK;
}

static Status unobserved_sample(Measurement *m) {
    StepTimes times;
    double before = system_processor_seconds();
    Status status = sample(m, &times);
    double passed = system_processor_seconds() - before;
    if (status) return status;
    push(&m->processor, passed / (double)m->profile->steps_per_sample);
    take_times(m->profile, times);
    return STATUS_OK;
}

static Status observed_sample(Measurement *m) {
    StepTimes times;
    timeline_rewind(&m->timeline);
    timeline_start(&m->timeline);
    Status status = sample(m, &times);
    timeline_stop(&m->timeline);
    if (status) return status;
    push(&m->observed, times.total);
    return take_events(m->profile, &m->timeline, m->clock);
}

// As many steps as asked for; else until times are steady, or half of the time is used up.
static Status warm_up(Measurement *m) {
    bool asked = m->options.warmup > 0;
    double start = clock_seconds(), seconds[MOST_WARMUP];
    int64_t done = 0, most = asked ? m->options.warmup : MOST_WARMUP;
    bool steady = false;
    while (done < most && !(steady && !asked)) {
        if (!asked && done >= 2 && clock_seconds() - start > 0.5 * m->options.seconds) break;
        StepTimes times;
        Status status = work_step(m->work, &times);
        if (status) return status;
        seconds[done++ % MOST_WARMUP] = times.total;
        if (done <= MOST_WARMUP)
            steady = statistics_steady(seconds, done, STEADY_WINDOW, steady_tolerance);
    }
    m->profile->warmup = done;
    m->profile->steady = steady;
    double last = fmax(seconds[(done - 1) % MOST_WARMUP], 1e-9); // a coarse clock may say 0
    m->profile->steps_per_sample =
        last < PROFILE_LEAST_SAMPLE ? (int64_t)ceil(PROFILE_LEAST_SAMPLE / last) : 1;
    return STATUS_OK;
}

static double progress_of(const Measurement *m, int64_t i, int64_t samples, double start) {
    double counted = (double)i / (double)samples;
    double timed = (clock_seconds() - start) / m->options.seconds;
    bool limited = m->options.iterations == 0 && !m->options.percentiles;
    return limited && timed > counted ? fmin(timed, 1.0) : counted;
}

// Unobserved and observed in turns: as many rounds as asked for; else until the time is used up,
// within bounds. Percentiles that need more samples go on without the observed ones.
static Status run_rounds(Measurement *m, int64_t rounds, int64_t enough) {
    double start = clock_seconds();
    int64_t samples = enough > rounds ? enough : rounds;
    for (int64_t i = 0; i < samples; i++) {
        bool late = m->options.iterations == 0 && i >= FEWEST_SAMPLES &&
                    clock_seconds() - start > m->options.seconds;
        bool observe = i < rounds && !late;
        if (!observe && i >= enough) break;
        if (m->options.progress)
            m->options.progress(m->options.argument, progress_of(m, i, samples, start));
        Status status = unobserved_sample(m);
        if (!status && observe) status = observed_sample(m);
        if (status) return status;
    }
    return STATUS_OK;
}

static Status measure_inference(Measurement *m, int64_t rounds) {
    if (m->work->kind == PROFILE_INFERENCE) return STATUS_OK; // the steps were that already
    layer_train(m->work->model, false);
    double start = clock_seconds();
    int64_t inner = m->profile->steps_per_sample;
    for (int64_t i = 0; i < m->profile->warmup; i++) work_infer_seconds(m->work);
    for (int64_t i = 0; i < rounds && i < m->profile->totals[REPORT_STEP].latency.count; i++) {
        double sum = 0.0;
        for (int64_t k = 0; k < inner; k++)
            sum += fmax(0.0, work_infer_seconds(m->work) - m->clock);
        push(&m->profile->inference, sum / (double)inner);
        if (m->options.iterations == 0 && i >= FEWEST_SAMPLES &&
            clock_seconds() - start > 0.5 * m->options.seconds)
            break;
    }
    layer_train(m->work->model, true);
    return error_status();
}

// What a training loop waits for its next batch while a step runs between two of them.
static Status measure_data_wait(Measurement *m) {
    if (!m->options.loader) return STATUS_OK;
    Status status = make_room(&m->profile->data_wait, MOST_WAITS);
    double start = clock_seconds();
    for (int i = 0; i < MOST_WAITS && !status; i++) {
        if (i >= FEWEST_SAMPLES && clock_seconds() - start > 0.25 * m->options.seconds) break;
        StepTimes ignored;
        Batch batch;
        status = work_step(m->work, &ignored);
        double before = clock_seconds();
        bool more = loader_next(m->options.loader, &batch);
        double waited = clock_seconds() - before - m->clock;
        if (!status) status = error_status();
        if (more)
            push(&m->profile->data_wait, fmax(0.0, waited));
        else
            loader_start_epoch(m->options.loader);
    }
    return status;
}

Status profile_measure(const Work *work, ProfileOptions options, Profile *profile) {
    Measurement m = {.work = work, .options = options, .profile = profile, .clock = clock_cost()};
    int64_t rounds = options.iterations > 0 ? options.iterations : MOST_SAMPLES;
    int64_t enough = options.percentiles ? statistics_samples_needed(99.9) : 0;
    int64_t samples = enough > rounds ? enough : rounds;
    Status status = warm_up(&m);
    if (!status) status = make_rooms(profile, samples, rounds);
    if (!status) status = make_room(&m.observed, rounds);
    if (!status) status = make_room(&m.processor, samples);
    TimelineOptions events = {.capacity = profile->n_ops * profile->steps_per_sample + 16,
                              .device = work->x->device};
    if (!status) status = timeline_new(&m.timeline, events);
    if (!status) status = run_rounds(&m, rounds, enough);
    if (!status) status = measure_inference(&m, rounds);
    if (!status) status = measure_data_wait(&m);
    if (!status) status = summarise(&m.observed);
    if (!status) status = summarise(&m.processor);
    if (!status) status = finish(profile, &m.observed, &m.processor);
    timeline_free(&m.timeline);
    memory_free(m.observed.samples);
    memory_free(m.processor.samples);
    return status;
}
