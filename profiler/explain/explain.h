// explain.h -- how each number of a report was made: the formula with the numbers filled in.
#ifndef PROFILER_EXPLAIN_EXPLAIN_H
#define PROFILER_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// Every op of the layers whose path (or the name that the report shows) matches `pattern`, as
// fnmatch does ("fc*"), in whichever case: shapes, counts with their derivation, bytes operand by
// operand, level, roof, measured time, verdict with its evidence, and what the step would gain
// without the layer (Amdahl). NULL: all layers, shorter, and how the totals and the memory peak add
// up. Lines of at most 80 columns. STATUS_INVALID_ARGUMENT with the layers' names where nothing
// matches.
Status explain_print(const Profile *profile, const char *pattern, FILE *file);

RIDGEPOINT_API_END

#endif
