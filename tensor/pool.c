// pool.c -- the thread pool: one letter box per worker; workers spin a while, then sleep.
// Not here: the choice of ops to split (cpu.c), and BLAS.
#define _GNU_SOURCE 1 // sched_getaffinity

#include "tensor/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tensor/clock.h"
#include "tensor/memory.h"

enum {
    SPIN_NANOSECONDS = 50000, // about the cost of waking a sleeper: waiting longer cannot pay
    SPINS_PER_LOOK = 32,      // pauses between two looks at the clock
    LONG_WAIT_SPINS = 4096,   // then a worker may be waiting for the core that we spin on
    MAX_THREADS = 64,
};

// A letter box goes EMPTY -> POSTED (caller) -> RUNNING (worker) -> EMPTY (worker). The caller may
// take back a letter that the worker has not begun: POSTED -> EMPTY. Because each range has exactly
// one taker, and the caller waits for every RUNNING one, nobody reads a job during its replacement.
enum { BOX_EMPTY, BOX_POSTED, BOX_RUNNING, BOX_ASLEEP, BOX_STOP };

typedef struct Worker {
    atomic_int box;
    int range; // index of its range in every job
    Pool *pool;
    pthread_t thread;
    pthread_mutex_t mutex; // held only to fall asleep and to wake up
    pthread_cond_t wake;
    char apart[64]; // keeps the next worker's box on another cache line
} Worker;

struct Pool {
    int threads; // as requested, the caller's included
    int started; // running workers; -1: not started yet in this process
    unsigned fork_count;
    bool crowded; // more threads than cores: spinning must yield
    PoolTask task;
    void *argument;
    int64_t n, items_per_range;
    PoolCounts counts;
    Worker workers[]; // threads - 1
};

// Threads do not survive fork(). The child detects a fork by this count.
static atomic_uint fork_count;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

static inline void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void do_range(const Pool *pool, int range) {
    int64_t begin = range * pool->items_per_range;
    int64_t end = pool->n - begin < pool->items_per_range ? pool->n : begin + pool->items_per_range;
    pool->task(pool->argument, begin, end);
}

// Checks the box for a while. False: still empty, time to sleep.
static bool spin_for_letter(Worker *worker) {
    int64_t start = clock_nanoseconds();
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (atomic_load_explicit(&worker->box, memory_order_relaxed) != BOX_EMPTY) return true;
            pause_core();
        }
        if (worker->pool->crowded) sched_yield();
    } while (clock_nanoseconds() - start < SPIN_NANOSECONDS);
    return false;
}

static void sleep_until_letter(Worker *worker) {
    int empty = BOX_EMPTY;
    pthread_mutex_lock(&worker->mutex);
    // Fails if a letter came in at the last moment; then the worker does not sleep.
    if (atomic_compare_exchange_strong(&worker->box, &empty, BOX_ASLEEP)) {
        while (atomic_load(&worker->box) == BOX_ASLEEP)
            pthread_cond_wait(&worker->wake, &worker->mutex);
    }
    pthread_mutex_unlock(&worker->mutex);
}

static void *work(void *argument) {
    Worker *worker = argument;
    for (;;) {
        if (!spin_for_letter(worker)) sleep_until_letter(worker);
        int posted = BOX_POSTED;
        if (atomic_compare_exchange_strong(&worker->box, &posted, BOX_RUNNING)) {
            do_range(worker->pool, worker->range);
            atomic_store_explicit(&worker->box, BOX_EMPTY, memory_order_release);
        } else if (posted == BOX_STOP) {
            return NULL;
        }
    }
}

// Posts a letter. True if the worker slept.
static bool post(Worker *worker, int letter) {
    if (atomic_exchange(&worker->box, letter) != BOX_ASLEEP) return false;
    // The sleeper holds the mutex from ASLEEP until it waits, so the signal cannot be lost.
    pthread_mutex_lock(&worker->mutex);
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->mutex);
    return true;
}

// Does the range itself if its worker has not begun (it may be asleep, or have no core): a job
// never waits for a thread that is waking up.
static void finish(Pool *pool, Worker *worker) {
    int posted = BOX_POSTED;
    if (atomic_compare_exchange_strong(&worker->box, &posted, BOX_EMPTY)) {
        do_range(pool, worker->range);
        return;
    }
    int64_t patience = pool->crowded ? 0 : LONG_WAIT_SPINS;
    for (int64_t spins = 1; atomic_load_explicit(&worker->box, memory_order_acquire) == BOX_RUNNING;
         spins++) {
        pause_core();
        if (spins > patience && spins % SPINS_PER_LOOK == 0) sched_yield();
    }
}

static void start_workers(Pool *pool) {
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous); // signals go to the caller, not to workers
    pool->started = 0;
    while (pool->started < pool->threads - 1) {
        Worker *worker = &pool->workers[pool->started];
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
}

static void prepare(Pool *pool) {
    pool->started = -1;
    pool->fork_count = atomic_load_explicit(&fork_count, memory_order_relaxed);
    pool->crowded = pool->threads > pool_default_threads();
    for (int i = 0; i < pool->threads - 1; i++) {
        Worker *worker = &pool->workers[i];
        atomic_init(&worker->box, BOX_EMPTY);
        worker->range = i + 1; // range 0 is the caller's
        worker->pool = pool;
        pthread_mutex_init(&worker->mutex, NULL);
        pthread_cond_init(&worker->wake, NULL);
    }
}

// In a child of fork() the workers are gone; boxes and mutexes are as they were at the fork.
static void notice_fork(Pool *pool) {
    if (pool->fork_count != atomic_load_explicit(&fork_count, memory_order_relaxed)) prepare(pool);
}

Pool *pool_new(int threads) {
    if (threads < 1) threads = 1;
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    pthread_once(&fork_once, watch_forks);
    Pool *pool = memory_new(sizeof(Pool) + (size_t)(threads - 1) * sizeof(Worker));
    if (!pool) return NULL;
    pool->threads = threads;
    prepare(pool);
    return pool;
}

void pool_free(Pool *pool) {
    if (!pool) return;
    notice_fork(pool);
    for (int i = 0; i < pool->started; i++) post(&pool->workers[i], BOX_STOP);
    for (int i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    for (int i = 0; i < pool->threads - 1; i++) {
        pthread_cond_destroy(&pool->workers[i].wake);
        pthread_mutex_destroy(&pool->workers[i].mutex);
    }
    memory_free(pool);
}

int pool_threads(const Pool *pool) { return pool ? pool->threads : 1; }
PoolCounts pool_counts(const Pool *pool) { return pool ? pool->counts : (PoolCounts){0}; }

static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t pool_ranges(int threads, int64_t n, int64_t grain) {
    if (n <= 0) return 0;
    int64_t grains = divide_up(n, grain > 1 ? grain : 1);
    return divide_up(grains, divide_up(grains, threads));
}

void pool_run(Pool *pool, int64_t n, int64_t grain, PoolTask task, void *argument) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int64_t ranges = pool_ranges(pool_threads(pool), n, grain);
    if (ranges < 2) {
        task(argument, 0, n);
        return;
    }
    notice_fork(pool);
    if (pool->started < 0) start_workers(pool);
    pool->task = task;
    pool->argument = argument;
    pool->n = n;
    pool->items_per_range = divide_up(divide_up(n, grain), pool_threads(pool)) * grain;

    int helpers = (int)ranges - 1;
    int posted = helpers < pool->started ? helpers : pool->started;
    pool->counts.handed += posted;
    for (int i = 0; i < posted; i++) pool->counts.woken += post(&pool->workers[i], BOX_POSTED);
    do_range(pool, 0);
    for (int i = posted; i < helpers; i++) do_range(pool, i + 1);
    for (int i = 0; i < posted; i++) finish(pool, &pool->workers[i]);
}

// ---- the number of usable cores --------------------------------------------------------------

// Cores in the quota of one control group (cgroup v2), rounded up; MAX_THREADS: no limit.
static int group_cores(const char *directory) {
    char path[512];
    int length = snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", directory);
    FILE *file = length < (int)sizeof path ? fopen(path, "r") : NULL;
    if (!file) return MAX_THREADS;
    long long quota = 0, period = 0; // the file says "max 100000" if there is no limit
    int fields = fscanf(file, "%lld %lld", &quota, &period);
    fclose(file);
    if (fields != 2 || quota <= 0 || period <= 0) return MAX_THREADS;
    long long cores = quota / period + (quota % period != 0);
    return cores < MAX_THREADS ? (int)cores : MAX_THREADS;
}

// The tightest quota of this process's control group and its ancestors.
static int read_quota(void) {
    char line[384] = "";
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::/", 4) != 0) line[0] = '\0';
    if (file) fclose(file);
    char *directory = strncmp(line, "0::/", 4) == 0 ? line + 3 : line;
    directory[strcspn(directory, "\n")] = '\0';

    int least = MAX_THREADS;
    for (;;) {
        int cores = group_cores(directory);
        if (cores < least) least = cores;
        char *last = strrchr(directory, '/');
        if (!last) return least;
        *last = '\0';
    }
}

// Reads the quota once, since every new context asks.
static int quota_cores(void) {
    static _Atomic int known;
    int cores = known;
    if (cores == 0) known = cores = read_quota();
    return cores;
}

int pool_default_threads(void) {
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                            : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int quota = quota_cores();
    if (cores > quota) cores = quota;
    return cores < 1 ? 1 : cores;
}
