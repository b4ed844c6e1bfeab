// report.h -- a Profile as a person reads it: plain text in 80 columns, or, where the file is a
// wider terminal, with as many columns for the names of layers as that leaves.
#ifndef PROFILER_REPORT_REPORT_H
#define PROFILER_REPORT_REPORT_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

enum { REPORT_WIDTH = 80 };

void report_print(const Profile *profile, FILE *file);
// Prints its first lines, the counts and the peak: about eight lines.
void report_brief(const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif
