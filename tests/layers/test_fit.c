// test_fit.c -- the training loop over a dataset: any model, any loss, and losses that are not
// finite. test_train.c tests its steps, test_loader.c its loader.
#include <math.h>
#include <stdlib.h>

#include "layers/layers2d.h"
#include "layers/train/digits.h"
#include "layers/train/fit.h"
#include "tests/helpers/expect.h"

// ---- other models, other losses ---------------------------------------------------------------
static Tensor *twice_cross_entropy(Tensor *output, Tensor *labels) {
    return tensor_mul_scalar(loss_cross_entropy(output, labels), 2.0f);
}

static Layer *small_cnn(void) {
    Layer *model = sequential_new();
    layer_add_child(model, "conv", conv2d_new(1, 4, 3, 3, conv2d_defaults(), true));
    layer_add_child(model, "relu", relu_new());
    layer_add_child(model, "pool", max_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "flatten", flatten_new(1, -1));
    layer_add_child(model, "fc", linear_new(4 * 13 * 13, 10, true));
    return model;
}

// Trains equal weights on equal batches, once with each loss, and half the learning rate for the
// doubled one: after SGD the weights are equal, and the reported loss is twice as large.
START_TEST(a_cnn_is_trained_with_the_loss_that_is_given) {
    Dataset digits, rest;
    digits_generate(700, 1, &digits);
    ck_assert_int_eq(dataset_split(&digits, 100, 0, &rest), STATUS_OK);
    double loss[2], accuracy[2];
    for (int i = 0; i < 2; i++) {
        context_seed(3);
        Layer *model = small_cnn();
        OptimizerConfig sgd = optimizer_defaults(OPTIMIZER_SGD);
        sgd.learning_rate = i ? 0.125f : 0.25f;
        Optimizer *optimizer = optimizer_new(model, sgd);
        LoaderOptions load = {.batch = 50, .shuffle = true, .scale = 1.0f, .planes = true};
        Loader *loader = loader_new(&digits, load), *test = loader_new(&rest, load);
        FitOptions options = {.epochs = 6, .loss = i ? twice_cross_entropy : NULL};
        FitResult result;
        Status status = train_fit(model, optimizer, loader, options, &result);
        ck_assert_msg(status == STATUS_OK, "%s", error_message());
        loss[i] = result.final_loss;
        ck_assert_int_eq(train_accuracy(model, test, &accuracy[i]), STATUS_OK);
        loader_free(loader);
        loader_free(test);
        optimizer_free(optimizer);
        layer_free(model);
    }
    ck_assert_double_eq(loss[1], 2.0 * loss[0]);
    ck_assert_double_eq(accuracy[1], accuracy[0]);
    ck_assert_msg(accuracy[0] > 0.8, "accuracy %g", accuracy[0]);
    dataset_free(&digits);
    dataset_free(&rest);
}
END_TEST

static void see_plan(void *argument, const FitProgress *progress) {
    *(int64_t *)argument = progress->steps;
}

// Epochs without end: the loop takes exactly the requested steps, and each of them learns.
START_TEST(max_steps_ends_any_number_of_epochs) {
    static const int64_t epochs[] = {3, INT64_MAX, INT64_MAX / 2 + 1};
    Dataset digits;
    digits_generate(40, 1, &digits);
    double loss[3];
    for (int i = 0; i < 3; i++) {
        context_seed(3);
        int64_t plan = 0;
        Layer *model = linear_new(784, 10, true);
        Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
        Loader *loader = loader_new(&digits, (LoaderOptions){.batch = 10, .scale = 1.0f});
        FitOptions options = {
            .epochs = epochs[i], .max_steps = 9, .progress = see_plan, .argument = &plan};
        FitResult result;
        ck_assert_int_eq(train_fit(model, optimizer, loader, options, &result), STATUS_OK);
        ck_assert_int_eq(result.steps, 9);
        ck_assert_int_eq(plan, 9);
        loss[i] = result.final_loss;
        loader_free(loader);
        optimizer_free(optimizer);
        layer_free(model);
    }
    ck_assert_double_eq(loss[1], loss[0]);
    ck_assert_double_eq(loss[2], loss[0]);
    dataset_free(&digits);
}
END_TEST

static int asked; // how often it was asked to stop; true the third time
static bool at_the_third(void) { return ++asked >= 3; }

static void see_last(void *argument, const FitProgress *progress) {
    int64_t *last = argument;
    if (progress->last) *last = progress->step;
}

// The loop asks after each step; the weights equal those of a training with max_steps as long.
START_TEST(whoever_wishes_so_has_the_step_that_runs_as_the_last) {
    Dataset digits;
    digits_generate(100, 1, &digits);
    int64_t each = _i ? 4 : 1; // batches per step
    double loss[2];
    for (int i = 0; i < 2; i++) {
        context_seed(3);
        int64_t last = 0;
        asked = 0;
        Layer *model = linear_new(784, 10, true);
        Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
        Loader *loader = loader_new(&digits, (LoaderOptions){.batch = 10, .scale = 1.0f});
        FitOptions options = {.epochs = 50,
                              .max_steps = i ? 3 * each : 0,
                              .accumulate = each,
                              .progress = see_last,
                              .argument = &last,
                              .stop = i ? NULL : at_the_third};
        FitResult result;
        ck_assert_int_eq(train_fit(model, optimizer, loader, options, &result), STATUS_OK);
        ck_assert_int_eq(result.steps, 3 * each);
        ck_assert_int_eq(last, 3 * each);
        ck_assert_int_eq(result.cut_short, i == 0);
        ck_assert_int_eq(asked, i ? 0 : 3);
        loss[i] = result.final_loss + (double)tensor_data(model->parameters[0].tensor)[400];
        loader_free(loader);
        optimizer_free(optimizer);
        layer_free(model);
    }
    ck_assert_double_eq(loss[0], loss[1]);
    dataset_free(&digits);
}
END_TEST

// Accuracy needs one class for each image, in whatever shape, and not several.
START_TEST(what_gives_no_class_for_each_image_has_no_accuracy) {
    Dataset digits;
    digits_generate(20, 1, &digits);
    Loader *loader = loader_new(&digits, (LoaderOptions){.batch = 6, .scale = 1, .planes = true});
    for (int64_t kernel = 26; kernel <= 28; kernel++) {
        Layer *model = conv2d_new(1, 10, kernel, kernel, conv2d_defaults(), true);
        double accuracy;
        Status status = train_accuracy(model, loader, &accuracy);
        if (kernel < 28) expect_error(STATUS_SHAPE, "(..., classes)");
        ck_assert_int_eq(status, kernel < 28 ? STATUS_SHAPE : STATUS_OK);
        if (kernel == 28) ck_assert(accuracy >= 0.0 && accuracy <= 1.0);
        layer_free(model);
    }
    loader_free(loader);
    dataset_free(&digits);
}
END_TEST

// ---- losses that are not finite ---------------------------------------------------------------
static Layer *small_mlp(void) { return mlp_new((int64_t[]){20, 30, 4}, 3, mlp_defaults()); }

static Dataset noise_dataset(void) {
    Dataset dataset = {.count = 40, .rows = 4, .columns = 5, .classes = 4};
    dataset.images = malloc(40 * 20);
    dataset.labels = malloc(40);
    for (int i = 0; i < 40 * 20; i++) dataset.images[i] = (uint8_t)(i * 37 % 251);
    for (int i = 0; i < 40; i++) dataset.labels[i] = (uint8_t)(i % 4);
    return dataset;
}

// Spoils the second linear layer after three steps.
static void spoil(void *argument, const FitProgress *progress) {
    Layer *model = argument;
    if (progress->step == 3) tensor_data(model->children[2]->parameters[1].tensor)[0] = NAN;
}

START_TEST(training_stops_at_the_first_bad_loss_and_names_step_and_layer) {
    Dataset dataset = noise_dataset();
    Loader *loader = loader_new(&dataset, (LoaderOptions){.batch = 8, .scale = 1.0f});
    Layer *model = small_mlp();
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));
    FitOptions options = {.epochs = 5, .progress = spoil, .argument = model};
    FitResult result;
    Status status = train_fit(model, optimizer, loader, options, &result);
    ck_assert_int_eq(status, STATUS_NON_FINITE);
    const float *first = tensor_data(model->children[0]->parameters[0].tensor);
    bool harmed = first && isnan(first[0]);
    expect_error(STATUS_NON_FINITE,
                 "training: step 4: the loss is nan; first in fc2 (linear). HINT");
    ck_assert_msg(!harmed, "the bad gradient was still applied to fc1");
    optimizer_free(optimizer);
    layer_free(model);
    loader_free(loader);
    dataset_free(&dataset);
}
END_TEST

START_TEST(an_input_that_is_not_a_number_stops_training_at_the_first_layer) {
    Dataset dataset = noise_dataset();
    LoaderOptions options = {.batch = 8, .scale = NAN};
    Loader *loader = loader_new(&dataset, options);
    Layer *model = small_mlp();
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    FitResult result;
    Status status = train_fit(model, optimizer, loader, (FitOptions){.epochs = 2}, &result);
    ck_assert_int_eq(status, STATUS_NON_FINITE);
    expect_error(STATUS_NON_FINITE, "step 1: the loss is nan; first in fc1 (linear)");
    ck_assert_int_eq(result.steps, 1);
    optimizer_free(optimizer);
    layer_free(model);
    loader_free(loader);
    dataset_free(&dataset);
}
END_TEST

START_TEST(a_loss_that_nobody_knows_is_no_number) {
    Dataset dataset = noise_dataset();
    context_set_device(device_meta());
    Loader *loader = loader_new(&dataset, (LoaderOptions){.batch = 8, .scale = 1.0f});
    Layer *model = small_mlp();
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    FitResult result;
    Status status = train_fit(model, optimizer, loader, (FitOptions){.epochs = 2}, &result);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_int_eq(result.steps, 10);
    ck_assert(isnan(result.final_loss));
    optimizer_free(optimizer);
    layer_free(model);
    loader_free(loader);
    dataset_free(&dataset);
}
END_TEST

// The defaults of torch.optim, and for Lion, which it lacks, the paper's (Chen et al. 2023). The
// rates of plain and momentum SGD are this project's, since PyTorch has no default.
START_TEST(optimizers_begin_with_the_usual_numbers) {
    static const OptimizerConfig usual[] = {
        {.kind = OPTIMIZER_ADAM, .learning_rate = 1e-3f, .beta1 = 0.9f, .beta2 = 0.999f},
        {.kind = OPTIMIZER_ADAMW,
         .learning_rate = 1e-3f,
         .beta1 = 0.9f,
         .beta2 = 0.999f,
         .weight_decay = 0.01f},
        {.kind = OPTIMIZER_RMSPROP, .learning_rate = 1e-2f, .beta2 = 0.99f},
        {.kind = OPTIMIZER_LION, .learning_rate = 1e-4f, .beta1 = 0.9f, .beta2 = 0.99f}};
    for (int i = 0; i < 4; i++) {
        OptimizerConfig got = optimizer_defaults(usual[i].kind);
        ck_assert(got.learning_rate == usual[i].learning_rate && got.beta1 == usual[i].beta1 &&
                  got.beta2 == usual[i].beta2 && got.weight_decay == usual[i].weight_decay);
        ck_assert(got.epsilon == (i == 3 ? 0.0f : 1e-8f) && got.clip_norm == 0.0f);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_cnn_is_trained_with_the_loss_that_is_given, 0},
        {max_steps_ends_any_number_of_epochs, 0},
        {whoever_wishes_so_has_the_step_that_runs_as_the_last, 2},
        {what_gives_no_class_for_each_image_has_no_accuracy, 0},
        {training_stops_at_the_first_bad_loss_and_names_step_and_layer, 0},
        {an_input_that_is_not_a_number_stops_training_at_the_first_layer, 0},
        {a_loss_that_nobody_knows_is_no_number, 0},
        {optimizers_begin_with_the_usual_numbers, 0},
        {NULL, 0},
    };
    return harness_main("fit", tests);
}
