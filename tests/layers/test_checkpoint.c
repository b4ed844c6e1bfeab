// test_checkpoint.c -- training that is killed between any two steps resumes as if it had not been,
// bit for bit. test_interrupted.c tests files that do not fit, and interrupted writes.
#include <string.h>

#include "layers/recurrent.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/training.h"
#include "tests/helpers/work_folder.h"

START_TEST(a_run_killed_between_any_two_steps_goes_on_bit_for_bit) {
    work_folder_begin();
    Training with = training_kinds[_i];
    Checkpoint whole = training_new(with, 5);
    double losses[TRAINING_STEPS];
    char name[16];
    for (int i = 0; i < TRAINING_STEPS; i++) {
        snprintf(name, sizeof name, "at-%d", i);
        ck_assert_int_eq(checkpoint_write(&whole, byte_file_path(name)), STATUS_OK);
        losses[i] = training_step(&whole);
    }
    ck_assert_int_eq(checkpoint_write(&whole, byte_file_path("end")), STATUS_OK);
    training_free(&whole);
    for (int killed = 0; killed < TRAINING_STEPS; killed++) {
        Checkpoint again = training_new(with, 1000 + (uint64_t)killed);        // other weights
        *again.schedule = (Schedule){.kind = SCHEDULE_CONSTANT, .base = 7.0f}; // with another rate
        snprintf(name, sizeof name, "at-%d", killed);
        ck_assert_msg(!checkpoint_read(&again, byte_file_path(name)), "%s", error_message());
        ck_assert_int_eq(again.step, killed);
        training_expect(&again, name);
        for (int i = killed; i < TRAINING_STEPS; i++) {
            double loss = training_step(&again);
            ck_assert_msg(loss == losses[i], "killed before %d, step %d: %.17g, not %.17g", killed,
                          i, loss, losses[i]);
        }
        training_expect(&again, "end");
        training_free(&again);
    }
    work_folder_end();
}
END_TEST

typedef struct Saver {
    Checkpoint *training;
    int64_t at;
} Saver;

static void save_at(void *argument, const FitProgress *progress) {
    Saver *saver = argument;
    saver->training->step = progress->step;
    saver->training->epoch = progress->epoch;
    if (progress->step == saver->at)
        ck_assert_int_eq(checkpoint_write(saver->training, byte_file_path("mid")), STATUS_OK);
}

// Stops in the middle of an epoch, at the end of one, and at the end of the last.
START_TEST(train_fit_goes_on_where_it_was) {
    work_folder_begin();
    static const int64_t stops[] = {1, 4, TRAINING_BATCHES, TRAINING_BATCHES + 5,
                                    2 * TRAINING_BATCHES};
    Checkpoint whole = training_new(training_kinds[0], 3),
               again = training_new(training_kinds[0], 4);
    Saver saver = {&whole, stops[_i]};
    FitOptions options = {
        .epochs = 2, .schedule = whole.schedule, .progress = save_at, .argument = &saver};
    FitResult fit;
    ck_assert_int_eq(train_fit(whole.model, whole.optimizer, whole.loader, options, &fit),
                     STATUS_OK);
    double last = fit.final_loss;
    ck_assert(optimizer_config(whole.optimizer).learning_rate ==
              schedule_rate(whole.schedule, 2 * TRAINING_BATCHES - 1));
    ck_assert_int_eq(checkpoint_write(&whole, byte_file_path("end")), STATUS_OK);
    ck_assert_msg(!checkpoint_read(&again, byte_file_path("mid")), "%s", error_message());
    saver = (Saver){&again, 0};
    options.steps_done = again.step;
    options.schedule = again.schedule;
    ck_assert_msg(!train_fit(again.model, again.optimizer, again.loader, options, &fit), "%s",
                  error_message());
    ck_assert_int_eq(fit.steps, 2 * TRAINING_BATCHES);
    ck_assert_int_eq(fit.epochs, 2);
    if (_i == 2) ck_assert(fit.final_loss == last); // it ran a whole epoch itself
    training_expect(&again, "end");
    training_free(&whole);
    training_free(&again);
    work_folder_end();
}
END_TEST

START_TEST(a_loader_goes_to_any_place_that_there_is_and_no_other) {
    work_folder_begin();
    Checkpoint one = training_new(training_kinds[1], 1), other = training_new(training_kinds[0], 1);
    Batch there, here;
    for (int i = 0; i < 20; i++) {
        LoaderPosition place = loader_position(one.loader);
        ck_assert_int_eq(loader_seek(other.loader, place), STATUS_OK);
        bool more = loader_next(one.loader, &there);
        ck_assert_int_eq(loader_next(other.loader, &here), more);
        if (!more) loader_start_epoch(one.loader);
        if (more)
            ck_assert_mem_eq(tensor_data(there.images), tensor_data(here.images),
                             (size_t)tensor_bytes(there.images));
        if (more) ck_assert_int_eq(here.count, there.count);
    }
    const LoaderPosition place = loader_position(other.loader);
    LoaderPosition wrong[] = {place, place, place, place, place, place, place, place, place};
    wrong[0].epoch = 0;
    wrong[1].epoch = LOADER_MOST_EPOCHS + 1;
    wrong[2].batch = -1;
    wrong[3].batch = TRAINING_BATCHES + 1;
    wrong[4].images++;
    wrong[5].batch_size++;
    wrong[6].seed++;
    wrong[7].shuffle = false;
    wrong[8].drop_last = true;
    for (int i = 0; i < 9; i++) {
        ck_assert(loader_seek(other.loader, wrong[i]));
        byte_file_expect_error(STATUS_INVALID_ARGUMENT, "loader_seek: ");
        LoaderPosition now = loader_position(other.loader);
        ck_assert(now.epoch == place.epoch && now.batch == place.batch);
    }
    training_free(&one);
    training_free(&other);
    work_folder_end();
}
END_TEST

// One pixel of one image, or one label, differs; the number of images and the name do not matter.
START_TEST(other_data_of_the_same_size_is_noticed_and_both_are_named) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[_i], 1);
    LoaderOptions options = {
        .batch = TRAINING_BATCH, .shuffle = true, .seed = 11, .scale = 1.0f, .prefetch = _i};
    Dataset other = training_dataset, same = training_dataset;
    uint8_t pixels[TRAINING_IMAGES * TRAINING_PIXELS], labels[TRAINING_IMAGES];
    memcpy(pixels, training_dataset.images, sizeof pixels);
    memcpy(labels, training_dataset.labels, sizeof labels);
    other.images = pixels;
    other.labels = labels;
    snprintf(other.name, sizeof other.name, "nearly \"squ\xe4res\"");
    snprintf(same.name, sizeof same.name, "moved");
    if (_i == 0) pixels[sizeof pixels - 1] ^= 1;
    if (_i > 0) labels[0] ^= 1;
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    loader_free(training.loader);
    training.loader = loader_new(&other, options);
    ck_assert(checkpoint_read(&training, byte_file_path("run")));
    ck_assert_ptr_nonnull(strstr(error_message(), "is in 'squares' (22 samples, "));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "has 'nearly \"squ\xe4res\"' (22 samples, ");
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("other")), STATUS_OK);
    loader_free(training.loader);
    training.loader = loader_new(&same, options);
    ck_assert(checkpoint_read(&training, byte_file_path("other")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "is in 'nearly \"squ?res\"' (22 samples, ");
    ck_assert_msg(!checkpoint_read(&training, byte_file_path("run")), "%s", error_message());
    loader_free(training.loader); // the same pixels, other scaling
    if (_i == 0) options.mean = 0.5f;
    if (_i > 0) options.scale = 2.0f;
    training.loader = loader_new(&training_dataset, options);
    ck_assert(checkpoint_read(&training, byte_file_path("run")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "by the same mean and scale");
    training_free(&training);
    work_folder_end();
}
END_TEST

// Runs for every optimizer, including SGD, which has no state to miss.
START_TEST(other_frozen_parameters_are_noticed_and_named) {
    work_folder_begin();
    Checkpoint training = training_new(training_kinds[_i], 1),
               other = training_new(training_kinds[_i], 2);
    int64_t count;
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    layer_freeze(other.model, "1.bias", true, &count);
    ck_assert(checkpoint_read(&other, byte_file_path("run")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "1.bias trained when it was written, and is");
    layer_freeze(other.model, "1.bias", false, &count);
    layer_freeze(other.model, "0.bias", false, &count);
    ck_assert(checkpoint_read(&other, byte_file_path("run")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "0.bias was frozen when it was written, and");
    Checkpoint model = {.model = other.model}; // for use without training
    ck_assert_int_eq(checkpoint_read(&model, byte_file_path("run")), STATUS_OK);
    layer_freeze(other.model, "0.bias", true, &count);
    ck_assert_msg(!checkpoint_read(&other, byte_file_path("run")), "%s", error_message());
    training_free(&training);
    training_free(&other);
    work_folder_end();
}
END_TEST

// "weight_hh_l0" is also the start of another name.
START_TEST(a_frozen_parameter_is_known_by_its_whole_name) {
    RecurrentOptions both = recurrent_defaults();
    both.bidirectional = true;
    Layer *model = lstm_new(3, 2, both);
    int64_t count;
    work_folder_begin();
    ck_assert_int_eq(layer_freeze(model, "weight_hh_l0_reverse", true, &count), STATUS_OK);
    ck_assert_int_eq(count, 1);
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_SGD));
    Checkpoint training = {.model = model, .optimizer = optimizer};
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    ck_assert_msg(!checkpoint_read(&training, byte_file_path("run")), "%s", error_message());
    optimizer_free(optimizer);
    layer_free(model);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_run_killed_between_any_two_steps_goes_on_bit_for_bit,
                                  TRAINING_KINDS},
                                 {train_fit_goes_on_where_it_was, 5},
                                 {a_loader_goes_to_any_place_that_there_is_and_no_other, 0},
                                 {other_frozen_parameters_are_noticed_and_named, TRAINING_KINDS},
                                 {a_frozen_parameter_is_known_by_its_whole_name, 0},
                                 {other_data_of_the_same_size_is_noticed_and_both_are_named, 2},
                                 {NULL, 0}};
    return harness_main("checkpoint", tests);
}
