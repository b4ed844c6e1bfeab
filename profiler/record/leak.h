// leak.h -- detects memory that grows from step to step: live bytes after each step, the slope of a
// line through them with its 95 % confidence interval, and the call sites whose memory stayed.
//
//     for (int i = 0; i < 2; i++) step();     // gradients and caches come with the first steps
//     LeakTest *test = leak_new(1000);
//     leak_start(test);
//     for (int i = 0; i < 50; i++) step(), leak_step(test);
//     leak_stop(test);
//     leak_report(test, &report);
#ifndef PROFILER_RECORD_LEAK_H
#define PROFILER_RECORD_LEAK_H

#include "tensor/context.h"

RIDGEPOINT_API_BEGIN

enum { LEAK_MOST_SITES = 16 };

typedef struct LeakSite { // a call site whose memory partly stayed
    char path[96];
    MemoryCategory category;
    int64_t bytes, storages; // alive now and requested since the start
} LeakSite;

// A leak goes on: the interval lies above 0, and the minimum of live bytes in the second third of
// the steps exceeds that of the first, and that of the last third exceeds both. So a cache filled
// once (one rise), a cache emptied now and then (it falls again), and steps of different sizes are
// not leaks. Memory that rises during the whole test counts as a leak even if it would fall later:
// test for longer than the longest period of the loop. In a steady loop the interval is [0, 0];
// after equal rises it is the rise itself, with zero width.
typedef struct LeakReport {
    int64_t steps;
    double bytes_per_step, low, high; // least squares, with its 95 % interval (Student's t)
    bool leaks;
    LeakSite sites[LEAK_MOST_SITES]; // most bytes first
    int n_sites;
    int64_t kept_bytes; // all sites' bytes requested since the start and still alive
    int64_t missed;     // storages beyond the limit of 24,576 tracked at a time; in no site
} LeakReport;

// Watches the ledger of the context current at leak_start; make the other calls in that context,
// too. leak_new allocates all memory (about a megabyte). Start after a step or two of warm-up:
// memory that the first steps allocate and keep is no leak. Storages from before the start are
// ignored, alive or not.
typedef struct LeakTest LeakTest;
LeakTest *leak_new(int64_t most_steps); // 3 to 2^30; NULL with an error pending
void leak_free(LeakTest *test);         // stops it first; NULL is fine
void leak_start(LeakTest *test);        // forgets an earlier test
void leak_step(LeakTest *test);         // ends a step; steps beyond most_steps are not kept
void leak_stop(LeakTest *test);
// May be called during a test. STATUS_STATE with under 3 steps; STATUS_OUT_OF_MEMORY.
Status leak_report(const LeakTest *test, LeakReport *report);

RIDGEPOINT_API_END

#endif
