// reference.c -- exercises 02 to 04 by the library: a dry run of the layer itself gives its
// multiply-adds and bytes, the profiler's roofline the bound. No layer's formula is here, except
// that an activation counts 1 per element, which is the textbook's rule and not the library's. Only
// the grader links this file, never a student's program.
#include "exercises/support/reference.h"

#include <string.h>

#include "exercises/scene/flat_roofline.h"
#include "exercises/support/reference_roofline.h"
#include "layers/cost.h"

// The types in the exercises' tables. The library can count more.
static const struct {
    const char *type;
    bool activation;
} known_types[] = {{"Linear", false},    {"Conv2d", false},    {"ReLU", true},
                   {"Sigmoid", true},    {"Tanh", true},       {"GELU", true},
                   {"MaxPool2d", false}, {"AvgPool2d", false}, {"Flatten", false},
                   {"Dropout", false},   {NULL, false}};

typedef struct Count {
    Shape shape;   // shape of the next layer's input
    int64_t flops; // for the whole batch
    Traffic traffic;
} Count;

static Status count_ops(const Layer *layer, bool activation, Count *count) {
    Tensor *x = tensor_new(count->shape, DTYPE_FLOAT32);
    LayerCost cost;
    Status status = x ? layer_cost((Layer *)layer, &x, 1, &cost) : error_status();
    if (!status) {
        OpCost forward = cost.phase[PHASE_FORWARD];
        count->flops += activation ? x->numel : 2 * (int64_t)forward.macs;
        count->traffic.bytes_read += (int64_t)forward.bytes_read;
        count->traffic.bytes_written += (int64_t)forward.bytes_written;
    }
    tensor_free(x);
    return status ? status : layer_output_shape(layer, count->shape, &count->shape);
}

// Adds a layer's counts. A container that is not in the tables is unknown, whatever its children.
static Status count_layer(const Layer *layer, Count *count) {
    Status status = STATUS_OK;
    for (int i = 0; known_types[i].type; i++)
        if (strcmp(layer->type->name, known_types[i].type) == 0)
            return count_ops(layer, known_types[i].activation, count);
    if (strcmp(layer->type->name, "Sequential") != 0) return STATUS_UNKNOWN_OP;
    for (int i = 0; i < layer->n_children && !status; i++)
        status = count_layer(layer->children[i], count);
    return status;
}

// Counts in a context of its own, so that the caller's does not change. If a model has no count,
// the status is the answer, and no error is pending.
static Status count_model(const Layer *model, Shape input, Count *count) {
    *count = (Count){.shape = input};
    Context *context = context_new();
    Status status = error_status();
    if (context) {
        context_push(context);
        context_set_device(device_meta());
        status = count_layer(model, count);
        context_pop();
        context_free(context);
    }
    if (status != STATUS_OUT_OF_MEMORY) error_clear();
    return status;
}

Status reference_count_flops(const Layer *model, Shape input, int64_t *flops) {
    Count count;
    Status status = count_model(model, input, &count);
    if (!status) *flops = input.dims[0] > 0 ? count.flops / input.dims[0] : 0;
    return status;
}

Status reference_count_bytes(const Layer *model, Shape input, Traffic *traffic) {
    Count count;
    Status status = count_model(model, input, &count);
    if (!status) *traffic = count.traffic;
    return status;
}

// ---- the roofline -------------------------------------------------------------------------------
static bool is_ceiling(double value) { return value > 0.0; } // false for NaN

Status reference_roofline(const RooflineInput *input, RooflineResult *result) {
    FlatWork work = {input->flops, input->bytes, input->peak_flops_per_second,
                     input->bytes_per_second, input->measured_seconds};
    bool sound = is_ceiling(work.peak) && is_ceiling(work.bandwidth);
    if (!sound || work.flops < 0 || work.bytes < 1) return STATUS_INVALID_ARGUMENT;
    FlatRoofline roofline = flat_roofline(&work);
    *result = (RooflineResult){.intensity = roofline.intensity,
                               .ridge = roofline.ridge,
                               .roof_seconds = roofline.roof_seconds,
                               .roof_fraction = roofline.roof_fraction,
                               .bound = roofline.compute_bound ? COMPUTE_BOUND : MEMORY_BOUND};
    return STATUS_OK;
}
