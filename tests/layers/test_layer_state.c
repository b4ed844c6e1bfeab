// test_layer_state.c -- a layer's state: walked in PyTorch's order, printed as PyTorch does, and
// counted where it is measured.
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "profiler/measure/profile.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- state -------------------------------------------------------------------------------------
// Adds each batch's mean to the running one; returns x plus the running mean.
static Tensor *run_mean(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *mean = self->buffers[0].tensor;
    if (self->training) {
        no_grad_begin();
        tensor_accumulate(mean, tensor_mean(in[0], 0, false));
        no_grad_end();
    }
    return tensor_add(tensor_mul(in[0], self->parameters[0].tensor), mean);
}
static const LayerType running_type = {.name = "Running",
                                       .size = sizeof(Layer),
                                       .forward = run_mean};

static Layer *running_new(int64_t features) {
    Layer *self = layer_new(&running_type);
    layer_add_parameter(self, "weight", tensor_full_new(SHAPE(features), 1.0f));
    layer_add_buffer(self, "running_mean", tensor_full_new(SHAPE(features), 0.0f));
    layer_add_parameter(self, "bias", tensor_full_new(SHAPE(features), 0.0f));
    layer_add_buffer(self, "steps", tensor_from_labels_new(SHAPE_SCALAR, (int64_t[]){0}));
    return self;
}

static Layer *tied_new(void) {
    Layer *model = sequential_new(), *body = sequential_new();
    layer_add_child(model, "embed", embedding_new(5, 3));
    layer_add_child(model, "body", body);
    layer_add_child(body, "0", linear_new(3, 4, true));
    layer_add_child(body, "1", relu_new());
    layer_add_child(body, "2", running_new(4));
    layer_add_child(body, "3", linear_new(4, 3, false));
    Layer *head = sequential_new();
    layer_add_child(model, "head", head);
    layer_tie_parameter(head, "weight", model->children[0]->parameters[0].tensor);
    expect_no_error();
    return model;
}

static void expect_paths(const ParameterList *list, const char *const paths[], int count) {
    ck_assert_int_eq(list->count, count);
    for (int i = 0; i < count; i++) ck_assert_str_eq(list->items[i].path, paths[i]);
}

// The orders are PyTorch 2.15's: list(model.state_dict()), and model.named_parameters().
START_TEST(state_is_walked_as_pytorch_walks_it) {
    static const char *const state[] = {"embed.weight",  "body.0.weight", "body.0.bias",
                                        "body.2.weight", "body.2.bias",   "body.2.running_mean",
                                        "body.2.steps",  "body.3.weight", "head.weight"};
    static const char *const parameters[] = {"embed.weight",  "body.0.weight", "body.0.bias",
                                             "body.2.weight", "body.2.bias",   "body.3.weight"};
    Layer *model = tied_new();
    ParameterList list;
    ck_assert_int_eq(layer_state(model, &list), STATUS_OK);
    expect_paths(&list, state, 9);
    for (int i = 0; i < 9; i++) ck_assert_int_eq(list.items[i].is_buffer, i == 5 || i == 6);
    ck_assert_ptr_eq(list.items[0].tensor, list.items[8].tensor);
    parameter_list_free(&list);
    ck_assert_int_eq(layer_parameters(model, &list), STATUS_OK);
    expect_paths(&list, parameters, 6);
    parameter_list_free(&list);
    ck_assert_int_eq(layer_parameter_count(model), 15 + 16 + 8 + 12);
    ck_assert_int_eq(layer_state(NULL, &list), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "layer_state: no layer");
    layer_free(model);
}
END_TEST

START_TEST(a_buffer_moves_in_a_run_and_not_in_a_dry_one) {
    Layer *model = running_new(2);
    Tensor *x = tensor_from_floats_new(SHAPE(2, 2), (float[]){1, 2, 3, 4});
    LayerCost dry;
    ck_assert_msg(layer_cost(model, &x, 1, &dry) == STATUS_OK, "%s", error_message());
    expect_values(model->buffers[0].tensor, 0, 0);
    ck_assert_int_eq(dry.peak.category[MEM_DATA], 32); // its whole state, not written
    Scope *scope = scope_open();
    expect_values(layer_forward(model, x), 3, 5, 5, 7);
    layer_train(model, false);
    expect_values(layer_forward(model, x), 3, 5, 5, 7);
    scope_close(scope);
    expect_values(model->buffers[0].tensor, 2, 3);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(modes_and_buffers_are_put_back_where_they_changed) {
    Layer *model = sequential_new(), *running = running_new(3);
    layer_add_child(model, "running", running);
    layer_add_child(model, "drop", dropout_new(0.5f));
    layer_train(model->children[1], false);
    Tensor *mean = running->buffers[0].tensor;
    uint32_t version = mean->storage->version;
    LayerModes modes;
    ck_assert_int_eq(layer_modes_save(model, &modes), STATUS_OK);
    layer_train(model, true);
    layer_modes_restore(model, &modes);
    ck_assert_uint_eq(mean->storage->version, version); // nothing was written
    ck_assert(!model->children[1]->training && running->training);
    layer_modes_save(model, &modes);
    tensor_write_floats(mean, (float[]){1, 2, 3});
    tensor_labels(running->buffers[1].tensor)[0] = 7;
    version = mean->storage->version;
    layer_modes_restore(model, &modes);
    expect_values(mean, 0, 0, 0);
    ck_assert_int_eq(tensor_labels(running->buffers[1].tensor)[0], 0);
    ck_assert_uint_gt(mean->storage->version, version);
    layer_modes_save(model, &modes);
    layer_modes_restore(NULL, &modes); // only frees the modes
    ck_assert_int_ne(layer_modes_save(NULL, &modes), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "layer_modes_save: no layer");
    for (uint64_t n = 1; n < 3; n++) {
        memory_fail_at(n);
        ck_assert_int_ne(layer_modes_save(model, &modes), STATUS_OK);
        memory_fail_at(0);
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_ptr_null(modes.training);
    }
    layer_free(model);
}
END_TEST

// Prediction equals measurement, also with state that no gradient changes.
START_TEST(a_profile_counts_buffers_as_the_models) {
    Layer *model = sequential_new();
    layer_add_child(model, "fc", linear_new(3, 5, true));
    layer_add_child(model, "running", running_new(5));
    Tensor *x = tensor_full_new(SHAPE(4, 3), 1.0f), *bystander = tensor_full_new(SHAPE(99), 1.0f);
    Tensor *labels = tensor_from_labels_new(SHAPE(4), (int64_t[]){0, 1, 2, 3});
    Profile profile;
    profile_training(model, optimizer_defaults(OPTIMIZER_SGD), x, labels,
                     (ProfileOptions){.iterations = 1}, &profile);
    expect_no_error();
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    ck_assert_int_eq(profile.measured.peak.category[MEM_DATA], 48 + 32 + 20 + 20 + 20 + 8);
    profile_free(&profile);
    tensor_free(x);
    tensor_free(labels);
    tensor_free(bystander);
    layer_free(model);
}
END_TEST

static void expect_reconciled(Layer *model, Tensor *x) {
    Profile profile;
    Status status = profile_backward(model, x, (ProfileOptions){.iterations = 1}, &profile);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_msg(profile.reconciled, "%s", profile.difference);
    profile_free(&profile);
}

START_TEST(a_strided_batch_is_predicted_as_it_lies) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *across = tensor_full_new(SHAPE(4, 6), 1.0f), *wide = tensor_full_new(SHAPE(6, 9), 1.0f);
    Scope *scope = scope_open();
    expect_reconciled(model, tensor_transpose(across, 0, 1));
    expect_reconciled(model, tensor_slice(wide, 1, 1, 9, 2));
    expect_reconciled(model, tensor_slice(wide, 1, 0, 4, 1));
    scope_close(scope);
    tensor_free(across);
    tensor_free(wide);
    layer_free(model);
}
END_TEST

START_TEST(layers_of_one_long_path_are_not_taken_for_each_other) {
    char name[121];
    memset(name, 'n', 120);
    name[120] = '\0';
    Layer *model = sequential_new(), *body = sequential_new();
    layer_add_child(model, name, body);
    layer_add_child(body, "a", linear_new(2, 8, true));
    layer_add_child(body, "b", linear_new(8, 2, false));
    Tensor *x = tensor_full_new(SHAPE(3, 2), 1.0f);
    expect_reconciled(model, x);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// ---- printing ----------------------------------------------------------------------------------
static void expect_printed(const Layer *model, const char *want) {
    char text[1024] = {0};
    FILE *file = fmemopen(text, sizeof(text) - 1, "w");
    ck_assert_int_eq(layer_print(model, file), STATUS_OK);
    fclose(file);
    ck_assert_str_eq(text, want);
}

// The tree as PyTorch 2.15 prints it, except for the names of Embedding's sizes.
START_TEST(a_model_is_printed_as_pytorch_prints_it) {
    Layer *model = tied_new(), *empty = sequential_new();
    expect_printed(empty, "Sequential()\n");
    expect_printed(model, "Sequential(\n"
                          "  (embed): Embedding(num_embeddings=5, embedding_dim=3)\n"
                          "  (body): Sequential(\n"
                          "    (0): Linear(in_features=3, out_features=4, bias=True)\n"
                          "    (1): ReLU()\n"
                          "    (2): Running()\n"
                          "    (3): Linear(in_features=4, out_features=3, bias=False)\n"
                          "  )\n"
                          "  (head): Sequential()\n"
                          ")\n");
    layer_add_child(empty, "exact", gelu_new());
    layer_add_child(empty, "act", activation_new(&op_gelu_tanh));
    expect_printed(empty, "Sequential(\n"
                          "  (exact): GELU(approximate='none')\n"
                          "  (act): GELU(approximate='tanh')\n"
                          ")\n");
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    ck_assert_int_eq(layer_print(model, full), STATUS_IO);
    expect_error(STATUS_IO, "could not be written");
    fclose(full);
    ck_assert_int_eq(layer_print(NULL, stdout), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no layer");
    layer_free(model);
    layer_free(empty);
}
END_TEST

// Each activation as PyTorch 2.15 prints it, with its defaults.
START_TEST(activations_are_printed_as_pytorch_prints_them) {
    static const struct {
        const Op *op;
        const char *text;
    } printed[] = {{&op_relu6, "ReLU6()\n"},
                   {&op_hardtanh, "Hardtanh(min_val=-1.0, max_val=1.0)\n"},
                   {&op_hardsigmoid, "Hardsigmoid()\n"},
                   {&op_hardswish, "Hardswish()\n"},
                   {&op_elu, "ELU(alpha=1.0)\n"},
                   {&op_selu, "SELU()\n"},
                   {&op_celu, "CELU(alpha=1.0)\n"},
                   {&op_softplus, "Softplus(beta=1.0, threshold=20.0)\n"},
                   {&op_softsign, "Softsign()\n"},
                   {&op_mish, "Mish()\n"},
                   {&op_log_sigmoid, "LogSigmoid()\n"},
                   {&op_tanhshrink, "Tanhshrink()\n"},
                   {&op_softshrink, "Softshrink(0.5)\n"},
                   {&op_hardshrink, "Hardshrink(0.5)\n"},
                   {&op_threshold, "Threshold(threshold=0.0, value=0.0)\n"},
                   {&op_quick_gelu, "QuickGELU()\n"},
                   {&op_leaky_relu, "LeakyReLU(negative_slope=0.01)\n"},
                   {NULL, "Identity()\n"}};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        Layer *layer = activation_new(printed[i].op);
        expect_printed(layer, printed[i].text);
        layer_free(layer);
    }
    Layer *others[] = {prelu_new(3, 0.25f), softmax_new(1), log_softmax_new(-1), glu_new(-1),
                       activation_new_with(&op_softshrink, &(float){0.125f})};
    const char *const texts[] = {"PReLU(num_parameters=3)\n", "Softmax(dim=1)\n",
                                 "LogSoftmax(dim=-1)\n", "GLU(dim=-1)\n", "Softshrink(0.125)\n"};
    for (int i = 0; i < 5; i++) {
        expect_printed(others[i], texts[i]);
        layer_free(others[i]);
    }
}
END_TEST

START_TEST(layers_along_a_dimension_and_a_prelu_compute_what_their_ops_do) {
    Layer *layers[] = {softmax_new(1), log_softmax_new(-1), glu_new(-1), prelu_new(4, 0.25f)};
    Tensor *x = tensor_normal_new(SHAPE(3, 4), 0.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *weight = layers[3]->parameters[0].tensor;
    ck_assert_str_eq(layers[3]->parameters[0].name, "weight");
    ck_assert(shape_equal(tensor_shape(weight), SHAPE(4)));
    for (int i = 0; i < 4; i++) ck_assert(tensor_data(weight)[i] == 0.25f);
    Tensor *want[] = {tensor_softmax(x, 1), tensor_log_softmax(x, 1), tensor_glu(x, 1),
                      tensor_leaky_relu(x, 0.25f)};
    for (int i = 0; i < 4; i++) {
        Tensor *got = layer_forward(layers[i], x);
        harness_assert_close(tensor_data(got), tensor_data(want[i]), got->numel, 0.0, 0.0, "it");
    }
    autograd_backward(tensor_sum(layer_forward(layers[3], x), DIM_ALL, false));
    ck_assert(shape_equal(tensor_shape(tensor_grad(weight)), SHAPE(4)));
    scope_close(scope);
    ck_assert_ptr_null(prelu_new(0, 0.25f));
    expect_error(STATUS_INVALID_ARGUMENT, "0 slopes");
    for (int i = 0; i < 4; i++) layer_free(layers[i]);
    tensor_free(x);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {activations_are_printed_as_pytorch_prints_them, 0},
        {layers_along_a_dimension_and_a_prelu_compute_what_their_ops_do, 0},
        {state_is_walked_as_pytorch_walks_it, 0},
        {a_buffer_moves_in_a_run_and_not_in_a_dry_one, 0},
        {modes_and_buffers_are_put_back_where_they_changed, 0},
        {a_profile_counts_buffers_as_the_models, 0},
        {a_model_is_printed_as_pytorch_prints_it, 0},
        {a_strided_batch_is_predicted_as_it_lies, 0},
        {layers_of_one_long_path_are_not_taken_for_each_other, 0},
        {NULL, 0},
    };
    return harness_main("layer_state", tests);
}
