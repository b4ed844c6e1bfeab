// profile_kernels.c -- what kernels take alone and warm: in a step of its own, each op's is run
// again right after it ran, over the same operands, and timed without what dispatching takes. What
// it then takes beyond the roof is the kernel's; what it takes longer in a step is not.
#include <math.h>
#include <string.h>

#include "profiler/measure/profile_parts.h"
#include "profiler/measure/system.h"
#include "tensor/context.h"

typedef struct Replay {
    Observer observer; // first
    const Measurement *m;
    Reuse *reuse;
    int64_t op; // that ends next
} Replay;

// ---- one kernel ------------------------------------------------------------------------------
// Of the caller's own time on a core: it waits for the others there, and what it sleeps or is kept
// from running is no kernel's.
static double time_runs(const OpCall *call, int64_t times) {
    double begin = system_thread_seconds();
    for (int64_t i = 0; i < times; i++) op_run_again(call);
    return (system_thread_seconds() - begin) / (double)times;
}

// Once more, which is warm; of short ones the best of some batches. Without page faults, which a
// step has apart. An op that writes where it reads goes on from there: learning rates are 0, and no
// kernel's time depends on values.
static double time_kernel(const OpCall *call) {
    enum { BATCHES = 5 };
    const double batch = 50e-6, longest = 1e-3;
    int64_t faults = system_page_faults(), runs = 1;
    double best = time_runs(call, 1);
    if (best < longest) {
        int64_t times = best < batch ? (int64_t)ceil(batch / fmax(best, 1e-9)) : 1;
        for (int i = 0; i < BATCHES; i++) best = fmin(best, time_runs(call, times));
        runs += BATCHES * times;
    }
    faults = (system_page_faults() - faults) / runs;
    return faults > 0 ? fmax(0.0, best - (double)faults * system_fault_seconds()) : best;
}

static void run_again(Reuse *reuse, const OpCall *call, ProfileOp *op) {
    const OpCost *cost = &op->record.cost;
    op->warm_seconds = time_kernel(call);
    for (int i = 0; i < 2; i++) // the second finds where the first left it
        traffic_of_call(reuse, call, cost, &op->warm_traffic);
    if (error_pending()) op->warm_seconds = (double)NAN;
    error_clear(); // it ran before, and so did what counts
}

// ---- all of a step ---------------------------------------------------------------------------
static bool is_same(const OpRecord *a, const OpRecord *b) {
    bool same = a->op == b->op && a->n_in == b->n_in && a->given == b->given &&
                memcmp(&a->cost, &b->cost, sizeof a->cost) == 0 &&
                memcmp(&a->params, &b->params, sizeof a->params) == 0 &&
                shape_equal(a->out, b->out);
    for (int i = 0; i < OP_RECORD_INPUTS && same; i++) same = shape_equal(a->in[i], b->in[i]);
    return same;
}

static const ProfileOp *same_before(const Profile *profile, int64_t op) {
    for (int64_t i = op - 1; i >= 0; i--)
        if (is_same(&profile->ops[i].record, &profile->ops[op].record)) return &profile->ops[i];
    return NULL;
}

static void op_end(Observer *observer, const OpCall *call) {
    Replay *replay = (Replay *)observer;
    Profile *profile = replay->m->profile;
    if (error_pending() || replay->op >= profile->n_ops) return;
    ProfileOp *op = &profile->ops[replay->op++];
    if (op->record.op != call->op || call->op->flags & OP_VIEW) return;
    if (call->n_in == 0) return; // a PROFILE_KERNEL, which only its program can run
    const ProfileOp *same = same_before(profile, replay->op - 1);
    if (same) {
        op->warm_seconds = same->warm_seconds;
        op->warm_traffic = same->warm_traffic;
    } else {
        run_again(replay->reuse, call, op);
        profile_tell_done(replay->m, STAGE_KERNELS, replay->op, profile->n_ops, 0.0);
    }
}

Status profile_measure_kernels(const Measurement *m) {
    Profile *profile = m->profile;
    for (int64_t i = 0; i < profile->n_ops; i++) profile->ops[i].warm_seconds = (double)NAN;
    if (!profile->has_machine || !m->work->x->device->on_host) return STATUS_OK;
    Replay replay = {.observer = {.op_end = op_end}, .m = m, .reuse = reuse_new(&profile->machine)};
    if (!replay.reuse) return STATUS_OUT_OF_MEMORY;
    StepTimes ignored;
    observer_add(&replay.observer);
    Status status = work_step(m->work, &ignored);
    observer_remove(&replay.observer);
    reuse_free(replay.reuse);
    return status;
}
