// test_containers.c -- layers that run others, blocks made of them, and changes to a model by path:
// finding, tying, freezing. test_layers.c tests Sequential.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/containers.h"
#include "layers/cost.h"
#include "layers/layers2d.h"
#include "tensor/op.h"
#include "tests/helpers/expect.h"

static Tensor *counting(Shape shape) { // 1, 2, 3 ...
    float values[256];
    for (int i = 0; i < shape_numel(shape); i++) values[i] = (float)(i + 1);
    return tensor_from_floats_new(shape, values);
}

// ---- containers --------------------------------------------------------------------------------
START_TEST(a_residual_adds_what_it_got) {
    Layer *body = residual_new();
    layer_append(body, activation_new(NULL)); // the identity
    layer_append(body, relu_new());
    ck_assert_str_eq(body->children[1]->name, "1");
    Tensor *x = tensor_from_floats_new(SHAPE(3), (float[]){-1, 0, 2});
    Scope *scope = scope_open();
    expect_values(layer_forward(body, x), -1, 0, 4);
    scope_close(scope);
    Layer *empty = residual_new();
    scope = scope_open();
    expect_values(layer_forward(empty, x), -2, 0, 4);
    scope_close(scope);
    tensor_free(x);
    layer_free(body);
    layer_free(empty);
}
END_TEST

START_TEST(a_concat_puts_its_childrens_results_side_by_side) {
    Layer *both = concat_new(1), *none = concat_new(0), *many = concat_new(0);
    layer_append(both, relu_new());
    layer_append(both, flatten_new(0, 0));
    Tensor *x = tensor_from_floats_new(SHAPE(2, 2), (float[]){-1, 2, 3, -4});
    tensor_requires_grad(x, true);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(both, x);
    expect_values(y, 0, 2, -1, 2, 3, 0, 3, -4);
    autograd_backward(tensor_sum(y, DIM_ALL, false));
    expect_values(x->grad, 1, 2, 2, 1);
    ck_assert_ptr_null(layer_forward(none, x));
    expect_error(STATUS_INVALID_ARGUMENT, "concat");
    for (int i = 0; i < 65; i++) layer_append(many, relu_new());
    ck_assert_ptr_null(layer_forward(many, x));
    expect_error(STATUS_INVALID_ARGUMENT, "Concat of 65 children");
    scope_close(scope);
    tensor_free(x);
    layer_free(both);
    layer_free(none);
    layer_free(many);
}
END_TEST

// ---- blocks ------------------------------------------------------------------------------------
START_TEST(a_layer_scale_is_per_channel) {
    Layer *last = layer_scale_new(3, 0, 0.5f), *images = layer_scale_new(3, 2, 2.0f);
    Tensor *x = counting(SHAPE(2, 3)), *image = counting(SHAPE(1, 3, 1, 2));
    ck_assert_int_eq(layer_parameter_count(last), 3);
    ck_assert_str_eq(last->parameters[0].name, "gamma");
    tensor_write_floats(images->parameters[0].tensor, (float[]){1, 2, 3});
    Scope *scope = scope_open();
    expect_values(layer_forward(last, x), 0.5f, 1, 1.5f, 2, 2.5f, 3);
    Tensor *y = layer_forward(images, image);
    expect_values(y, 1, 2, 6, 8, 15, 18);
    autograd_backward(tensor_sum(y, DIM_ALL, false));
    expect_values(images->parameters[0].tensor->grad, 3, 7, 11);
    ck_assert_ptr_null(layer_forward(last, image));
    expect_error(STATUS_SHAPE, "mul");
    scope_close(scope);
    ck_assert_ptr_null(layer_scale_new(0, 0, 1.0f));
    expect_error(STATUS_INVALID_ARGUMENT, "layer_scale_new: 0 channels");
    ck_assert_ptr_null(layer_scale_new(1, TENSOR_MAX_DIMS, 1.0f));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT");
    tensor_free(x);
    tensor_free(image);
    layer_free(last);
    layer_free(images);
}
END_TEST

// Finds the factors of the samples or channels of x (n, c, 2), whose elements are all 1.
static void drop_each(Layer *layer, int64_t n, int64_t c, bool channels) {
    Tensor *x = tensor_full_new(SHAPE(n, c, 2), 1.0f);
    Scope *scope = scope_open();
    float y[512];
    context_seed(11);
    tensor_read_floats(layer_forward(layer, x), y);
    int64_t block = channels ? 2 : 2 * c, kept = 0, blocks = n * c * 2 / block;
    for (int64_t b = 0; b < blocks; b++) {
        ck_assert(y[b * block] == 0.0f || fabsf(y[b * block] - 1.0f / 0.75f) < 1e-6f);
        for (int64_t i = 1; i < block; i++) ck_assert(y[b * block + i] == y[b * block]);
        kept += y[b * block] != 0.0f;
    }
    ck_assert_int_gt(kept, blocks / 2);
    ck_assert_int_lt(kept, blocks);
    layer_train(layer, false);
    ck_assert_ptr_eq(layer_forward(layer, x), x);
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}

START_TEST(samples_and_channels_are_dropped_whole) {
    drop_each(stochastic_depth_new(0.25f), 64, 3, false);
    drop_each(dropout2d_new(0.25f), 16, 16, true);
    ck_assert_ptr_null(stochastic_depth_new(1.5f));
    expect_error(STATUS_INVALID_ARGUMENT, "stochastic_depth_new: p = 1.5");
    ck_assert_ptr_null(dropout2d_new(NAN));
    expect_error(STATUS_INVALID_ARGUMENT, "dropout2d_new");
}
END_TEST

START_TEST(squeeze_and_excitation_gates_channels) {
    Layer *gate = squeeze_excitation_new(2, 1, &op_relu, &op_sigmoid);
    const char *const names[] = {"avgpool", "fc1", "activation", "fc2", "scale_activation"};
    for (int i = 0; i < 5; i++) ck_assert_str_eq(gate->children[i]->name, names[i]);
    ck_assert_int_eq(layer_parameter_count(gate), 2 + 1 + 2 + 2);
    tensor_write_floats(layer_find(gate, "fc1")->parameters[0].tensor, (float[]){1, -1});
    tensor_write_floats(layer_find(gate, "fc1")->parameters[1].tensor, (float[]){4});
    tensor_write_floats(layer_find(gate, "fc2")->parameters[0].tensor, (float[]){1, 0});
    tensor_write_floats(layer_find(gate, "fc2")->parameters[1].tensor, (float[]){-2, 0});
    Tensor *x = counting(SHAPE(1, 2, 1, 2)); // means 1.5 and 3.5, so fc1 gives 2, fc2 0 and 0
    Scope *scope = scope_open();
    expect_values(layer_forward(gate, x), 0.5f, 1, 1.5f, 2);
    scope_close(scope);
    ck_assert_ptr_null(squeeze_excitation_new(2, 0, &op_relu, &op_sigmoid));
    expect_error(STATUS_INVALID_ARGUMENT, "Conv2d: ");
    ck_assert_ptr_null(squeeze_excitation_new(2, 1, &op_add, &op_sigmoid));
    expect_error(STATUS_INVALID_ARGUMENT, "activation_new: add");
    tensor_free(x);
    layer_free(gate);
}
END_TEST

// ---- by path -----------------------------------------------------------------------------------
static Layer *tree(void) { // features.0, features.1, head
    Layer *model = sequential_new(), *features = sequential_new();
    layer_append(features, linear_new(4, 4, true));
    layer_append(features, linear_new(4, 4, true));
    layer_add_child(model, "features", features);
    layer_add_child(model, "head", linear_new(4, 2, true));
    return model;
}

START_TEST(layers_are_found_by_path) {
    Layer *model = tree();
    ck_assert_ptr_eq(layer_find(model, ""), model);
    ck_assert_ptr_eq(layer_find(model, "features"), model->children[0]);
    ck_assert_ptr_eq(layer_find(model, "features.1"), model->children[0]->children[1]);
    const char *const none[] = {"feature", "features.", "features.2", "head.weight",
                                "x",       ".",         NULL};
    for (int i = 0; i < 7; i++) ck_assert_ptr_null(layer_find(model, none[i]));
    ck_assert_ptr_null(layer_find(NULL, ""));
    expect_no_error();
    layer_free(model);
}
END_TEST

START_TEST(tied_parameters_are_one) {
    Layer *model = tree();
    int64_t live = expect_live_bytes();
    ck_assert_int_eq(layer_tie(model, "features.1.weight", "features.0.weight"), STATUS_OK);
    ck_assert_int_eq(layer_parameter_count(model), 16 + 4 + 4 + 8 + 2);
    ck_assert_int_eq(expect_live_bytes(), live - 64);
    ck_assert_int_eq(layer_tie(model, "features.1.weight", "features.1.weight"), STATUS_OK);
    ck_assert_int_eq(layer_tie(model, "head.weight", "features.0.weight"), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "head.weight is (2, 4), and features.0.weight is (4, 4)");
    ck_assert_int_ne(layer_tie(model, "head.weights", "head.bias"), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "no parameter \"head.weights\"");
    ck_assert_int_ne(layer_tie(model, "head", "head.bias"), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "no parameter \"head\"");
    ck_assert_int_ne(layer_tie(NULL, "a", "b"), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "layer_tie: no layer");
    layer_free(model);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(parameters_are_frozen_by_pattern) {
    static const struct {
        const char *pattern;
        int64_t count, left; // matching paths; elements that still want a gradient
    } cases[] = {{"features.*", 4, 10},
                 {"features", 4, 10},
                 {"*.bias", 3, 40},
                 {"head", 2, 40},
                 {"features.1", 2, 30},
                 {"", 6, 0},
                 {"*", 6, 0},
                 {"feature", 0, 50},
                 {"head.weight", 1, 42},
                 {"features.[0-9].weight", 2, 18}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        Layer *model = tree();
        int64_t count = -1;
        ck_assert_int_eq(layer_freeze(model, cases[i].pattern, true, &count), STATUS_OK);
        ck_assert_msg(count == cases[i].count && layer_trainable_count(model) == cases[i].left,
                      "%s: %lld, %lld", cases[i].pattern, (long long)count,
                      (long long)layer_trainable_count(model));
        ck_assert_int_eq(layer_freeze(model, cases[i].pattern, false, &count), STATUS_OK);
        ck_assert_int_eq(layer_trainable_count(model), 50);
        layer_free(model);
    }
    Layer *model = tree(); // a tied parameter has two paths
    int64_t count;
    layer_tie(model, "features.1.weight", "features.0.weight");
    layer_freeze(model, "features.1", true, &count);
    ck_assert_int_eq(layer_trainable_count(model), 4 + 10);
    ck_assert_int_ne(layer_freeze(model, NULL, true, &count), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "no pattern");
    layer_free(model);
    // Paths too long to match themselves match through a layer around them.
    char name[200] = "", pattern[] = "0.*.1";
    memset(name, 'n', sizeof name - 1);
    model = sequential_new();
    layer_append(model, sequential_new());
    layer_add_child(model->children[0], name, sequential_new());
    layer_append(model->children[0]->children[0], relu_new());
    layer_add_child(model->children[0]->children[0], "1", sequential_new());
    layer_add_child(model->children[0]->children[0]->children[1], name, linear_new(2, 3, true));
    for (int i = 0; i < 2; i++, pattern[4] = '2') {
        ck_assert_int_eq(layer_freeze(model, pattern, i == 0, &count), STATUS_OK);
        ck_assert_int_eq(count, i == 0 ? 2 : 0);
        ck_assert_int_eq(layer_trainable_count(model), 0);
    }
    layer_free(model);
}
END_TEST

// ---- several results ---------------------------------------------------------------------------
static Status split(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    (void)self, (void)n_in;
    out[0] = tensor_slice(in[0], 0, 0, 1, 1);
    out[1] = tensor_relu(in[0]);
    out[2] = in[0];
    return error_status();
}
static const LayerType split_type = {
    .name = "Split", .size = sizeof(Layer), .forward_each = split, .n_outputs = 3};

START_TEST(a_layer_may_have_several_results) {
    Layer *layer = layer_new(&split_type);
    Tensor *x = tensor_from_floats_new(SHAPE(2), (float[]){-1, 3}),
           *scalar = tensor_full_new(SHAPE(0), 1), *out[4];
    Scope *scope = scope_open();
    ck_assert_int_eq(layer_forward_each(layer, &x, 1, out, 3), STATUS_OK);
    expect_values(out[0], -1);
    expect_values(out[1], 0, 3);
    ck_assert_ptr_eq(out[2], x);
    ck_assert_int_eq(layer_forward_each(layer, &x, 1, out, 2), STATUS_OK);
    expect_values(out[1], 0, 3);
    expect_values(layer_forward(layer, x), -1);
    ck_assert_int_ne(layer_forward_each(layer, &scalar, 1, out, 3), STATUS_OK);
    expect_error(STATUS_SHAPE, "slice");
    for (int i = 0; i < 3; i++) ck_assert_ptr_null(out[i]);
    ck_assert_int_ne(layer_forward_each(layer, &x, 1, out, 4), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "Split gives 3 results, not 4");
    ck_assert_int_ne(layer_forward_each(layer, &x, 1, out, 0), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "not 0");
    Layer *relu = relu_new();
    ck_assert_int_ne(layer_forward_each(relu, &x, 1, out, 2), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "ReLU gives 1 result, not 2");
    scope_close(scope);
    tensor_free(x);
    tensor_free(scalar);
    layer_free(layer);
    layer_free(relu);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

// Names are unique among many, too; a name is free again when its layer has left.
START_TEST(a_name_is_found_among_many) {
    Layer *many = sequential_new();
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_int_eq(i % 2 ? layer_add_child(many, name, relu_new())
                               : layer_add_parameter(many, name, tensor_zeros_new(SHAPE(1))),
                         STATUS_OK);
    }
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_int_ne(layer_add_child(many, name, relu_new()), STATUS_OK);
        expect_error(STATUS_INVALID_ARGUMENT, "already");
    }
    for (int i = 0; i < many->n_children; i++)
        ck_assert_ptr_eq(layer_find(many, many->children[i]->name), many->children[i]);
    ck_assert_ptr_null(layer_find(many, "n2")); // a parameter
    ck_assert_ptr_null(layer_find(many, "n7."));
    ck_assert_ptr_null(layer_find(many, "n7.n9"));
    layer_free(layer_find(many, "n7"));
    ck_assert_ptr_null(layer_find(many, "n7"));
    ck_assert_ptr_nonnull(layer_find(many, "n9"));
    ck_assert_int_eq(layer_add_child(many, "n7", relu_new()), STATUS_OK);
    ck_assert_int_ne(layer_add_child(many, "n7", relu_new()), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "already");
    layer_free(many);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_residual_adds_what_it_got, 0},
        {a_concat_puts_its_childrens_results_side_by_side, 0},
        {a_layer_scale_is_per_channel, 0},
        {samples_and_channels_are_dropped_whole, 0},
        {squeeze_and_excitation_gates_channels, 0},
        {layers_are_found_by_path, 0},
        {tied_parameters_are_one, 0},
        {parameters_are_frozen_by_pattern, 0},
        {a_layer_may_have_several_results, 0},
        {a_name_is_found_among_many, 0},
        {NULL, 0},
    };
    return harness_main("containers", tests);
}
