// timed_model.h -- a model whose layers take as much virtual time as a case says: the right times
// are known, and no formula of FLOPs can replace measuring. A worker reports the layer that it ran;
// the grader, which has the same model, lets the time pass.
#ifndef EXERCISES_SCENE_TIMED_MODEL_H
#define EXERCISES_SCENE_TIMED_MODEL_H

#include "exercises/scene/virtual_time.h"
#include "layers/layer.h"

enum { TIMED_MOST_ROWS = 10, TIMED_MOST_LAYERS = 64, TIMED_WAITING_PART = 8 };

typedef struct ModelTimes { // microseconds of virtual time
    // Time of each layer without children, in the order in which they run. The first call of each
    // layer, with children or without, takes cold_us more: memory is touched for the first time,
    // tables are built.
    int64_t row_us[TIMED_MOST_ROWS];
    int64_t cold_us;
    int64_t container_us; // own time of each layer with children
    // Times for the whole model; the first call of each takes cold_us more.
    int64_t backward_us, optimizer_us;
    int64_t loss_us, zero_us; // the loss, zero_grad; the first call takes no longer
    int64_t count_us;         // a count: FLOPs, bytes, the roofline
} ModelTimes;

// Append " t0=... t1=..." to `text`, and read the times back.
void model_times_write(const ModelTimes *times, char *text, size_t size);
ModelTimes model_times_read(const char *input);

typedef struct TimedModel {
    ModelTimes times;
    struct {
        const Layer *layer;
        int row; // index among the layers without children; -1: it has children
        bool warm;
    } layers[TIMED_MOST_LAYERS]; // by a worker's numbers: each layer before its children
    int n_layers, n_rows;
    bool backward_warm, optimizer_warm;
} TimedModel;

// Starts with a model, which must outlive `timed`; NULL: no model.
void timed_model_start(TimedModel *timed, const Layer *model, ModelTimes times);
void timed_model_forward(TimedModel *timed, int64_t number, VirtualTime *time);
void timed_model_backward(TimedModel *timed, VirtualTime *time);
void timed_model_optimizer(TimedModel *timed, VirtualTime *time);
const Layer *timed_model_layer(const TimedModel *timed, int64_t number); // NULL: no such layer

// The number of a model's layers without children (at most TIMED_MOST_ROWS go into `layers`, which
// may be NULL), and of its layers with children.
int model_rows(const Layer *model, const Layer *layers[TIMED_MOST_ROWS]);
int model_containers(const Layer *model);

#endif
