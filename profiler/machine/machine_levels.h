// machine_levels.h -- where one level of memory ends and the next begins: as the system says, or
// else as bandwidths show. Not here: measuring those (machine_measure.h).
#ifndef PROFILER_MACHINE_MACHINE_LEVELS_H
#define PROFILER_MACHINE_MACHINE_LEVELS_H

#include "profiler/machine/machine.h"

enum { MACHINE_MAX_CACHES = MACHINE_MAX_LEVELS - 1 };

#define MACHINE_CACHE_FOLDER "/sys/devices/system/cpu/cpu0/cache"

// Names and capacities of the data caches that `threads` threads have together, and that one has: a
// cache that k cores share counts ceil(threads / k) times. `folder` is Linux's. Returns how many
// caches, growing from one to the next; 0 where the system does not say. Bandwidths are left 0.
int machine_levels_of_system(const char *folder, int threads,
                             MachineLevel levels[MACHINE_MAX_CACHES]);

// The levels that a sweep over n growing working sets found: one ends where bandwidth falls by more
// than a quarter. A fall may take several working sets. The last level is DRAM.
int machine_levels_of_sweep(const int64_t bytes[], const double bytes_per_second[], int n,
                            MachineLevel levels[MACHINE_MAX_LEVELS]);

#endif
