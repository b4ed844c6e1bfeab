// virtual_clock.c -- one counter of picoseconds, shown as every clock of the system.
#include "exercises/scene/virtual_clock.h"

#include <stddef.h>

enum { NANOSECONDS_PER_SECOND = 1000000000, COARSE_STEP_NS = 4000000 };

VirtualTime virtual_time_start(VirtualClock clock) {
    if (clock.resolution_ns < 1) clock.resolution_ns = 1;
    return (VirtualTime){.clock = clock};
}

// What a hostile file asks for may be any number: time ends at half of what an integer holds.
static int64_t later(int64_t time, int64_t by) {
    const int64_t end = INT64_MAX / 2;
    return by > end - time ? end : time + by;
}

void virtual_time_work(VirtualTime *time, int64_t picoseconds) {
    if (picoseconds <= 0) return;
    time->now = later(time->now, picoseconds);
    time->busy = later(time->busy, picoseconds);
}

void virtual_time_wait(VirtualTime *time, int64_t picoseconds) {
    if (picoseconds > 0) time->now = later(time->now, picoseconds);
}

typedef enum Source { SOURCE_NONE, SOURCE_MONOTONIC, SOURCE_WALL, SOURCE_PROCESSOR } Source;

static const struct {
    clockid_t id;
    Source source;
    bool coarse;
} clocks[] = {
    {CLOCK_MONOTONIC, SOURCE_MONOTONIC, false},
    {CLOCK_MONOTONIC_RAW, SOURCE_MONOTONIC, false},
    {CLOCK_BOOTTIME, SOURCE_MONOTONIC, false},
    {CLOCK_MONOTONIC_COARSE, SOURCE_MONOTONIC, true},
    {CLOCK_REALTIME, SOURCE_WALL, false},
    {CLOCK_REALTIME_COARSE, SOURCE_WALL, true},
    {CLOCK_PROCESS_CPUTIME_ID, SOURCE_PROCESSOR, false},
    {CLOCK_THREAD_CPUTIME_ID, SOURCE_PROCESSOR, false},
};

static Source source_of(const VirtualTime *time, clockid_t id, int64_t *step_ns) {
    *step_ns = time->clock.resolution_ns;
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        if (clocks[i].id != id) continue;
        if (clocks[i].coarse && *step_ns < COARSE_STEP_NS) *step_ns = COARSE_STEP_NS;
        return clocks[i].source;
    }
    return SOURCE_NONE;
}

static int64_t read_ns(const VirtualTime *time, Source source, int64_t step_ns) {
    const VirtualClock *clock = &time->clock;
    int64_t passed = time->now / PICOSECONDS_PER_NANOSECOND;
    int64_t ns = time->busy / PICOSECONDS_PER_NANOSECOND;
    if (source == SOURCE_MONOTONIC) ns = clock->monotonic_ns + passed;
    if (source == SOURCE_WALL) {
        ns = clock->realtime_ns + passed;
        if (passed >= clock->set_after_ns) ns += clock->set_by_ns;
    }
    return ns - ns % step_ns;
}

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / NANOSECONDS_PER_SECOND),
                             .tv_nsec = (long)(ns % NANOSECONDS_PER_SECOND)};
}

bool virtual_time_read(VirtualTime *time, clockid_t id, struct timespec *now) {
    int64_t step;
    Source source = source_of(time, id, &step);
    if (source == SOURCE_NONE) return false;
    time->readings++;
    virtual_time_work(time, time->clock.reading_ps);
    *now = timespec_of(read_ns(time, source, step));
    return true;
}

bool virtual_time_step(const VirtualTime *time, clockid_t id, struct timespec *step) {
    int64_t ns;
    if (source_of(time, id, &ns) == SOURCE_NONE) return false;
    *step = timespec_of(ns);
    return true;
}
