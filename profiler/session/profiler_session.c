// profiler_session.c -- a session: a timeline and its recording times; users' counters and hooks.
// Not here: the macros (profiler_scope.c), or the results (profiler_summary.c).
#include <string.h>

#include "profiler/files/trace.h"
#include "profiler/session/profiler_parts.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"

ProfilerOptions profiler_defaults(void) {
    return (ProfilerOptions){.capacity = 131072, .memory = true};
}

// ---- made and freed --------------------------------------------------------------------------
static Status check_options(const ProfilerOptions *options) {
    const int64_t most = INT64_MAX / 4; // avoids overflow of a cycle's sum
    const ProfilerSchedule *s = &options->schedule;
    const int64_t steps[] = {s->skip,   s->wait,   s->warmup,
                             s->active, s->repeat, options->every_epochs};
    if (options->capacity < 1 || options->capacity > INT64_MAX / (int64_t)sizeof(OpTraffic))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "profiler_new: a capacity of %lld events. HINT: profiler_defaults() has "
                         "131,072",
                         (long long)options->capacity);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (steps[i] < 0 || steps[i] > most)
            return error_set(STATUS_INVALID_ARGUMENT,
                             "profiler_new: the schedule has %lld steps. HINT: none is negative",
                             (long long)steps[i]);
    if (s->active == 0 && (s->wait || s->warmup || s->repeat))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "profiler_new: the schedule has cycles without an active step. HINT: set "
                         "active, or only skip");
    return STATUS_OK;
}

Profiler *profiler_new(ProfilerOptions options) {
    if (check_options(&options)) return NULL;
    Profiler *profiler = memory_new(sizeof(Profiler));
    if (!profiler) return NULL;
    TimelineOptions events = {.capacity = options.capacity,
                              .sites = true,
                              .memory = options.memory,
                              .costs = true,
                              .machine = options.machine};
    if (device_has_stamps(context_current()->device)) events.device = context_current()->device;
    profiler->schedule = options.schedule;
    profiler->every_epochs = options.every_epochs;
    if (!timeline_new(&profiler->timeline, events)) return profiler;
    memory_free(profiler);
    return NULL;
}

// Calls a function in the observed context, whichever is current.
static Status call_there(Profiler *profiler, Status (*function)(Timeline *timeline)) {
    Context *current = context_current();
    if (!profiler->reader.context) return STATUS_OK; // the context and its observers are gone
    context_tls = profiler->reader.context;
    Status status = function(&profiler->timeline);
    context_tls = current;
    return status;
}

static Status add_live(Timeline *timeline) {
    timeline_add_live(timeline);
    return STATUS_OK;
}

// Adds or removes the observer. If the start fails, it does not observe.
static Status observe(Profiler *profiler, bool wanted) {
    if (profiler->observing == wanted) return STATUS_OK;
    Status status = call_there(profiler, wanted ? timeline_start : timeline_stop);
    profiler->observing = wanted && !status;
    return status;
}

void profiler_free(Profiler *profiler) {
    if (!profiler) return;
    observe(profiler, false);
    timeline_free(&profiler->timeline);
    memory_free(profiler->sums.groups);
    site_reader_remove(&profiler->reader);
    memory_free(profiler);
}

// ---- steps -----------------------------------------------------------------------------------
static StepFate fate_of(const ProfilerSchedule *schedule, int64_t step) {
    if (step < schedule->skip) return STEP_UNSEEN;
    if (schedule->active == 0) return STEP_KEPT;
    int64_t cycle = schedule->wait + schedule->warmup + schedule->active;
    int64_t since = step - schedule->skip, at = since % cycle;
    if (schedule->repeat > 0 && since / cycle >= schedule->repeat) return STEP_UNSEEN;
    if (at < schedule->wait) return STEP_UNSEEN;
    return at < schedule->wait + schedule->warmup ? STEP_WARMUP : STEP_KEPT;
}

static Status begin_step(Profiler *profiler, int64_t now) {
    bool forgot = profiler->observing && profiler->fate == STEP_WARMUP;
    int64_t every = profiler->every_epochs;
    bool chosen = every == 0 || profiler->epoch % every == 0;
    profiler->fate = chosen ? fate_of(&profiler->schedule, profiler->epoch_step) : STEP_UNSEEN;
    profiler->begin = now;
    profiler->count = profiler->timeline.count;
    profiler->dropped = profiler->timeline.dropped;
    Status status = observe(profiler, profiler->fate != STEP_UNSEEN);
    // The events with live bytes were discarded with the warm-up.
    if (forgot && profiler->fate == STEP_KEPT) call_there(profiler, add_live);
    return status;
}

// Keeps the step's events, or discards them after a warm-up step. Returns the next step's
// beginning: discarding belongs to no step.
static int64_t end_step(Profiler *profiler, int64_t now) {
    if (profiler->fate == STEP_KEPT) profiler->recorded_nanoseconds += now - profiler->begin;
    if (profiler->fate != STEP_WARMUP) return now;
    timeline_rewind(&profiler->timeline, profiler->count);
    profiler->timeline.dropped = profiler->dropped;
    return clock_nanoseconds();
}

// Number of events that the next step may have, by the largest so far.
static int64_t next_step_events(const Profiler *profiler) {
    return profiler->largest_step + profiler->largest_step / 2;
}

// Number of the newest events to keep so that the next step finds room: whole steps, or none.
static int64_t newest_events(const Profiler *profiler) {
    const Timeline *timeline = &profiler->timeline;
    int64_t most = timeline->capacity - next_step_events(profiler), kept = 0;
    for (int64_t newest = 1; newest <= most && newest < timeline->count; newest++)
        if (timeline->events[timeline->count - newest - 1].kind == EVENT_STEP) kept = newest;
    return kept;
}

// Sums the kept steps, and drops all events but the newest `keep`. Without memory for the sums, or
// without a step, nothing changes: later events find the buffer full.
static void make_room(Profiler *profiler, int64_t keep) {
    Timeline *timeline = &profiler->timeline;
    SessionSums sums;
    bool pending = error_pending();
    call_there(profiler, timeline_settle_now);
    Status status = session_sums_after(&profiler->sums, timeline, &sums);
    if (status && !pending) error_clear();
    if (status || sums.steps == 0) {
        memory_free(sums.groups);
        return;
    }
    memory_free(profiler->sums.groups);
    profiler->sums = sums;
    int64_t gone = timeline->count - keep;
    timeline_drop_oldest(timeline, gone);
    profiler->sums.events_summed -= gone;
    profiler->sums.events_gone += gone;
}

// Keeps the step, and makes room for the next one. Of a step whose last events found the buffer
// full nothing is kept: it is summed whole or not at all, and the next one gets the whole buffer.
// The first of a session stays in part, since there is nothing else to show.
static void keep_step(Profiler *profiler, int64_t now) {
    Timeline *timeline = &profiler->timeline;
    int64_t events = timeline->count - profiler->count;
    ProfileEvent event = {.begin = profiler->begin,
                          .end = now,
                          .step = profiler->step,
                          .site = -1,
                          .depth = (uint16_t)timeline->depth,
                          .kind = EVENT_STEP};
    bool first = profiler_events(profiler) == events, whole = timeline->count < timeline->capacity;
    timeline_add(timeline, event);
    if (!whole && first) return;
    if (!whole) {
        timeline_rewind(timeline, profiler->count);
        timeline->dropped += events;
        make_room(profiler, 0);
        return;
    }
    if (events >= profiler->largest_step) profiler->largest_step = events + 1;
    if (timeline->capacity - timeline->count < next_step_events(profiler))
        make_room(profiler, newest_events(profiler));
}

void profiler_step(Profiler *profiler) {
    if (!profiler || !profiler->started) return;
    int64_t now = clock_nanoseconds(), next = end_step(profiler, now);
    if (profiler->fate == STEP_KEPT) {
        keep_step(profiler, now);
        next = clock_nanoseconds(); // the time that keeping it took belongs to no step
    }
    profiler->step++;
    profiler->epoch_step++;
    begin_step(profiler, next);
}

// Ends an epoch. The events since the last step are an evaluation, or nothing, and no step.
void profiler_epoch(Profiler *profiler) {
    if (!profiler || !profiler->started || profiler->every_epochs == 0) return;
    int64_t next = end_step(profiler, clock_nanoseconds());
    profiler->epoch++;
    profiler->epoch_step = 0;
    begin_step(profiler, next);
}

Status profiler_start(Profiler *profiler) {
    if (!profiler) return error_set(STATUS_INVALID_ARGUMENT, "profiler_start: no profiler");
    if (profiler->started)
        return error_set(STATUS_STATE,
                         "profiler_start: it is started already. HINT: profiler_stop it first");
    Context *context = context_current();
    if (profiler_events(profiler) > 0 && profiler->reader.context != context)
        return error_set(STATUS_STATE,
                         "profiler_start: it holds what ran in another context, whose layers have "
                         "other numbers. HINT: a session for each context");
    site_reader_add(&profiler->reader);
    Status status = begin_step(profiler, clock_nanoseconds());
    profiler->started = !status;
    return status;
}

Status profiler_stop(Profiler *profiler) {
    if (!profiler) return error_set(STATUS_INVALID_ARGUMENT, "profiler_stop: no profiler");
    if (!profiler->started)
        return error_set(STATUS_STATE,
                         "profiler_stop: it is not started. HINT: profiler_start comes first");
    if (profiler->reader.context && profiler->reader.context != context_current())
        return error_set(STATUS_STATE,
                         "profiler_stop: it observes another context. HINT: stop it where it was "
                         "started");
    end_step(profiler, clock_nanoseconds());
    profiler->started = false;
    return observe(profiler, false);
}

const Timeline *profiler_timeline(const Profiler *profiler) {
    return GIVEN(profiler) ? &profiler->timeline : NULL;
}

Status profiler_write_trace(const Profiler *profiler, const char *path) {
    if (!profiler) return error_set(STATUS_INVALID_ARGUMENT, "profiler_write_trace: no profiler");
    if (profiler_events(profiler) > 0 && profiler->reader.context != context_current())
        return error_set(STATUS_STATE,
                         "profiler_write_trace: what it names is in another context. HINT: write "
                         "it where it was started");
    return trace_write(&profiler->timeline, (TraceOptions){.process = "session"}, path);
}

// ---- figures and hooks -----------------------------------------------------------------------
void profiler_counter(const char *name, double value) {
    for (Observer *o = context_current()->observers; o; o = o->next)
        if (o->counter) o->counter(o, name, value);
}

static void call_begin(Observer *observer, const OpCall *call) {
    ProfilerHook *hook = (ProfilerHook *)observer;
    hook->begin(hook->argument, call);
}

static void call_end(Observer *observer, const OpCall *call) {
    ProfilerHook *hook = (ProfilerHook *)observer;
    hook->end(hook->argument, call);
}

void profiler_hook_add(ProfilerHook *hook) {
    if (!hook) return;
    hook->observer = (Observer){.op_begin = hook->begin ? call_begin : NULL,
                                .op_end = hook->end ? call_end : NULL};
    observer_add(&hook->observer);
}

void profiler_hook_remove(ProfilerHook *hook) {
    if (hook) observer_remove(&hook->observer);
}
