// profiler.h -- the calls for a program to profile its own layers, loops and kernels. First come
// functions that answer one question; then the session, which watches everything until its stop.
//
//     Profiler *profiler = profiler_new(profiler_defaults());
//     profiler_start(profiler);
//     for (int i = 0; i < 100; i++) {
//         PROFILE_SCOPE("data loading") { loader_next(loader, &batch); }
//         train_step(model, optimizer, batch.images, batch.labels, &loss);
//         profiler_counter("loss", loss);
//         profiler_step(profiler);
//     }
//     profiler_stop(profiler);
//     profiler_print(profiler, stdout);
//     profiler_write_trace(profiler, "trace.json");
//     profiler_free(profiler);
//
// Threads: all of this watches the calling thread's context; other threads' contexts are not seen.
// A session is started, stepped, stopped and read by one thread.
#ifndef PROFILER_SESSION_PROFILER_H
#define PROFILER_SESSION_PROFILER_H

#include <stdio.h>

#include "profiler/measure/profile.h"
#include "profiler/record/timeline.h"

RIDGEPOINT_API_BEGIN

// ---- one call, one answer ----------------------------------------------------------------------
// x is a whole batch, (batch, ...), on any device; counting runs nothing, and uses the layer's
// current mode. On failure a Status (or -1) with an error pending; outputs are then unspecified but
// safe to free.

int64_t profiler_count_parameters(const Layer *layer); // number of elements; tied ones count once

// 2 x multiply-adds of one forward, for one sample: the headline count (--help counts).
Status profiler_count_flops(Layer *layer, const Tensor *x, uint64_t *flops_per_sample);

// Compulsory traffic of one forward of the whole batch, each operand of each op once. Not per
// sample: a batch reads the weights once.
Status profiler_count_bytes(Layer *layer, const Tensor *x, uint64_t *bytes_read,
                            uint64_t *bytes_written);

// Requested bytes live at the peak, x included, measured by the ledger while the layer runs forward
// (inference), and forward and backward (training, without optimizer state).
typedef struct ProfilerMemory {
    MemoryUse inference, training;
    int64_t saved_bytes; // bytes of activations kept for backward
} ProfilerMemory;
Status profiler_measure_memory(Layer *layer, Tensor *x, ProfilerMemory *memory);

// Measures seconds of one forward in inference mode: first `warmup` >= 0 calls, then `iterations`
// >= 1 samples. A forward too short for the clock is repeated within a sample, and the time
// divided; finding the repeat count takes extra calls. No samples on meta. Free with latency_free.
Status profiler_measure_latency(Layer *layer, Tensor *x, int64_t warmup, int64_t iterations,
                                Latency *latency);

// Measures one call of any function in the current context: its time, memory and work. (Ops are
// observed, at about 0.1 us each.)
//
//     ProfilerCall call;
//     profiler_call(load_and_scale, &batch, &call);
//     printf("%.3f s, %lld bytes more at the peak\n", call.seconds, (long long)call.peak.total);
typedef struct ProfilerCall {
    double seconds;     // until it returned and the context's device was idle
    double cpu_seconds; // processor time of all threads of the process
    MemoryUse peak;     // live bytes at the peak, minus those before the call
    MemoryUse left;     // live bytes after minus before: negative if it freed more
    int64_t ops;        // ops that it ran
    int64_t uncounted;  // ops without a cost
    OpCost cost;
} ProfilerCall;
// Returns the error that the function left pending, if any; *call is filled in any case.
Status profiler_call(void (*function)(void *argument), void *argument, ProfilerCall *call);

// Make whole profiles, to be freed with profile_free: counts, times, memory and verdicts by this
// machine's ceilings (measured on first use and kept, machine.h). A layer and a backward pass run
// forward, and backward from an output gradient of ones; a forward pass is inference.
Status profiler_profile_layer(Layer *layer, Tensor *x, Profile *profile);
Status profiler_profile_forward_pass(Layer *model, Tensor *x, Profile *profile);
Status profiler_profile_backward_pass(Layer *model, Tensor *x, Profile *profile);

// Prints the report of a forward and backward pass to `file`, for a first look.
Status profiler_quick(Layer *model, Tensor *x, FILE *file);

// ---- a session ---------------------------------------------------------------------------------
// The steps to record, where profiler_step ends each: `skip` steps once; then cycles of `wait`
// steps unrecorded, `warmup` steps recorded and discarded, `active` steps kept, `repeat` times (0:
// until the stop). active 0: every step after `skip`. For steps 10 to 19: skip 10, active 10,
// repeat 1.
typedef struct ProfilerSchedule {
    int64_t skip, wait, warmup, active, repeat;
} ProfilerSchedule;

typedef struct ProfilerOptions {
    // Maximum number of events held. Where profiler_step ends steps, older ones make room: the rows
    // keep them all, and the trace has the newest, if the capacity is three steps' events or more.
    // Events beyond the capacity within a step, or without steps, are dropped and counted.
    int64_t capacity;
    bool memory;            // record live bytes over time, too, for the trace
    const Machine *machine; // for verdicts, borrowed; NULL: none
    ProfilerSchedule schedule;
    // N > 0: the schedule applies to the first epoch and every N-th after it, from its own step 0;
    // other epochs are not recorded; profiler_epoch ends an epoch. 0: no epochs
    int64_t every_epochs;
} ProfilerOptions;
ProfilerOptions profiler_defaults(void); // 131,072 events, memory, every step

typedef struct Profiler Profiler;
// Allocates all memory; recording allocates none, except for the name of a new scope or layer, and,
// between two steps, for the sums of steps that make room.
// NULL with an error pending: no capacity, or a schedule that keeps nothing.
Profiler *profiler_new(ProfilerOptions options);
void profiler_free(Profiler *profiler); // stops it first; NULL is fine
// Starts to observe the current context only, until the stop in the same context, which must
// outlive the session. A restart appends to the recorded events. An event open at a start or a stop
// is lost; those nested in it are kept. STATUS_STATE when started twice, stopped without a start or
// elsewhere, or started in a second context.
Status profiler_start(Profiler *profiler);
Status profiler_stop(Profiler *profiler);
// Ends one step of the user's loop; no effect without a start. Events after the last step are in
// the trace, not in rows. A scope around the loop counts with its part in kept steps, if it ends in
// a recorded step.
void profiler_step(Profiler *profiler);

// Ends an epoch of the user's loop, between two steps; no effect without every_epochs.
void profiler_epoch(Profiler *profiler);

// Records a user's value at this moment in every recording session. `name` must outlive the
// session: use a literal.
void profiler_counter(const char *name, double value);

// ---- scopes and kernels ------------------------------------------------------------------------
// A named part of the user's program, nested at run time, closed on any way out of the block (its
// end, break, return, goto; not longjmp). Layers inside become its children; ops inside belong to
// it unless a layer is nearer. Costs one pointer test while nothing observes; a scope entered then
// stays unseen. The block is a loop that runs once: break and continue leave it, not a surrounding
// loop.
#define PROFILE_SCOPE(name) PROFILE_SCOPE_NUMBERED(name, __COUNTER__)

// Any C code as one op, included in the table, the roofline and the trace. `flops` count as
// elementwise_flops, `bytes` as bytes_read from the last level of memory; both are evaluated once.
// They describe the code itself: ops inside it count, and take their time, separately. `name` is a
// literal. In a dry run, and if the context's device has no data, the code is counted and not run,
// so ops in it are not predicted. More than INT64_MAX of either (a negative number, an overflow) is
// STATUS_OVERFLOW while something observes; the code runs. Also a loop that runs once.
#define PROFILE_KERNEL(name, flops, bytes) PROFILE_KERNEL_NUMBERED(name, flops, bytes, __COUNTER__)

// ---- hooks -------------------------------------------------------------------------------------
// Called around every op of the current context. A hook must not run ops, nor keep the call. The
// struct is yours and stays where it is until removed; removing it once more changes nothing.
typedef struct ProfilerHook {
    Observer observer;                                 // first
    void (*begin)(void *argument, const OpCall *call); // outputs are not known yet; may be NULL
    void (*end)(void *argument, const OpCall *call);   // a failed op has its error pending
    void *argument;
} ProfilerHook;
void profiler_hook_add(ProfilerHook *hook);
void profiler_hook_remove(ProfilerHook *hook);

// ---- what a session saw ------------------------------------------------------------------------
// Events with equal path, name, kind and phase share a row, across models and session starts.
typedef struct ProfilerRow { // an op, kernel, layer, scope or copy, over all kept steps
    char path[96];           // "data loading", "fc1"; "(model)": outside any
    char name[48];           // "linear", "attn"; a site's own type: "Linear", "scope"
    EventKind kind;          // EVENT_OP, EVENT_SITE or EVENT_COPY
    Phase phase;             // for an op, and for a layer: forward, or recompute
    int64_t calls;
    double seconds, self_seconds; // totals; self: without nested events
    double device_seconds;        // device time of ops and copies; 0 without one
    OpCost cost;                  // total; for a site: its own ops while it was open
    Traffic traffic;
    Roofline roofline; // over all calls' own time, or device time if there is one; zero without a
                       // machine, and for rows other than ops
} ProfilerRow;

typedef struct ProfilerSummary {
    ProfilerRow *rows; // owned; most self time first
    int n_rows;
    int64_t steps, events, dropped; // whole steps; events of every kind
    int64_t only_in_rows;           // events that made room for newer ones: no trace has them
    double seconds;                 // recorded: of kept steps, or from start to stop without steps
    double unattributed_seconds;    // part outside all events: self times + it = seconds
} ProfilerSummary;
// May be called at any time, also during recording.
Status profiler_summarise(const Profiler *profiler, ProfilerSummary *summary);
void profiler_summary_free(ProfilerSummary *summary);

// Finds the row of a scope or layer, over all forward runs under that path (a scope takes
// precedence over a model in it with the same path); calls 0: not seen yet. May be called at any
// time; goes through all events.
Status profiler_find(const Profiler *profiler, const char *path, ProfilerRow *row);
Status profiler_print(const Profiler *profiler, FILE *file); // the rows as a table, 80 columns
// See trace.h; only in the observed context, else STATUS_STATE.
Status profiler_write_trace(const Profiler *profiler, const char *path);
const Timeline *profiler_timeline(const Profiler *profiler); // the newest events

// ---- behind the macros -------------------------------------------------------------------------
typedef struct ProfileScope {
    int previous; // call site to restore
    bool entered, once;
} ProfileScope;
ProfileScope profile_scope_begin(const char *name);
void profile_scope_end(ProfileScope *scope);

typedef struct ProfileKernel {
    OpCall call;
    const char *outer;    // op that ran around it, for the ledger's peak
    bool announced, once; // once: the body has yet to run
} ProfileKernel;
ProfileKernel profile_kernel_begin(const Op *op, uint64_t flops, uint64_t bytes);
void profile_kernel_end(ProfileKernel *kernel);
OpCost profile_kernel_cost(const OpCall *call);

// Numbered, so that nested variables do not shadow each other; the second macro expands the number.
#define PROFILE_SCOPE_NUMBERED(name, n) PROFILE_SCOPE_AS(name, n)
#define PROFILE_SCOPE_AS(name, n)                                                                  \
    for (__attribute__((cleanup(profile_scope_end)))                                               \
         ProfileScope profile_scope_##n = profile_scope_begin(name);                               \
         profile_scope_##n.once; profile_scope_##n.once = false)
#define PROFILE_KERNEL_NUMBERED(title, flops, bytes, n) PROFILE_KERNEL_AS(title, flops, bytes, n)
#define PROFILE_KERNEL_AS(title, flops, bytes, n)                                                  \
    for (__attribute__((cleanup(profile_kernel_end))) ProfileKernel profile_kernel_##n =           \
             profile_kernel_begin(PROFILE_KERNEL_OP(title), (uint64_t)(flops), (uint64_t)(bytes)); \
         profile_kernel_##n.once; profile_kernel_##n.once = false)

// An op with static lifetime, one per place in the program.
#ifdef __cplusplus
static inline Op profile_kernel_op(const char *name) {
    Op op = {};
    op.id = OP_OUTSIDE;
    op.name = name;
    op.cost = profile_kernel_cost;
    return op;
}
#define PROFILE_KERNEL_OP(title)                                                                   \
    [] {                                                                                           \
        static const Op profile_op = profile_kernel_op(title);                                     \
        return &profile_op;                                                                        \
    }()
#else
#define PROFILE_KERNEL_OP(title)                                                                   \
    __extension__({                                                                                \
        static const Op profile_op = {.id = OP_OUTSIDE,                                            \
                                      .name = (title),                                             \
                                      .cost = profile_kernel_cost};                                \
        &profile_op;                                                                               \
    })
#endif

RIDGEPOINT_API_END

#endif
