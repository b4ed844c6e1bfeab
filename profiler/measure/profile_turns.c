// profile_turns.c -- what runs between the steps whose times are told: of some rounds a step more,
// in which each kernel runs again right after its op, over the same operands, alone and warm; and
// the metronome. Not here: those steps (profile_time.c).
#include <math.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "profiler/measure/system.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/memory.h"

typedef struct KernelTime {
    int64_t first; // the op of the step that is the same, and whose samples are this one's too
    int64_t runs;  // in a sample: so many that the clock can tell
    Latency alone;
} KernelTime;

struct KernelTimes {
    Observer observer; // first
    Profile *profile;
    KernelTime *of; // an op each
    Reuse *reuse;   // which caches hold what, while kernels run again
    int64_t op;     // that ends next
    double fault_seconds;
};

// ---- ops that are the same ---------------------------------------------------------------------
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
// The calling thread's time on a core, which is also when it waits for the others, for each of so
// many runs. Neither page faults nor sleep are a kernel's own: they are terms of the step.
static double seconds_alone(const struct KernelTimes *times, const OpCall *call, int64_t runs) {
    int64_t faults = system_page_faults();
    double begin = system_thread_seconds();
    for (int64_t i = 0; i < runs; i++) op_run_again(call);
    double all = system_thread_seconds() - begin;
    faults = system_page_faults() - faults;
    if (faults > 0) all -= (double)faults * times->fault_seconds;
    return fmax(0.0, all / (double)runs);
}

// A sample holds as many runs as the clock needs to tell them; the first samples find that number.
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

// An op that writes where it reads goes on from there: learning rates are 0, and no kernel's time
// depends on values.
static void op_end(Observer *observer, const OpCall *call) {
    struct KernelTimes *times = (struct KernelTimes *)observer;
    if (error_pending() || times->op >= times->profile->n_ops) return;
    int64_t index = times->op++;
    ProfileOp *op = &times->profile->ops[index];
    KernelTime *kernel = &times->of[index];
    if (kernel->first != index || op->record.op != call->op || call->op->flags & OP_VIEW) return;
    if (call->n_in == 0) return; // a PROFILE_KERNEL, which only its program can run
    double seconds = sample(times, call, kernel);
    for (int i = 0; i < 2 && kernel->alone.count == 0; i++) // the second finds it near
        traffic_of_call(times->reuse, call, &op->record.cost, &op->warm_traffic);
    if (!error_pending()) latency_push(&kernel->alone, seconds);
    error_clear(); // it ran before, and so did what counts
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
static Status begin_metronome(Measurement *m, int64_t samples) {
    ProfileMetronome *metronome = &m->profile->metronome;
    if (!m->options.metronome || !m->work->x->device->on_host) return STATUS_OK;
    m->metronome = metronome_new();
    if (!m->metronome) return error_status();
    metronome->version = metronome_version();
    Status status = latency_make_room(&metronome->product, samples);
    return status ? status : latency_make_room(&metronome->read, samples);
}

// Beside a long step for a hundredth of its time.
static void run_metronome(Measurement *m) {
    ProfileMetronome *metronome = &m->profile->metronome;
    double product = 0.0, read = 0.0, begin = clock_seconds();
    int beats = 0;
    do {
        Beat one = metronome_beat(m->metronome, m->profile->threads);
        product += one.product;
        read += one.read;
        beats++;
    } while (clock_seconds() - begin < 0.01 * m->step.total);
    latency_push(&metronome->product, product / beats);
    latency_push(&metronome->read, read / beats);
}

// ---- both --------------------------------------------------------------------------------------
Status profile_begin_between(Measurement *m, int64_t kernels, int64_t rounds) {
    Status status = begin_kernels(m, kernels);
    return status ? status : begin_metronome(m, rounds);
}

Status profile_run_between(Measurement *m, bool kernels, bool last) {
    StepTimes ignored;
    Status status = kernels ? run_kernels(m) : STATUS_OK;
    if (m->metronome) run_metronome(m);
    bool ran = (kernels && m->kernels) || m->metronome;
    return status || last || !ran ? status : work_step(m->work, &ignored);
}

void profile_end_between(Measurement *m) {
    end_kernels(m);
    metronome_free(m->metronome);
}
