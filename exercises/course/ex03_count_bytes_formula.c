// ex03_count_bytes_formula.c -- traffic by hand: what each layer reads and writes, and where that
// is got wrong.
#include "exercises/course/ex03_count_bytes_formula.h"

#include <string.h>

#include "exercises/support/layer_shape.h"

const char *const byte_slip_names[BYTE_RIGHT] = {
#define BYTE_SLIP_NAME(name) [BYTE_##name] = #name,
    BYTE_SLIP_LIST(BYTE_SLIP_NAME)
#undef BYTE_SLIP_NAME
};

enum { MOST_TENSORS = 64 };

typedef struct Walk {
    ByteSlip slip;
    Shape shape;
    const Tensor *seen[MOST_TENSORS];
    int n_seen;
    FormulaTraffic total; // in elements
    char *read, *written; // what is added up
} Walk;

static int64_t elements(const Walk *walk, Shape shape) {
    int64_t n = 1;
    for (int i = walk->slip == BYTE_batch_forgotten; i < shape.ndim; i++) n *= shape.dims[i];
    return n;
}

static bool is_one_of(const Layer *layer, const char *const *types) {
    for (; *types; types++)
        if (strcmp(layer->type->name, *types) == 0) return true;
    return false;
}

static const char *const activations[] = {"ReLU", "Sigmoid", "Tanh", "GELU", NULL};
static const char *const still[] = {"Flatten", "Dropout", NULL};

static void say(char *text, int64_t n) {
    if (text) line_add(text, "%s%lld", text[0] ? " + " : "", (long long)n);
}

static bool was_seen(Walk *walk, const Tensor *tensor) {
    for (int i = 0; i < walk->n_seen; i++)
        if (walk->seen[i] == tensor) return true;
    if (walk->n_seen < MOST_TENSORS) walk->seen[walk->n_seen++] = tensor;
    return false;
}

static int64_t parameter_elements(Walk *walk, const Layer *layer, int64_t batch) {
    int64_t total = 0;
    for (int i = 0; i < layer->n_parameters; i++) {
        const Tensor *tensor = layer->parameters[i].tensor;
        bool bias = strcmp(layer->parameters[i].name, "bias") == 0;
        bool seen = was_seen(walk, tensor);
        if (walk->slip == BYTE_weights_forgotten) continue;
        if (walk->slip == BYTE_bias_forgotten && bias) continue;
        if (walk->slip == BYTE_tied_read_once && seen) continue;
        total += tensor->numel;
        say(walk->read, tensor->numel);
    }
    return walk->slip == BYTE_weights_per_sample ? batch * total : total;
}

// Two operands for each multiply-add, and nothing kept at hand.
static int64_t every_use(const Layer *layer, int64_t outputs) {
    if (layer->n_parameters == 0) return outputs;
    const Tensor *weight = layer->parameters[0].tensor;
    return 2 * outputs * (weight->shape[0] ? weight->numel / weight->shape[0] : 0);
}

static void visit(Walk *walk, const Layer *layer, int depth);

static void visit_children(Walk *walk, const Layer *layer, int depth) {
    if (walk->slip == BYTE_children_ignored) return;
    if (walk->slip == BYTE_nested_ignored && depth > 0) return;
    Shape input = walk->shape;
    for (int i = 0; i < layer->n_children; i++) {
        if (walk->slip == BYTE_shape_not_propagated) walk->shape = input;
        if (walk->slip == BYTE_sum_overwritten) walk->total = (FormulaTraffic){0};
        visit(walk, layer->children[i], depth + 1);
    }
}

static void visit(Walk *walk, const Layer *layer, int depth) {
    if (strcmp(layer->type->name, "Sequential") == 0) {
        visit_children(walk, layer, depth);
        return;
    }
    Shape in = walk->shape;
    if (layer_output_shape(layer, in, &walk->shape)) return; // a slip's shape does not fit
    if (is_one_of(layer, still) && walk->slip != BYTE_views_counted) return;
    if (is_one_of(layer, activations) && walk->slip == BYTE_activation_free) return;
    int64_t read = elements(walk, in), written = elements(walk, walk->shape);
    say(walk->read, read);
    say(walk->written, written);
    // Of a footprint, what a layer reads was there before: its input is the last one's output.
    if (walk->slip == BYTE_footprint_for_traffic) read = 0;
    int64_t parameters = parameter_elements(walk, layer, in.dims[0]);
    walk->total.read +=
        walk->slip == BYTE_every_use_read ? every_use(layer, written) : read + parameters;
    walk->total.written += written;
}

FormulaTraffic formula_bytes(const Layer *model, Shape input, ByteSlip slip, char text[CASE_LINE]) {
    char read[CASE_LINE] = "", written[CASE_LINE] = "";
    Walk walk = {.slip = slip, .shape = input, .read = read, .written = written};
    visit(&walk, model, 0);
    int64_t size = slip == BYTE_elements_for_bytes ? 1 : slip == BYTE_double_precision ? 8 : 4;
    FormulaTraffic bytes = {size * walk.total.read, size * walk.total.written};
    if (text) line_add(text, "read 4*(%s), written 4*(%s)", read, written);
    if (slip == BYTE_read_written_swapped) return (FormulaTraffic){bytes.written, bytes.read};
    if (slip == BYTE_integer_overflow)
        return (FormulaTraffic){(int32_t)bytes.read, (int32_t)bytes.written};
    return bytes;
}
