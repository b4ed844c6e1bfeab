// report_views_rows.h -- internal to profiler/: the rows of a view as numbers. Every op of the step
// is in one row, so that rows always add up to it.
#ifndef PROFILER_REPORT_REPORT_VIEWS_ROWS_H
#define PROFILER_REPORT_REPORT_VIEWS_ROWS_H

#include "profiler/base/text.h"
#include "profiler/report/report_views.h"

typedef struct ViewRow { // a sum over ops
    bool matches;        // true if the layer was requested; other rows are never shown alone
    int layer;           // index into Profile.layers; -1: several
    const Op *op;        // NULL: several
    Phase phase;
    int64_t first; // index of its earliest op
    int64_t calls;
    int64_t uncounted; // calls without a cost
    double seconds;    // sum of their median latencies; NaN on meta
    OpCost cost;
    Traffic traffic;
    Roofline roofline; // zero if no machine was given
    double amount;     // the value that rows are sorted by
} ViewRow;

typedef struct ViewRows {
    ViewRow *rows; // owned; in printing order
    int64_t count, shown;
    ViewRow others, sum; // sums over hidden rows, and over everything
    bool timed;          // false on meta
    ViewSort sort;       // the requested key, or the one that replaces it
} ViewRows;

// STATUS_INVALID_ARGUMENT, naming the layers, if a pattern matches none.
Status view_rows_make(const Profile *profile, ViewOptions options, ViewRows *rows);

// The value of the sort key, in seconds, FLOPs or bytes; with VIEW_SORT_ORDER, the value for bars.
double view_amount(const ViewRow *row, const ViewRows *rows);

typedef struct ViewLabel {
    char s[2 * sizeof(Text)]; // a layer and an op
} ViewLabel;
// "fc1", "fc1 linear"; not for a row of several layers.
ViewLabel view_row_label(const Profile *profile, const ViewRow *row, int width);

#endif
