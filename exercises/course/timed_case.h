// timed_case.h -- what the cases of exercises 09 and 10 share: a model, what each of its layers
// costs by the library, and how long each takes by a schedule that has nothing to do with it.
#ifndef EXERCISES_COURSE_TIMED_CASE_H
#define EXERCISES_COURSE_TIMED_CASE_H

#include "exercises/course/model_case.h"
#include "exercises/scene/timed_model.h"

enum { TIMED_TEXT = 128, TIMED_SET_SECONDS = 3600 };
#define TIMED_TOLERANCE 1e-3 // the clock's own readings take time, too

typedef struct TimedCase {
    char text[TIMED_TEXT]; // of the model
    ModelTimes times;
    int64_t batch;
    int rows, containers, children; // children: of the outermost layer
    int64_t flops[TIMED_MOST_ROWS]; // of one sample
    int64_t bytes[TIMED_MOST_ROWS]; // of the batch
    double seconds[TIMED_MOST_ROWS];
    double cold, container;     // seconds
    double all_cold;            // what the first forward takes more
    double whole, rows_seconds; // of one forward, and of its rows
    int slowest, heaviest;      // rows: by seconds, by FLOPs
    // So long after the start a second ends, and somebody sets the wall clock back: in the middle
    // of what is measured, where other clocks than CLOCK_MONOTONIC, and halves of it, go wrong.
    int64_t event_us;
} TimedCase;

// The draw of a run: for the first `fixed` runs of a case the same for everybody, so that a mistake
// costs the same whoever makes it.
Draw timed_draw(const Draw *draw, int fixed);

// Reads the model and its layers' costs, draws times: one layer, not the one with most FLOPs, takes
// more than half of the whole, and containers take about a tenth. The event is in the middle of the
// second forward.
Status timed_case_draw(TimedCase *timed, const char *text, Draw *draw);
// From now on that row is the slowest; that other one takes as long as the slowest.
void timed_case_slow(TimedCase *timed, int row);
void timed_case_tie(TimedCase *timed, int row);
// The first forward is now the faster one.
void timed_case_hurry(TimedCase *timed);
// The containers' own time is now longer than any row.
void timed_case_containers(TimedCase *timed);
// The model after what run->input holds; clock and times into run->scene; and what is shown.
void timed_case_write(const TimedCase *timed, Draw *draw, CaseRun *run);

// A run in which each call and each allocation fails in turn, and at last none does: then `status`
// is the function's.
void timed_case_failures(const char *text, Status status, Draw *draw, CaseRun *run);

// Of the value expected last, which is `seconds` that the event falls into or not.
void timed_mistake_clocks(CaseRun *run, double seconds, bool event);

#endif
