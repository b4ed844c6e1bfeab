// timed_case.h -- what the cases of exercises 09 and 10 share: a model, what each of its layers
// costs by the library, and how long each takes by a schedule that has nothing to do with it.
#ifndef EXERCISES_COURSE_TIMED_CASE_H
#define EXERCISES_COURSE_TIMED_CASE_H

#include "exercises/course/model_case.h"
#include "exercises/support/timed_model.h"

enum { TIMED_TEXT = 128 };

typedef struct TimedCase {
    char text[TIMED_TEXT]; // of the model
    TimedModel times;
    int64_t batch;
    int rows, containers, children;   // children: of the outermost layer
    int64_t flops[TIMED_MOST_LAYERS]; // of one sample
    int64_t bytes[TIMED_MOST_LAYERS]; // of the batch
    double seconds[TIMED_MOST_LAYERS];
    double cold, container;     // seconds
    double whole, rows_seconds; // of one forward, and of its rows
    int slowest, heaviest;      // rows: by seconds, by FLOPs
} TimedCase;

// Reads the model and its layers' costs, draws times: one layer, not the one with most FLOPs, takes
// more than half of the whole, and containers take about a tenth.
Status timed_case_draw(TimedCase *timed, const char *text, Draw *draw);
// The clock, the times and last the model, after what run->input holds; and what is shown.
void timed_case_write(const TimedCase *timed, Draw *draw, CaseRun *run);

#endif
