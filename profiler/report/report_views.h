// report_views.h -- other views of the report's table: --by, --sort, --top, --layer.
#ifndef PROFILER_REPORT_REPORT_VIEWS_H
#define PROFILER_REPORT_REPORT_VIEWS_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef enum ViewBy { VIEW_BY_LAYER, VIEW_BY_OP, VIEW_BY_PHASE, VIEW_BY_COUNT } ViewBy;
typedef enum ViewSort { // all but order: largest first
    VIEW_SORT_ORDER,    // in the order of execution
    VIEW_SORT_TIME,
    VIEW_SORT_FLOPS,
    VIEW_SORT_BYTES,
    VIEW_SORT_ROOF, // seconds above the roof: measured - roof
    VIEW_SORT_COUNT
} ViewSort;
const char *view_by_name(ViewBy by);       // "layer"
const char *view_sort_name(ViewSort sort); // "time"

typedef struct ViewOptions {
    ViewBy by;
    ViewSort sort;
    int64_t top;       // number of rows shown; 0: all
    const char *layer; // only layers whose path, or name in reports, matches by fnmatch; NULL: all
} ViewOptions;

// Prints one row per layer and phase; per layer, op and phase; or per phase: each op of the step is
// in exactly one. A row's time is the sum of its ops' medians. Hidden rows are summed up in a row
// "others", and the part of the step's median that no op accounts for is "unattributed" (negative
// if the medians sum to more), so that columns add up to the step. On meta there are no times; an
// unavailable sort key is reported and replaced by time or FLOPs. If no layer matches,
// STATUS_INVALID_ARGUMENT names the existing ones, and nothing is printed. 80 columns.
Status view_print(const Profile *profile, ViewOptions options, FILE *file);

RIDGEPOINT_API_END

#endif
