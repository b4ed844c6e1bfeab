// ex03_count_bytes_slips.c -- wrong traffic. No layer's formula is here: a wrong value is the
// library's count of something else (one sample, one part, another shape), or lacks the bytes of
// some parameters.
#include "exercises/course/parts.h"

#include <string.h>

#include "exercises/support/model_line.h"
#include "exercises/support/reference.h"

enum { MOST_TENSORS = 64, FLOAT_BYTES = 4 };

static int64_t bytes_of(Shape shape) {
    int64_t bytes = FLOAT_BYTES;
    for (int i = 0; i < shape.ndim; i++) bytes *= shape.dims[i];
    return bytes;
}

// Sums over the layers without children, in bytes.
typedef struct Sums {
    Traffic activations;                      // layers without parameters that keep the shape
    Traffic outer;                            // layers that are not in an inner Sequential
    Traffic last;                             // the last layer alone
    Traffic same_input;                       // all layers, as if each got the model's input
    Traffic repeated;                         // layers whose weight an earlier layer has, too
    int64_t parameters, biases, frozen, tied; // tied: parameters that an earlier layer has, too
    int64_t flatten, dropout;                 // bytes that a copy would move
    int64_t uses;                             // two operands for each multiply-add
} Sums;

typedef struct Walk {
    Shape input, shape; // the model's input; the next layer's input
    const Tensor *seen[MOST_TENSORS];
    int n_seen;
    Sums sums;
    char read[CASE_LINE], written[CASE_LINE]; // formulas of the sums
} Walk;

static void add(Traffic *total, Traffic more) {
    total->bytes_read += more.bytes_read;
    total->bytes_written += more.bytes_written;
}

static void say(char *text, int64_t bytes) {
    if (bytes) line_add(text, "%s%lld", text[0] ? " + " : "", (long long)(bytes / FLOAT_BYTES));
}

static bool was_seen(Walk *walk, const Tensor *tensor) {
    for (int i = 0; i < walk->n_seen; i++)
        if (walk->seen[i] == tensor) return true;
    if (walk->n_seen < MOST_TENSORS) walk->seen[walk->n_seen++] = tensor;
    return false;
}

static void add_parameters(Walk *walk, const Layer *layer, Traffic traffic) {
    Sums *sums = &walk->sums;
    int64_t inputs = traffic.bytes_read, tied = sums->tied;
    for (int i = 0; i < layer->n_parameters; i++)
        inputs -= FLOAT_BYTES * layer->parameters[i].tensor->numel;
    say(walk->read, inputs);
    for (int i = 0; i < layer->n_parameters; i++) {
        const Tensor *tensor = layer->parameters[i].tensor;
        int64_t bytes = FLOAT_BYTES * tensor->numel;
        sums->parameters += bytes;
        if (strcmp(layer->parameters[i].name, "bias") == 0) sums->biases += bytes;
        if (!(tensor->flags & TENSOR_LEAF_GRAD)) sums->frozen += bytes;
        if (was_seen(walk, tensor)) sums->tied += bytes;
        say(walk->read, bytes);
    }
    if (sums->tied > tied) add(&sums->repeated, traffic);
}

static void add_uses(Walk *walk, const Layer *layer, Traffic traffic) {
    int64_t flops = 0; // for one sample: two for a multiply-add, which has two operands
    if (layer->n_parameters > 0) reference_count_flops(layer, walk->shape, &flops);
    int64_t operands = flops * walk->shape.dims[0];
    walk->sums.uses += operands ? FLOAT_BYTES * operands : traffic.bytes_written;
}

static void add_leaf(Walk *walk, const Layer *layer, int depth) {
    Sums *sums = &walk->sums;
    Traffic traffic = {0}, other = {0};
    Shape in = walk->shape;
    if (reference_count_bytes(layer, in, &traffic)) return;
    if (reference_count_bytes(layer, walk->input, &other) == STATUS_OK)
        add(&sums->same_input, other);
    add_parameters(walk, layer, traffic);
    say(walk->written, traffic.bytes_written);
    add_uses(walk, layer, traffic);
    if (depth < 2) add(&sums->outer, traffic);
    sums->last = traffic;
    if (strcmp(layer->type->name, "Flatten") == 0) sums->flatten += bytes_of(in);
    if (strcmp(layer->type->name, "Dropout") == 0) sums->dropout += bytes_of(in);
    bool keeps = traffic.bytes_read == traffic.bytes_written;
    if (layer->n_parameters == 0 && keeps) add(&sums->activations, traffic);
    layer_output_shape(layer, in, &walk->shape);
}

static void visit(Walk *walk, const Layer *layer, int depth) {
    for (int i = 0; i < layer->n_children; i++) visit(walk, layer->children[i], depth + 1);
    if (strcmp(layer->type->name, "Sequential") != 0) add_leaf(walk, layer, depth);
}

// ---- of another shape, of another model --------------------------------------------------------
static Traffic of_shape(const ModelCase *model, Shape shape) {
    Traffic traffic = {0};
    reference_count_bytes(model->model, shape, &traffic);
    return traffic;
}

static Traffic of_one_sample(const ModelCase *model) {
    Shape shape = model->input;
    shape.dims[0] = 1;
    return of_shape(model, shape);
}

static Traffic of_one_row(const ModelCase *model) {
    Shape shape = model->input;
    if (shape.ndim > 1) shape.dims[1] = shape.dims[shape.ndim - 1];
    shape.ndim = shape.ndim > 1 ? 2 : 1;
    return of_shape(model, shape);
}

// The traffic of the model with all convolutions in one group.
static Traffic of_one_group(const char *text) {
    Traffic traffic = {0};
    char other[CASE_LINE];
    const char *at = strstr(text, ",groups=");
    if (!at) return traffic;
    size_t digits = strspn(at + 8, "0123456789");
    snprintf(other, sizeof other, "%.*s%s", (int)(at - text), text, at + 8 + digits);
    Shape shape;
    Layer *model = model_from_line(other, &shape);
    if (model) reference_count_bytes(model, shape, &traffic);
    layer_free(model);
    return traffic;
}

// ---- what is expected --------------------------------------------------------------------------
static void expect_read(const ModelCase *model, const Sums *sums, ModelCounts truth, CaseRun *run) {
    int64_t read = truth.bytes_read, one = of_one_sample(model).bytes_read;
    int64_t batch = model->input.dims[0], parameters = sums->parameters;
    run_expect_integer(run, "bytes_read", read);
    run_mistake_integer(run, "weights_per_sample", one * batch);
    run_mistake_integer(run, "weights_per_sample", read + (batch - 1) * sums->biases);
    run_mistake_integer(run, "batch_forgotten", one);
    run_mistake_integer(run, "activation_free", read - sums->activations.bytes_read);
    run_mistake_integer(run, "weights_forgotten", read - parameters);
    run_mistake_integer(run, "bias_forgotten", read - sums->biases);
    run_mistake_integer(run, "elements_for_bytes", read / FLOAT_BYTES);
    run_mistake_integer(run, "double_precision", 2 * read);
    run_mistake_integer(run, "footprint_for_traffic", parameters);
    run_mistake_integer(run, "output_read", read + truth.bytes_written);
    run_mistake_integer(run, "every_use_read", sums->uses);
    run_mistake_integer(run, "views_counted", read + sums->flatten + sums->dropout);
    run_mistake_integer(run, "views_counted", read + sums->flatten);
    run_mistake_integer(run, "views_counted", read + sums->dropout);
    run_mistake_integer(run, "tied_read_once", read - sums->tied);
    run_mistake_integer(run, "tied_read_once", read - sums->repeated.bytes_read);
    run_mistake_integer(run, "frozen_skipped", read - sums->frozen);
    run_mistake_integer(run, "read_written_swapped", truth.bytes_written);
    if (model->model->n_children > 0) run_mistake_integer(run, "children_ignored", 0);
    run_mistake_integer(run, "nested_ignored", sums->outer.bytes_read);
    run_mistake_integer(run, "sum_overwritten", sums->last.bytes_read);
    run_mistake_integer(run, "shape_not_propagated", sums->same_input.bytes_read);
    run_mistake_integer(run, "rows_ignored", of_one_row(model).bytes_read);
    run_mistake_integer(run, "groups_ignored", of_one_group(run->input).bytes_read);
    run_mistake_integer(run, "batch_counted_twice", (read - parameters) * batch + parameters);
    run_mistake_integer(run, "footprint_for_traffic", parameters + bytes_of(model->input));
    run_mistake_integer(run, "integer_overflow", (int32_t)read);
    run_mistake_integer(run, "integer_overflow",
                        FLOAT_BYTES * (int64_t)(int32_t)(read / FLOAT_BYTES));
    run_mistake_integer(run, "integer_overflow", (uint32_t)read);
    run_mistake_integer(run, "integer_overflow", read - parameters + (int32_t)parameters);
}

// Adds only mistakes that leave bytes_read right; bytes_read reveals the others.
static void expect_written(const ModelCase *model, const Sums *sums, ModelCounts truth,
                           CaseRun *run) {
    int64_t written = truth.bytes_written;
    run_expect_integer(run, "bytes_written", written);
    run_mistake_integer(run, "batch_forgotten", of_one_sample(model).bytes_written);
    run_mistake_integer(run, "activation_free", written - sums->activations.bytes_written);
    run_mistake_integer(run, "weight_written", written + sums->parameters);
    run_mistake_integer(run, "views_counted", written + sums->flatten + sums->dropout);
    run_mistake_integer(run, "views_counted", written + sums->flatten);
    run_mistake_integer(run, "views_counted", written + sums->dropout);
    run_mistake_integer(run, "sum_overwritten", sums->last.bytes_written);
    run_mistake_integer(run, "shape_not_propagated", sums->same_input.bytes_written);
    run_mistake_integer(run, "rows_ignored", of_one_row(model).bytes_written);
    run_mistake_integer(run, "batch_counted_twice", written * model->input.dims[0]);
    run_mistake_integer(run, "integer_overflow", (int32_t)written);
    run_mistake_integer(run, "integer_overflow",
                        FLOAT_BYTES * (int64_t)(int32_t)(written / FLOAT_BYTES));
    run_mistake_integer(run, "integer_overflow", (uint32_t)written);
}

void byte_slips_expect(const ModelCase *model, ModelCounts truth, CaseRun *run) {
    Walk walk = {.input = model->input, .shape = model->input};
    visit(&walk, model->model, 0);
    expect_read(model, &walk.sums, truth, run);
    expect_written(model, &walk.sums, truth, run);
    line_add(run->formula, "read 4*(%s), written 4*(%s)", walk.read, walk.written);
}
