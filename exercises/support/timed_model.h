// timed_model.h -- a model that takes as much virtual time as a case says, layer by layer: what is
// measured is then known, and no formula of FLOPs can replace measuring.
//
// layer_forward, autograd_backward and optimizer_step in a student's object are these lab_
// functions (the object's symbols are redefined). They run the real ones, and let time pass.
#ifndef EXERCISES_SUPPORT_TIMED_MODEL_H
#define EXERCISES_SUPPORT_TIMED_MODEL_H

#include <stddef.h>

#include "layers/train/optimizer.h"

enum { TIMED_MOST_LAYERS = 10 };

typedef struct TimedModel { // microseconds of virtual time
    // Of each layer without children, in the order in which they run. The first call of each takes
    // cold_us more: memory that is touched for the first time, tables that are built.
    int64_t layer_us[TIMED_MOST_LAYERS];
    int64_t cold_us;
    int64_t container_us;              // of each layer with children, besides them
    int64_t backward_us, optimizer_us; // of the whole model; the first of each takes cold_us more
} TimedModel;

// Adds " t0=... t1=..." to what `text` holds; and back.
void timed_model_write(const TimedModel *times, char *text, size_t size);
TimedModel timed_model_read(const char *input);

// From now on this thread's models take these times; `model` says which layer is which.
void timed_model_start(const Layer *model, TimedModel times);

// Layers of a model without children (at most TIMED_MOST_LAYERS go into `layers`, which may be
// NULL), and those with children.
int timed_model_layers(const Layer *model, const Layer *layers[TIMED_MOST_LAYERS]);
int timed_model_containers(const Layer *model);

// What a student's code calls.
Tensor *lab_layer_forward(Layer *self, Tensor *x);
Status lab_autograd_backward(Tensor *loss);
Status lab_optimizer_step(Optimizer *optimizer);

#endif
