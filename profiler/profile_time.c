// profile_time.c -- latencies: whole steps unobserved, layers from observed steps, in turns, so
// that drift of the machine meets both alike and their difference is the profiler's overhead.
#include <math.h>
#include <string.h>

#include "profiler/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum { MOST_SAMPLES = 200, FEWEST_SAMPLES = 10 };

Status profile_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                    StepTimes *times) {
    int64_t start = clock_nanoseconds();
    Scope *scope = scope_open();
    optimizer_zero_grad(optimizer);
    Tensor *logits = layer_forward(model, x);
    Tensor *loss = loss_cross_entropy(logits, labels);
    int64_t forward = clock_nanoseconds();
    autograd_backward(loss);
    int64_t backward = clock_nanoseconds();
    optimizer_step(optimizer);
    int64_t update = clock_nanoseconds();
    scope_close(scope);
    int64_t end = clock_nanoseconds();
    *times = (StepTimes){.forward = 1e-9 * (double)(forward - start),
                         .backward = 1e-9 * (double)(backward - forward),
                         .optimizer = 1e-9 * (double)(update - backward),
                         .total = 1e-9 * (double)(end - start)};
    if (error_pending()) autograd_clear();
    return error_status();
}

static double inference_seconds(Layer *model, Tensor *x) {
    no_grad_begin();
    int64_t start = clock_nanoseconds();
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    int64_t end = clock_nanoseconds();
    no_grad_end();
    return 1e-9 * (double)(end - start);
}

// ---- room for samples ------------------------------------------------------------------------
static Status make_room(Latency *latency, int64_t samples) {
    latency->samples = memory_new((size_t)samples * sizeof(double));
    latency->count = 0;
    return latency->samples ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

static Status make_rooms(Profile *profile, int64_t samples) {
    Status status = make_room(&profile->inference, samples);
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        if (profile->totals[p].ops > 0) status = make_room(&profile->totals[p].latency, samples);
    for (int i = 0; i < profile->n_layers && !status; i++)
        for (int p = 0; p < REPORT_STEP && !status; p++)
            if (profile->layers[i].phase[p].ops > 0)
                status = make_room(&profile->layers[i].phase[p].latency, samples);
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

static Status take_events(Profile *profile, const CostTable *executed, const Timeline *timeline) {
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < REPORT_STEP; p++) push(&profile->layers[i].phase[p].latency, 0.0);
    push(&profile->totals[REPORT_BACKWARD_INPUT].latency, 0.0);
    push(&profile->totals[REPORT_BACKWARD_WEIGHT].latency, 0.0);
    for (int64_t e = 0; e < timeline->count; e++) {
        const ProfileEvent *event = &timeline->events[e];
        int row = cost_table_row(executed, event->site);
        if (row < 0 || timeline->dropped > 0)
            return error_set(STATUS_STATE,
                             "profile: this step ran ops that the counted one did not. "
                             "HINT: a model must do the same work at every step");
        double seconds = 1e-9 * (double)(event->end - event->begin);
        ProfilePhase *phases = profile->layers[row].phase;
        ReportPhase phase = profile_report_phase((Phase)event->phase);
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

double profile_layer_seconds(const ProfileLayer *layer) {
    static const ReportPhase parts[] = {REPORT_FORWARD, REPORT_BACKWARD, REPORT_OPTIMIZER};
    double total = 0.0;
    for (int i = 0; i < 3; i++)
        if (layer->phase[parts[i]].ops > 0)
            total += latency_median(&layer->phase[parts[i]].latency);
    return total;
}

static Status finish(Profile *profile, const Latency *observed) {
    Status status = summarise(&profile->inference);
    for (int p = 0; p < REPORT_COUNT && !status; p++)
        status = summarise(&profile->totals[p].latency);
    double layers = 0.0;
    for (int i = 0; i < profile->n_layers; i++) {
        for (int p = 0; p < REPORT_STEP && !status; p++)
            status = summarise(&profile->layers[i].phase[p].latency);
        layers += profile_layer_seconds(&profile->layers[i]);
    }
    double step = latency_median(&profile->totals[REPORT_STEP].latency);
    profile->unattributed_seconds = step - layers;
    profile->overhead_fraction = observed->statistics.median / step - 1.0;
    return status;
}

// ---- the measurement -------------------------------------------------------------------------
typedef struct Measurement {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
    ProfileOptions options;
    const CostTable *executed;
    Profile *profile;
    Timeline timeline;
    Latency observed; // whole steps of the observed pass
} Measurement;

static Status one_round(Measurement *m) {
    StepTimes times;
    Status status = profile_step(m->model, m->optimizer, m->x, m->labels, &times);
    if (status) return status;
    take_times(m->profile, times);
    timeline_rewind(&m->timeline);
    timeline_start(&m->timeline);
    status = profile_step(m->model, m->optimizer, m->x, m->labels, &times);
    timeline_stop(&m->timeline);
    if (status) return status;
    push(&m->observed, times.total);
    return take_events(m->profile, m->executed, &m->timeline);
}

// Asked for a number of samples: all of the warm-up. Else at most half of the time goes into it.
static Status warm_up(Measurement *m) {
    double start = clock_seconds();
    StepTimes ignored;
    Status status = STATUS_OK;
    int64_t done = 0;
    while (done < m->options.warmup && !status) {
        bool late = m->options.iterations == 0 && done >= 2 &&
                    clock_seconds() - start > 0.5 * m->options.seconds;
        if (late) break;
        status = profile_step(m->model, m->optimizer, m->x, m->labels, &ignored);
        done++;
    }
    m->profile->warmup = done;
    return status;
}

static double progress_of(const Measurement *m, int64_t i, int64_t samples, double start) {
    double counted = (double)i / (double)samples;
    double timed = (clock_seconds() - start) / m->options.seconds;
    return m->options.iterations == 0 && timed > counted ? fmin(timed, 1.0) : counted;
}

// As many rounds as asked for; else until the time is used up, within bounds.
static Status run_rounds(Measurement *m, int64_t samples) {
    double start = clock_seconds();
    for (int64_t i = 0; i < samples; i++) {
        bool late = m->options.iterations == 0 && i >= FEWEST_SAMPLES &&
                    clock_seconds() - start > m->options.seconds;
        if (late) break;
        if (m->options.progress)
            m->options.progress(m->options.argument, progress_of(m, i, samples, start));
        Status status = one_round(m);
        if (status) return status;
    }
    layer_train(m->model, false);
    start = clock_seconds();
    for (int64_t i = 0; i < m->profile->warmup; i++) inference_seconds(m->model, m->x);
    for (int64_t i = 0; i < m->profile->totals[REPORT_STEP].latency.count; i++) {
        push(&m->profile->inference, inference_seconds(m->model, m->x));
        if (m->options.iterations == 0 && i >= FEWEST_SAMPLES &&
            clock_seconds() - start > 0.5 * m->options.seconds)
            break;
    }
    layer_train(m->model, true);
    return error_status();
}

Status profile_measure(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                       ProfileOptions options, const CostTable *executed, Profile *profile) {
    Measurement m = {.model = model,
                     .optimizer = optimizer,
                     .x = x,
                     .labels = labels,
                     .options = options,
                     .executed = executed,
                     .profile = profile};
    int64_t samples = options.iterations > 0 ? options.iterations : MOST_SAMPLES;
    Status status = make_rooms(profile, samples);
    if (!status) status = make_room(&m.observed, samples);
    if (!status) status = timeline_new(&m.timeline, executed->ops + 16);
    if (!status) status = warm_up(&m);
    if (!status) status = run_rounds(&m, samples);
    if (!status) status = summarise(&m.observed);
    if (!status) status = finish(profile, &m.observed);
    timeline_free(&m.timeline);
    memory_free(m.observed.samples);
    return status;
}
