// view_table.h -- profiles with known times, printed by profiler/report/report_views.c, and read
// back.
#ifndef TESTS_PROFILER_REPORT_VIEW_TABLE_H
#define TESTS_PROFILER_REPORT_VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/report/report_views.h"

typedef enum ViewKind {
    VIEW_TRAINING,
    VIEW_BACKWARD,
    VIEW_INFERENCE,
    VIEW_META,
    VIEW_WITHOUT_MACHINE,
    VIEW_KINDS
} ViewKind;

// A profile of a random net; an odd seed gives one so small that its counts are printed in ones.
// Ops take whole microseconds, the step a few more or less than their sum. Ceilings: 100 MFLOP/s,
// L1 80 MB/s, DRAM 20 MB/s, dispatch 0.1 us, so that some roofs are near.
Profile view_profile_new(int seed, ViewKind kind);

char *view_text_new(const Profile *profile, ViewOptions options); // the printed text; free it

enum { VIEW_TABLE_MOST_ROWS = 120 };

typedef struct PrintedNumber { // value as printed, in ones; largest rounding error
    double value, error;
} PrintedNumber;

typedef struct PrintedRow {
    char line[128], label[64], phase[8], roof[8], bound[16];
    int64_t calls;
    PrintedNumber time, flops, bytes;
} PrintedRow;

typedef struct PrintedTable {
    char heading[512];
    PrintedRow rows[VIEW_TABLE_MOST_ROWS], others, unattributed, step;
    int n_rows;
    bool has_others, has_unattributed, has_step, timed;
    double flops_unit, bytes_unit;
    int64_t hidden; // N of "others (N)"
} PrintedTable;

// Prints the views and reads them back. Fails the test on any other table. Times must be in us.
PrintedTable view_table_of(const Profile *profile, ViewOptions options);

#endif
