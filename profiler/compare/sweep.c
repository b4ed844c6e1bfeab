// sweep.c -- finds the best points of a grid, and fits a line through the latencies of batches.
#include "profiler/compare/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"
#include "tensor/status.h"

// ---- the grid ----------------------------------------------------------------------------------
Status sweep_begin(Sweep *sweep) {
    sweep->n = 1;
    for (int a = 0; a < sweep->n_axes; a++) sweep->n *= sweep->axes[a].n; // at most 64^4
    if (sweep->n > SWEEP_POINTS)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--sweep: %lld points, more than %d. HINT: fewer values",
                         (long long)sweep->n, SWEEP_POINTS);
    sweep->points = memory_new((size_t)sweep->n * sizeof(SweepPoint));
    return error_status();
}

void sweep_free(Sweep *sweep) {
    memory_free(sweep->points);
    sweep->points = NULL;
}

static const char mixed[] = "units";

void sweep_take_unit(Sweep *sweep, const char *unit) {
    bool other = sweep->unit[0] && strcmp(sweep->unit, unit) != 0;
    snprintf(sweep->unit, sizeof(sweep->unit), "%s", other ? mixed : unit);
}

bool sweep_mixes_units(const Sweep *sweep) { return strcmp(sweep->unit, mixed) == 0; }

void sweep_place(const Sweep *sweep, int64_t point, int at[SWEEP_AXES]) {
    for (int a = sweep->n_axes - 1; a >= 0; a--) {
        at[a] = (int)(point % sweep->axes[a].n);
        point /= sweep->axes[a].n;
    }
}

int sweep_axis(const Sweep *sweep, const char *name) {
    for (int a = 0; a < sweep->n_axes; a++)
        if (strcmp(sweep->axes[a].name, name) == 0) return a;
    return -1;
}

// ---- the best points ---------------------------------------------------------------------------
enum { GOALS = 3 };

// The goals, each to be minimised.
static void goals_of(const Sweep *sweep, const SweepPoint *point, double goals[GOALS]) {
    if (sweep->learns) {
        goals[0] = point->train_seconds;
        goals[1] = sweep->by_accuracy ? -point->accuracy : point->loss;
    } else {
        goals[0] = point->seconds;
        goals[1] = sweep_mixes_units(sweep) ? 0.0 : -point->units_per_second;
    }
    goals[2] = (double)point->peak_bytes;
}

static bool is_candidate(const Sweep *sweep, const SweepPoint *point) {
    return point->state == SWEEP_MEASURED &&
           (sweep->learns ? !isnan(point->loss) : point->seconds > 0.0);
}

// True if `one` is at least as good in all goals, and better in one.
static bool beats(const Sweep *sweep, const SweepPoint *one, const SweepPoint *other) {
    double a[GOALS], b[GOALS];
    bool better = false;
    goals_of(sweep, one, a);
    goals_of(sweep, other, b);
    for (int g = 0; g < GOALS; g++) {
        if (a[g] > b[g]) return false;
        better = better || a[g] < b[g];
    }
    return better;
}

static bool is_within(const SweepPoint *point, const SweepLimits *limits) {
    return (limits->seconds <= 0.0 || point->seconds <= limits->seconds) &&
           (limits->bytes == 0 || point->peak_bytes <= limits->bytes);
}

// The value that the chosen point maximises.
static double worth_of(const Sweep *sweep, const SweepPoint *point) {
    const SweepLimits *limits = &sweep->limits;
    if (sweep->learns) return sweep->by_accuracy ? point->accuracy : -point->loss;
    if (sweep_mixes_units(sweep)) return -point->seconds;
    if (limits->seconds > 0.0 || limits->bytes > 0) return point->units_per_second;
    return point->units_per_second / point->seconds;
}

bool sweep_trade(const Sweep *sweep, int64_t point, double *takes, double *gives) {
    const SweepPoint *p = &sweep->points[point];
    *takes = sweep->learns ? p->train_seconds : p->seconds;
    *gives = !sweep->learns ? p->units_per_second : sweep->by_accuracy ? p->accuracy : p->loss;
    return p->state == SWEEP_MEASURED && *takes > 0.0 && *gives > 0.0; // not NaN
}

// ---- when a loss was reached -------------------------------------------------------------------
static int by_value(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

// The median of the trainings' final losses; the higher of the middle two for an even number.
static double target_of(const Sweep *sweep) {
    double *last = memory_new((size_t)sweep->n * sizeof(double)), target = (double)NAN;
    int64_t n = 0;
    for (int64_t i = 0; last && i < sweep->n; i++) {
        const SweepPoint *point = &sweep->points[i];
        if (is_candidate(sweep, point) && point->n_losses > 0)
            last[n++] = point->losses[point->n_losses - 1];
    }
    if (n > 0) qsort(last, (size_t)n, sizeof(double), by_value);
    if (n > 0) target = last[n / 2];
    memory_free(last);
    return target;
}

// Part i of the losses ends with step (i + 1) * steps / parts, rounded up; with few steps, several
// parts are the same step.
static double seconds_until(const SweepPoint *point, double target) {
    int64_t steps = point->steps > 0 ? point->steps : point->n_losses;
    for (int i = 0; i < point->n_losses; i++) {
        int64_t step = ((i + 1) * steps + point->n_losses - 1) / point->n_losses;
        if (point->losses[i] <= target) return point->train_seconds * (double)step / (double)steps;
    }
    return (double)NAN;
}

static bool is_pareto(const Sweep *sweep, const SweepPoint *point) {
    for (int64_t i = 0; i < sweep->n; i++)
        if (is_candidate(sweep, &sweep->points[i]) && beats(sweep, &sweep->points[i], point))
            return false;
    return true;
}

Status sweep_judge(Sweep *sweep) {
    sweep->chosen = -1;
    sweep->by_accuracy = true;
    for (int64_t i = 0; i < sweep->n; i++)
        if (is_candidate(sweep, &sweep->points[i]) && isnan(sweep->points[i].accuracy))
            sweep->by_accuracy = false;
    sweep->target = sweep->learns ? target_of(sweep) : (double)NAN;
    for (int64_t i = 0; i < sweep->n; i++) {
        SweepPoint *point = &sweep->points[i];
        bool candidate = is_candidate(sweep, point);
        point->target_seconds = seconds_until(point, sweep->target);
        point->pareto = candidate && is_pareto(sweep, point);
        point->over = point->state == SWEEP_MEASURED && !is_within(point, &sweep->limits);
        if (!candidate || point->over) continue;
        const SweepPoint *best = sweep->chosen < 0 ? NULL : &sweep->points[sweep->chosen];
        if (!best || worth_of(sweep, point) > worth_of(sweep, best)) sweep->chosen = i;
    }
    return error_status();
}

// ---- latency of a batch ------------------------------------------------------------------------
typedef struct Sample {
    double batch, seconds, beat;
} Sample;

// Least squares of (fixed + each * batch) / seconds - 1, without sample `out` (-1: all samples).
static bool fit_line(const Sample *samples, int n, int out, double *fixed, double *each) {
    double s = 0.0, sx = 0.0, sxx = 0.0, sy = 0.0, sxy = 0.0; // weighted by 1 / seconds^2
    for (int i = 0; i < n; i++) {
        if (i == out) continue;
        double w = 1.0 / (samples[i].seconds * samples[i].seconds), x = samples[i].batch;
        s += w;
        sx += w * x;
        sxx += w * x * x;
        sy += w * samples[i].seconds;
        sxy += w * x * samples[i].seconds;
    }
    double determinant = s * sxx - sx * sx;
    if (!(determinant > 1e-9 * s * sxx)) return false; // only one batch
    *each = (s * sxy - sx * sy) / determinant;
    *fixed = (sy - *each * sx) / s;
    if (*fixed < 0.0) { // use the best line through 0 instead
        *fixed = 0.0;
        *each = sxy / sxx;
    }
    return *each > 0.0;
}

static int by_batch(const void *left, const void *right) {
    const Sample *a = left, *b = right;
    return (a->batch > b->batch) - (a->batch < b->batch);
}

static int by_beat(const void *left, const void *right) {
    const Sample *a = left, *b = right;
    return (a->beat > b->beat) - (a->beat < b->beat);
}

static int64_t stride_of(const Sweep *sweep, int axis) {
    int64_t stride = 1;
    for (int a = sweep->n_axes - 1; a > axis; a--) stride *= sweep->axes[a].n;
    return stride;
}

// The geometric middle of the widest gap, measured as a ratio.
static int64_t unseen_between(const Sample *samples, int n) {
    double widest = 0.0;
    int64_t batch = 0;
    for (int i = 0; i + 1 < n; i++) {
        double ratio = samples[i + 1].batch / samples[i].batch;
        int64_t middle = (int64_t)(sqrt(samples[i].batch * samples[i + 1].batch) + 0.5);
        bool between = (double)middle > samples[i].batch && (double)middle < samples[i + 1].batch;
        if (!between || ratio <= widest) continue;
        widest = ratio;
        batch = middle;
    }
    return batch > 0 ? batch : 2 * (int64_t)samples[n - 1].batch;
}

// The machine's speed changes from point to point: scales all times to its median speed.
static void divide_by_beats(Sample *samples, int n) {
    qsort(samples, (size_t)n, sizeof(Sample), by_beat);
    if (n == 0 || !(samples[0].beat > 0.0)) return; // some have none
    double median = 0.5 * (samples[(n - 1) / 2].beat + samples[n / 2].beat);
    for (int i = 0; i < n; i++) samples[i].seconds *= median / samples[i].beat;
}

bool sweep_fit(const Sweep *sweep, int axis, int64_t first, SweepFit *fit) {
    enum { LEAST_SAMPLES = 3 };
    const double most_error = 0.25; // beyond it, the line predicts nothing
    Sample samples[SWEEP_VALUES];
    int n = 0;
    if (axis < 0) return false;
    for (int v = 0; v < sweep->axes[axis].n; v++) {
        const SweepPoint *point = &sweep->points[first + v * stride_of(sweep, axis)];
        double batch = strtod(sweep->axes[axis].values[v], NULL);
        if (point->state != SWEEP_MEASURED || !(point->seconds > 0.0) || !(batch > 0.0)) continue;
        samples[n++] = (Sample){batch, point->seconds, point->beat};
    }
    divide_by_beats(samples, n);
    qsort(samples, (size_t)n, sizeof(Sample), by_batch);
    const Sample *from = samples; // a batch of one sample runs other kernels
    if (n > LEAST_SAMPLES && samples[0].batch == 1.0) from++, n--;
    *fit = (SweepFit){.first = first, .from = n > 0 ? (int64_t)from->batch : 0};
    if (n < LEAST_SAMPLES || !fit_line(from, n, -1, &fit->fixed, &fit->each)) return false;
    for (int i = 0; i < n; i++) {
        double fixed, each;
        bool foretold = fit_line(from, n, i, &fixed, &each);
        double predicted = foretold ? fixed + each * from[i].batch : 0.0;
        fit->error = fmax(fit->error, fabs(predicted / from[i].seconds - 1.0));
    }
    fit->batch = unseen_between(from, n);
    fit->seconds = fit->fixed + fit->each * (double)fit->batch;
    return fit->error <= most_error;
}
