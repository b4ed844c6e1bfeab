// timed_model.c -- numbers the layers, and lets each take its set time.
#include "exercises/scene/timed_model.h"

#include "exercises/support/input.h"

// ---- lines -------------------------------------------------------------------------------------
#define ROW_FIELD(i) offsetof(ModelTimes, row_us) + (i) * sizeof(int64_t)
static const InputField fields[] = {
    {"t0", ROW_FIELD(0)},
    {"t1", ROW_FIELD(1)},
    {"t2", ROW_FIELD(2)},
    {"t3", ROW_FIELD(3)},
    {"t4", ROW_FIELD(4)},
    {"t5", ROW_FIELD(5)},
    {"t6", ROW_FIELD(6)},
    {"t7", ROW_FIELD(7)},
    {"t8", ROW_FIELD(8)},
    {"t9", ROW_FIELD(9)},
    {"cold", offsetof(ModelTimes, cold_us)},
    {"container", offsetof(ModelTimes, container_us)},
    {"backward", offsetof(ModelTimes, backward_us)},
    {"optimizer", offsetof(ModelTimes, optimizer_us)},
    {"loss", offsetof(ModelTimes, loss_us)},
    {"zero", offsetof(ModelTimes, zero_us)},
    {"count", offsetof(ModelTimes, count_us)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

void model_times_write(const ModelTimes *times, char *text, size_t size) {
    input_write(fields, FIELDS, times, text, size);
}

ModelTimes model_times_read(const char *input) {
    ModelTimes times = {0};
    input_read(fields, FIELDS, input, &times);
    return times;
}

// ---- which layer is which ----------------------------------------------------------------------
static void collect(const Layer *layer, const Layer **layers, int *n) {
    if (layer->n_children == 0) {
        if (layers && *n < TIMED_MOST_ROWS) layers[*n] = layer;
        ++*n;
    }
    for (int i = 0; i < layer->n_children; i++) collect(layer->children[i], layers, n);
}

int model_rows(const Layer *model, const Layer *layers[TIMED_MOST_ROWS]) {
    int n = 0;
    collect(model, layers, &n);
    return n;
}

int model_containers(const Layer *model) {
    int n = model->n_children > 0;
    for (int i = 0; i < model->n_children; i++) n += model_containers(model->children[i]);
    return n;
}

static void enter(TimedModel *timed, const Layer *layer) {
    if (timed->n_layers == TIMED_MOST_LAYERS) return;
    int row = layer->n_children == 0 ? timed->n_rows++ : -1;
    timed->layers[timed->n_layers].layer = layer;
    timed->layers[timed->n_layers++].row = row;
    for (int i = 0; i < layer->n_children; i++) enter(timed, layer->children[i]);
}

void timed_model_start(TimedModel *timed, const Layer *model, ModelTimes times) {
    *timed = (TimedModel){.times = times};
    if (model) enter(timed, model);
}

const Layer *timed_model_layer(const TimedModel *timed, int64_t number) {
    return number >= 0 && number < timed->n_layers ? timed->layers[number].layer : NULL;
}

// ---- time passes -------------------------------------------------------------------------------
// An eighth of the time is spent waiting for other threads, while a processor's clock stands still.
static void work(TimedModel *timed, int64_t microseconds, bool *warm, VirtualTime *time) {
    const int64_t picoseconds = 1000000; // per microsecond
    if (!*warm) microseconds += timed->times.cold_us;
    *warm = true;
    int64_t all = microseconds * picoseconds, waited = all / TIMED_WAITING_PART;
    virtual_time_wait(time, waited);
    virtual_time_work(time, all - waited);
}

// A layer takes its own time, then that of its children, which follow it in `layers`.
void timed_model_forward(TimedModel *timed, int64_t number, VirtualTime *time) {
    if (!timed_model_layer(timed, number)) return;
    const Layer *layer = timed->layers[number].layer;
    int row = timed->layers[number].row;
    bool *warm = &timed->layers[number].warm;
    if (layer->n_children > 0) work(timed, timed->times.container_us, warm, time);
    if (row >= 0 && row < TIMED_MOST_ROWS) work(timed, timed->times.row_us[row], warm, time);
    int64_t child = number + 1;
    for (int i = 0; i < layer->n_children; i++) {
        timed_model_forward(timed, child, time);
        child += model_rows(layer->children[i], NULL) + model_containers(layer->children[i]);
    }
}

void timed_model_backward(TimedModel *timed, VirtualTime *time) {
    work(timed, timed->times.backward_us, &timed->backward_warm, time);
}

void timed_model_optimizer(TimedModel *timed, VirtualTime *time) {
    work(timed, timed->times.optimizer_us, &timed->optimizer_warm, time);
}
