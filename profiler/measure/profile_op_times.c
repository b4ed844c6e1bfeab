// profile_op_times.c -- sums the events of observed steps by op, layer and phase, in the device's
// own time if it has one; and launch times. Not here: the turns (profile_time.c).
#include <math.h>

#include "profiler/measure/profile_parts.h"

static void add_seconds(ProfilePhase *phase, double seconds) {
    Latency *latency = &phase->latency;
    if (latency->samples) latency->samples[latency->count - 1] += seconds;
}

static Status check_ops(const Measurement *m) {
    const Profile *profile = m->profile;
    const Timeline *timeline = &m->timeline;
    if (timeline->dropped > 0 || timeline->count != profile->steps_per_sample * profile->n_ops)
        return error_set(STATUS_STATE, "profile: this step ran ops that the counted one did not. "
                                       "HINT: a model must do the same work at every step");
    for (int64_t i = 0; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        const OpRecord *record = &profile->ops[i % profile->n_ops].record;
        if (event->op != record->op || event->phase != record->phase)
            return error_set(STATUS_STATE,
                             "profile: op %lld was %s, now it is %s. HINT: a "
                             "model must do the same work at every step",
                             (long long)(i % profile->n_ops), record->op->name, event->op->name);
    }
    return STATUS_OK;
}

// Seconds of an event, without the clock's or stamps' time; 0 if the device did not run it.
static double seconds_of(const Measurement *m, int64_t index) {
    const Timeline *timeline = &m->timeline;
    if (!timeline->device_times) {
        int64_t self = event_self_nanoseconds(&timeline->events[index]);
        return fmax(0.0, 1e-9 * (double)self - m->clock);
    }
    const EventTimes *times = timeline_device_times(timeline, index);
    return times ? fmax(0.0, 1e-9 * (double)(times->end - times->begin) - m->stamp) : 0.0;
}

static void add_op(Profile *profile, ProfileOp *op, double seconds) {
    latency_push(&op->latency, seconds);
    ProfilePhase *phases = profile->layers[op->layer].phase;
    ReportPhase phase = profile_report_phase(op->record.phase);
    add_seconds(&phases[phase], seconds);
    if (!report_part_of_backward(phase)) return;
    add_seconds(&phases[REPORT_BACKWARD], seconds);
    add_seconds(&profile->totals[phase], seconds);
}

Status profile_take_events(Measurement *m) {
    Profile *profile = m->profile;
    int64_t steps = profile->steps_per_sample;
    Status status = check_ops(m);
    if (status) return status;
    for (int i = 0; i < profile->n_layers; i++)
        for (int p = 0; p < REPORT_STEP; p++)
            latency_push(&profile->layers[i].phase[p].latency, 0.0);
    for (int p = REPORT_BACKWARD + 1; p < REPORT_OPTIMIZER; p++)
        latency_push(&profile->totals[p].latency, 0.0);
    for (int64_t i = 0; i < profile->n_ops; i++) {
        double seconds = 0.0;
        for (int64_t k = 0; k < steps; k++) {
            const ProfileEvent *event = &m->timeline.events[k * profile->n_ops + i];
            seconds += seconds_of(m, k * profile->n_ops + i);
            profile->ops[i].woken += event->woken;
        }
        add_op(profile, &profile->ops[i], seconds / (double)steps);
    }
    return STATUS_OK;
}

Status profile_take_launches(Measurement *m) {
    Status status = check_ops(m);
    if (status) return status;
    double seconds = 0.0;
    int64_t launches = 0;
    for (int64_t i = 0; i < m->timeline.count; i++) {
        if (!timeline_device_times(&m->timeline, i)) continue;
        int64_t self = event_self_nanoseconds(&m->timeline.events[i]);
        seconds += fmax(0.0, 1e-9 * (double)self - m->clock);
        launches++;
    }
    m->profile->launches = launches / m->profile->steps_per_sample;
    if (launches > 0) latency_push(&m->profile->launch, seconds / (double)launches);
    return STATUS_OK;
}
