// test_system.c -- the system's processor times, checked against bounds that hold on every machine,
// however busy: but for a few windows, none has more than all threads could use.
#include <pthread.h>
#include <stdatomic.h>

#include "profiler/base/system.h"
#include "tensor/clock.h"
#include "tests/helpers/harness.h"

static void *spin(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) continue;
    return NULL;
}

// Windows shorter than a tick, while the other thread runs without a pause. If this thread loses
// its processor in the middle of a reading, that reading misses what the other one does until then,
// and one window has it in excess. Readings that are a tick late give every tick's window an
// excess.
enum { WINDOWS = 1000, MOST_CAUGHT = 3 };

START_TEST(no_window_has_more_than_its_threads) {
    pthread_t thread;
    atomic_bool stop = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, spin, &stop), 0);
    double own = system_thread_seconds(), all = system_processor_seconds();
    int over = 0;
    for (int i = 0; i < WINDOWS; i++) {
        double from = clock_seconds(), before = system_processor_seconds();
        while (clock_seconds() - from < 3e-4) continue;
        double passed = system_processor_seconds() - before, around = clock_seconds() - from;
        over += passed > 2.001 * around;
    }
    own = system_thread_seconds() - own;
    all = system_processor_seconds() - all;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    ck_assert_msg(over <= MOST_CAUGHT, "%d windows have more than 2 threads can use", over);
    ck_assert_msg(all >= own, "%g s of all, %g s of one of them", all, own);
}
END_TEST

static void *work(void *seconds) {
    double from = system_thread_seconds();
    while (system_thread_seconds() - from < *(double *)seconds) continue;
    return NULL;
}

START_TEST(a_thread_that_ended_has_had_its_share) {
    pthread_t thread;
    double seconds = 0.02, before = system_processor_seconds();
    ck_assert_int_eq(pthread_create(&thread, NULL, work, &seconds), 0);
    pthread_join(thread, NULL);
    ck_assert(system_processor_seconds() - before >= 0.999 * seconds);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {no_window_has_more_than_its_threads, 0},
        {a_thread_that_ended_has_had_its_share, 0},
        {NULL, 0},
    };
    return harness_main("system", tests);
}
