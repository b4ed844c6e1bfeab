// virtual_clock.c -- clock_gettime in front of the C library's.
#include "tests/helpers/virtual_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000, READING = 50; // ns

static atomic_bool stands;
static _Atomic int64_t at,
    ahead; // ns: what it shows while it stands; what it is ahead of the system's

static int64_t of_system(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    if (id != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, id, t);
    int64_t now = stands ? atomic_fetch_add(&at, READING) : of_system() + ahead;
    *t = (struct timespec){.tv_sec = now / SECOND, .tv_nsec = now % SECOND};
    return 0;
}

void virtual_clock_begin(void) {
    at = of_system() + ahead;
    stands = true;
}

void virtual_clock_pass(double seconds) { at += (int64_t)(1e9 * seconds); }

void virtual_clock_end(void) {
    int64_t behind = at - of_system();
    if (behind > ahead) ahead = behind;
    stands = false;
}
