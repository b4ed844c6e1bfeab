// trend.h -- prints a history: for each kind of work, a line with its course and the entries at
// which it changed. Not here: the file (files/saved.h).
#ifndef PROFILER_COMPARE_TREND_H
#define PROFILER_COMPARE_TREND_H

#include <stdint.h>
#include <stdio.h>

#include "profiler/measure/ratio.h"

typedef struct HistoryEntry {
    char created[32]; // "2026-11-26T20:21:00Z"
    // The command, the model and the machine; entries with equal work are compared.
    char *work;    // owned; "profile_mlp --batch 8; MLP 784-10, 2 threads, AMD EPYC"
    double *runs;  // owned; median seconds of a step for each process; NULL: nothing ran
    double *beats; // owned; divisor of each run (profile_beat); NULL: no division
    int n_runs;
    int metronome; // version of the metronome; 0: none
    int64_t peak_bytes, total_flops, parameters;
} HistoryEntry;

typedef struct History {
    HistoryEntry *entries; // owned; in file order
    int n;
} History;

typedef struct TrendChange {
    int entry;    // index in the history of the first entry after the change
    Ratio ratio;  // after / before
    bool divided; // times are divided by the metronome beside each run
} TrendChange;

enum { TREND_WINDOW = 5, TREND_MOST = 128 }; // entries compared on each side; most changes

// Finds changes of the step time among n entries of the same work; `which` has their indices. At a
// change, the runs of up to five entries before and after differ by more than 2 % at 99 %
// confidence (ratio.h), and the medians of these entries do not overlap, except for one of four or
// more on each side. Each run is divided by its metronome if all these entries have the same
// version of it. The largest change is found first, then those before and after it. Returns their
// number, at most TREND_MOST, in file order; -1: out of memory.
int trend_changes(const History *history, const int *which, int n, TrendChange changes[TREND_MOST]);

// Prints the section TREND: 80 columns, plain characters. May return STATUS_OUT_OF_MEMORY.
Status trend_print(const History *history, FILE *file);

#endif
