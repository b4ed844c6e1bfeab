// sweep.h -- a grid of settings: what was measured at each point, which points are worth having,
// and how the time of a step grows with the batch. Not here: measuring (program/program_sweep.c),
// printing (sweep_print.h).
#ifndef PROFILER_COMPARE_SWEEP_H
#define PROFILER_COMPARE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/status.h"

enum {
    SWEEP_AXES = 4,
    SWEEP_VALUES = 64, // of an axis
    SWEEP_POINTS = 4096,
    SWEEP_TEXT = 128, // of a value
    SWEEP_LOSSES = 64
};

typedef struct SweepAxis {
    char name[16];
    char values[SWEEP_VALUES][SWEEP_TEXT]; // as typed
    int n;
} SweepAxis;

typedef enum SweepState { SWEEP_OPEN, SWEEP_MEASURED, SWEEP_FAILED } SweepState;

typedef struct SweepPoint {
    SweepState state;
    double seconds, low, high; // of a step, and how sure; 0: nothing ran (the meta device)
    double beat;               // seconds of the metronome beside it, of both its parts; 0: none ran
    double units_per_second;
    int64_t peak_bytes, total_flops; // of a step
    // Of its training; NaN: there was none. Losses are means of equal parts of it.
    double loss, accuracy, train_seconds;
    double losses[SWEEP_LOSSES];
    int n_losses;
    int64_t steps;
    // sweep_judge's
    double target_seconds; // until its loss was Sweep.target; NaN: never
    bool over;             // beyond the limits
    bool pareto; // nothing that was measured is at least as good in all, and better in one
} SweepPoint;

typedef struct SweepLimits { // 0: none
    double seconds;          // of a step
    int64_t bytes;           // of its peak
} SweepLimits;

typedef struct Sweep {
    SweepAxis axes[SWEEP_AXES];
    int n_axes;
    SweepPoint *points; // owned; the last axis changes first
    int64_t n;
    char unit[16]; // of work, "samples"; "units": points differ in it, and rates are not compared
    bool learns;   // each point is a training, too
    SweepLimits limits;
    // sweep_judge's
    bool by_accuracy; // trainings are judged by it, because all have it; else by their loss
    int64_t chosen;   // -1: none. Of trainings the most accurate. Else with limits the one with the
                      // most throughput within them; without, the knee.
    double target;    // a loss that half of the trainings reached, or more; NaN: there was none
} Sweep;

// Room for the points of the axes, all of them open. STATUS_INVALID_ARGUMENT: there are too many.
Status sweep_begin(Sweep *sweep);
void sweep_free(Sweep *sweep);
void sweep_take_unit(Sweep *sweep, const char *unit); // of one more point
bool sweep_mixes_units(const Sweep *sweep);

// Which value of each axis a point has.
void sweep_place(const Sweep *sweep, int64_t point, int at[SWEEP_AXES]);

// Fills what is said above to be its. The knee is where throughput / latency is greatest,
// Kleinrock's power (1979): beyond it, what is won in throughput costs more than as much in
// latency. Of a step of a + b n seconds that is n = a / b, half of the throughput that there is to
// have.
Status sweep_judge(Sweep *sweep);

// What a point takes, seconds of a step or of its training, and what it gives: units/s, accuracy,
// or where nothing was judged its loss. False: it has no place in a picture.
bool sweep_trade(const Sweep *sweep, int64_t point, double *takes, double *gives);

typedef struct SweepFit {
    int64_t first; // point: its other axes tell of which
    int64_t
        from; // the smallest batch of the line: 1 has other kernels, and is left out where it can
    double fixed, each; // a step takes fixed + each * batch seconds; neither is below 0
    double error;       // of a point that the others predict, the largest: 0.04 is 4 %
    int64_t batch;      // one that was not measured, between those that were,
    double seconds;     // takes so long
} SweepFit;
// Of the points that differ from `first` in `axis` (the batch) alone, each divided by its metronome
// and times the median of these, where all have one: least squares of relative errors. False where
// fewer than three of them were measured, where larger batches take no longer, where the error is
// above 25 %, or there is no such axis.
bool sweep_fit(const Sweep *sweep, int axis, int64_t first, SweepFit *fit);
int sweep_axis(const Sweep *sweep, const char *name); // -1: there is none

#endif
