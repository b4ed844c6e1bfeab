// test_checkpoint.c -- training that is killed between any two steps, or while it writes, goes on
// as if it had not been: bit for bit. Files of tensors as such: test_safetensors.c.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layers/files/checkpoint.h"
#include "layers/files/safetensors.h"
#include "layers/train/fit.h"
#include "tensor/memory.h"
#include "tests/helpers/byte_file.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/work_folder.h"

enum { IMAGES = 22, PIXELS = 6, CLASSES = 3, BATCH = 4, BATCHES = 6, STEPS = 2 * BATCHES + 2 };

static uint8_t pixels[IMAGES * PIXELS], classes[IMAGES];
static const Dataset dataset = {.count = IMAGES,
                                .rows = 2,
                                .columns = 3,
                                .classes = CLASSES,
                                .images = pixels,
                                .labels = classes};

typedef struct Training {
    OptimizerKind kind;
    int prefetch;
    bool tied;
} Training;

// Dropout, batch norm, a frozen weight and, where wanted, tied ones.
static Layer *model_new(bool tied) {
    Layer *model = sequential_new();
    layer_append(model, linear_new(PIXELS, 5, true));
    layer_append(model, batch_norm1d_new(5, batch_norm_defaults()));
    layer_append(model, dropout_new(0.3f));
    layer_append(model, linear_new(5, 5, true));
    layer_append(model, linear_new(5, 5, false));
    layer_append(model, linear_new(5, CLASSES, true));
    int64_t count;
    layer_freeze(model, "0.bias", true, &count);
    if (tied) layer_tie(model, "4.weight", "3.weight");
    expect_no_error();
    return model;
}

static Checkpoint training_new(Training with, uint64_t seed) {
    for (int i = 0; i < IMAGES * PIXELS; i++) pixels[i] = (uint8_t)(i * i % 251);
    for (int i = 0; i < IMAGES; i++) classes[i] = (uint8_t)(i % CLASSES);
    context_seed(seed);
    Checkpoint training = {.model = model_new(with.tied)};
    OptimizerConfig config = optimizer_defaults(with.kind);
    config.clip_norm = 0.5f;
    training.optimizer = optimizer_new(training.model, config);
    training.loader = loader_new(&dataset, (LoaderOptions){.batch = BATCH,
                                                           .shuffle = true,
                                                           .seed = 11,
                                                           .scale = 1.0f,
                                                           .prefetch = with.prefetch});
    expect_no_error();
    return training;
}

static void training_free(Checkpoint *training) {
    loader_free(training->loader);
    optimizer_free(training->optimizer);
    layer_free(training->model);
}

static const Schedule schedule = {.kind = SCHEDULE_COSINE, .base = 0.05f, .period = STEPS};

// One step, and a new epoch where one is over; the loss.
static double step(Checkpoint *training) {
    Batch batch;
    double loss = 0;
    optimizer_set_learning_rate(training->optimizer, schedule_rate(&schedule, training->step));
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

// The file of a state is the same when and only when the state is.
static void expect_same(const Checkpoint *one, const char *file) {
    ck_assert_msg(!checkpoint_write(one, byte_file_path("now")), "%s", error_message());
    char command[64];
    snprintf(command, sizeof command, "cmp now %s", file);
    work_folder_run(command);
}

static const Training trainings[] = {{OPTIMIZER_ADAM, 0, false},
                                     {OPTIMIZER_ADAMW, 3, true},
                                     {OPTIMIZER_MOMENTUM, 0, false},
                                     {OPTIMIZER_SGD, 1, true}};

START_TEST(a_run_killed_between_any_two_steps_goes_on_bit_for_bit) {
    work_folder_begin();
    Training with = trainings[_i];
    Checkpoint whole = training_new(with, 5);
    double losses[STEPS];
    char name[16];
    for (int i = 0; i < STEPS; i++) {
        snprintf(name, sizeof name, "at-%d", i);
        ck_assert_int_eq(checkpoint_write(&whole, byte_file_path(name)), STATUS_OK);
        losses[i] = step(&whole);
    }
    ck_assert_int_eq(checkpoint_write(&whole, byte_file_path("end")), STATUS_OK);
    training_free(&whole);
    for (int killed = 0; killed < STEPS; killed++) {
        Checkpoint again = training_new(with, 1000 + (uint64_t)killed); // other weights
        snprintf(name, sizeof name, "at-%d", killed);
        ck_assert_msg(!checkpoint_read(&again, byte_file_path(name)), "%s", error_message());
        ck_assert_int_eq(again.step, killed);
        expect_same(&again, name);
        for (int i = killed; i < STEPS; i++) {
            double loss = step(&again);
            ck_assert_msg(loss == losses[i], "killed before %d, step %d: %.17g, not %.17g", killed,
                          i, loss, losses[i]);
        }
        expect_same(&again, "end");
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

// Stopped in the midst of an epoch, at the end of one, and at the end of the last.
START_TEST(train_fit_goes_on_where_it_was) {
    work_folder_begin();
    static const int64_t stops[] = {1, 4, BATCHES, BATCHES + 5, 2 * BATCHES};
    Checkpoint whole = training_new(trainings[0], 3), again = training_new(trainings[0], 4);
    Saver saver = {&whole, stops[_i]};
    FitOptions options = {
        .epochs = 2, .schedule = &schedule, .progress = save_at, .argument = &saver};
    FitResult fit;
    ck_assert_int_eq(train_fit(whole.model, whole.optimizer, whole.loader, options, &fit),
                     STATUS_OK);
    double last = fit.final_loss;
    ck_assert_int_eq(checkpoint_write(&whole, byte_file_path("end")), STATUS_OK);
    ck_assert_msg(!checkpoint_read(&again, byte_file_path("mid")), "%s", error_message());
    saver = (Saver){&again, 0};
    options.steps_done = again.step;
    ck_assert_msg(!train_fit(again.model, again.optimizer, again.loader, options, &fit), "%s",
                  error_message());
    ck_assert_int_eq(fit.steps, 2 * BATCHES);
    ck_assert_int_eq(fit.epochs, 2);
    if (_i == 2) ck_assert(fit.final_loss == last); // a whole epoch was its own
    expect_same(&again, "end");
    training_free(&whole);
    training_free(&again);
    work_folder_end();
}
END_TEST

START_TEST(a_loader_goes_to_any_place_that_there_is_and_no_other) {
    work_folder_begin();
    Checkpoint one = training_new(trainings[1], 1), other = training_new(trainings[0], 1);
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
    wrong[3].batch = BATCHES + 1;
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

// ---- what does not fit -------------------------------------------------------------------------
START_TEST(a_file_of_other_things_changes_nothing) {
    work_folder_begin();
    Checkpoint training = training_new(trainings[0], 8), model = {.model = training.model};
    for (int i = 0; i < 3; i++) step(&training);
    ck_assert_int_eq(safetensors_save(training.model, byte_file_path("weights")), STATUS_OK);
    ck_assert_int_eq(checkpoint_write(&model, byte_file_path("model")), STATUS_OK);
    Checkpoint others[] = {training_new(trainings[1], 9), training_new(trainings[0], 9),
                           training_new(trainings[0], 9)};
    others[2].step = -1;
    ck_assert(checkpoint_write(&others[2], byte_file_path("none")));
    byte_file_expect_error(STATUS_INVALID_ARGUMENT, "step -1");
    others[2].step = 0;
    loader_free(others[1].loader);
    others[1].loader = loader_new(&dataset, (LoaderOptions){.batch = BATCH + 1, .scale = 1.0f});
    layer_append(others[2].model, linear_new(CLASSES, CLASSES, true));
    static const char *const names[] = {"adamw", "loader", "layer"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(checkpoint_write(&others[i], byte_file_path(names[i])), STATUS_OK);
    static const struct {
        const char *file;
        Status status;
        const char *mention;
    } cases[] = {{"weights", STATUS_FORMAT, "the schema"},
                 {"model", STATUS_FORMAT, "optimizer.kind"},
                 {"adamw", STATUS_INVALID_ARGUMENT, "AdamW"},
                 {"loader", STATUS_INVALID_ARGUMENT, "batches of 5"},
                 {"layer", STATUS_INVALID_ARGUMENT, "2 unknown here: model.6.bias, model.6.weight"},
                 {"nothing", STATUS_IO, "nothing"}};
    context_seed(77);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("before")), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        ck_assert(checkpoint_read(&training, byte_file_path(cases[i].file)));
        byte_file_expect_error(cases[i].status, cases[i].mention);
        expect_same(&training, "before");
    }
    ck_assert_int_eq(checkpoint_read(&model, byte_file_path("before")), STATUS_OK); // a part of it
    training_free(&training);
    for (int i = 0; i < 3; i++) training_free(&others[i]);
    work_folder_end();
}
END_TEST

// The file of a checkpoint, with one of its texts changed.
static const char *write_lie(const Safetensors *file, const char *key, const char *text) {
    static const char *const keys[] = {"schema",
                                       "step",
                                       "random.offset",
                                       "optimizer.kind",
                                       "optimizer.learning_rate",
                                       "optimizer.momentum",
                                       "optimizer.nesterov",
                                       "optimizer.steps",
                                       "loader.epoch",
                                       "loader.shuffle"};
    static const char *const rest[] = {"epoch",
                                       "random.seed",
                                       "optimizer.weight_decay",
                                       "optimizer.beta1",
                                       "optimizer.beta2",
                                       "optimizer.epsilon",
                                       "optimizer.clip_norm",
                                       "loader.batch",
                                       "loader.images",
                                       "loader.batch_size",
                                       "loader.seed",
                                       "loader.drop_last"};
    const char *metadata[44];
    ParameterEntry items[64];
    ParameterList list = {items, (int)safetensors_count(file)};
    for (int i = 0; i < 22; i++) {
        metadata[2 * i] = i < 10 ? keys[i] : rest[i - 10];
        bool is_it = strcmp(metadata[2 * i], key) == 0;
        metadata[2 * i + 1] = is_it ? text : safetensors_metadata(file, metadata[2 * i]);
        ck_assert_ptr_nonnull(metadata[2 * i + 1]);
    }
    for (int i = 0; i < list.count; i++)
        items[i] = (ParameterEntry){.path = (char *)safetensors_entry(file, i)->name,
                                    .tensor = safetensors_tensor_new(file, i)};
    const char *path = byte_file_path("lie");
    ck_assert_msg(!safetensors_write(&list, metadata, 22, path), "%s", error_message());
    for (int i = 0; i < list.count; i++) tensor_free(items[i].tensor);
    return path;
}

START_TEST(texts_that_are_no_values_are_refused) {
    work_folder_begin();
    static const struct {
        const char *key, *text;
        Status status;
    } lies[] = {{"schema", "ridgepoint.checkpoint/v2", STATUS_FORMAT},
                {"step", "-1", STATUS_FORMAT},
                {"step", "", STATUS_FORMAT},
                {"step", "9223372036854775808", STATUS_FORMAT},
                {"random.offset", "18446744073709551616", STATUS_FORMAT},
                {"random.offset", "5 ", STATUS_FORMAT},
                {"optimizer.kind", "lion", STATUS_FORMAT},
                {"optimizer.kind", "sgd", STATUS_INVALID_ARGUMENT},
                {"optimizer.learning_rate", "fast", STATUS_FORMAT},
                {"optimizer.learning_rate", "[1]", STATUS_FORMAT},
                {"optimizer.learning_rate", "-1", STATUS_INVALID_ARGUMENT},
                {"optimizer.momentum", "0", STATUS_INVALID_ARGUMENT}, // that would be SGD
                {"optimizer.nesterov", "2", STATUS_FORMAT},
                {"optimizer.steps", "99999999", STATUS_INVALID_ARGUMENT},
                {"loader.epoch", "0", STATUS_INVALID_ARGUMENT},
                {"loader.epoch", "9223372036854775807", STATUS_INVALID_ARGUMENT},
                {"loader.shuffle", "0", STATUS_INVALID_ARGUMENT}};
    Checkpoint training = training_new(trainings[2], 8);
    step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("before")), STATUS_OK);
    Safetensors *file = safetensors_open(byte_file_path("before"));
    ck_assert_int_eq(checkpoint_read(&training, write_lie(file, "", "")), STATUS_OK);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        const char *path = write_lie(file, lies[i].key, lies[i].text);
        ck_assert_msg(checkpoint_read(&training, path), "%s", lies[i].key);
        ck_assert_msg(error_status() == lies[i].status, "%s %s: %s", lies[i].key, lies[i].text,
                      error_message());
        error_clear();
        expect_same(&training, "before");
    }
    safetensors_close(file);
    training_free(&training);
    work_folder_end();
}
END_TEST

// ---- what is interrupted -----------------------------------------------------------------------
static int64_t file_size(const char *name) {
    FILE *file = fopen(byte_file_path(name), "rb");
    ck_assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
    int64_t size = ftell(file);
    fclose(file);
    return size;
}

// The disk takes `limit` bytes of a file: with the signal ignored a write fails there, as on a full
// disk; else the program is killed in the midst of it. What became of a child that tries.
static int write_in_child(const Checkpoint *training, int64_t limit, bool killed) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        signal(SIGXFSZ, killed ? SIG_DFL : SIG_IGN);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)limit, (rlim_t)limit});
        _exit(checkpoint_write(training, byte_file_path("run")) == STATUS_IO ? 7 : 9);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(a_write_that_ends_at_any_byte_leaves_the_old_file) {
    work_folder_begin();
    Checkpoint training = training_new(trainings[0], 8);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    work_folder_run("cp run old");
    step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("new")), STATUS_OK);
    const int64_t size = file_size("new");
    ck_assert_int_gt(size, 3000);
    for (int64_t limit = 0; limit < size; limit += limit < 64 || limit > size - 64 ? 1 : 61)
        ck_assert_int_eq(write_in_child(&training, limit, false), 7);
    work_folder_run("cmp run old; test $(ls | wc -l) = 3"); // no temporary is left
    for (int64_t limit = 0; limit < size; limit += 307)
        ck_assert_int_eq(write_in_child(&training, limit, true), SIGXFSZ);
    work_folder_run("cmp run old"); // what a killed program leaves is beside it
    ck_assert_int_eq(write_in_child(&training, size, false), 9);
    work_folder_run("cmp run new");
    training_free(&training);
    work_folder_end();
}
END_TEST

START_TEST(a_file_cut_at_any_byte_changes_nothing) {
    work_folder_begin();
    Checkpoint training = training_new(trainings[0], 8);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    for (int64_t size = file_size("run") - 1; size >= 0; size -= 17) {
        ck_assert_int_eq(truncate(byte_file_path("run"), size), 0);
        ck_assert(checkpoint_read(&training, byte_file_path("run")));
        byte_file_expect_error(STATUS_FORMAT, "safetensors: ");
    }
    training_free(&training);
    work_folder_end();
}
END_TEST

// Does the n-th request of this come, and fail? What is there then is as it was.
static bool fails_at(uint64_t nth, Checkpoint *training, const char *name, bool write) {
    uint64_t before = memory_requests();
    memory_fail_at(nth);
    Status status = write ? checkpoint_write(training, byte_file_path(name))
                          : checkpoint_read(training, byte_file_path(name));
    memory_fail_at(0);
    bool reached = memory_requests() - before >= nth;
    ck_assert_msg(status == (reached ? STATUS_OUT_OF_MEMORY : STATUS_OK), "request %d: %s",
                  (int)nth, error_message());
    error_clear();
    if (reached && write) ck_assert(file_size(name) == file_size("old"));
    if (reached && write && nth % 16 == 0) work_folder_run("cmp other old");
    return reached;
}

START_TEST(any_request_may_fail_and_what_was_stays) {
    work_folder_begin();
    Checkpoint training = training_new(trainings[0], 8), other = training_new(trainings[0], 9);
    step(&training);
    ck_assert_int_eq(checkpoint_write(&training, byte_file_path("run")), STATUS_OK);
    ck_assert_int_eq(checkpoint_write(&other, byte_file_path("other")), STATUS_OK);
    work_folder_run("cp other old");
    uint64_t nth = 0;
    while (fails_at(++nth, &training, "other", true)) continue;
    ck_assert_uint_gt(nth, 40);
    work_folder_run("cmp other run; test $(ls | wc -l) = 3"); // the last one was written
    for (nth = 1; fails_at(nth, &other, "run", false); nth++) continue;
    ck_assert_uint_gt(nth, 20);
    expect_same(&other, "run");
    training_free(&training);
    training_free(&other);
    ck_assert_int_eq(expect_live_bytes(), 0);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_run_killed_between_any_two_steps_goes_on_bit_for_bit, 4},
                                 {train_fit_goes_on_where_it_was, 5},
                                 {a_loader_goes_to_any_place_that_there_is_and_no_other, 0},
                                 {a_file_of_other_things_changes_nothing, 0},
                                 {texts_that_are_no_values_are_refused, 0},
                                 {a_write_that_ends_at_any_byte_leaves_the_old_file, 0},
                                 {a_file_cut_at_any_byte_changes_nothing, 0},
                                 {any_request_may_fail_and_what_was_stays, 0},
                                 {NULL, 0}};
    return harness_main("checkpoint", tests);
}
