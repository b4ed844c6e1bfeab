// training.c -- makes a small training, takes steps, and compares its state through its file.
#include "tests/helpers/training.h"

#include <stdio.h>

#include "tensor/memory.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

static uint8_t pixels[TRAINING_IMAGES * TRAINING_PIXELS], classes[TRAINING_IMAGES];
const Dataset training_dataset = {.count = TRAINING_IMAGES,
                                  .rows = 2,
                                  .columns = 3,
                                  .classes = TRAINING_CLASSES,
                                  .name = "squares",
                                  .images = pixels,
                                  .labels = classes};

// A model with dropout, batch norm, a frozen weight and, if `tied`, tied weights.
static Layer *model_new(bool tied) {
    Layer *model = sequential_new();
    layer_append(model, linear_new(TRAINING_PIXELS, 5, true));
    layer_append(model, batch_norm1d_new(5, batch_norm_defaults()));
    layer_append(model, dropout_new(0.3f));
    layer_append(model, linear_new(5, 5, true));
    layer_append(model, linear_new(5, 5, false));
    layer_append(model, linear_new(5, TRAINING_CLASSES, true));
    int64_t count;
    layer_freeze(model, "0.bias", true, &count);
    if (tied) layer_tie(model, "4.weight", "3.weight");
    expect_no_error();
    return model;
}

const Schedule training_schedule = {
    .kind = SCHEDULE_COSINE, .base = 0.05f, .warmup = 3, .period = TRAINING_STEPS - 3};

Checkpoint training_new(Training with, uint64_t seed) {
    for (int i = 0; i < TRAINING_IMAGES * TRAINING_PIXELS; i++) pixels[i] = (uint8_t)(i * i % 251);
    for (int i = 0; i < TRAINING_IMAGES; i++) classes[i] = (uint8_t)(i % TRAINING_CLASSES);
    context_seed(seed);
    Checkpoint training = {.model = model_new(with.tied), .schedule = memory_new(sizeof(Schedule))};
    *training.schedule = training_schedule;
    OptimizerConfig config = optimizer_defaults(with.kind);
    config.clip_norm = 0.5f;
    training.optimizer = optimizer_new(training.model, config);
    training.loader = loader_new(&training_dataset, (LoaderOptions){.batch = TRAINING_BATCH,
                                                                    .shuffle = true,
                                                                    .seed = 11,
                                                                    .scale = 1.0f,
                                                                    .prefetch = with.prefetch});
    expect_no_error();
    return training;
}

void training_free(Checkpoint *training) {
    loader_free(training->loader);
    optimizer_free(training->optimizer);
    layer_free(training->model);
    memory_free(training->schedule);
}

const Training training_kinds[TRAINING_KINDS] = {
    {OPTIMIZER_ADAM, 0, false}, {OPTIMIZER_ADAMW, 3, true},   {OPTIMIZER_MOMENTUM, 0, false},
    {OPTIMIZER_SGD, 1, true},   {OPTIMIZER_RMSPROP, 0, true}, {OPTIMIZER_LION, 2, false}};

double training_step(Checkpoint *training) {
    Batch batch;
    double loss = 0;
    optimizer_set_learning_rate(training->optimizer,
                                schedule_rate(training->schedule, training->step));
    if (!loader_next(training->loader, &batch)) {
        loader_start_epoch(training->loader);
        training->epoch++;
        ck_assert(loader_next(training->loader, &batch));
    }
    ck_assert_msg(!train_step(training->model, training->optimizer, batch.images, batch.labels,
                              &loss),
                  "%s", error_message());
    training->step++;
    return loss;
}

void training_expect(const Checkpoint *one, const char *file) {
    ck_assert_msg(!checkpoint_write(one, byte_file_path("now")), "%s", error_message());
    char command[64];
    snprintf(command, sizeof command, "cmp now %s", file);
    work_folder_run(command);
}
