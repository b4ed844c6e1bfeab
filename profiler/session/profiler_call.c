// profiler_call.c -- measures one call of a function: time, memory, and the ops that it ran.
#include "profiler/base/system.h"
#include "profiler/session/profiler.h"
#include "tensor/clock.h"
#include "tensor/given.h"

typedef struct Watch {
    Observer observer; // first
    ProfilerCall *call;
} Watch;

static void op_end(Observer *observer, const OpCall *op) {
    ProfilerCall *call = ((Watch *)observer)->call;
    if (error_pending()) return; // the op did not run
    call->ops++;
    if (!op_is_counted(op->op, &op->params)) call->uncounted++;
    cost_add(&call->cost, op_cost(op));
}

static MemoryUse above(const MemoryUse *use, const MemoryUse *before) {
    MemoryUse more = {.total = use->total - before->total};
    for (int c = 0; c < MEM_COUNT; c++) more.category[c] = use->category[c] - before->category[c];
    return more;
}

// Restores an earlier, higher peak of the ledger for whoever reset it before.
static void keep_peak(Ledger *ledger, const Ledger *before) {
    if (ledger->peak.total >= before->peak.total) return;
    ledger->peak = before->peak;
    ledger->peak_op = before->peak_op;
    ledger->peak_site = before->peak_site;
    ledger->peak_phase = before->peak_phase;
}

Status profiler_call(void (*function)(void *argument), void *argument, ProfilerCall *call) {
    if (!GIVEN(call)) return STATUS_INVALID_ARGUMENT;
    *call = (ProfilerCall){0};
    if (error_pending()) return error_status();
    if (!function) return error_set(STATUS_INVALID_ARGUMENT, "profiler_call: no function");
    Watch watch = {.observer = {.op_end = op_end}, .call = call};
    Context *context = context_current();
    Device *device = context->device;
    if (!context->ledger) context->ledger = ledger_new(); // as for the first tensor
    Ledger *ledger = context->ledger;
    if (!ledger) return error_status();
    device_synchronize(device);
    Ledger before = *ledger;
    ledger_reset_peak(ledger);
    observer_add(&watch.observer);
    double processor = system_processor_seconds(), begin = clock_seconds();
    function(argument);
    device_synchronize(device);
    call->seconds = clock_seconds() - begin;
    call->cpu_seconds = system_processor_seconds() - processor;
    observer_remove(&watch.observer);
    call->peak = above(&ledger->peak, &before.live);
    call->left = above(&ledger->live, &before.live);
    keep_peak(ledger, &before);
    return error_status();
}
