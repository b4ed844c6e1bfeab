// timed_model.h -- a model that takes as much virtual time as a case says, layer by layer: what is
// measured is then known, and no formula of FLOPs can replace measuring. A worker tells which layer
// it ran; the grader, which has the same model, lets the time pass.
#ifndef EXERCISES_SCENE_TIMED_MODEL_H
#define EXERCISES_SCENE_TIMED_MODEL_H

#include "exercises/scene/virtual_time.h"
#include "layers/layer.h"

enum { TIMED_MOST_ROWS = 10, TIMED_MOST_LAYERS = 64, TIMED_WAITING_PART = 8 };

typedef struct ModelTimes { // microseconds of virtual time
    // Of each layer without children, in the order in which they run. The first call of each layer,
    // with children or without, takes cold_us more: memory that is touched for the first time,
    // tables that are built.
    int64_t row_us[TIMED_MOST_ROWS];
    int64_t cold_us;
    int64_t container_us; // of each layer with children, besides them
    // Of the whole model; the first of each takes cold_us more.
    int64_t backward_us, optimizer_us;
    int64_t loss_us, zero_us; // of the loss, of zero_grad; warm at once
    int64_t count_us;         // of a count: FLOPs, bytes, the roofline
} ModelTimes;

// Adds " t0=... t1=..." to what `text` holds; and back.
void model_times_write(const ModelTimes *times, char *text, size_t size);
ModelTimes model_times_read(const char *input);

typedef struct TimedModel {
    ModelTimes times;
    struct {
        const Layer *layer;
        int row; // its place among those without children; -1: it has some
        bool warm;
    } layers[TIMED_MOST_LAYERS]; // each before its children: a worker's numbers
    int n_layers, n_rows;
    bool backward_warm, optimizer_warm;
} TimedModel;

// Of a model that outlives it; NULL: none.
void timed_model_start(TimedModel *timed, const Layer *model, ModelTimes times);
void timed_model_forward(TimedModel *timed, int64_t number, VirtualTime *time);
void timed_model_backward(TimedModel *timed, VirtualTime *time);
void timed_model_optimizer(TimedModel *timed, VirtualTime *time);
const Layer *timed_model_layer(const TimedModel *timed, int64_t number); // NULL: there is none

// Layers of a model without children (at most TIMED_MOST_ROWS go into `layers`, which may be NULL),
// and those with children.
int model_rows(const Layer *model, const Layer *layers[TIMED_MOST_ROWS]);
int model_containers(const Layer *model);

#endif
