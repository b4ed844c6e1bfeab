// test_pool.c -- the thread pool: every item once, the same split every time, through sleep, fork
// and threads that cannot be started.
#define _GNU_SOURCE 1 // sched_setaffinity, pthread_setattr_default_np

#include "tensor/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tensor/memory.h"
#include "tensor/status.h"
#include "tests/helpers/harness.h"

#if defined(__has_feature) // clang's way to say it; gcc has a macro
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { THREAD_SANITIZER = 1 };
#else
enum { THREAD_SANITIZER = 0 };
#endif

enum { MAX_ITEMS = 2000 };

typedef struct Record {
    int done[MAX_ITEMS];         // times each item was done
    int64_t begin_of[MAX_ITEMS]; // start of the range it was in
    atomic_int ranges;
    int64_t n, grain;
    atomic_bool misaligned;
} Record;

static void record(void *argument, int64_t begin, int64_t end) {
    Record *r = argument;
    atomic_fetch_add(&r->ranges, 1);
    if (begin % r->grain != 0 || (end % r->grain != 0 && end != r->n) || begin >= end)
        atomic_store(&r->misaligned, true);
    for (int64_t i = begin; i < end; i++) {
        r->done[i]++;
        r->begin_of[i] = begin;
    }
}

static Record *run_record(Pool *pool, int64_t n, int64_t grain) {
    Record *r = calloc(1, sizeof *r);
    ck_assert_ptr_nonnull(r);
    r->n = n;
    r->grain = grain;
    pool_run(pool, n, grain, record, r);
    return r;
}

START_TEST(every_item_is_done_once_whatever_the_split) {
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 100, 1999};
    static const int64_t grains[] = {1, 2, 3, 16, 200, 5000};
    int threads = _i + 1;
    Pool *pool = pool_new(threads);
    ck_assert_int_eq(pool_threads(pool), threads);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
            Record *r = run_record(pool, sizes[s], grains[g]), *again;
            again = run_record(pool, sizes[s], grains[g]);
            ck_assert(!r->misaligned);
            ck_assert_int_le(r->ranges, threads);
            ck_assert_int_eq(r->ranges == 0, sizes[s] == 0);
            for (int64_t i = 0; i < sizes[s]; i++) {
                ck_assert_int_eq(r->done[i], 1);
                ck_assert_int_eq(r->begin_of[i], again->begin_of[i]);
            }
            free(r);
            free(again);
        }
    }
    pool_free(pool);
}
END_TEST

START_TEST(equal_work_goes_to_all_threads) {
    Pool *pool = pool_new(4);
    Record *r = run_record(pool, 64, 16);
    ck_assert_int_eq(r->ranges, 4);
    free(r);
    r = run_record(pool, 64, 64);
    ck_assert_int_eq(r->ranges, 1);
    free(r);
    pool_free(pool);
}
END_TEST

static void note_thread(void *argument, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    *(pthread_t *)argument = pthread_self();
}

START_TEST(one_range_runs_on_the_callers_thread) {
    pthread_t runner;
    pool_run(NULL, 100, 1, note_thread, &runner);
    ck_assert(pthread_equal(runner, pthread_self()));
    Pool *pool = pool_new(3);
    pool_run(pool, 100, 100, note_thread, &runner);
    ck_assert(pthread_equal(runner, pthread_self()));
    pool_free(pool);
    pool_free(NULL);
    ck_assert_int_eq(pool_threads(NULL), 1);
}
END_TEST

static void add_range(void *argument, int64_t begin, int64_t end) {
    atomic_fetch_add((atomic_llong *)argument, end - begin);
}

START_TEST(many_small_jobs_lose_nothing) {
    Pool *pool = pool_new(2 + 3 * _i); // 2, 5 and 8 threads, perhaps more than cores
    atomic_llong total = 0;
    for (int i = 0; i < 3000; i++) pool_run(pool, 1 + i % 17, 1, add_range, &total);
    long long want = 0;
    for (int i = 0; i < 3000; i++) want += 1 + i % 17;
    ck_assert_int_eq(total, want);
    pool_free(pool);
}
END_TEST

static void nap(int milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

enum { MOST_NAPS = 60000 }; // at least a minute, more on a busy machine

typedef struct Meeting {
    atomic_int begun, ended;
    atomic_bool missed; // range 0 waited in vain
} Meeting;

// Range 0 ends only when range 1 has begun, so another thread must have begun it; range 1 takes
// longer than range 0, so the caller has to wait for it.
static void meet(void *argument, int64_t begin, int64_t end) {
    Meeting *meeting = argument;
    (void)end;
    atomic_fetch_add(&meeting->begun, 1);
    int naps = 0;
    while (begin == 0 && atomic_load(&meeting->begun) < 2 && naps < MOST_NAPS) naps++, nap(1);
    if (naps == MOST_NAPS) atomic_store(&meeting->missed, true);
    if (begin != 0) nap(5);
    atomic_fetch_add(&meeting->ended, 1);
}

// True if both ranges were done, at the same time, before pool_run returned.
static bool two_threads_meet(Pool *pool) {
    Meeting meeting = {0};
    pool_run(pool, 2, 1, meet, &meeting);
    return atomic_load(&meeting.ended) == 2 && !atomic_load(&meeting.missed);
}

START_TEST(workers_wake_up_and_are_waited_for) {
    Pool *pool = pool_new(2);
    for (int i = 0; i < 10; i++) {
        ck_assert(two_threads_meet(pool));
        nap(i % 3); // from still spinning to fast asleep
    }
    pool_free(pool);
}
END_TEST

START_TEST(idle_workers_use_no_processor_time) {
    Pool *pool = pool_new(4);
    atomic_llong total = 0;
    pool_run(pool, 100, 1, add_range, &total);
    nap(20);
    clock_t before = clock();
    nap(300);
    ck_assert_double_le((double)(clock() - before) / CLOCKS_PER_SEC, 0.05);
    pool_free(pool);
}
END_TEST

static int use_and_free(Pool *pool) {
    bool met = two_threads_meet(pool);
    pool_free(pool);
    return met ? 0 : 1;
}

START_TEST(a_forked_child_starts_its_own_threads) {
    if (THREAD_SANITIZER) test_skip("the thread sanitizer allows no threads after fork()");
    Pool *pool = pool_new(2);
    atomic_llong total = 0;
    pool_run(pool, 2, 1, add_range, &total);
    if (_i == 1) nap(5); // forks while the worker sleeps, and while it spins
    pid_t child = fork();
    if (child == 0) _exit(use_and_free(pool));
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(use_and_free(pool), 0); // the parent's pool still works
}
END_TEST

START_TEST(a_forked_child_may_free_a_pool_it_never_used) {
    Pool *pool = pool_new(3);
    atomic_llong total = 0;
    pool_run(pool, 3, 1, add_range, &total);
    pid_t child = fork();
    if (child == 0) {
        pool_free(pool);
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pool_free(pool);
}
END_TEST

START_TEST(without_threads_the_caller_does_all) {
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 52), 0); // impossible
    if (pthread_setattr_default_np(&huge) != 0) test_skip("the default stack size is fixed");
    Pool *pool = pool_new(4);
    Record *r = run_record(pool, 1000, 1);
    ck_assert_int_eq(r->ranges, 4); // the same split, done by fewer threads
    for (int i = 0; i < 1000; i++) ck_assert_int_eq(r->done[i], 1);
    free(r);
    pool_free(pool);
}
END_TEST

START_TEST(no_memory_is_an_ordinary_error) {
    memory_fail_at(1);
    ck_assert_ptr_null(pool_new(4));
    ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
    error_clear();
}
END_TEST

START_TEST(the_default_follows_the_affinity_mask) {
    int threads = pool_default_threads();
    ck_assert(threads >= 1 && threads <= 64);
    cpu_set_t set, one;
    if (sched_getaffinity(0, sizeof set, &set) != 0) test_skip("no affinity mask here");
    ck_assert_int_le(threads, CPU_COUNT(&set));
    int first = 0;
    while (!CPU_ISSET(first, &set)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(pool_default_threads(), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {every_item_is_done_once_whatever_the_split, 8},
        {equal_work_goes_to_all_threads, 0},
        {one_range_runs_on_the_callers_thread, 0},
        {many_small_jobs_lose_nothing, 3},
        {workers_wake_up_and_are_waited_for, 0},
        {idle_workers_use_no_processor_time, 0},
        {a_forked_child_starts_its_own_threads, 2},
        {a_forked_child_may_free_a_pool_it_never_used, 0},
        {without_threads_the_caller_does_all, 0},
        {no_memory_is_an_ordinary_error, 0},
        {the_default_follows_the_affinity_mask, 0},
        {NULL, 0},
    };
    return harness_main("pool", tests);
}
