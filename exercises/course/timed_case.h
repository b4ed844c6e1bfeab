// timed_case.h -- shared by the cases of exercises 09 and 10: a model, the cost of each layer by
// the library, and the time of each layer by a schedule that does not depend on the cost.
#ifndef EXERCISES_COURSE_TIMED_CASE_H
#define EXERCISES_COURSE_TIMED_CASE_H

#include "exercises/course/model_case.h"
#include "exercises/scene/timed_model.h"

enum { TIMED_TEXT = 128, TIMED_SET_SECONDS = 3600 };
#define TIMED_TOLERANCE 1e-3 // the clock's own readings take time, too

typedef struct TimedCase {
    char text[TIMED_TEXT]; // the model's text
    ModelTimes times;
    int64_t batch;
    int rows, containers, children; // children: number of children of the outermost layer
    int64_t flops[TIMED_MOST_ROWS]; // FLOPs of one sample
    int64_t bytes[TIMED_MOST_ROWS]; // bytes of the batch
    double seconds[TIMED_MOST_ROWS];
    double cold, container;     // seconds
    double all_cold;            // extra seconds of the first forward pass
    double whole, rows_seconds; // seconds of one forward pass, and of its rows
    int slowest, heaviest;      // row with the most seconds; row with the most FLOPs
    // Microseconds from the start until a second ends and the wall clock is set back. This happens
    // in the middle of a measurement, so that other clocks than CLOCK_MONOTONIC go wrong.
    int64_t event_us;
} TimedCase;

// The draw of a run. The first `fixed` runs of a case are the same for everybody, so that a mistake
// costs every student the same.
Draw timed_draw(const Draw *draw, int fixed);

// Reads the model and its layers' costs, and draws times: one layer, but not the one with the most
// FLOPs, takes more than half of the whole, and containers take about a tenth. The clock event is
// in the middle of the second forward pass.
Status timed_case_draw(TimedCase *timed, const char *text, Draw *draw);
// timed_case_slow makes that row the slowest; timed_case_tie makes it as slow as the slowest.
void timed_case_slow(TimedCase *timed, int row);
void timed_case_tie(TimedCase *timed, int row);
// Makes the first forward pass the faster one.
void timed_case_hurry(TimedCase *timed);
// Makes the containers' own time longer than any row.
void timed_case_containers(TimedCase *timed);
// Appends the model to run->input, writes clock and times into run->scene, and fills in run->shown.
void timed_case_write(const TimedCase *timed, Draw *draw, CaseRun *run);

// Makes a run in which each call and each allocation fails in turn, and at last none does; then the
// function shall return `status`.
void timed_case_failures(const char *text, Status status, Draw *draw, CaseRun *run);

// Adds clock mistakes to the value expected last, `seconds`; `event`: the event falls into it.
void timed_mistake_clocks(CaseRun *run, double seconds, bool event);

#endif
