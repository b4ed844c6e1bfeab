// virtual_clock.c -- a clock_gettime that replaces the C library's.
#include "tests/helpers/virtual_clock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tensor/clock.h"

static VirtualClock used;  // if .now is NULL: the system's
static int64_t ahead;      // lead over the system's, ns
static atomic_llong shown; // time of the halted clock, ns

int clock_gettime(clockid_t id, struct timespec *t) {
    int failed = (int)syscall(SYS_clock_gettime, id, t);
    if (failed || id != CLOCK_MONOTONIC) return failed;
    int64_t now = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + ahead;
    if (used.now) {
        used.pass(used.reading);
        now = used.now();
    }
    *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

void virtual_clock_use(VirtualClock clock) { used = clock; }

static int64_t shown_now(void) { return shown; }
static void shown_pass(int64_t nanoseconds) { atomic_fetch_add(&shown, nanoseconds); }

void virtual_clock_begin(void) {
    shown = clock_nanoseconds();
    used = (VirtualClock){shown_now, shown_pass, 50};
}

void virtual_clock_pass(double seconds) { shown_pass((int64_t)(1e9 * seconds)); }

void virtual_clock_end(void) {
    used = (VirtualClock){0};
    int64_t behind = shown - clock_nanoseconds();
    if (behind > 0) ahead += behind;
}
