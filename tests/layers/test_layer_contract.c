// test_layer_contract.c -- what holds of every layer, whoever wrote it: inputs are counted once,
// names are unique, state is walked in PyTorch's order, errors name the place, sites die with their
// layers.
#include <stdio.h>
#include <string.h>

#include "layers/cost.h"
#include "profiler/profile.h"
#include "profiler/profiler.h"
#include "tensor/memory.h"
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

// ---- state -------------------------------------------------------------------------------------
// Adds each batch's mean to what it has seen; gives x + that.
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

// The orders are those of PyTorch 2.15: list(model.state_dict()), and model.named_parameters().
START_TEST(a_child_that_left_is_ones_own_again) {
    Layer *first = sequential_new(), *second = sequential_new(), *child = linear_new(2, 3, true);
    layer_add_child(first, "a", relu_new());
    ck_assert_int_eq(layer_add_child(first, "b", child), STATUS_OK);
    layer_leave_parent(child);
    layer_leave_parent(child); // it has none
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
    ck_assert_int_eq(dry.peak.category[MEM_DATA], 32); // all that it holds, as it was made
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

// What is predicted is what is measured, with state that no gradient changes.
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

START_TEST(a_session_says_that_its_context_is_gone) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(5, 4), 1.0f);
    Profiler *profiler = profiler_new(profiler_defaults());
    Context *context = dry_run_begin(model);
    profiler_start(profiler);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    dry_run_end(context);
    ProfilerSummary summary;
    ck_assert_int_eq(profiler_summarise(profiler, &summary), STATUS_STATE);
    expect_error(STATUS_STATE, "the context in which it ran is gone");
    ck_assert_int_eq(profiler_write_trace(profiler, "/tmp/never"), STATUS_STATE);
    expect_error(STATUS_STATE, "another context");
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    profiler_free(profiler);
    expect_no_error();
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

// The same tree as PyTorch 2.15 prints it, but for how Embedding names its sizes.
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

// ---- where it went wrong -----------------------------------------------------------------------
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
    ck_assert_ptr_null(layer_forward(encoder->children[0], labels)); // nobody above it
    expect_error(STATUS_DTYPE, "fc1: linear of");
    // Also in backward, which is charged to the layer that caused it.
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

// ---- call sites --------------------------------------------------------------------------------
static void run_new_model(void) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(2, 4), 1.0f);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}

START_TEST(sites_die_with_their_model) {
    const Context *context = context_current();
    int before = context->n_sites;
    for (int i = 0; i < 3000; i++) run_new_model();
    ck_assert_int_le(context->n_sites, before + 4);
    expect_no_error();
}
END_TEST

START_TEST(who_has_numbers_of_sites_finds_their_names) {
    Context *context = context_current();
    SiteReader reader = {0}, second = {0};
    char path[40];
    int first = context->n_sites;
    site_reader_add(&reader);
    site_reader_add(&second);
    site_reader_remove(&second);
    for (int i = 0; i < 5; i++) run_new_model();
    ck_assert_int_eq(context->n_sites, first + 20); // though addresses come again
    for (int i = 0; i < 20; i++) {
        static const char *const names[] = {"(model)", "fc1", "relu1", "fc2"};
        ck_assert_str_eq(site_path(context, first + i, path, sizeof path), names[i % 4]);
    }
    site_reader_remove(&reader);
    site_reader_remove(&reader);
    for (int i = 0; i < 50; i++) run_new_model();
    ck_assert_int_eq(context->n_sites, first + 20);
}
END_TEST

// Memory that outlives its layer is not said to be another's, nor is the backward of its graph.
START_TEST(what_a_dead_layer_left_is_not_the_next_ones) {
    Context *context = context_current();
    Layer *next = sequential_new();
    layer_add_child(next, "lin", linear_new(2, 2, true));
    Tensor *x = tensor_full_new(SHAPE(3, 2), 1.0f);
    char path[40];
    for (int graph = 0; graph < 2; graph++) {
        Layer *outer = sequential_new(), *middle = sequential_new();
        layer_add_child(outer, "old", middle);
        layer_add_child(middle, "act", relu_new());
        tensor_requires_grad(x, graph == 1);
        Scope *scope = scope_open();
        Tensor *y = layer_forward(outer, x);
        int site = y->storage->site;
        Tensor *z = graph ? tensor_neg(y) : NULL;
        if (graph) tensor_release(y); // the graph alone knows where it was made
        layer_free(outer);
        layer_forward(next, x);
        ck_assert_str_eq(site_path(context, site, path, sizeof path), "old.act");
        if (z) ck_assert_int_eq(autograd_backward(tensor_sum(z, DIM_ALL, false)), STATUS_OK);
        scope_close(scope);
    }
    expect_no_error();
    tensor_free(x);
    layer_free(next);
}
END_TEST

START_TEST(a_reader_outlives_its_context) {
    SiteReader reader = {0};
    Context *context = context_new();
    context_push(context);
    site_reader_add(&reader);
    run_new_model();
    context_pop();
    context_free(context);
    ck_assert_ptr_null(reader.context);
    site_reader_remove(&reader);
}
END_TEST

// A layer that goes takes the sites of what ran inside it along, and no other's.
START_TEST(what_ran_inside_goes_too_and_what_lives_stays) {
    Context *context = context_current();
    Layer *kept = relu_new();
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    layer_forward(kept, x);
    site_leave(site_enter(kept->serial, kept->name, kept->type->name));
    int alone = 0, most = 0, before_all = context->n_sites;
    while (context->sites[alone].owner != kept->serial) alone++;
    for (int i = 0; i < 100; i++) {
        Layer *outer = relu_new();
        int before = site_enter(outer->serial, "outer", "Outer");
        Scope *inner = scope_open();
        layer_forward(kept, x);
        scope_close(inner);
        site_leave(before);
        layer_free(outer);
        most = context->n_sites;
    }
    ck_assert_int_le(most, before_all + 3);
    ck_assert(!context->sites[alone].dead);
    scope_close(scope);
    tensor_free(x);
    layer_free(kept);
    ck_assert(context->sites[alone].dead);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_layer_gets_as_many_inputs_as_its_type_says, 0},
        {a_name_is_given_once_whatever_it_names, 0},
        {a_child_that_left_is_ones_own_again, 0},
        {state_is_walked_as_pytorch_walks_it, 0},
        {a_buffer_moves_in_a_run_and_not_in_a_dry_one, 0},
        {a_profile_counts_buffers_as_the_models, 0},
        {a_model_is_printed_as_pytorch_prints_it, 0},
        {what_goes_wrong_names_the_layer, 0},
        {sites_die_with_their_model, 0},
        {who_has_numbers_of_sites_finds_their_names, 0},
        {what_a_dead_layer_left_is_not_the_next_ones, 0},
        {a_strided_batch_is_predicted_as_it_lies, 0},
        {layers_of_one_long_path_are_not_taken_for_each_other, 0},
        {a_session_says_that_its_context_is_gone, 0},
        {a_reader_outlives_its_context, 0},
        {what_ran_inside_goes_too_and_what_lives_stays, 0},
        {NULL, 0},
    };
    return harness_main("layer_contract", tests);
}
