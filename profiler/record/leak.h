// leak.h -- does memory grow from step to step? Live bytes after each step, the slope of a line
// through them with its 95 % confidence interval, and who asked for what stayed.
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

typedef struct LeakSite { // a call site some of whose bytes stayed
    char path[96];
    MemoryCategory category;
    int64_t bytes, storages; // alive now, of those asked for since the start
} LeakSite;

// A leak goes on: the interval lies above 0, and the least that was live in the second third of the
// steps exceeds that of the first, and that of the last third exceeds both. So neither a cache that
// is filled once (one rise), nor one that is emptied now and then (it comes back down), nor steps
// of different sizes are leaks. What rises all the while that one looks is, even if it would fall
// later: look for longer than the longest period of the loop. Under a steady loop the interval
// is [0, 0]; after equal rises it is the rise itself, without width.
typedef struct LeakReport {
    int64_t steps;
    double bytes_per_step, low, high; // least squares, with its 95 % interval (Student's t)
    bool leaks;
    LeakSite sites[LEAK_MOST_SITES]; // most bytes first
    int n_sites;
    int64_t kept_bytes; // of all sites: what was asked for since the start and is alive
    int64_t missed;     // storages beyond the 24,576 that it follows at a time; not in any site
} LeakReport;

// Watches the ledger of the context that is current at leak_start, in which the other calls are to
// be made as well. All memory is taken by leak_new (about a megabyte). Start after a step or two of
// warm-up: what the first steps allocate to keep is no leak. Storages from before the start are
// left alone, alive or not.
typedef struct LeakTest LeakTest;
LeakTest *leak_new(int64_t most_steps); // 3 to 2^30; NULL with an error pending
void leak_free(LeakTest *test);         // stops it first; NULL is fine
void leak_start(LeakTest *test);        // forgets an earlier test
void leak_step(LeakTest *test);         // a step ends here; those beyond most_steps are not kept
void leak_stop(LeakTest *test);
// Also while it runs. STATUS_STATE with under 3 steps; STATUS_OUT_OF_MEMORY.
Status leak_report(const LeakTest *test, LeakReport *report);

RIDGEPOINT_API_END

#endif
