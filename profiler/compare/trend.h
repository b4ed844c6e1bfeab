// trend.h -- a history for people: of each work a line that shows how it went, and the entries at
// which it changed. Not here: the file (files/saved.h).
#ifndef PROFILER_COMPARE_TREND_H
#define PROFILER_COMPARE_TREND_H

#include <stdint.h>
#include <stdio.h>

#include "profiler/measure/ratio.h"

typedef struct HistoryEntry {
    char created[32]; // "2026-11-26T20:21:00Z"
    // What was profiled, and on what: entries alike in it are compared.
    char *work;    // owned; "profile_mlp --batch 8; MLP 784-10, 2 threads, AMD EPYC"
    double *runs;  // owned; seconds of a step, the median of each process; NULL: nothing ran
    double *beats; // owned; what each is divided by (profile_beat); NULL: by nothing
    int n_runs;
    int metronome; // its version; 0: none
    int64_t peak_bytes, total_flops, parameters;
} HistoryEntry;

typedef struct History {
    HistoryEntry *entries; // owned; in the order of the file
    int n;
} History;

typedef struct TrendChange {
    int entry;    // of the history: the first that is different, from 0
    Ratio ratio;  // after / before
    bool divided; // by the metronome beside each run; else of times as measured
} TrendChange;

enum { TREND_WINDOW = 5, TREND_MOST = 128 }; // entries on each side that are looked at; changes

// Where the time of a step changed among entries of the same work: there, the runs of up to five
// entries before and after lie apart by more than 2 % at 99 % (ratio.h), and the medians of these
// entries do not overlap, but for one of four or more on each side. Each run is divided by its
// metronome, where all of these entries have one of the same version. The largest is found first,
// then the same after and before it; at most TREND_MOST, in the order of the file. How many; -1:
// out of memory. `which` are n entries of the history.
int trend_changes(const History *history, const int *which, int n, TrendChange changes[TREND_MOST]);

// The section TREND: 80 columns, plain characters. STATUS_OUT_OF_MEMORY
Status trend_print(const History *history, FILE *file);

#endif
