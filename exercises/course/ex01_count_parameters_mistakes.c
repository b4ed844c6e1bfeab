// ex01_count_parameters_mistakes.c -- the wrong counts of known mistakes. Each is the library's
// count of another model, made from the same text and then changed.
#include "exercises/course/parts.h"

#include <string.h>

#include "exercises/support/model_line.h"
#include "exercises/support/worker.h"
#include "profiler/session/profiler.h"

// ---- changes of one layer ----------------------------------------------------------------------
static bool is_bias(const Parameter *parameter) { return strcmp(parameter->name, "bias") == 0; }

static void set(Parameter *parameter, Tensor *tensor) {
    if (!tensor) return; // the error is pending
    tensor_free(parameter->tensor);
    parameter->tensor = tensor;
}

static void remove_parameter(Layer *layer, int index) {
    Tensor *none = tensor_new(SHAPE(0), DTYPE_FLOAT32);
    set(&layer->parameters[index], none);
}

static void drop_biases(Layer *layer) {
    for (int i = 0; i < layer->n_parameters; i++)
        if (is_bias(&layer->parameters[i])) remove_parameter(layer, i);
}

static void resize_bias(Layer *layer, int64_t size) {
    for (int i = 0; i < layer->n_parameters; i++)
        if (is_bias(&layer->parameters[i]))
            set(&layer->parameters[i], tensor_new(SHAPE(size), DTYPE_FLOAT32));
}

static void one_bias(Layer *layer) { resize_bias(layer, 1); }

static void bias_of_inputs(Layer *layer) {
    int64_t in;
    if (layer_attribute(layer, "in_features", &in) || layer_attribute(layer, "in_channels", &in))
        resize_bias(layer, in);
}

static void untie(Layer *layer) {
    for (int i = 0; i < layer->n_parameters; i++)
        set(&layer->parameters[i],
            tensor_new(tensor_shape(layer->parameters[i].tensor), DTYPE_FLOAT32));
}

static void drop_all(Layer *layer) {
    for (int i = 0; i < layer->n_parameters; i++) remove_parameter(layer, i);
}

static void drop_unless_linear(Layer *layer) {
    if (strcmp(layer->type->name, "Linear") != 0) drop_all(layer);
}

static void drop_unless_product(Layer *layer) {
    if (strcmp(layer->type->name, "Conv2d") != 0) drop_unless_linear(layer);
}

static void drop_third(Layer *layer) {
    for (int i = 2; i < layer->n_parameters; i++) remove_parameter(layer, i);
}

// ---- changes of a tree -------------------------------------------------------------------------
static void each(Layer *layer, int depth, int least, void (*change)(Layer *layer)) {
    if (depth >= least) change(layer);
    for (int i = 0; i < layer->n_children; i++) each(layer->children[i], depth + 1, least, change);
}

// Replaces every tensor by the first tensor of its shape.
static void merge(Layer *layer, const ParameterList *list) {
    for (int i = 0; i < layer->n_parameters; i++) {
        int first = 0;
        while (!shape_equal(list->items[first].tensor->shape, layer->parameters[i].tensor->shape))
            first++;
        set(&layer->parameters[i], tensor_retain(list->items[first].tensor));
    }
    for (int i = 0; i < layer->n_children; i++) merge(layer->children[i], list);
}

// ---- the mistakes ------------------------------------------------------------------------------
static const struct {
    const char *name;
    void (*change)(Layer *layer);
    int least; // fewest levels below the model
} changes[] = {{"tied_counted_twice", untie, 0},
               {"two_parameters_only", drop_third, 0},
               {"bias_forgotten", drop_biases, 0},
               {"bias_per_input", bias_of_inputs, 0},
               {"bias_as_one", one_bias, 0},
               {"children_ignored", drop_all, 1},
               {"nested_ignored", drop_all, 2},
               {"known_layers_only", drop_unless_linear, 0},
               {"known_layers_only", drop_unless_product, 0}};

static Status add_changed(const char *text, CaseRun *run) {
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        Shape input;
        Layer *other = model_from_line(text, &input);
        if (!other) return error_status();
        each(other, 0, changes[i].least, changes[i].change);
        if (!error_pending())
            run_mistake_integer(run, changes[i].name, profiler_count_parameters(other));
        layer_free(other);
    }
    return error_status();
}

static void add_merged(Layer *model, const ParameterList *list, CaseRun *run) {
    for (int i = 0; i < list->count; i++) tensor_retain(list->items[i].tensor);
    merge(model, list);
    for (int i = 0; i < list->count; i++) tensor_free(list->items[i].tensor);
    if (!error_pending())
        run_mistake_integer(run, "equal_shapes_merged", profiler_count_parameters(model));
}

// Equal wrong values take the name of the first mistake, so the likelier mistake comes first.
static void add_counts(Layer *model, const ParameterList *list, CaseRun *run) {
    int64_t count = profiler_count_parameters(model), last = 0, last_child = 0;
    if (list->count > 0) last = list->items[list->count - 1].tensor->numel;
    if (model->n_children > 0)
        last_child = profiler_count_parameters(model->children[model->n_children - 1]);
    run_mistake_integer(run, "frozen_skipped", layer_trainable_count(model));
    add_merged(model, list, run);
    if (list->count > 0) run_mistake_integer(run, "sum_overwritten", last);
    if (model->n_children > 0) run_mistake_integer(run, "sum_overwritten", last_child);
    run_mistake_integer(run, "tensors_counted", list->count);
    run_mistake_integer(run, "bytes_for_elements", 4 * count);
    run_mistake_integer(run, "integer_overflow", (int32_t)count);
    run_mistake_integer(run, "integer_overflow", (uint32_t)count);
    run_mistake_integer(run, "rounded_count", (int64_t)(float)count);
    run_mistake_integer(run, "rounded_count", (int64_t)(double)count);
    run_mistake_integer(run, "sum_not_started", POISON_INTEGER + count);
}

Status add_parameter_mistakes(const char *text, CaseRun *run) {
    Shape input;
    ParameterList list;
    Status status = add_changed(text, run);
    Layer *model = status ? NULL : model_from_line(text, &input);
    if (!model) return error_status();
    status = layer_parameters(model, &list);
    if (!status) add_counts(model, &list, run);
    if (!status) parameter_list_free(&list);
    layer_free(model);
    return error_status();
}

Status add_other_model(const char *name, const char *text, CaseRun *run) {
    Shape input;
    Layer *model = model_from_line(text, &input);
    if (!model) return error_status();
    run_mistake_integer(run, name, profiler_count_parameters(model));
    layer_free(model);
    return STATUS_OK;
}
