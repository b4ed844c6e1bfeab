// test_dry_run.c -- a dry run leaves no trace on the model, nor on a program's training state,
// whatever is done inside and whatever fails. test_twins.c tests the stand-ins.
#include "layers/cost.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "layers/train/optimizer.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"
#include "tests/helpers/expect.h"

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

// A layer with running statistics: it writes into a tensor of its own.
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

// ---- a training loop inside --------------------------------------------------------------------
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

// Trains for real and reports the final state.
static void train(Training *t, double *loss, float weights[10]) {
    FitResult result;
    FitOptions options = {.epochs = 2};
    train_fit(t->model, t->optimizer, t->loader, options, &result);
    *loss = result.final_loss;
    tensor_read_floats(t->model->children[t->model->n_children - 1]->parameters[1].tensor, weights);
    expect_no_error();
}

// Does everything that a program can do to its training state.
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
    memory_fail_at(1); // the twin's allocation
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
    tensor_free(weight); // releases it by the other pointer
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

int main(void) {
    const HarnessTest tests[] = {
        {a_dry_run_leaves_the_model_its_gradients_and_the_context_as_they_were, 0},
        {a_dry_run_in_the_middle_of_a_step_does_not_disturb_it, 0},
        {a_dry_run_does_not_write_where_a_layer_writes_in_place, 0},
        {nothing_of_what_a_program_trains_with_changes, 3},
        {any_request_may_fail_and_nothing_real_has_changed, 0},
        {modes_that_cannot_be_put_back_are_freed, 0},
        {what_is_freed_inside_stays_outside, 0},
        {NULL, 0},
    };
    return harness_main("dry_run", tests);
}
