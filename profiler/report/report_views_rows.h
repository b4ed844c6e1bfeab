// report_views_rows.h -- internal to profiler/: the rows of a view as numbers. Every op of the step
// is in one row, so that rows always add up to it.
#ifndef PROFILER_REPORT_REPORT_VIEWS_ROWS_H
#define PROFILER_REPORT_REPORT_VIEWS_ROWS_H

#include "profiler/base/text.h"
#include "profiler/report/report_views.h"

typedef struct ViewRow { // a sum over ops
    bool matches;        // the layer asked for; what does not is never shown on its own
    int layer;           // of Profile.layers; -1: of several
    const Op *op;        // NULL: of several
    Phase phase;
    int64_t first; // its earliest op
    int64_t calls;
    int64_t uncounted; // of them, those without a cost
    double seconds;    // of their median latencies; NaN on meta
    OpCost cost;
    Traffic traffic;
    Roofline roofline; // zero where no machine was given
    double amount;     // of what the rows are sorted by
} ViewRow;

typedef struct ViewRows {
    ViewRow *rows; // owned; as they are to be printed
    int64_t count, shown;
    ViewRow others, sum; // of what is not shown; of everything
    bool timed;          // false on meta
    ViewSort sort;       // what was asked for, or what there is in its place
} ViewRows;

// STATUS_INVALID_ARGUMENT, with the layers' names, where a pattern matches none.
Status view_rows_make(const Profile *profile, ViewOptions options, ViewRows *rows);

// What rows are sorted by, in seconds, FLOPs or bytes; in the order of the step: what bars show.
double view_amount(const ViewRow *row, const ViewRows *rows);

typedef struct ViewLabel {
    char s[2 * sizeof(Text)]; // of a layer and an op
} ViewLabel;
// "fc1", "fc1 linear"; not of a row of several layers.
ViewLabel view_row_label(const Profile *profile, const ViewRow *row, int width);

#endif
