// virtual_clock.c -- one counter of picoseconds per thread, shown as every clock of the system.
#include "exercises/support/virtual_clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

enum { NANOSECONDS_PER_SECOND = 1000000000, COARSE_STEP_NS = 4000000 };

static _Thread_local struct {
    VirtualClock clock;
    int64_t now, busy; // picoseconds; busy: of them, those of this process on a processor
    int64_t readings;
} state = {.clock = {.resolution_ns = 1}};

void virtual_clock_start(VirtualClock clock) {
    if (clock.resolution_ns < 1) clock.resolution_ns = 1;
    state.clock = clock;
    state.now = state.busy = state.readings = 0;
}

void virtual_clock_work(int64_t picoseconds) {
    if (picoseconds <= 0) return;
    state.now += picoseconds;
    state.busy += picoseconds;
}

void virtual_clock_wait(int64_t picoseconds) {
    if (picoseconds > 0) state.now += picoseconds;
}

int64_t virtual_clock_now(void) { return state.now; }
int64_t virtual_clock_readings(void) { return state.readings; }

static void take_reading(void) {
    state.readings++;
    virtual_clock_work(state.clock.reading_ps);
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

static Source source_of(clockid_t id, int64_t *step_ns) {
    *step_ns = state.clock.resolution_ns;
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        if (clocks[i].id != id) continue;
        if (clocks[i].coarse && *step_ns < COARSE_STEP_NS) *step_ns = COARSE_STEP_NS;
        return clocks[i].source;
    }
    return SOURCE_NONE;
}

static int64_t read_ns(Source source, int64_t step_ns) {
    const VirtualClock *clock = &state.clock;
    int64_t passed = state.now / PICOSECONDS_PER_NANOSECOND;
    int64_t ns = state.busy / PICOSECONDS_PER_NANOSECOND;
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

int lab_clock_gettime(clockid_t id, struct timespec *now) {
    int64_t step;
    Source source = source_of(id, &step);
    if (source == SOURCE_NONE) {
        errno = EINVAL;
        return -1;
    }
    take_reading();
    *now = timespec_of(read_ns(source, step));
    return 0;
}

int lab_clock_getres(clockid_t id, struct timespec *step) {
    int64_t ns;
    if (source_of(id, &ns) == SOURCE_NONE) {
        errno = EINVAL;
        return -1;
    }
    if (step) *step = timespec_of(ns);
    return 0;
}

int lab_timespec_get(struct timespec *now, int base) {
    return base == TIME_UTC && lab_clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

time_t lab_time(time_t *now) {
    struct timespec t;
    lab_clock_gettime(CLOCK_REALTIME, &t);
    if (now) *now = t.tv_sec;
    return t.tv_sec;
}

int lab_gettimeofday(struct timeval *now, void *zone) {
    (void)zone;
    struct timespec t;
    lab_clock_gettime(CLOCK_REALTIME, &t);
    *now = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
    return 0;
}

clock_t lab_clock(void) {
    take_reading();
    return (clock_t)(read_ns(SOURCE_PROCESSOR, state.clock.resolution_ns) /
                     (NANOSECONDS_PER_SECOND / CLOCKS_PER_SEC));
}

int lab_nanosleep(const struct timespec *wanted, struct timespec *left) {
    if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= NANOSECONDS_PER_SECOND) {
        errno = EINVAL;
        return -1;
    }
    if (left) *left = (struct timespec){0};
    int64_t ns = (int64_t)wanted->tv_sec * NANOSECONDS_PER_SECOND + wanted->tv_nsec;
    virtual_clock_wait(ns * PICOSECONDS_PER_NANOSECOND);
    return 0;
}
