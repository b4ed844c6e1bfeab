// report_table.h -- internal to profiler/: the table of the terminal report, one row a layer.
#ifndef PROFILER_REPORT_REPORT_TABLE_H
#define PROFILER_REPORT_REPORT_TABLE_H

#include <stdio.h>

#include "profiler/measure/profile_words.h"

void report_print_head(const Profile *profile, FILE *file); // report.c: what it was, how long, why
void report_print_table(const Profile *profile, FILE *file);
void report_print_roofline(const Profile *profile, FILE *file); // report_roofline.c
void report_print_evidence(const Profile *profile, FILE *file); // report_evidence.c
// Lines of the memory section: accumulated batches; recomputed layers, and whether that fits.
void report_print_changes(const Profile *profile, FILE *file);
// A card's own memory, in two lines, beside what the ledger keeps of it in free blocks.
void report_print_card(const DeviceMemory *card, int64_t cached, FILE *file);

// report_terms.c: "where it went   700 us at best + 52.0 us slower kernels + 31.0 us not explained
// (4%)"; nothing where that is not known.
void report_terms(const TimeTerms *terms, double seconds, FILE *file);

// ---- report_rows.c: what has a row. Of few layers each; of many those that are alike together,
// and of these those that take most.
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

// In the order in which the first of each ran, the others last; labels are of at most `width`
// columns. How many there are.
int report_rows(const Profile *profile, int width, ReportRow rows[REPORT_MOST_ROWS]);

// How many units ("images") a second, where one lot takes that latency.
Text report_rate(int64_t units, const Latency *latency);

#endif
