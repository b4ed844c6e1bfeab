// sweep.h -- a grid of settings: the results at each point, the best points, and a fit of the step
// time over the batch size. Not here: measuring (program/program_sweep.c).
#ifndef PROFILER_COMPARE_SWEEP_H
#define PROFILER_COMPARE_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <stdio.h>

#include "tensor/status.h"

enum {
    SWEEP_AXES = 4,
    SWEEP_VALUES = 64, // per axis
    SWEEP_POINTS = 4096,
    SWEEP_TEXT = 128, // bytes of a value
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
    double seconds, low, high; // of a step, with its interval; 0: nothing ran (the meta device)
    double beat;               // seconds of the metronome beside it, both parts; 0: none ran
    double units_per_second;
    int64_t peak_bytes, total_flops; // of a step
    // Results of the training; NaN: there was none. Losses are means over equal parts of it.
    double loss, accuracy, train_seconds;
    double losses[SWEEP_LOSSES];
    int n_losses;
    int64_t steps;
    // sweep_judge sets these:
    double target_seconds; // seconds until the loss reached Sweep.target; NaN: never
    bool over;             // beyond Sweep.limits
    bool pareto;           // no measured point is as good in all goals and better in one
} SweepPoint;

typedef struct SweepLimits { // 0: no limit
    double seconds;          // of a step
    int64_t bytes;           // of a step's peak
} SweepLimits;

typedef struct Sweep {
    SweepAxis axes[SWEEP_AXES];
    int n_axes;
    SweepPoint *points; // owned; row-major: the last axis changes fastest
    int64_t n;
    char unit[16]; // unit of work, "samples"; "units": points differ, rates are not compared
    bool learns;   // each point also trains
    SweepLimits limits;
    // sweep_judge sets these:
    bool by_accuracy; // trainings are judged by accuracy, since all have one; else by loss
    int64_t chosen;   // best point; -1: none. The most accurate training; without training, the
                      // most throughput within the limits, or the knee if there are none.
    double target;    // a loss that at least half of the trainings reached; NaN: none
} Sweep;

// Allocates the points of the axes, all open. STATUS_INVALID_ARGUMENT: there are too many.
Status sweep_begin(Sweep *sweep);
void sweep_free(Sweep *sweep);
void sweep_take_unit(Sweep *sweep, const char *unit); // adds a point's unit
bool sweep_mixes_units(const Sweep *sweep);

// Sets at[i] to the index of the point's value on axis i.
void sweep_place(const Sweep *sweep, int64_t point, int at[SWEEP_AXES]);

// Fills the fields named above. The knee is the point with the greatest throughput / latency
// (Kleinrock's power, 1979): beyond it, latency grows by a larger factor than throughput. For a
// step of a + b n seconds, the knee is n = a / b, at half of the highest possible throughput.
Status sweep_judge(Sweep *sweep);

// A point's cost, seconds of a step or of its training, and its gain: units/s, accuracy, or the
// loss if accuracy is not known. False: the point cannot be drawn.
bool sweep_trade(const Sweep *sweep, int64_t point, double *takes, double *gives);

typedef struct SweepFit {
    int64_t first;      // a point of the line; it gives the values of the other axes
    int64_t from;       // smallest batch used: 1 runs other kernels, and is left out if possible
    double fixed, each; // a step takes fixed + each * batch seconds; both are at least 0
    double error;       // largest relative error when the others predict a point: 0.04 is 4 %
    int64_t batch;      // a batch between measured ones
    double seconds;     // predicted seconds of a step with `batch`
} SweepFit;
// Fits the points that differ from `first` only in `axis` (the batch) by least squares of relative
// errors. If all have a metronome, each time is divided by its own and multiplied by their median.
// False if fewer than three points were measured, if larger batches take no longer, if the error is
// above 25 %, or if there is no such axis.
bool sweep_fit(const Sweep *sweep, int axis, int64_t first, SweepFit *fit);
int sweep_axis(const Sweep *sweep, const char *name); // -1: no such axis

// ---- printing (sweep_print.c) -------------------------------------------------------------------
// Prints a row for each point, a plot of gain over cost, and the predicted time of a batch between
// measured ones, in 80 plain columns. The sweep must be judged (sweep_judge).
void sweep_print(const Sweep *sweep, FILE *file);
// A point's name: "batch 8, threads 2"
enum { SWEEP_NAME = SWEEP_AXES * (16 + SWEEP_TEXT + 4) };
void sweep_name(const Sweep *sweep, int64_t point, char name[SWEEP_NAME]);

#endif
