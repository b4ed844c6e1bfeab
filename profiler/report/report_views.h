// report_views.h -- the table of the report cut another way: --by, --sort, --top, --layer.
#ifndef PROFILER_REPORT_REPORT_VIEWS_H
#define PROFILER_REPORT_REPORT_VIEWS_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef enum ViewBy { VIEW_BY_LAYER, VIEW_BY_OP, VIEW_BY_PHASE, VIEW_BY_COUNT } ViewBy;
typedef enum ViewSort { // all but order: largest first
    VIEW_SORT_ORDER,    // as they ran
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
    int64_t top; // rows shown; 0: all
    const char
        *layer; // only layers whose path, or name in reports, matches as by fnmatch; NULL: all
} ViewOptions;

// One row per layer and phase; per layer, op and phase; or per phase: each op of the step is in one
// of them. A row's time is the sum of its ops' medians. What is not shown is summed up in a row
// "others", what of the step's median no op accounts for is "unattributed" (below 0 where medians
// do not add up), so that columns add up to the step. On meta there are no times; what cannot be
// sorted by is said, and time or FLOPs stand in. STATUS_INVALID_ARGUMENT, and nothing printed,
// where no layer matches, naming those that there are. 80 columns.
Status view_print(const Profile *profile, ViewOptions options, FILE *file);

RIDGEPOINT_API_END

#endif
