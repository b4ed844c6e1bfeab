// report_table.h -- internal to profiler/: the table of the terminal report, one row a layer.
#ifndef PROFILER_REPORT_REPORT_TABLE_H
#define PROFILER_REPORT_REPORT_TABLE_H

#include <stdio.h>

#include "profiler/measure/profile_words.h"

void report_print_head(const Profile *profile, FILE *file); // report.c: run, time and reasons
// Prints whether the predicted counts are the executed ones.
void report_print_comparison(const Profile *profile, FILE *file); // report_evidence.c
void report_print_table(const Profile *profile, FILE *file);
void report_print_roofline(const Profile *profile, FILE *file); // report_roofline.c
void report_print_evidence(const Profile *profile, FILE *file); // report_evidence.c
// Prints lines of the memory section: accumulated batches; recomputed layers, and if that fits.
void report_print_changes(const Profile *profile, FILE *file);
// Prints a card's own memory in two lines, beside the ledger's bytes in free blocks.
void report_print_card(const DeviceMemory *card, int64_t cached, FILE *file);

// report_terms.c: prints "where it went   700 us at best + 52.0 us slower kernels + 31.0 us not
// explained (4%)"; nothing if the terms are unknown.
void report_terms(const TimeTerms *terms, double seconds, FILE *file);

// ---- report_rows.c: the rows of the table. A few layers get a row each; of many layers, identical
// ones share a row, and only the groups with the most time are shown.
enum { REPORT_MOST_ROWS = 24 }; // more rows would not fit a screen

typedef struct ReportRow {
    Text label;      // "fc1 784->512", "h.*.mlp.c_fc x12", "40 others"
    Text parameters; // "" if it is no layer's row
    Text bound;      // "" if layers differ, or nothing was judged
    // Sums over the row's layers: of medians in a latency, of roof_seconds in a roofline.
    ProfilePhase phase[REPORT_COUNT];
    int64_t saved_bytes;
    double seconds; // sum over all phases
} ReportRow;

// Makes the rows in the order of each first run, the others last; labels have at most `width`
// columns. Returns the number of rows.
int report_rows(const Profile *profile, int width, ReportRow rows[REPORT_MOST_ROWS]);

// Units ("images") per second, if `units` units take that latency.
Text report_rate(int64_t units, const Latency *latency);

#endif
