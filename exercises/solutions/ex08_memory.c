// ex08_memory.c -- exercise 08, solved.
#include "exercises/ex08_memory.h"

#include <string.h>

// ---- a list of events --------------------------------------------------------------------------
// The allocation that makes `id` live before event `end`, or NULL if the id is not live.
static const AllocationEvent *find_live(const AllocationEvent *events, int64_t end, int64_t id) {
    for (int64_t i = end - 1; i >= 0; i--)
        if (events[i].id == id) return events[i].is_free ? NULL : &events[i];
    return NULL;
}

static void add_leaks(const AllocationEvent *events, int64_t count, MemorySummary *summary) {
    for (int64_t i = 0; i < count; i++) {
        const AllocationEvent *event = &events[i];
        if (event->is_free || find_live(events, count, event->id) != event) continue;
        if (event->kind != MEMORY_ACTIVATION && event->kind != MEMORY_WORKSPACE) continue;
        summary->leaked_blocks++;
        summary->leaked_bytes += event->bytes;
    }
}

Status memory_use(const AllocationEvent *events, int64_t count, MemorySummary *summary) {
    int64_t live[MEMORY_KINDS] = {0};
    *summary = (MemorySummary){0};
    for (int64_t i = 0; i < count; i++) {
        const AllocationEvent *event = &events[i], *found = find_live(events, i, event->id);
        if (event->is_free ? !found : found || event->bytes < 0) return STATUS_INVALID_ARGUMENT;
        if (event->is_free) {
            live[found->kind] -= found->bytes;
            summary->live -= found->bytes;
            continue;
        }
        live[event->kind] += event->bytes;
        summary->live += event->bytes;
        summary->total += event->bytes;
        if (summary->live <= summary->peak) continue;
        summary->peak = summary->live;
        memcpy(summary->at_peak, live, sizeof live);
    }
    add_leaks(events, count, summary);
    return STATUS_OK;
}

// ---- a training step ---------------------------------------------------------------------------
enum { FLOAT_BYTES = 4 };

typedef struct Walk {
    Shape shape;         // shape of the current buffer
    bool kept;           // the buffer is counted already, or is data
    bool wants_gradient; // a parameter before it wants a gradient
    int64_t activation_bytes;
} Walk;

static int64_t bytes_of(Shape shape) {
    int64_t bytes = FLOAT_BYTES;
    for (int i = 0; i < shape.ndim; i++) bytes *= shape.dims[i];
    return bytes;
}

static void keep(Walk *walk) {
    if (!walk->kept) walk->activation_bytes += bytes_of(walk->shape);
    walk->kept = true;
}

static void walk_linear(const Layer *layer, Walk *walk) {
    int64_t out = walk->shape.dims[walk->shape.ndim - 1];
    layer_attribute(layer, "out_features", &out);
    bool weight = layer->parameters[0].tensor->flags & TENSOR_LEAF_GRAD;
    if (weight) keep(walk);
    for (int i = 0; i < layer->n_parameters; i++)
        if (layer->parameters[i].tensor->flags & TENSOR_LEAF_GRAD) walk->wants_gradient = true;
    walk->shape.dims[walk->shape.ndim - 1] = out;
    walk->kept = false;
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names) != 0) names++;
    return *names != NULL;
}

static Status walk_layer(const Layer *layer, Walk *walk) {
    static const char *const keep_output[] = {"ReLU", "Sigmoid", "Tanh", NULL};
    const char *name = layer->type->name;
    if (strcmp(name, "Sequential") == 0) {
        Status status = STATUS_OK;
        for (int i = 0; i < layer->n_children && !status; i++)
            status = walk_layer(layer->children[i], walk);
        return status;
    }
    if (strcmp(name, "Linear") == 0) {
        walk_linear(layer, walk);
    } else if (is_one_of(name, keep_output)) {
        walk->kept = false; // a new buffer
        if (walk->wants_gradient) keep(walk);
    } else if (strcmp(name, "GELU") == 0) {
        if (walk->wants_gradient) keep(walk);
        walk->kept = false;
    } else {
        return STATUS_UNKNOWN_OP;
    }
    return STATUS_OK;
}

static void add_parameters(const Layer *layer, TrainingMemory *memory) {
    for (int i = 0; i < layer->n_parameters; i++) {
        const Tensor *parameter = layer->parameters[i].tensor;
        memory->parameter_bytes += FLOAT_BYTES * parameter->numel;
        if (parameter->flags & TENSOR_LEAF_GRAD)
            memory->gradient_bytes += FLOAT_BYTES * parameter->numel;
    }
    for (int i = 0; i < layer->n_children; i++) add_parameters(layer->children[i], memory);
}

Status training_memory(const Layer *model, Shape input, OptimizerKind optimizer,
                       TrainingMemory *memory) {
    static const int64_t states[] = {
        [OPTIMIZER_SGD] = 0, [OPTIMIZER_MOMENTUM] = 1, [OPTIMIZER_ADAM] = 2, [OPTIMIZER_ADAMW] = 2};
    Walk walk = {.shape = input, .kept = true};
    *memory = (TrainingMemory){0};
    Status status = walk_layer(model, &walk);
    if (status) return status;
    add_parameters(model, memory);
    memory->optimizer_bytes = states[optimizer] * memory->gradient_bytes;
    memory->activation_bytes = walk.activation_bytes;
    memory->total_bytes = memory->parameter_bytes + memory->gradient_bytes +
                          memory->optimizer_bytes + memory->activation_bytes;
    return STATUS_OK;
}
