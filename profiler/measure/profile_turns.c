// profile_turns.c -- untimed work between the timed steps: in some rounds an extra step, in which
// each kernel runs again right after its op, on the same operands, alone and warm; and the
// metronome. Not here: the timed steps (profile_time.c).
#include <math.h>
#include <string.h>

#include "profiler/base/system.h"
#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/memory.h"

typedef struct KernelTime {
    int64_t first; // first identical op of the step, which shares its samples
    int64_t runs;  // runs per sample, as the clock's resolution needs
    Latency alone;
} KernelTime;

struct KernelTimes {
    Observer observer; // first
    Profile *profile;
    KernelTime *of; // one per op
    Reuse *reuse;   // cache state while kernels run again
    int64_t op;     // index of the op that ends next
    double fault_seconds;
};

// ---- identical ops -----------------------------------------------------------------------------
static bool is_same(const OpRecord *a, const OpRecord *b) {
    bool same = a->op == b->op && a->n_in == b->n_in && a->given == b->given &&
                memcmp(&a->cost, &b->cost, sizeof a->cost) == 0 &&
                memcmp(&a->params, &b->params, sizeof a->params) == 0 &&
                shape_equal(a->out, b->out);
    for (int i = 0; i < OP_RECORD_INPUTS && same; i++) same = shape_equal(a->in[i], b->in[i]);
    return same;
}

static int64_t first_same(const Profile *profile, int64_t op) {
    for (int64_t i = 0; i < op; i++)
        if (is_same(&profile->ops[i].record, &profile->ops[op].record)) return i;
    return op;
}

// ---- one kernel --------------------------------------------------------------------------------
// The calling thread's time on a core per run, including its wait for other threads. Page faults
// and sleep do not belong to a kernel: they are terms of the step.
static double seconds_alone(const struct KernelTimes *times, const OpCall *call, int64_t runs) {
    int64_t faults = system_page_faults();
    double begin = system_thread_seconds();
    for (int64_t i = 0; i < runs; i++) op_run_again(call);
    double all = system_thread_seconds() - begin;
    faults = system_page_faults() - faults;
    if (faults > 0) all -= (double)faults * times->fault_seconds;
    return fmax(0.0, all / (double)runs);
}

// Takes a sample with as many runs as the clock needs; the first samples find that number.
static double sample(const struct KernelTimes *times, const OpCall *call, KernelTime *kernel) {
    enum { MOST_RUNS = 1 << 20 };
    const double least = 50e-6; // seconds of a sample
    for (;;) {
        double begin = clock_seconds(), seconds = seconds_alone(times, call, kernel->runs);
        double passed = clock_seconds() - begin;
        if (passed >= 0.5 * least || kernel->runs >= MOST_RUNS) return seconds;
        kernel->runs = (int64_t)ceil((double)kernel->runs * least / fmax(passed, 1e-8));
    }
}

// Times an op's kernel again. In-place ops repeat on their own results, which is harmless: learning
// rates are 0, and no kernel's time depends on values.
static void op_end(Observer *observer, const OpCall *call) {
    struct KernelTimes *times = (struct KernelTimes *)observer;
    if (error_pending() || times->op >= times->profile->n_ops) return;
    int64_t index = times->op++;
    ProfileOp *op = &times->profile->ops[index];
    KernelTime *kernel = &times->of[index];
    if (kernel->first != index || op->record.op != call->op || call->op->flags & OP_VIEW) return;
    if (call->n_in == 0) return; // a PROFILE_KERNEL: only its program can run it
    double seconds = sample(times, call, kernel);
    for (int i = 0; i < 2 && kernel->alone.count == 0; i++) // the second run finds it in cache
        traffic_of_call(times->reuse, call, &op->record.cost, &op->warm_traffic);
    if (!error_pending()) latency_push(&kernel->alone, seconds);
    error_clear(); // the op ran already, and the counted step, too
}

// ---- all of a step -----------------------------------------------------------------------------
static Status begin_kernels(Measurement *m, int64_t samples) {
    Profile *profile = m->profile;
    for (int64_t i = 0; i < profile->n_ops; i++) profile->ops[i].warm_seconds = (double)NAN;
    if (!profile->has_machine || !m->work->x->device->on_host) return STATUS_OK;
    struct KernelTimes *times = memory_new(sizeof *times);
    if (!times) return STATUS_OUT_OF_MEMORY;
    m->kernels = times;
    size_t bytes = (size_t)profile->n_ops * sizeof *times->of;
    *times = (struct KernelTimes){.observer = {.op_end = op_end},
                                  .profile = profile,
                                  .of = memory_new(bytes),
                                  .reuse = reuse_new(&profile->machine),
                                  .fault_seconds = system_fault_seconds()};
    if (!times->of || !times->reuse) return STATUS_OUT_OF_MEMORY;
    memset(times->of, 0, bytes);
    Status status = STATUS_OK;
    for (int64_t i = 0; i < profile->n_ops && !status; i++) {
        times->of[i] = (KernelTime){.first = first_same(profile, i), .runs = 1};
        if (times->of[i].first == i) status = latency_make_room(&times->of[i].alone, samples);
    }
    return status;
}

static Status run_kernels(Measurement *m) {
    StepTimes ignored;
    if (!m->kernels) return STATUS_OK;
    m->kernels->op = 0;
    observer_add(&m->kernels->observer);
    Status status = work_step(m->work, &ignored);
    observer_remove(&m->kernels->observer);
    return status;
}

Status profile_finish_kernels(Measurement *m) {
    if (!m->kernels) return STATUS_OK;
    for (int64_t i = 0; i < m->profile->n_ops; i++) {
        ProfileOp *op = &m->profile->ops[i];
        KernelTime *kernel = &m->kernels->of[i];
        if (kernel->first == i) {
            Status status = latency_summarise(&kernel->alone);
            if (status) return status;
            op->warm_seconds = latency_median(&kernel->alone);
        } else {
            op->warm_seconds = m->profile->ops[kernel->first].warm_seconds;
            op->warm_traffic = m->profile->ops[kernel->first].warm_traffic;
        }
    }
    return STATUS_OK;
}

static void end_kernels(Measurement *m) {
    if (!m->kernels) return;
    for (int64_t i = 0; m->kernels->of && i < m->profile->n_ops; i++)
        memory_free(m->kernels->of[i].alone.samples);
    memory_free(m->kernels->of);
    reuse_free(m->kernels->reuse);
    memory_free(m->kernels);
    m->kernels = NULL;
}

// ---- the metronome -----------------------------------------------------------------------------
struct Beats {
    Observer observer; // first; for long steps
    Metronome *metronome;
    Beat sum; // sum over this round
    int count;
    int cores;
    double due;      // time of the next beat, by clock_seconds
    StepTimes taken; // metronome's part of an observed step
};

static double beat(struct Beats *beats, double begin) {
    const double share = 0.01; // fraction of a long step
    Beat one = metronome_beat(beats->metronome, beats->cores);
    double end = clock_seconds();
    beats->sum.product += one.product;
    beats->sum.read += one.read;
    beats->count++;
    beats->due = end + (end - begin) / share;
    return end - begin;
}

// Runs between two ops, so no op's time includes it.
static void beat_if_due(Observer *observer, const OpCall *call) {
    struct Beats *beats = (struct Beats *)observer;
    (void)call;
    double now = clock_seconds();
    if (error_pending() || now < beats->due) return;
    double seconds = beat(beats, now);
    Phase phase = context_current()->phase;
    double *of = phase == PHASE_FORWARD     ? &beats->taken.forward
                 : phase == PHASE_OPTIMIZER ? &beats->taken.optimizer
                                            : &beats->taken.backward;
    *of += seconds;
    beats->taken.total += seconds;
}

static Status begin_metronome(Measurement *m, int64_t samples) {
    ProfileMetronome *metronome = &m->profile->metronome;
    if (!m->options.metronome || !m->work->x->device->on_host) return STATUS_OK;
    m->beats = memory_new(sizeof *m->beats);
    if (!m->beats) return STATUS_OUT_OF_MEMORY;
    *m->beats = (struct Beats){.observer = {.op_end = beat_if_due},
                               .metronome = metronome_new(),
                               .cores = m->profile->threads};
    if (!m->beats->metronome) return error_status();
    metronome->version = metronome_version();
    Status status = latency_make_room(&metronome->product, samples);
    return status ? status : latency_make_room(&metronome->read, samples);
}

void profile_begin_inside(Measurement *m) {
    const double long_step = 0.05; // seconds
    if (m->beats && m->step.total >= long_step) observer_add(&m->beats->observer);
}

StepTimes profile_end_inside(Measurement *m) {
    if (!m->beats) return (StepTimes){0};
    observer_remove(&m->beats->observer);
    StepTimes taken = m->beats->taken;
    m->beats->taken = (StepTimes){0};
    return taken;
}

static void run_metronome(Measurement *m) {
    ProfileMetronome *metronome = &m->profile->metronome;
    struct Beats *beats = m->beats;
    beat(beats, clock_seconds());
    latency_push(&metronome->product, beats->sum.product / beats->count);
    latency_push(&metronome->read, beats->sum.read / beats->count);
    beats->sum = (Beat){0};
    beats->count = 0;
}

static void end_metronome(Measurement *m) {
    if (m->beats) metronome_free(m->beats->metronome);
    memory_free(m->beats);
}

// ---- both --------------------------------------------------------------------------------------
Status profile_begin_between(Measurement *m, int64_t kernels, int64_t rounds) {
    Status status = begin_kernels(m, kernels);
    return status ? status : begin_metronome(m, rounds);
}

Status profile_run_between(Measurement *m, bool kernels, bool last) {
    StepTimes ignored;
    Status status = kernels ? run_kernels(m) : STATUS_OK;
    if (m->beats) run_metronome(m);
    bool ran = (kernels && m->kernels) || m->beats;
    return status || last || !ran ? status : work_step(m->work, &ignored);
}

void profile_end_between(Measurement *m) {
    end_kernels(m);
    end_metronome(m);
}
