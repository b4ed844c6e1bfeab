// virtual_work.c -- schedules of work, and how they and the clock are written in a line.
#include "exercises/scene/virtual_work.h"

// A well-mixed function of seed and number (the finalizer of splitmix64).
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

// A million runs that all take the same are one.
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
    {"reading", offsetof(VirtualClock, reading_ps)},
    {"monotonic", offsetof(VirtualClock, monotonic_ns)},
    {"realtime", offsetof(VirtualClock, realtime_ns)},
    {"set_after", offsetof(VirtualClock, set_after_ns)},
    {"set_by", offsetof(VirtualClock, set_by_ns)},
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
