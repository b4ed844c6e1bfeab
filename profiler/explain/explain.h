// explain.h -- explains each number of a report: its formula with the numbers filled in.
#ifndef PROFILER_EXPLAIN_EXPLAIN_H
#define PROFILER_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// Prints every op of the layers whose path (or name in the report) matches `pattern` as in fnmatch
// ("fc*"), ignoring case: shapes, counts with their derivation, bytes of each operand, level, roof,
// measured time, verdict with its evidence, and the step's speedup without the layer (Amdahl). If
// `pattern` is NULL, prints all layers, shorter, and the sums behind the totals and the memory
// peak. At most 80 columns. STATUS_INVALID_ARGUMENT with the layers' names if nothing matches.
Status explain_print(const Profile *profile, const char *pattern, FILE *file);

RIDGEPOINT_API_END

#endif
