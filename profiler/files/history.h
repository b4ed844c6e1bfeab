// history.h -- profiles of the same work as the weeks go by: a line each in a file that only grows
// (JSON Lines, schema ridgepoint.history/v1). Not here: what they say together (compare/trend.h).
#ifndef PROFILER_FILES_HISTORY_H
#define PROFILER_FILES_HISTORY_H

#include "profiler/profile.h"

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

enum { HISTORY_MOST_BYTES = 1 << 28 };

// Adds a line; `work` is the command, without what only names files. It is there whole, or the file
// is as it was (STATUS_IO), also where several processes add at once. A last line of ours that was
// cut short goes; of anybody else's nothing is touched: STATUS_FORMAT.
Status history_append(const Profile *profile, const char *work, const char *path);
// STATUS_IO: there is no such file; STATUS_FORMAT, with the line: it is none. A last line that is
// cut is left out. history_free it, also after a failure.
Status history_read(const char *path, History *history);
void history_free(History *history);

#endif
