// leak.h -- does memory grow from step to step? Live bytes after each step, the slope of a line
// through them with its 95 % confidence interval, and who asked for what stayed.
#ifndef PROFILER_LEAK_H
#define PROFILER_LEAK_H

#include "tensor/context.h"

enum { LEAK_MOST_SITES = 16 };

typedef struct LeakSite { // a call site whose live bytes grew
    char path[96];
    MemoryCategory category;
    int64_t bytes, storages; // alive now, of those asked for since the start
} LeakSite;

typedef struct LeakReport {
    int64_t steps;
    double bytes_per_step, low, high; // least squares, with its 95 % interval
    bool leaks;                       // the interval lies above 0
    LeakSite sites[LEAK_MOST_SITES];  // most bytes first
    int n_sites;
} LeakReport;

// Watches the current context's ledger. All memory is taken by leak_new.
typedef struct LeakTest LeakTest;
LeakTest *leak_new(int64_t most_steps); // >= 3; NULL with an error pending
void leak_free(LeakTest *test);         // stops it first; NULL is fine
void leak_start(LeakTest *test);
void leak_step(LeakTest *test); // a step ends here
void leak_stop(LeakTest *test);
Status leak_report(const LeakTest *test, LeakReport *report); // STATUS_STATE with under 3 steps

#endif
