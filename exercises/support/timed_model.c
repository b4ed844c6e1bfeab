// timed_model.c -- the real forward, backward and optimizer, and the time they are said to take.
#include "exercises/support/timed_model.h"

#include "exercises/support/input.h"
#include "exercises/support/virtual_clock.h"

enum { PICOSECONDS_PER_MICROSECOND = 1000000 };

static _Thread_local struct {
    TimedModel times;
    const Layer *layers[TIMED_MOST_LAYERS];
    int n_layers;
    bool warm[TIMED_MOST_LAYERS], backward_warm, optimizer_warm;
} state;

// ---- input lines -------------------------------------------------------------------------------
#define LAYER_FIELD(i) offsetof(TimedModel, layer_us) + (i) * sizeof(int64_t)
static const InputField fields[] = {
    {"t0", LAYER_FIELD(0)},
    {"t1", LAYER_FIELD(1)},
    {"t2", LAYER_FIELD(2)},
    {"t3", LAYER_FIELD(3)},
    {"t4", LAYER_FIELD(4)},
    {"t5", LAYER_FIELD(5)},
    {"t6", LAYER_FIELD(6)},
    {"t7", LAYER_FIELD(7)},
    {"t8", LAYER_FIELD(8)},
    {"t9", LAYER_FIELD(9)},
    {"cold", offsetof(TimedModel, cold_us)},
    {"container", offsetof(TimedModel, container_us)},
    {"backward", offsetof(TimedModel, backward_us)},
    {"optimizer", offsetof(TimedModel, optimizer_us)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

void timed_model_write(const TimedModel *times, char *text, size_t size) {
    input_write(fields, FIELDS, times, text, size);
}

TimedModel timed_model_read(const char *input) {
    TimedModel times = {0};
    input_read(fields, FIELDS, input, &times);
    return times;
}

// ---- which layer is which ----------------------------------------------------------------------
static void collect(const Layer *layer, const Layer **layers, int *n) {
    if (layer->n_children == 0) {
        if (layers && *n < TIMED_MOST_LAYERS) layers[*n] = layer;
        ++*n;
    }
    for (int i = 0; i < layer->n_children; i++) collect(layer->children[i], layers, n);
}

int timed_model_layers(const Layer *model, const Layer *layers[TIMED_MOST_LAYERS]) {
    int n = 0;
    collect(model, layers, &n);
    return n;
}

int timed_model_containers(const Layer *model) {
    int n = model->n_children > 0;
    for (int i = 0; i < model->n_children; i++) n += timed_model_containers(model->children[i]);
    return n;
}

void timed_model_start(const Layer *model, TimedModel times) {
    int n = timed_model_layers(model, state.layers);
    state.n_layers = n < TIMED_MOST_LAYERS ? n : TIMED_MOST_LAYERS;
    state.times = times;
    state.backward_warm = state.optimizer_warm = false;
    for (int i = 0; i < TIMED_MOST_LAYERS; i++) state.warm[i] = false;
}

// ---- time passes -------------------------------------------------------------------------------
static void work(int64_t microseconds, bool *warm) {
    if (!*warm) microseconds += state.times.cold_us;
    *warm = true;
    virtual_clock_work(microseconds * PICOSECONDS_PER_MICROSECOND);
}

static void work_forward(const Layer *layer) {
    if (layer->n_children > 0)
        virtual_clock_work(state.times.container_us * PICOSECONDS_PER_MICROSECOND);
    for (int i = 0; i < layer->n_children; i++) work_forward(layer->children[i]);
    for (int i = 0; i < state.n_layers; i++)
        if (state.layers[i] == layer) work(state.times.layer_us[i], &state.warm[i]);
}

Tensor *lab_layer_forward(Layer *self, Tensor *x) {
    Tensor *y = layer_forward(self, x);
    if (y) work_forward(self);
    return y;
}

Status lab_autograd_backward(Tensor *loss) {
    Status status = autograd_backward(loss);
    if (!status) work(state.times.backward_us, &state.backward_warm);
    return status;
}

Status lab_optimizer_step(Optimizer *optimizer) {
    Status status = optimizer_step(optimizer);
    if (!status) work(state.times.optimizer_us, &state.optimizer_warm);
    return status;
}
