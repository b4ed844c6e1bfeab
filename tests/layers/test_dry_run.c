// test_dry_run.c -- a dry run leaves no trace on the model, allocates no tensor data, however large
// the model, and says why it cannot be done. Its figures are test_cost.c's.
#include <time.h>

#include "layers/cost.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "layers/train/optimizer.h"
#include "profiler/profile.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"
#include "tests/helpers/expect.h"

static uint64_t macs_of_backward(const LayerCost *cost) {
    return cost->phase[PHASE_BACKWARD].macs + cost->phase[PHASE_BACKWARD_INPUT].macs +
           cost->phase[PHASE_BACKWARD_WEIGHT].macs;
}

// ---- no trace ---------------------------------------------------------------------------------
static void train_once(Layer *model, Tensor *x) {
    Scope *scope = scope_open();
    autograd_backward(tensor_mean(layer_forward(model, x), DIM_ALL, false));
    scope_close(scope);
}

START_TEST(a_dry_run_leaves_the_model_its_gradients_and_the_context_as_they_were) {
    Layer *model = mlp_new((int64_t[]){20, 30, 5}, 3, mlp_defaults());
    Tensor *x = tensor_normal_new(SHAPE(8, 20), 0.0f, 1.0f), *parameter[4], handle[4];
    Storage storage[4];
    float values[4][600], gradients[4][600];
    train_once(model, x);
    ParameterList list;
    layer_parameters(model, &list);
    for (int i = 0; i < 4; i++) {
        parameter[i] = list.items[i].tensor;
        handle[i] = *parameter[i];
        storage[i] = *parameter[i]->storage;
        tensor_read_floats(parameter[i], values[i]);
        tensor_read_floats(tensor_grad(parameter[i]), gradients[i]);
    }
    RandomState random = context_current()->random;
    Ledger ledger = *context_ledger();
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_mem_eq(&ledger, context_ledger(), sizeof ledger);
    ck_assert_mem_eq(&random, &context_current()->random, sizeof random);
    ck_assert_int_eq(autograd_node_count(), 0);
    for (int i = 0; i < 4; i++) {
        size_t bytes = (size_t)tensor_bytes(parameter[i]);
        ck_assert_mem_eq(&handle[i], parameter[i], sizeof handle[i]);
        ck_assert_mem_eq(&storage[i], parameter[i]->storage, sizeof storage[i]);
        ck_assert_mem_eq(values[i], tensor_data(parameter[i]), bytes);
        ck_assert_mem_eq(gradients[i], tensor_data(tensor_grad(parameter[i])), bytes);
    }
    parameter_list_free(&list);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(a_dry_run_in_the_middle_of_a_step_does_not_disturb_it) {
    Layer *model = mlp_new((int64_t[]){20, 30, 5}, 3, mlp_defaults());
    Tensor *x = tensor_normal_new(SHAPE(8, 20), 0.0f, 1.0f), *bias;
    LayerCost before, between;
    bias = model->children[2]->parameters[1].tensor;
    layer_cost(model, &x, 1, &before);
    Scope *scope = scope_open();
    Tensor *loss = tensor_sum(layer_forward(model, x), DIM_ALL, false);
    layer_cost(model, &x, 1, &between);
    ck_assert_mem_eq(&before, &between, sizeof before);
    ck_assert_int_eq(autograd_backward(loss), STATUS_OK);
    expect_values(tensor_grad(bias), 8, 8, 8, 8, 8);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}
END_TEST

// A layer that keeps running statistics: it writes into a tensor of its own.
static Tensor *running;
static Tensor *write_statistics(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    no_grad_begin();
    tensor_accumulate(running, in[0]);
    tensor_fill(running, 0.0f);
    no_grad_end();
    return tensor_relu(in[0]);
}

START_TEST(a_dry_run_does_not_write_where_a_layer_writes_in_place) {
    const LayerType type = {.name = "Statistics",
                            .size = sizeof(Layer),
                            .forward = write_statistics};
    Layer *layer = layer_new(&type);
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    running = tensor_full_new(SHAPE(2), 5.0f);
    uint32_t version = running->storage->version;
    LayerCost cost;
    ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
    expect_values(running, 5, 5);
    ck_assert_uint_eq(running->storage->version, version);
    tensor_free(running);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

// ---- what a training loop does, inside ---------------------------------------------------------
typedef struct Training {
    Dataset digits;
    Layer *model;
    Loader *loader;
    Optimizer *optimizer;
} Training;

static void training_start(Training *t, int prefetch) {
    MlpOptions mlp = {.dropout = 0.5f, .bias = true};
    LoaderOptions options = {.batch = 16, .shuffle = true, .scale = 1.0f, .prefetch = prefetch};
    t->model = mlp_new((int64_t[]){784, 12, 10}, 3, mlp);
    digits_generate(50, 3, &t->digits);
    t->loader = loader_new(&t->digits, options);
    t->optimizer = optimizer_new(t->model, optimizer_defaults(OPTIMIZER_ADAM));
    expect_no_error();
}

static void training_free(Training *t) {
    optimizer_free(t->optimizer);
    loader_free(t->loader);
    layer_free(t->model);
    dataset_free(&t->digits);
}

// Trains for real and says where it ended.
static void train(Training *t, double *loss, float weights[10]) {
    FitResult result;
    FitOptions options = {.epochs = 2};
    train_fit(t->model, t->optimizer, t->loader, options, &result);
    *loss = result.final_loss;
    tensor_read_floats(t->model->children[t->model->n_children - 1]->parameters[1].tensor, weights);
    expect_no_error();
}

// Everything that a program can do to what it trains with.
static void abuse(Training *t) {
    FitResult result;
    Batch batch;
    Tensor *weight = t->model->children[0]->parameters[0].tensor;
    optimizer_set_learning_rate(t->optimizer, 77.0f);
    train_fit(t->model, t->optimizer, t->loader, (FitOptions){.epochs = 1}, &result);
    ck_assert_int_eq(result.steps, 4);
    loader_start_epoch(t->loader);
    ck_assert(loader_next(t->loader, &batch));
    ck_assert_int_eq(batch.count, 16);
    layer_train(t->model, false);
    tensor_requires_grad(weight, false);
    ck_assert(!tensor_wants_grad(weight));
    tensor_fill_uniform(weight, 5.0f, 6.0f);
    tensor_fill(weight, 4.0f);
    optimizer_clip_gradients(t->optimizer, 0.001f, NULL);
    optimizer_zero_grad(t->optimizer);
    ck_assert_ptr_null(tensor_data(weight));
    expect_error(STATUS_DEVICE, "not in host memory");
}

START_TEST(nothing_of_what_a_program_trains_with_changes) {
    double loss[2];
    float weights[2][10];
    for (int dry = 0; dry < 2; dry++) {
        context_seed(4);
        Training t;
        training_start(&t, _i);
        Batch first;
        loader_next(t.loader, &first);
        float pixels[16 * 784];
        tensor_read_floats(first.images, pixels);
        LoaderCounts before = loader_counts(t.loader);
        if (dry) {
            Context *context = dry_run_begin(t.model);
            abuse(&t);
            dry_run_end(context);
            expect_no_error();
        }
        LoaderCounts after = loader_counts(t.loader);
        ck_assert_int_eq(before.batches, after.batches);
        ck_assert_mem_eq(pixels, tensor_data(first.images), sizeof pixels);
        train(&t, &loss[dry], weights[dry]);
        training_free(&t);
    }
    ck_assert_double_eq(loss[0], loss[1]);
    ck_assert_mem_eq(weights[0], weights[1], sizeof weights[0]);
}
END_TEST

START_TEST(any_request_may_fail_and_nothing_real_has_changed) {
    Training t;
    training_start(&t, 1);
    int64_t live = expect_live_bytes();
    int failures = 0;
    float weight[12 * 784];
    Tensor *first = t.model->children[0]->parameters[0].tensor;
    tensor_read_floats(first, weight);
    for (uint64_t n = 1; n < 4000; n++, failures++) {
        FitResult result;
        memory_fail_at(n);
        Context *context = dry_run_begin(t.model);
        if (context) train_fit(t.model, t.optimizer, t.loader, (FitOptions){.epochs = 1}, &result);
        if (context && !error_pending()) tensor_fill_uniform(first, 0.0f, 1.0f);
        dry_run_end(context);
        memory_fail_at(0);
        ck_assert_int_eq(expect_live_bytes(), live);
        if (!error_pending()) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
    }
    ck_assert_int_gt(failures, 200);
    ck_assert_int_lt(failures, 3999);
    ck_assert_mem_eq(weight, tensor_data(first), sizeof weight);
    training_free(&t);
}
END_TEST

START_TEST(modes_that_cannot_be_put_back_are_freed) {
    Layer *model = linear_new(3, 2, true), *other = linear_new(2, 2, true);
    LayerModes modes;
    ck_assert_int_eq(layer_modes_save(other, &modes), STATUS_OK);
    Context *context = dry_run_begin(model);
    memory_fail_at(1); // the twin
    layer_modes_restore(other, &modes);
    memory_fail_at(0);
    ck_assert_ptr_null(modes.training);
    dry_run_end(context);
    expect_error(STATUS_OUT_OF_MEMORY, "");
    layer_free(model);
    layer_free(other);
}
END_TEST

START_TEST(what_is_freed_inside_stays_outside) {
    Training t;
    training_start(&t, 1);
    Tensor *weight = t.model->children[0]->parameters[0].tensor,
           *x = tensor_full_new(SHAPE(3), 4.0f);
    int64_t live = expect_live_bytes();
    Scope *outside = scope_open();
    Tensor *y = tensor_relu(x);
    Context *context = dry_run_begin(t.model);
    tensor_free(x);
    tensor_release(y);
    tensor_free(weight);
    Tensor *twin = tensor_retain(weight);
    ck_assert_ptr_ne(twin, weight);
    ck_assert_ptr_eq(tensor_keep(x), tensor_here(x));
    tensor_free(weight); // given back by the other pointer
    layer_free(t.model->children[0]);
    layer_free(t.model);
    optimizer_free(t.optimizer);
    loader_free(t.loader);
    Layer *inner = relu_new();
    layer_free(inner);
    dry_run_end(context);
    expect_values(x, 4, 4, 4);
    expect_values(y, 4, 4, 4);
    ck_assert_int_eq(t.model->n_children, 3);
    ck_assert_int_eq(weight->owners, 1);
    scope_close(outside);
    ck_assert_int_eq(expect_live_bytes(), live);
    tensor_free(x);
    training_free(&t);
    expect_no_error();
}
END_TEST

START_TEST(what_is_made_inside_is_as_if_no_dry_run_were_around) {
    Layer *model = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults()), *inner;
    Context *context = dry_run_begin(model);
    inner = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults());
    ck_assert_ptr_eq(layer_here(inner), inner);
    ck_assert_ptr_ne(layer_here(model), model);
    ck_assert_ptr_eq(layer_here(model), layer_here(layer_here(model)));
    layer_train(inner, false);
    ck_assert(!inner->training);
    Context *second = dry_run_begin(inner); // where that one is somebody else's, too
    layer_train(inner, true);
    layer_train(model, false);
    ck_assert(!inner->training);
    dry_run_end(second);
    ck_assert(layer_here(model)->training);
    layer_free(inner);
    dry_run_end(context);
    ck_assert(model->training);
    ck_assert_ptr_eq(layer_here(model), model);
    layer_free(model);
}
END_TEST

START_TEST(what_is_switched_inside_is_what_runs_inside) {
    Layer *model = dropout_new(0.5f);
    Tensor *x = tensor_full_new(SHAPE(10), 1.0f);
    tensor_requires_grad(x, true);
    train_once(model, x);
    Context *context = dry_run_begin(model);
    Scope *scope = scope_open();
    ck_assert_ptr_null(tensor_grad(x));
    train_once(model, x);
    ck_assert_ptr_nonnull(tensor_grad(x));
    tensor_zero_grad(x);
    ck_assert_ptr_null(tensor_grad(x));
    layer_train(model, false);
    Tensor *twin = tensor_here(x);
    ck_assert_ptr_ne(twin, x);
    ck_assert_ptr_eq(layer_forward(model, twin), twin); // dropout does nothing now
    scope_close(scope);
    dry_run_end(context);
    ck_assert_ptr_nonnull(tensor_grad(x));
    tensor_free(x);
    layer_free(model);
}
END_TEST

// A layer that reaches another through a pointer of its own, and not as a child.
typedef struct Holder {
    Layer layer;
    Layer *held;
} Holder;
static Tensor *forward_held(Layer *self, Tensor *const in[], int n_in) {
    layer_train(((Holder *)self)->held, false);
    tensor_requires_grad(((Holder *)self)->held->parameters[1].tensor, false);
    return layer_forward_many(((Holder *)self)->held, in, n_in);
}

START_TEST(a_layer_behind_a_pointer_is_met_by_its_twin) {
    const LayerType type = {.name = "Holder", .size = sizeof(Holder), .forward = forward_held};
    Layer *layer = layer_new(&type), *held = linear_new(2, 3, true);
    ((Holder *)layer)->held = held;
    Tensor *x = tensor_zeros_new(SHAPE(4, 2));
    LayerCost cost;
    ck_assert_msg(layer_cost(layer, &x, 1, &cost) == STATUS_OK, "%s", error_message());
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 24);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD_WEIGHT].macs, 24);
    ck_assert_uint_eq(cost.phase[PHASE_BACKWARD].elementwise_flops, 0); // of a bias: it is frozen
    ck_assert_int_eq(cost.peak.category[MEM_PARAMETER], 0);             // no part of the model
    ck_assert(held->training);
    ck_assert(held->parameters[1].tensor->flags & TENSOR_LEAF_GRAD);
    tensor_free(x);
    layer_free(layer);
    layer_free(held);
}
END_TEST

// Two parameters that look at one buffer: saved and counted once, as in the real run.
// Layers that change themselves while they run.
static Tensor *replace_buffer(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *next = tensor_keep(tensor_mul_scalar(in[0], 2.0f));
    tensor_free(self->buffers[0].tensor);
    self->buffers[0].tensor = next;
    return tensor_add(in[0], next);
}
static Tensor *grow_lazily(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    if (self->n_children == 0) {
        layer_add_child(self, "fc", linear_new(2, 3, true));
        layer_add_parameter(self, "scale", tensor_full_new(SHAPE(3), 2.0f));
        layer_add_buffer(self, "count", tensor_full_new(SHAPE(1), 0.0f));
    }
    return tensor_mul(layer_forward(self->children[0], in[0]), self->parameters[0].tensor);
}

START_TEST(a_layer_that_changes_itself_changes_its_twin) {
    const LayerType replacing = {.name = "Replacing",
                                 .size = sizeof(Layer),
                                 .forward = replace_buffer};
    const LayerType lazy = {.name = "Lazy", .size = sizeof(Layer), .forward = grow_lazily};
    Layer *first = layer_new(&replacing), *second = layer_new(&lazy);
    layer_add_buffer(first, "last", tensor_full_new(SHAPE(4, 2), 5.0f));
    Tensor *x = tensor_full_new(SHAPE(4, 2), 1.0f), *buffer = first->buffers[0].tensor;
    for (int again = 0; again < 2; again++) {
        LayerCost cost;
        ck_assert_msg(layer_cost(first, &x, 1, &cost) == STATUS_OK, "%s", error_message());
        ck_assert_ptr_eq(first->buffers[0].tensor, buffer);
        ck_assert_msg(layer_cost(second, &x, 1, &cost) == STATUS_OK, "%s", error_message());
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 24);
        ck_assert_int_eq(second->n_children + second->n_parameters + second->n_buffers, 0);
    }
    expect_values(buffer, 5, 5, 5, 5, 5, 5, 5, 5);
    Layer *third = relu_new();
    Context *context = dry_run_begin(second); // the same by the original's pointer
    layer_add_child(second, "fc", linear_new(2, 3, true));
    layer_add_buffer(second, "count", tensor_full_new(SHAPE(1), 0.0f));
    ck_assert_int_eq(layer_here(second)->n_children, 1);
    Layer *inner = sequential_new(); // what stands for another, adopted
    layer_add_child(inner, "adopted", third);
    layer_free(inner);
    layer_free(layer_here(second)->children[0]); // one that was added goes
    ck_assert_int_eq(layer_here(second)->n_children, 0);
    dry_run_end(context);
    ck_assert_ptr_null(third->parent);
    layer_free(third);
    ck_assert_int_eq(second->n_children + second->n_buffers, 0);
    tensor_free(x);
    layer_free(first);
    layer_free(second);
}
END_TEST

START_TEST(a_profile_inside_is_of_twins_and_measures_nothing) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(5, 4), 1.0f);
    Profile inside, outside;
    profile_backward(model, x, (ProfileOptions){.iterations = 1}, &outside);
    Context *context = dry_run_begin(model);
    context_set_device(device_cpu());
    ck_assert_ptr_eq(context->device, device_meta());
    Status status = profile_backward(model, x, (ProfileOptions){.iterations = 1}, &inside);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert(inside.reconciled);
    ck_assert_str_eq(inside.device, "meta");
    ck_assert_int_eq(inside.n_ops, outside.n_ops);
    profile_free(&inside);
    dry_run_end(context);
    profile_free(&outside);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(views_of_one_buffer_are_views_of_one_twin) {
    Tensor *whole = tensor_normal_new(SHAPE(6, 4), 0.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *half = tensor_keep(tensor_slice(whole, 0, 3, 6, 1));
    scope_close(scope);
    Layer *model = relu_new();
    Context *context = dry_run_begin(model);
    Tensor *twin = tensor_here(half);
    ck_assert_ptr_eq(twin->storage, tensor_here(whole)->storage);
    ck_assert_int_eq(twin->offset, 12);
    ck_assert_int_eq(context->ledger->live.total, 0); // no business of the run
    dry_run_end(context);
    tensor_free(half);
    tensor_free(whole);
    layer_free(model);
}
END_TEST

// Inputs of the caller's and what it writes into: an op given where to put its result.
START_TEST(a_result_written_into_a_tensor_from_outside_stays_outside) {
    Tensor *x = tensor_full_new(SHAPE(3), -1.0f), *y = tensor_full_new(SHAPE(3), 7.0f), *given = y;
    Layer *model = relu_new();
    Context *context = dry_run_begin(model);
    ck_assert_int_eq(OP_INTO(&given, op_relu, NULL, x), STATUS_OK);
    ck_assert_ptr_eq(given, y);
    given = tensor_full_new(SHAPE(2), 0.0f);
    Tensor *wrong = given;
    ck_assert_int_ne(OP_INTO(&given, op_relu, NULL, x), STATUS_OK);
    expect_error(STATUS_INVALID_ARGUMENT, "result's shape");
    tensor_free(wrong);
    dry_run_end(context);
    expect_values(y, 7, 7, 7);
    tensor_free(x);
    tensor_free(y);
    layer_free(model);
}
END_TEST

// ---- models that no machine could hold --------------------------------------------------------
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(a_model_of_175_billion_parameters_is_costed_at_once_and_without_memory) {
    enum { LAYERS = 12, WIDTH = 120800, BATCH = 512 };
    int64_t sizes[LAYERS + 1];
    for (int i = 0; i <= LAYERS; i++) sizes[i] = WIDTH;
    int64_t reserved = context_ledger()->reserved_bytes;
    uint64_t calls = memory_system_calls();
    double start = seconds();
    context_set_device(device_meta());
    Layer *model = mlp_new(sizes, LAYERS + 1, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(BATCH, WIDTH));
    LayerCost cost;
    ck_assert_msg(layer_cost(model, &x, 1, &cost) == STATUS_OK, "%s", error_message());
    double elapsed = seconds() - start;
    const uint64_t weights = (uint64_t)LAYERS * WIDTH * WIDTH;
    ck_assert_int_eq(layer_parameter_count(model), (int64_t)weights + LAYERS * WIDTH);
    ck_assert_int_ge(layer_parameter_count(model), 175000000000);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, weights * BATCH);
    ck_assert_uint_eq(macs_of_backward(&cost), (2 * weights - weights / LAYERS) * BATCH);
    ck_assert_int_eq(cost.peak.category[MEM_PARAMETER], 4 * layer_parameter_count(model));
    ck_assert_int_eq(context_ledger()->reserved_bytes, reserved);
    ck_assert_uint_lt(memory_system_calls() - calls, 1000);
    ck_assert_msg(elapsed < 0.5, "it took %g s", elapsed); // 0.0005 s when nothing else runs
    tensor_free(x);
    layer_free(model);
    context_set_device(device_cpu());
}
END_TEST

START_TEST(a_dry_run_of_a_cpu_model_allocates_no_tensor_data) {
    Layer *model = mlp_new((int64_t[]){200, 300, 50}, 3, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(64, 200));
    Context *context = dry_run_begin(model);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(model, x);
    ck_assert_ptr_eq(y->device, device_meta());
    ck_assert_int_eq(autograd_backward(tensor_mean(y, DIM_ALL, false)), STATUS_OK);
    ck_assert_int_eq(context->ledger->reserved_bytes, 0);
    ck_assert_int_gt(context->ledger->live.category[MEM_GRADIENT], 0);
    ck_assert_int_eq(tensor_bytes(tensor_grad(model->children[0]->parameters[0].tensor)), 240000);
    scope_close(scope);
    dry_run_end(context);
    ck_assert_ptr_null(tensor_grad(model->children[0]->parameters[0].tensor));
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(what_cannot_run_cannot_be_costed_and_says_why) {
    Layer *model = mlp_new((int64_t[]){4, 3}, 2, mlp_defaults());
    Tensor *x = tensor_zeros_new(SHAPE(2, 5));
    Context *before = context_current();
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_SHAPE);
    expect_error(STATUS_SHAPE, "linear of (2, 5), (3, 4)");
    Layer *nothing = relu_new(); // no parameter, and nothing comes of it
    Tensor *labels = tensor_from_labels_new(SHAPE(1), (int64_t[]){1});
    ck_assert_int_eq(layer_cost(nothing, &labels, 1, &cost), STATUS_DTYPE);
    expect_error(STATUS_DTYPE, "int64");
    layer_free(nothing);
    tensor_free(labels);
    ck_assert_int_eq(layer_cost(NULL, &x, 1, &cost), STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "no layer");
    ck_assert_ptr_eq(context_current(), before);
    tensor_free(x);
    layer_free(model);
}
END_TEST

START_TEST(an_input_that_is_recorded_wants_its_gradient_as_a_leaf_does) {
    Layer *model = linear_new(5, 3, true);
    Tensor *leaf = tensor_full_new(SHAPE(8, 5), 1.0f);
    LayerCost of_leaf, of_result;
    tensor_requires_grad(leaf, true);
    Scope *scope = scope_open();
    Tensor *result = tensor_relu(leaf);
    ck_assert_int_eq(layer_cost(model, &leaf, 1, &of_leaf), STATUS_OK);
    ck_assert_int_eq(layer_cost(model, &result, 1, &of_result), STATUS_OK);
    ck_assert_uint_eq(of_result.phase[PHASE_BACKWARD_INPUT].macs, 120);
    ck_assert_mem_eq(of_leaf.phase, of_result.phase, sizeof of_leaf.phase);
    ck_assert_int_eq(autograd_backward(tensor_sum(result, DIM_ALL, false)), STATUS_OK);
    scope_close(scope);
    tensor_free(leaf);
    layer_free(model);
}
END_TEST

START_TEST(without_gradients_there_is_only_a_forward) {
    Layer *model = relu_new();
    Tensor *x = tensor_zeros_new(SHAPE(10));
    LayerCost cost;
    ck_assert_int_eq(layer_cost(model, &x, 1, &cost), STATUS_OK);
    ck_assert_int_eq(cost.ops, 1);
    ck_assert_uint_eq(cost.phase[PHASE_FORWARD].elementwise_flops, 10);
    ck_assert_int_eq(cost.saved_bytes, 0);
    ck_assert_int_eq(cost.peak.total, 40);
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_dry_run_leaves_the_model_its_gradients_and_the_context_as_they_were, 0},
        {a_dry_run_in_the_middle_of_a_step_does_not_disturb_it, 0},
        {a_dry_run_does_not_write_where_a_layer_writes_in_place, 0},
        {nothing_of_what_a_program_trains_with_changes, 3},
        {any_request_may_fail_and_nothing_real_has_changed, 0},
        {modes_that_cannot_be_put_back_are_freed, 0},
        {what_is_freed_inside_stays_outside, 0},
        {what_is_made_inside_is_as_if_no_dry_run_were_around, 0},
        {what_is_switched_inside_is_what_runs_inside, 0},
        {a_layer_behind_a_pointer_is_met_by_its_twin, 0},
        {a_layer_that_changes_itself_changes_its_twin, 0},
        {a_profile_inside_is_of_twins_and_measures_nothing, 0},
        {views_of_one_buffer_are_views_of_one_twin, 0},
        {a_result_written_into_a_tensor_from_outside_stays_outside, 0},
        {a_model_of_175_billion_parameters_is_costed_at_once_and_without_memory, 0},
        {a_dry_run_of_a_cpu_model_allocates_no_tensor_data, 0},
        {what_cannot_run_cannot_be_costed_and_says_why, 0},
        {an_input_that_is_recorded_wants_its_gradient_as_a_leaf_does, 0},
        {without_gradients_there_is_only_a_forward, 0},
        {NULL, 0},
    };
    return harness_main("dry_run", tests);
}
