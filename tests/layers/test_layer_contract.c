// test_layer_contract.c -- rules for every layer, whoever wrote it: inputs are counted once, names
// are unique, errors name the place. test_layer_state.c tests a layer's state, test_layer_sites.c
// the sites of its ops.
#include <string.h>

#include "layers/cost.h"
#include "tests/helpers/expect.h"

// ---- inputs ------------------------------------------------------------------------------------
static Tensor *add_both(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_add(in[0], in[1]);
}
static Tensor *count_them(Layer *self, Tensor *const in[], int n_in) {
    (void)self;
    int given = 0;
    for (int i = 0; i < n_in; i++) given += in[i] != NULL;
    return tensor_mul_scalar(in[0], (float)(10 * n_in + given));
}
static const LayerType add_type = {
    .name = "Add", .size = sizeof(Layer), .n_inputs = 2, .forward = add_both};
static const LayerType any_type = {
    .name = "Any", .size = sizeof(Layer), .n_inputs = LAYER_ANY_INPUTS, .forward = count_them};

START_TEST(a_layer_gets_as_many_inputs_as_its_type_says) {
    Layer *add = layer_new(&add_type), *any = layer_new(&any_type), *model = sequential_new();
    layer_add_child(model, "join", add);
    Tensor *x = tensor_full_new(SHAPE(2), 3.0f), *in[3] = {x, x, NULL};
    Scope *scope = scope_open();
    expect_values(layer_forward_many(add, in, 2), 6, 6);
    for (int n = 0; n < 4; n++) {
        if (n == 2) continue;
        ck_assert_ptr_null(layer_forward_many(add, in, n));
        expect_error(STATUS_INVALID_ARGUMENT, "Add takes 2 inputs, got");
    }
    ck_assert_ptr_null(layer_forward_many(add, in + 1, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "Add: input 1 is NULL");
    ck_assert_ptr_null(layer_forward(model, x));
    expect_error(STATUS_INVALID_ARGUMENT, "join: Add takes 2 inputs, got 1");
    expect_values(layer_forward_many(any, in, 3), 96, 96);
    expect_values(layer_forward(any, x), 33, 33);
    ck_assert_int_eq(context_current()->site, -1);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    layer_free(any);
}
END_TEST

// ---- names -------------------------------------------------------------------------------------
static Tensor *one(void) { return tensor_full_new(SHAPE(2), 1.0f); }

START_TEST(a_name_is_given_once_whatever_it_names) {
    Layer *layer = sequential_new();
    int64_t live = expect_live_bytes();
    layer_add_parameter(layer, "weight", one());
    layer_add_buffer(layer, "mean", one());
    layer_add_child(layer, "body", relu_new());
    const char *const taken[] = {"weight", "mean", "body", "", "a.b", NULL};
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(layer_add_parameter(layer, taken[i], one()), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "layer_add_parameter");
        ck_assert_int_eq(layer_add_buffer(layer, taken[i], one()), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, "layer_add_buffer");
        ck_assert_int_eq(layer_add_child(layer, taken[i], relu_new()), STATUS_INVALID_ARGUMENT);
        expect_error(STATUS_INVALID_ARGUMENT, i < 3 ? "has a" : "no name");
    }
    ck_assert_int_eq(layer->n_parameters, 1);
    ck_assert_int_eq(layer->n_buffers, 1);
    ck_assert_int_eq(layer->n_children, 1);
    ck_assert(!(layer->buffers[0].tensor->flags & TENSOR_LEAF_GRAD));
    ck_assert_int_eq(expect_live_bytes(), live + 16);
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), live);
}
END_TEST

// The buffer counts as the layer's, also in a dry run, where it stays unsaved.
START_TEST(an_unsaved_buffer_is_no_state) {
    Layer *layer = sequential_new();
    ParameterList list;
    layer_add_buffer(layer, "mean", one());
    ck_assert_int_eq(layer_add_unsaved_buffer(layer, "angles", one()), STATUS_OK);
    ck_assert_int_eq(layer->n_buffers, 2);
    for (int dry = 0; dry < 2; dry++) {
        Context *context = dry ? dry_run_begin(layer) : NULL;
        ck_assert_int_eq(layer_state(layer, &list), STATUS_OK);
        ck_assert_int_eq(list.count, 1);
        ck_assert_str_eq(list.items[0].path, "mean");
        parameter_list_free(&list);
        if (dry) ck_assert_int_eq(context->ledger->live.total, 16);
        dry_run_end(context);
    }
    int64_t live = expect_live_bytes();
    ck_assert_int_eq(layer_add_unsaved_buffer(layer, "angles", one()), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "has a \"angles\" already");
    ck_assert_int_eq(layer_add_unsaved_buffer(NULL, "angles", one()), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no layer");
    ck_assert_int_eq(expect_live_bytes(), live);
    ck_assert(layer->buffers[1].unsaved && !layer->buffers[0].unsaved);
    layer_free(layer);
}
END_TEST

START_TEST(a_child_that_left_is_ones_own_again) {
    Layer *first = sequential_new(), *second = sequential_new(), *child = linear_new(2, 3, true);
    layer_add_child(first, "a", relu_new());
    ck_assert_int_eq(layer_add_child(first, "b", child), STATUS_OK);
    layer_leave_parent(child);
    layer_leave_parent(child); // it has no parent now
    ck_assert_int_eq(first->n_children, 1);
    ck_assert_int_eq(layer_add_child(second, "b", child), STATUS_OK);
    ck_assert_ptr_eq(child->parent, second);
    layer_free(child);
    ck_assert_int_eq(first->n_children, 1);
    ck_assert_int_eq(second->n_children, 0);
    layer_free(first);
    layer_free(second);
}
END_TEST

// ---- places of errors --------------------------------------------------------------------------
START_TEST(what_goes_wrong_names_the_layer) {
    Layer *model = sequential_new(), *encoder = sequential_new();
    layer_add_child(model, "encoder", encoder);
    layer_add_child(encoder, "fc1", linear_new(5, 4, false));
    layer_add_child(encoder, "fc2", linear_new(3, 2, false));
    Tensor *x = tensor_full_new(SHAPE(2, 5), 1.0f),
           *labels = tensor_from_labels_new(SHAPE(2, 5), (int64_t[10]){0});
    Scope *scope = scope_open();
    ck_assert_ptr_null(layer_forward(model, x));
    expect_error(STATUS_SHAPE, "encoder.fc2: linear of (2, 4), (2, 3), none: x (..., in)");
    ck_assert_ptr_null(layer_forward(model, labels));
    expect_error(STATUS_DTYPE, "encoder.fc1: linear of");
    ck_assert_ptr_null(layer_forward(encoder->children[0], labels)); // has no layer above it
    expect_error(STATUS_DTYPE, "fc1: linear of");
    // Backward names the layer, too: it is charged to the layer that caused it.
    Tensor *h = layer_forward(encoder->children[0], x);
    no_grad_begin();
    tensor_fill(x, 2.0f);
    no_grad_end();
    ck_assert_int_eq(autograd_backward(tensor_sum(h, DIM_ALL, false)), STATUS_STATE);
    expect_error(STATUS_STATE, "backward of linear: its input 0 was written in place");
    scope_close(scope);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_layer_gets_as_many_inputs_as_its_type_says, 0},
        {a_name_is_given_once_whatever_it_names, 0},
        {an_unsaved_buffer_is_no_state, 0},
        {a_child_that_left_is_ones_own_again, 0},
        {what_goes_wrong_names_the_layer, 0},
        {NULL, 0},
    };
    return harness_main("layer_contract", tests);
}
