// planted_sweep.c -- fills the points of a grid by a formula.
#include "tests/profiler/compare/planted_sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/expect.h"

static void plant_axis(const char *text, SweepAxis *axis) {
    char copy[2000], *rest, *value;
    snprintf(copy, sizeof copy, "%s", text);
    snprintf(axis->name, sizeof axis->name, "%.15s", strtok_r(copy, "=", &rest));
    while ((value = strtok_r(NULL, ",", &rest)))
        snprintf(axis->values[axis->n++], SWEEP_TEXT, "%.127s", value);
}

Sweep planted_sweep(const char *const axes[], double fixed, double each) {
    Sweep sweep = {.unit = "samples"};
    int at[SWEEP_AXES];
    while (axes[sweep.n_axes]) {
        plant_axis(axes[sweep.n_axes], &sweep.axes[sweep.n_axes]);
        sweep.n_axes++;
    }
    ck_assert_int_eq(sweep_begin(&sweep), STATUS_OK);
    int batch_axis = sweep_axis(&sweep, "batch");
    for (int64_t i = 0; i < sweep.n; i++) {
        sweep_place(&sweep, i, at);
        double batch =
            batch_axis < 0 ? 1.0 : strtod(sweep.axes[batch_axis].values[at[batch_axis]], NULL);
        double seconds = fixed + each * batch;
        sweep.points[i] = (SweepPoint){.state = SWEEP_MEASURED,
                                       .seconds = seconds,
                                       .low = 0.99 * seconds,
                                       .high = 1.01 * seconds,
                                       .units_per_second = batch / seconds,
                                       .peak_bytes = 1000 + (int64_t)(100.0 * batch),
                                       .total_flops = (int64_t)(5000.0 * batch),
                                       .loss = (double)NAN,
                                       .accuracy = (double)NAN,
                                       .train_seconds = (double)NAN};
    }
    return sweep;
}

void planted_training(SweepPoint *point, double loss, double accuracy) {
    point->loss = loss;
    point->accuracy = accuracy;
    point->train_seconds = 0.1;
    point->n_losses = SWEEP_LOSSES;
    for (int i = 0; i < SWEEP_LOSSES; i++) point->losses[i] = loss + 0.01 * (SWEEP_LOSSES - 1 - i);
}
