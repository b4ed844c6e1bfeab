// test_cuda_fit.c -- training on a device: its losses are read seldom and in one go, and equal
// those of the host. test_cuda.c tests that steps leave the same weights.
#include <math.h>
#include <stdlib.h>

#include "layers/train/fit.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

enum { IMAGES = 44, BATCH = 4, PIXELS = 6, CLASSES = 3, EPOCH = IMAGES / BATCH };

typedef struct Training {
    Dataset dataset;
    Loader *loader;
    Layer *model;
    Optimizer *optimizer;
    FitResult result;
} Training;

static void training_start(Training *self) {
    *self = (Training){
        .dataset = {.count = IMAGES, .rows = 2, .columns = PIXELS / 2, .classes = CLASSES}};
    self->dataset.images = malloc(IMAGES * PIXELS);
    self->dataset.labels = malloc(IMAGES);
    for (int i = 0; i < IMAGES * PIXELS; i++) self->dataset.images[i] = (uint8_t)(i * 37 % 251);
    for (int i = 0; i < IMAGES; i++) self->dataset.labels[i] = (uint8_t)(i % CLASSES);
    context_seed(5);
    self->loader = loader_new(&self->dataset, (LoaderOptions){.batch = BATCH, .scale = 1.0f});
    self->model = mlp_new((int64_t[]){PIXELS, 8, CLASSES}, 3, mlp_defaults());
    self->optimizer = optimizer_new(self->model, optimizer_defaults(OPTIMIZER_ADAM));
}

static void training_end(Training *self) {
    optimizer_free(self->optimizer);
    layer_free(self->model);
    loader_free(self->loader);
    dataset_free(&self->dataset);
}

static Status training_run(Training *self, FitOptions options) {
    return train_fit(self->model, self->optimizer, self->loader, options, &self->result);
}

// ---- number of waits ---------------------------------------------------------------------------
typedef struct Waits {
    Observer observer; // must be first
    int n, steps[64];  // steps done at each wait
    int steps_done;
} Waits;

static void copy_begins(Observer *observer, Device *device, bool to_host, int64_t bytes) {
    Waits *self = (Waits *)observer;
    (void)device, (void)bytes;
    if (to_host && self->n < 64) self->steps[self->n++] = self->steps_done;
}

static void step_done(void *argument, const FitProgress *progress) {
    ((Waits *)argument)->steps_done = (int)progress->step;
}

START_TEST(losses_are_read_every_so_many_steps_and_at_an_epoch_s_end) {
    const int expected[] = {3, 7, 10, 14, 18, 20}; // after steps 4, 8 and 11 of each epoch's 11
    Training host, device;
    training_start(&host);
    ck_assert_msg(!training_run(&host, (FitOptions){.epochs = 2, .max_steps = 21}), "%s",
                  error_message());
    cuda_device_use();
    training_start(&device);
    Waits waits = {.observer = {.copy_begin = copy_begins}};
    FitOptions options = {
        .epochs = 2, .max_steps = 21, .read_every = 4, .progress = step_done, .argument = &waits};
    observer_add(&waits.observer);
    ck_assert_msg(!training_run(&device, options), "%s", error_message());
    observer_remove(&waits.observer);
    ck_assert_int_eq(waits.n, 6);
    for (int i = 0; i < 6; i++) ck_assert_int_eq(waits.steps[i], expected[i]);
    ck_assert_int_eq(device.result.steps, 21);
    ck_assert(fabs(device.result.final_loss - host.result.final_loss) < 1e-5);
    training_end(&host);
    training_end(&device);
}
END_TEST

static void keep_loss(void *argument, const FitProgress *progress) {
    double *losses = argument;
    losses[progress->step - 1] = progress->loss;
}

START_TEST(progress_has_the_last_loss_that_was_read) {
    double host_losses[EPOCH], losses[EPOCH];
    Training host, device;
    training_start(&host);
    training_run(&host, (FitOptions){.epochs = 1, .progress = keep_loss, .argument = host_losses});
    cuda_device_use();
    training_start(&device);
    FitOptions options = {.epochs = 1, .read_every = 5, .progress = keep_loss, .argument = losses};
    ck_assert_msg(!training_run(&device, options), "%s", error_message());
    for (int i = 0; i < EPOCH; i++) {
        int read = i == EPOCH - 1 ? i : (i + 1) / 5 * 5 - 1;
        if (read < 0)
            ck_assert(isnan(losses[i]));
        else
            ck_assert(fabs(losses[i] - host_losses[read]) < 1e-5);
    }
    training_end(&host);
    training_end(&device);
}
END_TEST

// ---- losses that are not finite ----------------------------------------------------------------
static void spoil_bias(void *argument, const FitProgress *progress) {
    Layer *model = argument;
    Tensor *bias = model->children[2]->parameters[1].tensor; // the bias of fc2
    no_grad_begin();
    if (progress->step == 6) tensor_fill(bias, NAN);
    no_grad_end();
}

// index 0: read at once, but after the optimizer wrote NaN everywhere; 1: read later
START_TEST(a_bad_loss_is_found_late_and_named_by_its_step) {
    cuda_device_use();
    Training t;
    training_start(&t);
    FitOptions options = {
        .epochs = 1, .progress = spoil_bias, .argument = t.model, .read_every = _i ? 5 : 1};
    ck_assert_int_eq(training_run(&t, options), STATUS_NON_FINITE);
    expect_error(STATUS_NON_FINITE,
                 "training: step 7: the loss is nan; and by now the weights are not finite");
    ck_assert_int_eq(t.result.steps, _i ? 10 : 7);
    training_end(&t);
}
END_TEST

// A loss that is not finite although all gradients are: the weights stay, and can be read.
static Tensor *infinite_loss(Tensor *output, Tensor *labels) {
    (void)labels;
    Tensor *zero = tensor_mul_scalar(output, 0.0f);
    return tensor_add_scalar(tensor_sum(zero, DIM_ALL, false), INFINITY);
}

// A part of a large tensor, of changing shape: only the number is kept until it is read.
static Tensor *part_of_large(Tensor *output, Tensor *labels) {
    static int calls;
    Tensor *loss = loss_cross_entropy(output, labels);
    Tensor *large = tensor_expand(tensor_reshape(loss, SHAPE(1)), SHAPE(1 << 16));
    Tensor *one = tensor_slice(tensor_mul_scalar(large, 1.0f), 0, 7, 8, 1);
    return calls++ % 2 ? one : tensor_reshape(one, SHAPE_SCALAR);
}

static void keep_live(void *argument, const FitProgress *progress) {
    int64_t *live = argument;
    if (progress->step == 1) live[0] = expect_live_bytes();
    if (progress->step == 9) live[1] = expect_live_bytes();
}

START_TEST(of_a_loss_that_waits_only_the_number_is_kept) {
    int64_t live[2];
    cuda_device_use();
    Training t;
    training_start(&t);
    FitOptions options = {
        .epochs = 1, .loss = part_of_large, .progress = keep_live, .argument = live};
    ck_assert_msg(!training_run(&t, options), "%s", error_message());
    ck_assert(isfinite(t.result.final_loss));
    ck_assert_msg(live[1] - live[0] < 1000, "%lld bytes more", (long long)(live[1] - live[0]));
    training_end(&t);
}
END_TEST

START_TEST(a_layer_is_looked_for_on_the_device_where_the_weights_are_sound) {
    cuda_device_use();
    Training t;
    training_start(&t);
    ck_assert_int_eq(training_run(&t, (FitOptions){.epochs = 1, .loss = infinite_loss}),
                     STATUS_NON_FINITE);
    expect_error(STATUS_NON_FINITE, "training: step 1: the loss is inf; in the loss itself");
    t.dataset.images[3] = 255;
    loader_free(t.loader);
    t.loader = loader_new(&t.dataset, (LoaderOptions){.batch = BATCH, .scale = INFINITY});
    Batch batch;
    loader_start_epoch(t.loader);
    ck_assert(loader_next(t.loader, &batch));
    train_explain_non_finite(t.model, batch.images, 3, (double)NAN);
    expect_error(STATUS_NON_FINITE, "step 3: the loss is nan; first in fc1 (linear)");
    training_end(&t);
}
END_TEST

START_TEST(a_step_whose_loss_nobody_wants_is_not_waited_for) {
    cuda_device_use();
    Training t;
    training_start(&t);
    Batch batch;
    loader_start_epoch(t.loader);
    ck_assert(loader_next(t.loader, &batch));
    Waits waits = {.observer = {.copy_begin = copy_begins}};
    double loss = (double)NAN;
    observer_add(&waits.observer);
    ck_assert_int_eq(train_step(t.model, t.optimizer, batch.images, batch.labels, NULL), STATUS_OK);
    ck_assert_int_eq(waits.n, 0);
    ck_assert_int_eq(train_step(t.model, t.optimizer, batch.images, batch.labels, &loss),
                     STATUS_OK);
    ck_assert_int_eq(waits.n, 1);
    observer_remove(&waits.observer);
    ck_assert(isfinite(loss));
    training_end(&t);
}
END_TEST

START_TEST(no_other_number_of_steps_is_taken) {
    Training t;
    training_start(&t);
    ck_assert_int_eq(training_run(&t, (FitOptions){.epochs = 1, .read_every = -1}),
                     STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "every -1 steps. HINT: 1 to 64");
    ck_assert_int_eq(training_run(&t, (FitOptions){.epochs = 1, .read_every = 65}),
                     STATUS_INVALID_ARGUMENT);
    expect_error(STATUS_INVALID_ARGUMENT, "every 65 steps");
    training_end(&t);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {losses_are_read_every_so_many_steps_and_at_an_epoch_s_end, 0},
        {progress_has_the_last_loss_that_was_read, 0},
        {a_bad_loss_is_found_late_and_named_by_its_step, 2},
        {of_a_loss_that_waits_only_the_number_is_kept, 0},
        {a_layer_is_looked_for_on_the_device_where_the_weights_are_sound, 0},
        {a_step_whose_loss_nobody_wants_is_not_waited_for, 0},
        {no_other_number_of_steps_is_taken, 0},
        {NULL, 0},
    };
    return harness_main("cuda_fit", tests);
}
