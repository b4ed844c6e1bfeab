// machine_bandwidth.h -- how fast one level of memory moves lines, by six loops that read, fetch
// and write them in different ways; and how slow square roots and divisions are. Not here: which
// working sets stand for which level (machine_calibrate.c).
#ifndef PROFILER_MACHINE_MACHINE_BANDWIDTH_H
#define PROFILER_MACHINE_MACHINE_BANDWIDTH_H

#include "profiler/machine/machine.h"
#include "profiler/machine/machine_measure.h"

// With the current context's threads, in working sets of so many bytes, at most the scratch's: the
// best rates of sum, sum of rows, y = s x, x = s - x, y = x - y and fill. *counted is
// that of y = s x in 8 bytes an element: what the op reads and writes, not what a cache
// fetches before it overwrites. `first`: in the first level, where nothing is fetched for that.
Status machine_measure_rates(const MachineScratch *scratch, int64_t bytes, bool first,
                             double seconds, MachineRates *rates, double *counted);

// Only *counted of these.
Status machine_measure_bandwidth(const MachineScratch *scratch, int64_t bytes, double seconds,
                                 double *counted);

// Seconds for each of many square roots and divisions, in the first level, on the calling thread.
Status machine_measure_slow(const MachineScratch *scratch, double seconds, double *root_seconds,
                            double *division_seconds);

#endif
