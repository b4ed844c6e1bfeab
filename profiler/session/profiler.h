// profiler.h -- what a program calls to profile its own layers, loops and kernels. One call for one
// answer comes first; then the session, which watches whatever runs until it is stopped.
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
// Threads: all of this watches the calling thread's context, and what other threads do in theirs is
// not seen. A session is started, stepped, stopped and read by one thread.
#ifndef PROFILER_SESSION_PROFILER_H
#define PROFILER_SESSION_PROFILER_H

#include <stdio.h>

#include "profiler/measure/profile.h"
#include "profiler/record/timeline.h"

RIDGEPOINT_API_BEGIN

// ---- one call, one answer ----------------------------------------------------------------------
// x is a whole batch, (batch, ...), wherever it lives; counting runs nothing, in the mode that the
// layer is in. On failure a Status (or -1) with an error pending; what is written to is then
// unspecified but safe to free.

int64_t profiler_count_parameters(const Layer *layer); // elements; tied ones once

// 2 x multiply-adds of one forward, for one sample: the headline count (--help counts).
Status profiler_count_flops(Layer *layer, const Tensor *x, uint64_t *flops_per_sample);

// Compulsory traffic of one forward of the whole batch, each operand of each op once. Not per
// sample: a batch reads the weights once.
Status profiler_count_bytes(Layer *layer, const Tensor *x, uint64_t *bytes_read,
                            uint64_t *bytes_written);

// Requested bytes live at the highest moment, x included, measured by the ledger while the layer
// runs forward (inference), and forward and backward (training, without an optimizer's state).
typedef struct ProfilerMemory {
    MemoryUse inference, training;
    int64_t saved_bytes; // of activations, kept for backward
} ProfilerMemory;
Status profiler_measure_memory(Layer *layer, Tensor *x, ProfilerMemory *memory);

// Seconds of one forward in inference mode: `warmup` >= 0 calls first, then `iterations` >= 1
// samples. A forward shorter than the clock can tell is repeated within a sample, and divided;
// until it is known how often, more calls pass. None on meta. Free with latency_free.
Status profiler_measure_latency(Layer *layer, Tensor *x, int64_t warmup, int64_t iterations,
                                Latency *latency);

// One call of any function in the current context: how long, with what memory, and which work. (Ops
// are watched, which takes about 0.1 us each.)
//
//     ProfilerCall call;
//     profiler_call(load_and_scale, &batch, &call);
//     printf("%.3f s, %lld bytes more at the peak\n", call.seconds, (long long)call.peak.total);
typedef struct ProfilerCall {
    double seconds;     // until it returned, and the context's device had done its work
    double cpu_seconds; // processor time of all threads of the process
    MemoryUse peak;     // live bytes at the highest moment, less those before the call
    MemoryUse left;     // live after it, less before: below 0 where it freed more than it made
    int64_t ops;        // that it ran, and their cost;
    int64_t uncounted;  // of them, without one
    OpCost cost;
} ProfilerCall;
// The error that the function left pending, if any; *call is told all the same.
Status profiler_call(void (*function)(void *argument), void *argument, ProfilerCall *call);

// Whole profiles, to be freed with profile_free: counts, times, memory and, by this machine's
// ceilings (measured on first use and kept, machine.h), verdicts. A layer and a backward pass go
// forward and backward from an output gradient of ones; a forward pass is inference.
Status profiler_profile_layer(Layer *layer, Tensor *x, Profile *profile);
Status profiler_profile_forward_pass(Layer *model, Tensor *x, Profile *profile);
Status profiler_profile_backward_pass(Layer *model, Tensor *x, Profile *profile);

// The report of a forward and backward pass on `file`, for a first look.
Status profiler_quick(Layer *model, Tensor *x, FILE *file);

// ---- a session ---------------------------------------------------------------------------------
// Which steps are recorded, where profiler_step ends each: `skip` steps once; then cycles of `wait`
// steps unrecorded, `warmup` steps recorded and thrown away, `active` steps kept, `repeat` times
// (0: until the stop). active 0: every step after `skip`. A range of steps, 10 to 19: skip 10,
// active 10, repeat 1.
typedef struct ProfilerSchedule {
    int64_t skip, wait, warmup, active, repeat;
} ProfilerSchedule;

typedef struct ProfilerOptions {
    int64_t capacity;       // events; those beyond are dropped and counted
    bool memory;            // live bytes over time too, for the trace
    const Machine *machine; // for verdicts, borrowed; NULL: none
    ProfilerSchedule schedule;
    // N > 0: the schedule is that of the first epoch and of every N-th after it, each from its own
    // step 0 on, and the others are not recorded; profiler_epoch ends one. 0: epochs are not told
    int64_t every_epochs;
} ProfilerOptions;
ProfilerOptions profiler_defaults(void); // 131,072 events, memory, every step

typedef struct Profiler Profiler;
// All memory is taken here; recording takes none (but for the name of a scope or layer that was
// never seen in that place). NULL with an error pending: no capacity, or a schedule that keeps
// nothing.
Profiler *profiler_new(ProfilerOptions options);
void profiler_free(Profiler *profiler); // stops it first; NULL is fine
// Begins to observe the current context, and no other, until the stop in the same context, which
// the session must not outlive. Starting again goes on after what is there. What is open at a start
// or a stop leaves no event; what is nested in it does. STATUS_STATE when it is started twice,
// stopped without a start or elsewhere, or started in a second context.
Status profiler_start(Profiler *profiler);
Status profiler_stop(Profiler *profiler);
// One step of the user's loop ends here; without a start, nothing does. What is recorded after the
// last one is in the trace, not in rows. A scope around the loop counts with what of it lies in
// kept steps, if it ends in a step that is recorded.
void profiler_step(Profiler *profiler);

// An epoch of the user's loop ends here, between two steps; without every_epochs nothing does.
void profiler_epoch(Profiler *profiler);

// A figure of the user's at this moment, to every session that records. `name` lives as long as
// the session: a literal.
void profiler_counter(const char *name, double value);

// ---- scopes and kernels ------------------------------------------------------------------------
// A part of the user's program with a name, nested as it runs, closed on any way out of the block
// (its end, break, return, goto; not longjmp). Layers inside become its children; ops inside
// belong to it unless a layer is nearer. Costs one pointer test while nothing observes; what was
// entered then stays unseen. The block is a loop that runs once: break and continue leave it, not a
// loop around it.
#define PROFILE_SCOPE(name) PROFILE_SCOPE_NUMBERED(name, __COUNTER__)

// Any C code as one op: into the table, the roofline and the trace. `flops` count as
// elementwise_flops, `bytes` as bytes_read, from the last level of memory; both are evaluated once.
// They are the code's own: ops inside it count and take their time apart. `name` is a literal. In a
// dry run, and where the context's device has no data, the code is counted and not run, so that ops
// in it are not predicted. More than INT64_MAX of either (a negative number, an overflow) is
// STATUS_OVERFLOW while somebody observes; the code runs. As above, a loop that runs once.
#define PROFILE_KERNEL(name, flops, bytes) PROFILE_KERNEL_NUMBERED(name, flops, bytes, __COUNTER__)

// ---- hooks -------------------------------------------------------------------------------------
// Called around every op of the current context. A hook must not run ops, nor keep the call. The
// struct is yours and stays where it is until removed; removing it once more changes nothing.
typedef struct ProfilerHook {
    Observer observer;                                 // first
    void (*begin)(void *argument, const OpCall *call); // inputs known, outputs not yet; may be NULL
    void (*end)(void *argument, const OpCall *call);   // a failed op has its error pending
    void *argument;
} ProfilerHook;
void profiler_hook_add(ProfilerHook *hook);
void profiler_hook_remove(ProfilerHook *hook);

// ---- what a session saw ------------------------------------------------------------------------
// Rows of one path, name, kind and phase are one, whichever model or session's start they are of.
typedef struct ProfilerRow { // an op or kernel, a layer, a scope or a copy, in all kept steps
    char path[96];           // "data loading", "fc1"; "(model)": outside any
    char name[48];           // "linear", "attn"; a site's own type: "Linear", "scope"
    EventKind kind;          // EVENT_OP, EVENT_SITE or EVENT_COPY
    Phase phase;             // of an op, and of a layer: forward, or recompute
    int64_t calls;
    double seconds, self_seconds; // in all; self: without what is nested in it
    double device_seconds;        // the device's own, of ops and copies; 0 where it has none
    OpCost cost;                  // in all; of a site: its own ops while it was open
    Traffic traffic;
    Roofline roofline; // of all calls' own time, the device's where it has one; zero without a
                       // machine, and for what is no op
} ProfilerRow;

typedef struct ProfilerSummary {
    ProfilerRow *rows; // owned; most self time first
    int n_rows;
    int64_t steps, events, dropped; // whole steps; events of every kind
    double seconds;              // recorded: of the kept steps, or from start to stop without steps
    double unattributed_seconds; // of them, outside every event: self times + it = seconds
} ProfilerSummary;
// At any time, also while it runs.
Status profiler_summarise(const Profiler *profiler, ProfilerSummary *summary);
void profiler_summary_free(ProfilerSummary *summary);

// The row of a scope or layer, of all that ran forward under that path (where a scope and the model
// in it have the same, the scope's); calls 0: it was not seen yet. At any time, also while it runs;
// goes through all events.
Status profiler_find(const Profiler *profiler, const char *path, ProfilerRow *row);
Status profiler_print(const Profiler *profiler, FILE *file); // the rows as a table, 80 columns
// trace.h; in the context that it observed, else STATUS_STATE.
Status profiler_write_trace(const Profiler *profiler, const char *path);
const Timeline *profiler_timeline(const Profiler *profiler); // what was recorded

// ---- behind the macros -------------------------------------------------------------------------
typedef struct ProfileScope {
    int previous; // call site to return to
    bool entered, once;
} ProfileScope;
ProfileScope profile_scope_begin(const char *name);
void profile_scope_end(ProfileScope *scope);

typedef struct ProfileKernel {
    OpCall call;
    const char *outer;    // what ran around it, for the ledger's peak
    bool announced, once; // once: the body is to run
} ProfileKernel;
ProfileKernel profile_kernel_begin(const Op *op, uint64_t flops, uint64_t bytes);
void profile_kernel_end(ProfileKernel *kernel);
OpCost profile_kernel_cost(const OpCall *call);

// Numbered, so that nested ones do not shadow each other; the second step expands the number.
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

// An op that lives as long as the program, one for each place in it.
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
