// sweep_text.h -- reads a sweep.csv that a student hands in, and trusts nothing in it.
#ifndef EXERCISES_COURSE_SWEEP_TEXT_H
#define EXERCISES_COURSE_SWEEP_TEXT_H

#include <stdbool.h>

#include "exercises/grader/exercise.h"

enum { SWEEP_LEAST_ROWS = 8, SWEEP_MOST_ROWS = 21 };

typedef struct SweepRow {
    int64_t batch;
    double seconds, samples_per_second;
} SweepRow;

typedef struct Sweep {
    SweepRow rows[SWEEP_MOST_ROWS];
    int n_rows;
    int best, knee; // rows: of the most samples a second; the first with 80 % of them
} Sweep;

// Batches 1, 2, 4 ..., positive finite numbers, samples_per_second = batch / seconds within 1 %;
// comments (#) and empty lines are fine. False: `problem` says which line is not, and why. `text`
// NULL: there is no file.
bool sweep_read(const char *text, Sweep *sweep, char problem[CASE_LINE]);

#endif
