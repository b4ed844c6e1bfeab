// progress.h -- what a student has reached so far: one small file beside the student's files,
// .lab/progress.json, replaced as a whole. It is a convenience: no grade is made from it.
#ifndef EXERCISES_LAB_PROGRESS_H
#define EXERCISES_LAB_PROGRESS_H

#include "tensor/status.h"

enum { PROGRESS_MOST = 40, PROGRESS_STUDENT = 64 };

typedef struct ProgressEntry {
    char number[8]; // of the exercise
    int best;       // points, at the best of all checks
    int last;       // at the last one; -1: never checked
    int hints;      // levels shown, 0 to 3
    char state[24]; // "passed", or the word of the first failure of the last check
} ProgressEntry;

typedef struct Progress {
    char student[PROGRESS_STUDENT]; // whose numbers the questions have; "": practice
    char mistake[64];               // of the last failure that was shown
    char exercise[8];               // checked last
    ProgressEntry entries[PROGRESS_MOST];
    int n_entries;
} Progress;

// Of the student's files in `folder`. No file is no progress; a broken one is STATUS_FORMAT, and
// the message says what to do.
Status progress_read(const char *folder, Progress *progress);
Status progress_write(const char *folder, const Progress *progress);

// The entry of an exercise, made where there is none; never NULL (the last one where all are
// taken).
ProgressEntry *progress_entry(Progress *progress, const char *number);
const ProgressEntry *progress_find(const Progress *progress, const char *number); // or NULL

#endif
