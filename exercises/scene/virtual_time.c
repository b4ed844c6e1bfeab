// virtual_time.c -- one counter of picoseconds behind all clocks of the system; schedules of work;
// and the text form of both.
#include "exercises/scene/virtual_time.h"

#include "exercises/support/input.h"

enum { NANOSECONDS_PER_SECOND = 1000000000, COARSE_STEP_NS = 4000000, FEW_IN_A_ROW = 8 };

VirtualTime virtual_time_start(VirtualClock clock) {
    if (clock.resolution_ns < 1) clock.resolution_ns = 1;
    return (VirtualTime){.clock = clock};
}

// Adds times. A hostile file may ask for any number, so time ends at half of the largest integer.
static int64_t later(int64_t time, int64_t by) {
    const int64_t end = INT64_MAX / 2;
    return by > end - time ? end : time + by;
}

void virtual_time_work(VirtualTime *time, int64_t picoseconds) {
    time->idle = 0;
    if (picoseconds <= 0) return;
    time->now = later(time->now, picoseconds);
    time->busy = later(time->busy, picoseconds);
}

void virtual_time_wait(VirtualTime *time, int64_t picoseconds) {
    time->idle = 0;
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
    int64_t others_ns = time->clock.others_ns, own_ns = time->clock.resolution_ns;
    *step_ns = id == CLOCK_MONOTONIC || others_ns < 1 ? own_ns : others_ns;
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
        int64_t since = passed - clock->set_after_ns, every = clock->set_every_ns;
        if (since >= 0) ns += clock->set_by_ns * (1 + (every > 0 ? since / every : 0));
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
    int64_t idle = time->idle + 1;
    virtual_time_work(time, time->clock.reading_ps);
    if (idle > FEW_IN_A_ROW) // a program polls for a step: time speeds up until the step
        virtual_time_work(time, INT64_C(1000) << (idle < 40 ? idle : 40));
    time->idle = idle;
    *now = timespec_of(read_ns(time, source, step));
    return true;
}

bool virtual_time_step(const VirtualTime *time, clockid_t id, struct timespec *step) {
    int64_t ns;
    if (source_of(time, id, &ns) == SOURCE_NONE) return false;
    *step = timespec_of(ns);
    return true;
}

// ---- work ---------------------------------------------------------------------------------------
// Mixes seed and number well (the finalizer of splitmix64).
static uint64_t mix(uint64_t seed, uint64_t number) {
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t virtual_work_ps(const VirtualWork *work, int64_t run) {
    int64_t ps = work->base_ps;
    if (work->jitter_ps > 0)
        ps += (int64_t)(mix((uint64_t)work->seed, (uint64_t)run) % ((uint64_t)work->jitter_ps + 1));
    if (run < 31) ps += work->cold_ps >> 2 * run;
    if (work->outlier_every > 0 && (run + 1) % work->outlier_every == 0) ps += work->outlier_ps;
    return ps;
}

static bool is_even(const VirtualWork *work) {
    return work->jitter_ps <= 0 && work->outlier_every <= 0 && work->cold_ps == 0;
}

static void pass(int64_t ps, int64_t asleep_percent, VirtualTime *time) {
    int64_t asleep = ps / 100 * asleep_percent;
    virtual_time_wait(time, asleep);
    virtual_time_work(time, ps - asleep);
}

// A million runs of equal time are added at once.
void virtual_work_run(VirtualWork *work, int64_t times, VirtualTime *time) {
    int64_t all;
    if (is_even(work) && !__builtin_mul_overflow(work->base_ps, times, &all)) {
        pass(all, work->asleep_percent, time);
        work->runs += times;
        return;
    }
    for (int64_t i = 0; i < times; i++)
        pass(virtual_work_ps(work, work->runs++), work->asleep_percent, time);
}

// ---- input lines -------------------------------------------------------------------------------
static const InputField work_fields[] = {
    {"base", offsetof(VirtualWork, base_ps)},
    {"jitter", offsetof(VirtualWork, jitter_ps)},
    {"cold", offsetof(VirtualWork, cold_ps)},
    {"outlier_every", offsetof(VirtualWork, outlier_every)},
    {"outlier", offsetof(VirtualWork, outlier_ps)},
    {"asleep", offsetof(VirtualWork, asleep_percent)},
    {"seed", offsetof(VirtualWork, seed)},
};

static const InputField clock_fields[] = {
    {"resolution", offsetof(VirtualClock, resolution_ns)},
    {"others", offsetof(VirtualClock, others_ns)},
    {"reading", offsetof(VirtualClock, reading_ps)},
    {"monotonic", offsetof(VirtualClock, monotonic_ns)},
    {"realtime", offsetof(VirtualClock, realtime_ns)},
    {"set_after", offsetof(VirtualClock, set_after_ns)},
    {"set_by", offsetof(VirtualClock, set_by_ns)},
    {"set_every", offsetof(VirtualClock, set_every_ns)},
};

enum { WORK_FIELDS = sizeof work_fields / sizeof work_fields[0] };
enum { CLOCK_FIELDS = sizeof clock_fields / sizeof clock_fields[0] };

void virtual_work_write(const VirtualWork *work, char *text, size_t size) {
    input_write(work_fields, WORK_FIELDS, work, text, size);
}

void virtual_clock_write(const VirtualClock *clock, char *text, size_t size) {
    input_write(clock_fields, CLOCK_FIELDS, clock, text, size);
}

VirtualWork virtual_work_read(const char *input) {
    VirtualWork work = {0};
    input_read(work_fields, WORK_FIELDS, input, &work);
    return work;
}

VirtualClock virtual_clock_read(const char *input) {
    VirtualClock clock = {0};
    input_read(clock_fields, CLOCK_FIELDS, input, &clock);
    return clock;
}
