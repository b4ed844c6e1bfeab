// ex01_count_parameters_formula.c -- parameters by hand: a walk, and at each tensor the question
// whether and as what it counts.
#include "exercises/course/ex01_count_parameters_formula.h"

#include <string.h>

const char *const parameter_slip_names[PARAMETER_RIGHT] = {
#define PARAMETER_SLIP_NAME(name) [PARAMETER_##name] = #name,
    PARAMETER_SLIP_LIST(PARAMETER_SLIP_NAME)
#undef PARAMETER_SLIP_NAME
};

enum { MOST_TENSORS = 64 };

typedef struct Walk {
    ParameterSlip slip;
    const Tensor *seen[MOST_TENSORS];
    int n_seen;
    int64_t total;
    char *text;
} Walk;

static bool is_new(const Walk *walk, const Tensor *tensor) {
    for (int i = 0; i < walk->n_seen; i++) {
        const Tensor *other = walk->seen[i];
        if (walk->slip == PARAMETER_equal_shapes_merged ? tensor_same_shape(other, tensor)
                                                        : other == tensor)
            return walk->slip == PARAMETER_tied_counted_twice;
    }
    return true;
}

static bool counts(const Walk *walk, const Layer *layer, const Parameter *parameter) {
    bool bias = strcmp(parameter->name, "bias") == 0;
    if (walk->slip == PARAMETER_bias_forgotten && bias) return false;
    if (walk->slip == PARAMETER_frozen_skipped && !(parameter->tensor->flags & TENSOR_LEAF_GRAD))
        return false;
    if (walk->slip == PARAMETER_known_layers_only && strcmp(layer->type->name, "Linear") != 0)
        return false;
    return is_new(walk, parameter->tensor);
}

static int64_t worth(const Walk *walk, const Layer *layer, const Parameter *parameter) {
    int64_t count = parameter->tensor->numel, in;
    bool bias = strcmp(parameter->name, "bias") == 0;
    if (walk->slip == PARAMETER_bias_as_one && bias) return 1;
    if (walk->slip == PARAMETER_bias_per_input && bias &&
        layer_attribute(layer, "in_features", &in))
        return in;
    if (walk->slip == PARAMETER_tensors_counted) return 1;
    return walk->slip == PARAMETER_bytes_for_elements ? 4 * count : count;
}

static void add(Walk *walk, const Layer *layer, const Parameter *parameter) {
    if (!counts(walk, layer, parameter)) return;
    if (walk->text) {
        Shape shape = tensor_shape(parameter->tensor);
        line_add(walk->text, "%s", walk->n_seen ? " + " : "");
        for (int i = 0; i < shape.ndim; i++)
            line_add(walk->text, "%s%lld", i ? "*" : "", (long long)shape.dims[i]);
    }
    if (walk->slip == PARAMETER_sum_overwritten) walk->total = 0;
    walk->total += worth(walk, layer, parameter);
    if (walk->n_seen < MOST_TENSORS) walk->seen[walk->n_seen++] = parameter->tensor;
}

static void visit(Walk *walk, const Layer *layer, int depth) {
    for (int i = 0; i < layer->n_parameters; i++) add(walk, layer, &layer->parameters[i]);
    if (walk->slip == PARAMETER_children_ignored) return;
    if (walk->slip == PARAMETER_nested_ignored && depth == 1) return;
    for (int i = 0; i < layer->n_children; i++) visit(walk, layer->children[i], depth + 1);
}

int64_t formula_parameters(const Layer *model, ParameterSlip slip, char text[CASE_LINE]) {
    Walk walk = {.slip = slip, .text = text};
    visit(&walk, model, 0);
    return slip == PARAMETER_integer_overflow ? (int32_t)walk.total : walk.total;
}
