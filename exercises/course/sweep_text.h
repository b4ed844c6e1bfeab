// sweep_text.h -- reads a sweep.csv that a student hands in, and trusts nothing in it.
#ifndef EXERCISES_COURSE_SWEEP_TEXT_H
#define EXERCISES_COURSE_SWEEP_TEXT_H

#include <stdbool.h>

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"

enum { SWEEP_LEAST_ROWS = 8, SWEEP_MOST_ROWS = 21, SWEEP_SIZES = 4 };

typedef struct SweepRow {
    int64_t batch;
    double seconds, samples_per_second;
} SweepRow;

typedef struct Sweep {
    SweepRow rows[SWEEP_MOST_ROWS];
    int n_rows;
    int best, knee;      // row with the most samples per second; first row with 80 % of that
    char seal[KEY_SEAL]; // "": practice, or a file from before there were keys
} Sweep;

// The layer sizes of the MLP to measure, which depend on the student's token. "" gives the MLP of
// the course's page, 784-512-256-10.
void sweep_sizes(const char *token, int64_t sizes[SWEEP_SIZES]);

// Reads rows with batches 1, 2, 4 ..., positive finite numbers, and samples_per_second = batch /
// seconds within 1 %; comments (#) and empty lines are fine. False: `problem` names the wrong line
// and the reason. `text` is NULL if there is no file.
bool sweep_read(const char *text, Sweep *sweep, char problem[CASE_LINE]);

// The seal that ./lab sweep writes below the rows (TABLE_SEAL_LINE) shows that they were measured
// with that key and are unchanged. A file without a seal passes.
void sweep_seal(const Sweep *sweep, const char *token, char seal[KEY_SEAL]);
bool sweep_is_of(const Sweep *sweep, const char *token, char problem[CASE_LINE]);

#endif
