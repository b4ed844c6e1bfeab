// test_layers.c -- layers: their parameters and paths, counts, attributes, train and eval mode,
// lifetimes, and the refusals of their constructors. test_init.c tests initial values.
#include <math.h>
#include <stdlib.h>

#include "layers/layer.h"
#include "layers/train/optimizer.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static Layer *mlp(MlpOptions options) { return mlp_new((int64_t[]){784, 512, 10}, 3, options); }

// ---- parameters -------------------------------------------------------------------------------
START_TEST(the_mlp_784_512_10_has_407050_parameters) {
    Layer *model = mlp(mlp_defaults());
    ck_assert_int_eq(layer_parameter_count(model), 407050);
    ck_assert_int_eq(layer_trainable_count(model), 407050);
    ck_assert_int_eq(layer_own_parameter_count(model), 0);
    ck_assert_int_eq(layer_own_parameter_count(model->children[0]), 784 * 512 + 512);
    ck_assert_int_eq(context_ledger()->live.category[MEM_PARAMETER], 4 * 407050);
    layer_free(model);
    ck_assert_int_eq(context_ledger()->live.category[MEM_PARAMETER], 0);
    model = mlp((MlpOptions){.activation = &op_relu});
    ck_assert_int_eq(layer_parameter_count(model), 784 * 512 + 512 * 10);
    layer_free(model);
}
END_TEST

START_TEST(parameters_are_listed_by_path_in_the_order_of_definition) {
    const char *const paths[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
    const Shape shapes[] = {SHAPE(512, 784), SHAPE(512), SHAPE(10, 512), SHAPE(10)};
    Layer *model = mlp(mlp_defaults()), *outer = sequential_new();
    ParameterList list;
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    ck_assert_int_eq(list.count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(list.items[i].path, paths[i]);
        ck_assert(shape_equal(tensor_shape(list.items[i].tensor), shapes[i]));
        ck_assert_int_eq(list.items[i].tensor->storage->category, MEM_PARAMETER);
    }
    parameter_list_free(&list);
    ck_assert_int_eq(list.count, 0);
    layer_add_child(outer, "encoder", model);
    layer_parameters(outer, &list);
    ck_assert_str_eq(list.items[3].path, "encoder.fc2.bias");
    parameter_list_free(&list);
    layer_free(outer);
}
END_TEST

START_TEST(the_children_of_an_mlp_are_named_by_kind_and_number) {
    MlpOptions options = mlp_defaults();
    options.dropout = 0.5f;
    const struct {
        const char *name, *type;
    } want[] = {{"fc1", "Linear"}, {"relu1", "ReLU"}, {"drop1", "Dropout"}, {"fc2", "Linear"}};
    Layer *model = mlp(options);
    ck_assert_int_eq(model->n_children, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(model->children[i]->name, want[i].name);
        ck_assert_str_eq(model->children[i]->type->name, want[i].type);
    }
    layer_free(model);
    options.fuse = true; // the activation moves into fc1
    options.dropout = 0.0f;
    model = mlp(options);
    ck_assert_int_eq(model->n_children, 2);
    layer_free(model);
}
END_TEST

// Two layers with one weight, owned by both.
static Layer *tied_new(void) {
    Layer *model = sequential_new();
    Layer *first = linear_new(6, 6, true), *second = sequential_new();
    layer_add_child(model, "first", first);
    layer_tie_parameter(second, "weight", first->parameters[0].tensor);
    layer_add_child(model, "second", second);
    return model;
}

START_TEST(a_tied_parameter_is_counted_listed_and_updated_once) {
    int64_t live = expect_live_bytes();
    Layer *model = tied_new();
    ck_assert_int_eq(layer_parameter_count(model), 42);
    ck_assert_int_eq(layer_own_parameter_count(model->children[1]), 36);
    ParameterList list;
    layer_parameters(model, &list);
    ck_assert_int_eq(list.count, 2);
    ck_assert_str_eq(list.items[0].path, "first.weight");
    ck_assert_str_eq(list.items[1].path, "first.bias");
    parameter_list_free(&list);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    ck_assert_int_eq(context_ledger()->live.category[MEM_OPTIMIZER], 42 * 8);
    optimizer_free(optimizer);
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(a_frozen_parameter_counts_but_is_not_trained) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *frozen = model->children[0]->parameters[0].tensor;
    tensor_requires_grad(frozen, false);
    ck_assert_int_eq(layer_parameter_count(model), 12 + 3 + 6 + 2);
    ck_assert_int_eq(layer_trainable_count(model), 3 + 6 + 2);
    float before[12];
    tensor_read_floats(frozen, before);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAMW));
    ck_assert_int_eq(context_ledger()->live.category[MEM_OPTIMIZER], 11 * 8);
    Tensor *x = tensor_full_new(SHAPE(2, 4), 1.0f);
    Scope *scope = scope_open();
    autograd_backward(tensor_mean(layer_forward(model, x), DIM_ALL, false));
    ck_assert_ptr_null(tensor_grad(frozen));
    ck_assert_ptr_nonnull(tensor_grad(model->children[0]->parameters[1].tensor));
    ck_assert_int_eq(optimizer_step(optimizer), STATUS_OK);
    harness_assert_close(tensor_data(frozen), before, 12, 0.0, 0.0, "the frozen weight");
    scope_close(scope);
    optimizer_free(optimizer);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- forward ----------------------------------------------------------------------------------
START_TEST(fused_and_separate_activations_give_the_same_bits) {
    Tensor *x = tensor_normal_new(SHAPE(7, 20), 0.0f, 1.0f);
    float values[2][7 * 3];
    for (int fuse = 0; fuse < 2; fuse++) {
        context_seed(3);
        MlpOptions options = mlp_defaults();
        options.activation = op_activation_at(_i);
        options.fuse = fuse;
        Layer *model = mlp_new((int64_t[]){20, 30, 3}, 3, options);
        Scope *scope = scope_open();
        ck_assert_int_eq(tensor_read_floats(layer_forward(model, x), values[fuse]), STATUS_OK);
        scope_close(scope);
        layer_free(model);
    }
    ck_assert_mem_eq(values[0], values[1], sizeof values[0]);
    tensor_free(x);
}
END_TEST

START_TEST(dropout_acts_in_training_and_passes_its_input_through_otherwise) {
    Layer *model = sequential_new();
    layer_add_child(model, "drop", dropout_new(0.25f));
    Tensor *x = tensor_full_new(SHAPE(10000), 1.0f);
    Scope *scope = scope_open();
    const float *y = tensor_data(layer_forward(model, x));
    int kept = 0;
    for (int i = 0; i < 10000; i++) {
        ck_assert(y[i] == 0.0f || fabsf(y[i] - 4.0f / 3.0f) < 1e-6f);
        kept += y[i] != 0.0f;
    }
    ck_assert_int_le(abs(kept - 7500), 217); // five standard deviations
    layer_train(model, false);
    ck_assert(!model->children[0]->training);
    ck_assert_ptr_eq(layer_forward(model, x), x);
    ck_assert_ptr_null(x->scope); // owned by the test
    layer_train(model, true);
    ck_assert_ptr_ne(layer_forward(model, x), x);
    layer_train(NULL, true);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_sequential_without_children_gives_its_input) {
    Layer *model = sequential_new();
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    ck_assert_ptr_eq(layer_forward(model, x), x);
    scope_close(scope);
    layer_free(model);
    tensor_free(x);
}
END_TEST

// Without a tape only two neighbouring tensors are alive at a time, however deep the model.
START_TEST(hidden_tensors_die_as_soon_as_the_next_layer_has_read_them) {
    enum { BATCH = 16, WIDTH = 64, BYTES = 4 * BATCH * WIDTH };
    int64_t sizes[12];
    for (int i = 0; i < 12; i++) sizes[i] = WIDTH;
    Layer *model = mlp_new(sizes, 12, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(BATCH, WIDTH));
    Scope *scope = scope_open();
    no_grad_begin();
    ledger_reset_peak(context_ledger());
    Tensor *y = layer_forward(model, x);
    ck_assert_int_eq(context_ledger()->peak.category[MEM_ACTIVATION], 2 * BYTES);
    ck_assert_int_eq(context_ledger()->live.category[MEM_ACTIVATION], BYTES);
    no_grad_end();
    tensor_release(y);
    // With a tape, each of the 11 linear layers keeps its input (x is data) and relu its output,
    // which is the same buffer.
    y = layer_forward(model, x);
    ck_assert_int_eq(autograd_saved_bytes(), 10 * BYTES);
    ck_assert_int_eq(context_ledger()->live.category[MEM_ACTIVATION], 11 * BYTES);
    scope_close(scope);
    ck_assert_int_eq(context_ledger()->live.category[MEM_ACTIVATION], 0);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- texts ------------------------------------------------------------------------------------
// No outputs, or no inputs: a bias without elements is still a bias.
START_TEST(a_linear_layer_of_no_features_runs) {
    static const int64_t sizes[][2] = {{3, 0}, {0, 2}, {0, 0}};
    for (int i = 0; i < 3; i++) {
        Layer *linear = linear_new(sizes[i][0], sizes[i][1], true);
        Tensor *x = tensor_uniform_new(SHAPE(2, sizes[i][0]), 0.0f, 1.0f);
        Scope *scope = scope_open();
        Tensor *y = layer_forward(linear, x);
        ck_assert_msg(y && y->numel == 2 * sizes[i][1], "%s", error_message());
        ck_assert_int_eq(linear->n_parameters, 2);
        scope_close(scope);
        tensor_free(x);
        layer_free(linear);
    }
}
END_TEST

START_TEST(attributes_read_as_name_and_value) {
    char text[128], cut[12];
    Layer *linear = linear_new_fused(784, 512, true, &op_gelu_tanh);
    Layer *dropout = dropout_new(0.125f), *relu = relu_new();
    ck_assert_str_eq(layer_attributes_text(linear, text, sizeof text),
                     "in_features=784, out_features=512, bias=true, activation=gelu_tanh");
    ck_assert_str_eq(layer_attributes_text(dropout, text, sizeof text), "p=0.125");
    ck_assert_str_eq(layer_attributes_text(relu, text, sizeof text), "");
    ck_assert_str_eq(layer_attributes_text(linear, cut, sizeof cut), "in_features");
    layer_free(linear);
    layer_free(dropout);
    layer_free(relu);
}
END_TEST

START_TEST(an_attribute_is_read_by_its_name) {
    int64_t value = -7;
    Layer *linear = linear_new_fused(784, 512, false, &op_tanh);
    Layer *dropout = dropout_new(0.5f), *relu = relu_new();
    ck_assert(layer_attribute(linear, "in_features", &value));
    ck_assert_int_eq(value, 784);
    ck_assert(layer_attribute(linear, "out_features", &value));
    ck_assert_int_eq(value, 512);
    ck_assert(layer_attribute(linear, "bias", &value));
    ck_assert_int_eq(value, 0);
    ck_assert(layer_attribute(linear, "activation", &value));
    ck_assert_int_eq(value, OP_tanh);
    value = -7; // unchanged if missing; a real has no integer value
    ck_assert(!layer_attribute(linear, "in_feature", &value));
    ck_assert(!layer_attribute(linear, "", &value));
    ck_assert(!layer_attribute(dropout, "p", &value));
    ck_assert(!layer_attribute(relu, "in_features", &value));
    ck_assert_int_eq(value, -7);
    expect_no_error();
    layer_free(linear);
    layer_free(dropout);
    layer_free(relu);
}
END_TEST

// ---- refusals ---------------------------------------------------------------------------------
START_TEST(a_layer_that_cannot_be_is_refused_with_a_reason) {
    int64_t live = expect_live_bytes();
    ck_assert_ptr_null(linear_new(-1, 3, true));
    expect_error(STATUS_INVALID_ARGUMENT, "linear_new: sizes -1 -> 3");
    ck_assert_ptr_null(linear_new(1LL << 40, 1LL << 40, true));
    expect_error(STATUS_OVERFLOW, "(1099511627776, 1099511627776)");
    ck_assert_ptr_null(dropout_new(1.5f));
    expect_error(STATUS_INVALID_ARGUMENT, "dropout_new: p = 1.5 is not a probability");
    ck_assert_ptr_null(dropout_new(NAN));
    expect_error(STATUS_INVALID_ARGUMENT, "not a probability");
    ck_assert_ptr_null(activation_new(&op_add));
    expect_error(STATUS_INVALID_ARGUMENT, "activation_new: add is not an activation");
    ck_assert_ptr_null(mlp_new((int64_t[]){784}, 1, mlp_defaults()));
    expect_error(STATUS_INVALID_ARGUMENT, "mlp_new: needs at least an input and an output");
    ck_assert_ptr_null(mlp_new((int64_t[]){784, 0, 10}, 3, mlp_defaults()));
    expect_error(STATUS_INVALID_ARGUMENT, "each at least 1");
    MlpOptions options = mlp_defaults();
    options.dropout = 2.0f;
    ck_assert_ptr_null(mlp(options));
    expect_error(STATUS_INVALID_ARGUMENT, "p = 2");
    options.dropout = -1.0f;
    ck_assert_ptr_null(mlp(options));
    expect_error(STATUS_INVALID_ARGUMENT, "p = -1");
    options = mlp_defaults();
    options.activation = &op_add;
    for (int fuse = 0; fuse < 2; fuse++) {
        options.fuse = fuse;
        ck_assert_ptr_null(mlp(options));
        expect_error(STATUS_INVALID_ARGUMENT, "add is n");
    }
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

START_TEST(a_forward_that_cannot_be_names_what_is_wrong) {
    Layer *model = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(2, 5)), *both[2] = {x, x};
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(model, x));
    expect_error(STATUS_SHAPE, "linear of (2, 5), (3, 4), (3,)");
    Layer *takes_one[] = {model, model->children[0], relu_new(), dropout_new(0.1f)};
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(layer_forward_many(takes_one[i], both, 2));
        expect_error(STATUS_INVALID_ARGUMENT, "takes one input, got 2");
        ck_assert_ptr_null(layer_forward(takes_one[i], NULL));
        expect_error(STATUS_INVALID_ARGUMENT, "NULL");
        if (i > 1) layer_free(takes_one[i]);
    }
    ck_assert_int_eq(context_current()->site, -1);
    scope_close(scope);
    layer_free(model);
    tensor_free(x);
}
END_TEST

// NULL means "an error is pending" everywhere, so passing NULL must leave an error.
START_TEST(no_layer_or_no_input_at_all_leaves_an_error_pending) {
    Layer *layers[] = {NULL, sequential_new(), activation_new(NULL), dropout_new(0.0f)};
    ParameterList list;
    Scope *scope = scope_open();
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(layer_forward(layers[i], NULL));
        expect_error(STATUS_INVALID_ARGUMENT, "");
        layer_free(layers[i]);
    }
    scope_close(scope);
    ck_assert_int_eq(layer_parameters(NULL, &list), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "layer_parameters: no layer");
    ck_assert_int_eq(layer_parameter_count(NULL), -1);
    error_clear();
}
END_TEST

START_TEST(adding_what_failed_to_be_made_passes_the_error_on) {
    Layer *model = sequential_new();
    ck_assert_int_eq(layer_add_child(model, "fc1", linear_new(-1, 1, true)),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(layer_add_parameter(model, "w", NULL), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "linear_new");
    ck_assert_int_eq(model->n_children, 0);
    Tensor *labels = tensor_new(SHAPE(2), DTYPE_INT64);
    ck_assert_int_eq(layer_add_parameter(model, "labels", labels), STATUS_DTYPE); // it is freed
    error_clear();
    ck_assert_int_eq(model->n_parameters, 0);
    layer_free(model);
    layer_free(NULL);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_mlp_784_512_10_has_407050_parameters, 0},
        {parameters_are_listed_by_path_in_the_order_of_definition, 0},
        {the_children_of_an_mlp_are_named_by_kind_and_number, 0},
        {a_tied_parameter_is_counted_listed_and_updated_once, 0},
        {a_frozen_parameter_counts_but_is_not_trained, 0},
        {fused_and_separate_activations_give_the_same_bits, 7},
        {dropout_acts_in_training_and_passes_its_input_through_otherwise, 0},
        {a_sequential_without_children_gives_its_input, 0},
        {hidden_tensors_die_as_soon_as_the_next_layer_has_read_them, 0},
        {a_linear_layer_of_no_features_runs, 0},
        {attributes_read_as_name_and_value, 0},
        {an_attribute_is_read_by_its_name, 0},
        {a_layer_that_cannot_be_is_refused_with_a_reason, 0},
        {a_forward_that_cannot_be_names_what_is_wrong, 0},
        {no_layer_or_no_input_at_all_leaves_an_error_pending, 0},
        {adding_what_failed_to_be_made_passes_the_error_on, 0},
        {NULL, 0},
    };
    return harness_main("layers", tests);
}
