// ex02_count_flops_mistakes.c -- mistakes about the cost of a layer: the library's count,
// multiplied or divided by the mistaken factor.
#include "exercises/course/parts.h"

#include <string.h>

#include "exercises/support/layer_shape.h"
#include "exercises/support/reference.h"
#include "exercises/support/worker.h"
#include "layers/cost.h"

// ---- what the library says ---------------------------------------------------------------------
static Status count_bias(Leaf *leaf) {
    LayerCost cost;
    Tensor *x = tensor_new(leaf->in, DTYPE_FLOAT32);
    Status status = x ? layer_cost(leaf->layer, &x, 1, &cost) : error_status();
    if (!status) leaf->bias = (int64_t)cost.phase[PHASE_FORWARD].bias_flops / leaf->in.dims[0];
    tensor_free(x);
    return status;
}

static Status add_leaves(Layer *layer, int depth, Shape *shape, LeafList *list) {
    Status status = STATUS_OK;
    for (int i = 0; i < layer->n_children && !status; i++)
        status = add_leaves(layer->children[i], depth + 1, shape, list);
    if (status || strcmp(layer->type->name, "Sequential") == 0) return status;
    if (list->count == MOST_LEAVES) return error_set(STATUS_STATE, "exercise 02: too many layers");
    Leaf *leaf = &list->leaves[list->count++];
    *leaf = (Leaf){.layer = layer, .depth = depth, .in = *shape};
    status = reference_count_flops(layer, *shape, &leaf->flops);
    if (!status) status = layer_output_shape(layer, *shape, &leaf->out);
    *shape = leaf->out;
    return status ? status : count_bias(leaf);
}

Status leaves_of(Layer *model, Shape input, LeafList *list) {
    list->count = 0;
    return add_leaves(model, 0, &input, list);
}

// ---- what a leaf is ----------------------------------------------------------------------------
static int64_t attribute(const Leaf *leaf, const char *name) {
    int64_t value = 1;
    layer_attribute(leaf->layer, name, &value);
    return value;
}

static bool is(const Leaf *leaf, const char *type) {
    return strcmp(leaf->layer->type->name, type) == 0;
}
static bool is_linear(const Leaf *leaf) { return is(leaf, "Linear"); }
static bool is_conv(const Leaf *leaf) { return is(leaf, "Conv2d"); }
static bool is_product(const Leaf *leaf) { return is_linear(leaf) || is_conv(leaf); }
static bool is_pool(const Leaf *leaf) { return is(leaf, "MaxPool2d") || is(leaf, "AvgPool2d"); }
static bool is_activation(const Leaf *leaf) {
    return is(leaf, "ReLU") || is(leaf, "Sigmoid") || is(leaf, "Tanh") || is(leaf, "GELU");
}

static int64_t elements(Shape shape, int first, int end) {
    int64_t n = 1;
    for (int i = first; i < end; i++) n *= shape.dims[i];
    return n;
}
static int64_t in_elements(const Leaf *leaf) { return elements(leaf->in, 1, leaf->in.ndim); }
static int64_t out_elements(const Leaf *leaf) { return elements(leaf->out, 1, leaf->out.ndim); }
static int64_t rows(const Leaf *leaf) { return elements(leaf->in, 1, leaf->in.ndim - 1); }

// ---- what it is mistaken for -------------------------------------------------------------------
static int64_t over(const Leaf *leaf, bool concerned, int64_t divisor) {
    return concerned && divisor > 0 ? leaf->flops / divisor : leaf->flops;
}
static int64_t times(const Leaf *leaf, bool concerned, int64_t factor) {
    return concerned ? leaf->flops * factor : leaf->flops;
}

static int64_t half(const Leaf *l) { return over(l, is_product(l), 2); }
static int64_t with_bias(const Leaf *l) { return l->flops + l->bias; }
static int64_t one_row(const Leaf *l) { return over(l, is_linear(l), rows(l)); }
static int64_t one_row_each(const Leaf *l) {
    return over(l, is_linear(l) || is_activation(l), rows(l));
}
static int64_t no_activation(const Leaf *l) { return times(l, is_activation(l), 0); }
static int64_t two_an_element(const Leaf *l) { return times(l, is_activation(l), 2); }
static int64_t activation_batch(const Leaf *l) { return times(l, is_activation(l), l->in.dims[0]); }
static int64_t product_batch(const Leaf *l) { return times(l, is_product(l), l->in.dims[0]); }
static int64_t one_tap_wide(const Leaf *l) { return over(l, is_conv(l), attribute(l, "kernel_w")); }
static int64_t high_square(const Leaf *l) {
    return one_tap_wide(l) * (is_conv(l) ? attribute(l, "kernel_h") : 1);
}
static int64_t wide_square(const Leaf *l) {
    return over(l, is_conv(l), attribute(l, "kernel_h")) *
           (is_conv(l) ? attribute(l, "kernel_w") : 1);
}
static int64_t one_input(const Leaf *l) {
    return over(l, is_conv(l), attribute(l, "in_channels") / attribute(l, "groups"));
}
static int64_t one_output(const Leaf *l) {
    return over(l, is_conv(l), attribute(l, "out_channels"));
}
static int64_t no_groups(const Leaf *l) { return times(l, is_conv(l), attribute(l, "groups")); }
static int64_t groups_twice(const Leaf *l) { return over(l, is_conv(l), attribute(l, "groups")); }
static int64_t every_place(const Leaf *l) {
    if (!is_conv(l)) return l->flops;
    return l->flops / elements(l->out, 2, 4) * elements(l->in, 2, 4);
}
static int64_t pool_inputs(const Leaf *l) { return is_pool(l) ? in_elements(l) : l->flops; }
static int64_t pool_outputs(const Leaf *l) { return is_pool(l) ? out_elements(l) : l->flops; }
static int64_t pool_taps(const Leaf *l) {
    int64_t taps = attribute(l, "kernel_h") * attribute(l, "kernel_w");
    return is_pool(l) ? out_elements(l) * taps : l->flops;
}
static int64_t flatten_moves(const Leaf *l) { return is(l, "Flatten") ? in_elements(l) : l->flops; }
static int64_t dropout_counts(const Leaf *l) {
    return is(l, "Dropout") ? in_elements(l) : l->flops;
}
static int64_t all_count(const Leaf *l) { return l->flops ? l->flops : in_elements(l); }
static int64_t in_32_bits(const Leaf *l) { return (int32_t)l->flops; }
static int64_t halves_in_32_bits(const Leaf *l) {
    return is_product(l) ? 2 * (int64_t)(int32_t)(l->flops / 2) : l->flops;
}

static const struct {
    const char *name;
    int64_t (*worth)(const Leaf *leaf);
} mistakes[] = {{"mac_vs_flop", half},
                {"bias_counted", with_bias},
                {"rows_ignored", one_row},
                {"rows_ignored", one_row_each},
                {"activation_free", no_activation},
                {"activation_twice", two_an_element},
                {"batch_multiplied", product_batch},
                {"activation_of_batch", activation_batch},
                {"kernel_not_squared", one_tap_wide},
                {"sides_alike", high_square},
                {"sides_alike", wide_square},
                {"input_channels_forgotten", one_input},
                {"output_channels_forgotten", one_output},
                {"groups_ignored", no_groups},
                {"groups_divided_twice", groups_twice},
                {"output_size_ignored", every_place},
                {"pool_counted", pool_inputs},
                {"pool_counted", pool_outputs},
                {"pool_counted", pool_taps},
                {"views_counted", flatten_moves},
                {"views_counted", dropout_counts},
                {"views_counted", all_count},
                {"integer_overflow", in_32_bits},
                {"integer_overflow", halves_in_32_bits}};

Status add_flop_mistakes(const LeafList *list, Layer *model, CaseRun *run) {
    int64_t right = run->values[run->n_values - 1].value.integer;
    const Leaf *leaves = list->leaves;
    if (list->count > 0) run_mistake_integer(run, "batch_multiplied", right * leaves[0].in.dims[0]);
    for (size_t m = 0; m < sizeof mistakes / sizeof mistakes[0]; m++) {
        int64_t total = 0;
        for (int i = 0; i < list->count; i++) total += mistakes[m].worth(&leaves[i]);
        run_mistake_integer(run, mistakes[m].name, total);
    }
    add_shape_mistakes(list, model, run);
    if (model->n_children > 0) run_mistake_integer(run, "children_ignored", 0);
    if (list->count > 0) run_mistake_integer(run, "sum_overwritten", leaves[list->count - 1].flops);
    run_mistake_integer(run, "integer_overflow", (int32_t)right);
    run_mistake_integer(run, "integer_overflow", (uint32_t)right);
    run_mistake_integer(run, "rounded_count", (int64_t)(float)right);
    run_mistake_integer(run, "rounded_count", (int64_t)(double)right);
    run_mistake_integer(run, "sum_not_started", POISON_INTEGER + right);
    return error_status();
}
