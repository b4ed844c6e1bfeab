// timed_case.c -- models with times: costs from the library's dry run, times drawn.
#include "exercises/course/timed_case.h"

#include <stdio.h>
#include <string.h>

#include "exercises/support/reference.h"
#include "exercises/support/virtual_work.h"

static const double microsecond = 1e-6;

// ---- what the layers cost ----------------------------------------------------------------------
static Status count_rows(TimedCase *timed, const ModelCase *model) {
    const Layer *layers[TIMED_MOST_LAYERS];
    Shape shape = model->input;
    timed->rows = timed_model_layers(model->model, layers);
    timed->containers = timed_model_containers(model->model);
    timed->children = model->model->n_children;
    timed->batch = shape.dims[0];
    for (int i = 0; i < timed->rows && i < TIMED_MOST_LAYERS; i++) {
        Traffic traffic;
        Status status = reference_count_flops(layers[i], shape, &timed->flops[i]);
        if (!status) status = reference_count_bytes(layers[i], shape, &traffic);
        if (!status) status = layer_output_shape(layers[i], shape, &shape);
        if (status) return error_set(status, "exercise cases: a layer of %s", timed->text);
        timed->bytes[i] = traffic.bytes_read + traffic.bytes_written;
        if (timed->flops[i] > timed->flops[timed->heaviest]) timed->heaviest = i;
    }
    return STATUS_OK;
}

// ---- what they take ----------------------------------------------------------------------------
static void draw_times(TimedCase *timed, Draw *draw) {
    int64_t whole = draw_between(draw, 8000, 30000), weights[TIMED_MOST_LAYERS], sum = 0;
    int64_t slowest = whole * draw_between(draw, 540, 620) / 1000;
    int64_t containers = whole * draw_between(draw, 80, 140) / 1000;
    timed->slowest = (timed->heaviest + (int)draw_between(draw, 1, timed->rows - 1)) % timed->rows;
    for (int i = 0; i < timed->rows; i++) {
        weights[i] = i == timed->slowest ? 0 : draw_between(draw, 300, 400);
        sum += weights[i];
    }
    for (int i = 0; i < timed->rows; i++)
        timed->times.layer_us[i] = (whole - slowest - containers) * weights[i] / sum;
    timed->times.layer_us[timed->slowest] = slowest;
    timed->times.container_us = containers / timed->containers;
    timed->times.cold_us = whole * draw_between(draw, 15, 35) / 10;
}

static void add_times(TimedCase *timed) {
    timed->rows_seconds = 0.0;
    for (int i = 0; i < timed->rows; i++) {
        timed->seconds[i] = microsecond * (double)timed->times.layer_us[i];
        timed->rows_seconds += timed->seconds[i];
    }
    timed->cold = microsecond * (double)timed->times.cold_us;
    timed->container = microsecond * (double)timed->times.container_us;
    timed->whole = timed->rows_seconds + timed->container * timed->containers;
}

Status timed_case_draw(TimedCase *timed, const char *text, Draw *draw) {
    ModelCase model;
    CaseRun unused;
    *timed = (TimedCase){0};
    memset(&unused, 0, sizeof unused);
    snprintf(timed->text, sizeof timed->text, "%s", text);
    Status status = model_case_begin(&model, text, &unused);
    if (!status) status = count_rows(timed, &model);
    status = model_case_end(&model, status);
    if (status) return status;
    draw_times(timed, draw);
    add_times(timed);
    return STATUS_OK;
}

// ---- what the worker and the student are told --------------------------------------------------
void timed_case_write(const TimedCase *timed, Draw *draw, CaseRun *run) {
    VirtualClock clock = {.resolution_ns = 1,
                          .reading_ps = 20000,
                          .monotonic_ns = draw_between(draw, 1, 900000000000)};
    virtual_clock_write(&clock, run->input, sizeof run->input);
    timed_model_write(&timed->times, run->input, sizeof run->input);
    size_t used = strlen(run->input);
    snprintf(run->input + used, sizeof run->input - used, " model=%s", timed->text);
    line_add(run->shown, "%s; layers take", timed->text);
    for (int i = 0; i < timed->rows; i++) line_add(run->shown, " %.3f", 1e3 * timed->seconds[i]);
    line_add(run->shown, " ms, the whole %.3f", 1e3 * timed->whole);
}
