// timeline_traffic.c -- records the operands touched by a timeline's ops, and finds their levels
// later. Not here: the method (traffic.c).
#include "profiler/record/timeline_parts.h"

#include <string.h>

#include "tensor/given.h"
#include "tensor/memory.h"

TouchLog *touch_log_new(const Machine *machine, int64_t events) {
    enum { TOUCHES_PER_EVENT = 4, FEWEST_TOUCHES = 4096 };
    TouchLog *log = memory_new(sizeof(TouchLog));
    if (!log) return NULL;
    log->capacity = TOUCHES_PER_EVENT * events + FEWEST_TOUCHES;
    log->reuse = reuse_new(machine);
    log->ops = log->reuse ? timeline_room(events, sizeof(OpTouched)) : NULL;
    log->touches = log->ops ? timeline_room(log->capacity, sizeof(Touch)) : NULL;
    log->traffic = log->touches ? memory_new((size_t)events * sizeof(OpTraffic)) : NULL;
    if (log->traffic) return log;
    touch_log_free(log);
    return NULL;
}

void touch_log_free(TouchLog *log) {
    if (!log) return;
    reuse_free(log->reuse);
    memory_free(log->traffic);
    memory_free(log->ops);
    memory_free(log->touches);
    memory_free(log);
}

// Finds the traffic of events before `end`.
static void find_traffic(const Timeline *timeline, int64_t end) {
    TouchLog *log = timeline->touched;
    const Touch *touches = log->touches;
    for (; log->found < end; log->found++) {
        const OpCost *cost = &timeline->costs[log->found];
        const OpTouched *op = &log->ops[log->found];
        OpTraffic *traffic = &log->traffic[log->found];
        *traffic = (OpTraffic){0};
        if (timeline->events[log->found].kind != EVENT_OP) continue;
        if (cost->bytes_read + cost->bytes_written > 0)
            traffic_find(log->reuse, op, touches, cost, traffic);
        touches += op->n_touches;
    }
    log->n_touches = 0;
}

const OpTraffic *timeline_traffic(const Timeline *timeline) {
    if (!GIVEN(timeline)) return NULL;
    if (!timeline->touched) return NULL;
    find_traffic(timeline, timeline->count);
    return timeline->touched->traffic;
}

void timeline_rewind(Timeline *timeline, int64_t count) {
    if (!GIVEN(timeline)) return;
    timeline_traffic(timeline); // while its events still exist
    if (timeline->touched) timeline->touched->found = count;
    timeline->count = count;
}

void touch_log_drop_oldest(Timeline *timeline, int64_t count) {
    TouchLog *log = timeline->touched;
    if (!log) return;
    find_traffic(timeline, timeline->count);
    memmove(log->traffic, log->traffic + count,
            (size_t)(timeline->count - count) * sizeof(OpTraffic));
    log->found -= count;
}

// Once the log is full, finds the traffic of the ops in it first. An op with more operands than the
// log can hold counts as a kernel without operands.
void touch_log_add(Timeline *timeline, int64_t index, const OpCall *call) {
    TouchLog *log = timeline->touched;
    OpTouched *op = &log->ops[index];
    *op = (OpTouched){0};
    if (!call) return;
    int64_t most = call->n_in + call->n_out;
    if (log->n_touches + most > log->capacity) find_traffic(timeline, index);
    if (most > log->capacity) return;
    *op = traffic_touched(call, &timeline->costs[index], log->touches + log->n_touches);
    log->n_touches += op->n_touches;
}
