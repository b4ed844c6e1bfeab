// timed_case.c -- models with times: costs from the library's dry run, times drawn.
#include "exercises/course/timed_case.h"

#include <stdio.h>
#include <string.h>

#include "exercises/scene/virtual_time.h"
#include "exercises/support/reference.h"

static const double microsecond = 1e-6;
enum { MOST_CALLS_LISTED = 24, MOST_BLOCKS_LISTED = 8 };

Draw timed_draw(const Draw *draw, int fixed) {
    Draw own = *draw;
    if (draw->run >= fixed) return own;
    own.state[0] = UINT64_C(0x9e3779b97f4a7c15);
    own.state[1] = (uint64_t)draw->run + 1;
    for (int i = 0; i < 8; i++) draw_between(&own, 0, 1); // mixes seeds that differ in few bits
    return own;
}

// ---- what the layers cost ----------------------------------------------------------------------
static Status count_rows(TimedCase *timed, const ModelCase *model) {
    const Layer *layers[TIMED_MOST_ROWS];
    Shape shape = model->input;
    timed->rows = model_rows(model->model, layers);
    timed->containers = model_containers(model->model);
    timed->children = model->model->n_children;
    timed->batch = shape.dims[0];
    for (int i = 0; i < timed->rows && i < TIMED_MOST_ROWS; i++) {
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
    int64_t whole = draw_between(draw, 8000, 30000), weights[TIMED_MOST_ROWS], sum = 0;
    int64_t containers = timed->containers ? whole * draw_between(draw, 80, 140) / 1000 : 0;
    int64_t slowest = whole * draw_between(draw, 540, 620) / 1000;
    if (timed->rows == 1) slowest = whole - containers;
    timed->slowest = (timed->heaviest + (int)draw_between(draw, 1, timed->rows - 1)) % timed->rows;
    for (int i = 0; i < timed->rows; i++) {
        int place = 3 * i % 8; // keeps the times of rows well apart
        weights[i] = i == timed->slowest ? 0 : 200 + 45 * place + draw_between(draw, 0, 20);
        sum += weights[i];
    }
    for (int i = 0; i < timed->rows && sum > 0; i++)
        timed->times.row_us[i] = (whole - slowest - containers) * weights[i] / sum;
    timed->times.row_us[timed->slowest] = slowest;
    if (timed->containers) timed->times.container_us = containers / timed->containers;
    timed->times.cold_us = whole * draw_between(draw, 15, 35) / 10;
}

static void add_times(TimedCase *timed) {
    timed->rows_seconds = 0.0;
    for (int i = 0; i < timed->rows; i++) {
        timed->seconds[i] = microsecond * (double)timed->times.row_us[i];
        timed->rows_seconds += timed->seconds[i];
    }
    timed->cold = microsecond * (double)timed->times.cold_us;
    timed->all_cold = timed->cold * (timed->rows + timed->containers);
    timed->container = microsecond * (double)timed->times.container_us;
    timed->whole = timed->rows_seconds + timed->container * timed->containers;
    int64_t whole_us = (int64_t)(timed->whole / microsecond + 0.5);
    int64_t first_us = whole_us + timed->times.cold_us * (timed->rows + timed->containers);
    timed->event_us = first_us + whole_us / 2;
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

void timed_case_slow(TimedCase *timed, int row) {
    int64_t slowest = timed->times.row_us[timed->slowest];
    timed->times.row_us[timed->slowest] = timed->times.row_us[row];
    timed->times.row_us[row] = slowest;
    timed->slowest = row;
    add_times(timed);
}

void timed_case_tie(TimedCase *timed, int row) {
    int64_t *slowest = &timed->times.row_us[timed->slowest], *other = &timed->times.row_us[row];
    *slowest = *other = (*slowest + *other) / 2;
    add_times(timed);
}

void timed_case_hurry(TimedCase *timed) {
    int64_t least = timed->times.row_us[0];
    for (int i = 1; i < timed->rows; i++)
        if (timed->times.row_us[i] < least) least = timed->times.row_us[i];
    if (timed->containers && timed->times.container_us < least) least = timed->times.container_us;
    timed->times.cold_us = -least / 2;
    add_times(timed);
}

void timed_case_containers(TimedCase *timed) {
    timed->times.container_us = 5 * timed->times.row_us[timed->slowest] / 4;
    add_times(timed);
}

// ---- what the grader, the worker and the student are told --------------------------------------
static VirtualClock clock_of(const TimedCase *timed, Draw *draw) {
    const int64_t second = 1000000000, day = 86400;
    int64_t event_ns = 1000 * timed->event_us;
    return (VirtualClock){.resolution_ns = 1,
                          .reading_ps = 20000,
                          .monotonic_ns = draw_between(draw, day, 10 * day) * second + second -
                                          event_ns % second,
                          .realtime_ns = 20000 * day * second,
                          .set_after_ns = event_ns,
                          .set_by_ns = -TIMED_SET_SECONDS * second};
}

void timed_case_write(const TimedCase *timed, Draw *draw, CaseRun *run) {
    VirtualClock clock = clock_of(timed, draw);
    virtual_clock_write(&clock, run->scene, sizeof run->scene);
    model_times_write(&timed->times, run->scene, sizeof run->scene);
    size_t used = strlen(run->input);
    snprintf(run->input + used, sizeof run->input - used, " model=%s", timed->text);
    line_add(run->shown, "%s; layers take", timed->text);
    for (int i = 0; i < timed->rows; i++) line_add(run->shown, " %.3f", 1e3 * timed->seconds[i]);
    line_add(run->shown, " ms, the whole %.3f", 1e3 * timed->whole);
}

// ---- what goes wrong ---------------------------------------------------------------------------
void timed_mistake_clocks(CaseRun *run, double seconds, bool event) {
    run_mistake_real(run, "cpu_clock",
                     seconds * (TIMED_WAITING_PART - 1) / (double)TIMED_WAITING_PART);
    if (event) run_mistake_real(run, "nanoseconds_only", seconds - 1.0);
    if (event) run_mistake_real(run, "wall_clock", seconds - TIMED_SET_SECONDS);
    run_mistake_real(run, "seconds_only", event ? 1.0 : 0.0);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * seconds);
    run_mistake_real(run, "nanoseconds_for_seconds", 1e9 * seconds);
}

void timed_case_failures(const char *text, Status status, Draw *draw, CaseRun *run) {
    TimedCase timed = {.times = {.container_us = 7, .backward_us = 300, .optimizer_us = 90}};
    snprintf(timed.text, sizeof timed.text, "%s", text);
    for (int i = 0; i < TIMED_MOST_ROWS; i++) timed.times.row_us[i] = draw_between(draw, 40, 90);
    size_t used = strlen(run->input);
    snprintf(run->input + used, sizeof run->input - used, " fail=1");
    timed_case_write(&timed, draw, run);
    snprintf(run->shown, CASE_LINE, "%s", text);
    line_add(run->asked, "the status, while each call fails in turn, the 1st, the 2nd ...");
    line_add(run->formula,
             "STATUS_DEVICE from a call, STATUS_OUT_OF_MEMORY from malloc: given back");
    run_expect_integer(run, "status", status);
    if (status) run_mistake_integer(run, "error_ignored", STATUS_OK);
    run_expect_integer(run, "ignored_call", 0);
    for (int i = 1; i <= MOST_CALLS_LISTED; i++) run_mistake_integer(run, "error_ignored", i);
    run_expect_integer(run, "ignored_allocation", 0);
    for (int i = 1; i <= MOST_BLOCKS_LISTED; i++)
        run_mistake_integer(run, "allocation_unchecked", i);
    run_expect_integer(run, "blocks_left", 0);
    for (int i = 1; i <= MOST_BLOCKS_LISTED; i++) run_mistake_integer(run, "blocks_not_freed", i);
}
