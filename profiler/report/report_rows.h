// report_rows.h -- internal to profiler/: what has a row in the report's table. Of few layers each;
// of many those that are alike together, and of these those that take most.
#ifndef PROFILER_REPORT_REPORT_ROWS_H
#define PROFILER_REPORT_REPORT_ROWS_H

#include "profiler/profile.h"
#include "profiler/report/text.h"

enum { REPORT_MOST_ROWS = 24 }; // more than a screen shows nobody what matters

typedef struct ReportRow {
    Text label;      // "fc1 784->512", "h.*.mlp.c_fc", "40 others"
    Text parameters; // "" where it is no layer's row
    Text bound;      // "" where layers differ, or nothing was judged
    // Sums: a latency has the sum of medians, a roofline the sum of roof_seconds and its fraction.
    ProfilePhase phase[REPORT_COUNT];
    int64_t saved_bytes;
    double seconds; // of all phases
} ReportRow;

// In the order in which the first of each ran, the others last; labels are of `width` columns. How
// many there are.
int report_rows(const Profile *profile, int width, ReportRow rows[REPORT_MOST_ROWS]);

#endif
