// pool.h -- the only threads that run kernels: C11 atomics; they spin, then sleep. No OpenMP.
#ifndef TENSOR_POOL_H
#define TENSOR_POOL_H

#include <stdint.h>

typedef struct Pool Pool;

// Does items [begin, end) of a job. Must not fail, allocate, or call an op.
typedef void (*PoolTask)(void *argument, int64_t begin, int64_t end);

// A pool of `threads` threads, the caller's included; threads - 1 start on first use. NULL with an
// error pending when out of memory. Not shared between contexts.
Pool *pool_new(int threads);
void pool_free(Pool *pool); // joins its threads; NULL is fine
int pool_threads(const Pool *pool);
// Number of ranges that pool_run has offered to other threads so far, and to sleeping ones among
// them; 0 for NULL. Work between two readings was divided if `handed` grew.
typedef struct PoolCounts {
    int64_t handed, woken; // ranges
} PoolCounts;
PoolCounts pool_counts(const Pool *pool);

// Number of ranges into which pool_run splits n items on that many threads.
int64_t pool_ranges(int threads, int64_t n, int64_t grain);

// Splits [0, n) into at most one contiguous range per thread (all but the last a multiple of
// `grain`), runs them and returns when all are done. With one range, a NULL pool or one thread it
// is a plain call. The split depends only on n, grain and the thread count. After fork() the
// child's pool starts its own threads on first use. If a thread cannot start, fewer do the work.
void pool_run(Pool *pool, int64_t n, int64_t grain, PoolTask task, void *argument);

// Cores this process may use (affinity mask, cgroup quota), at least 1.
int pool_default_threads(void);

#endif
