// report.h -- a Profile as a person reads it: 80 columns of plain text.
#ifndef PROFILER_REPORT_REPORT_H
#define PROFILER_REPORT_REPORT_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

enum { REPORT_WIDTH = 80 };

void report_print(const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif
