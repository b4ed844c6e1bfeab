// profile_mlp.c -- the program: profile a multilayer perceptron, then train it on images.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/train/digits.h"
#include "layers/train/idx.h"
#include "profiler/environment.h"
#include "profiler/options.h"
#include "profiler/profile_json.h"
#include "profiler/report.h"
#include "profiler/text.h"

enum { EXIT_USAGE = 2, EXIT_UNUSABLE = 3 }; // conventions: 1 is for thresholds and comparisons
enum { TRAIN_DIGITS = 10000, TEST_DIGITS = 2000, TEST_BATCH = 500 };

typedef struct Images {
    Dataset train, test;
    bool was_split; // the folder had one set only; its last fifth became the test set
} Images;

static int fail(void) {
    fprintf(stderr, "profile_mlp: %s\n", error_message());
    switch (error_status()) {
    case STATUS_IO:
    case STATUS_FORMAT:
    case STATUS_DEVICE:
    case STATUS_OUT_OF_MEMORY:
        return EXIT_UNUSABLE;
    case STATUS_INVALID_ARGUMENT:
    case STATUS_SHAPE:
    case STATUS_OVERFLOW:
        return EXIT_USAGE;
    default:
        return EXIT_FAILURE; // a loss that is not finite
    }
}

static OptimizerConfig optimizer_config(const Options *options) {
    OptimizerConfig config = optimizer_defaults(options->optimizer);
    if (!isnan(options->learning_rate)) config.learning_rate = (float)options->learning_rate;
    return config;
}

static Layer *model_new(const Options *options) {
    MlpOptions mlp = mlp_defaults();
    mlp.activation = options->activation;
    context_seed((uint64_t)options->seed); // profile and training start from the same weights
    return mlp_new(options->layers, options->n_layers, mlp);
}

// ---- profiling -------------------------------------------------------------------------------
static void name_model(const Options *options, Profile *profile) {
    size_t used = (size_t)snprintf(profile->model, sizeof(profile->model), "MLP ");
    for (int i = 0; i < options->n_layers && used < sizeof(profile->model) - 16; i++)
        used += (size_t)snprintf(profile->model + used, sizeof(profile->model) - used, "%s%lld",
                                 i ? "-" : "", (long long)options->layers[i]);
    snprintf(profile->model + used, sizeof(profile->model) - used, " %s",
             activation_name(options->activation));
}

// Which numbers the batch holds makes no difference to the work: random pixels, labels in turn.
static Status batch_new(const Options *options, Tensor **x, Tensor **labels) {
    int64_t classes = options->layers[options->n_layers - 1];
    *x = tensor_uniform_new(SHAPE(options->batch, options->layers[0]), 0.0f, 1.0f);
    *labels = *x ? tensor_new(SHAPE(options->batch), DTYPE_INT64) : NULL;
    if (!*labels) return error_status();
    if (!options->device->has_data) return STATUS_OK;
    int64_t *label = tensor_labels(*labels);
    for (int64_t i = 0; i < options->batch; i++) label[i] = i % classes;
    return STATUS_OK;
}

static Status run_profile(const Options *options, Profile *profile) {
    Tensor *x = NULL, *labels = NULL;
    Layer *model = model_new(options);
    Status status = model ? batch_new(options, &x, &labels) : error_status();
    ProfileOptions how = profile_defaults();
    how.iterations = options->iterations;
    how.warmup = options->warmup;
    if (!status)
        status = profile_training(model, optimizer_config(options), x, labels, how, profile);
    name_model(options, profile);
    tensor_free(x);
    tensor_free(labels);
    layer_free(model);
    return status;
}

// ---- data ------------------------------------------------------------------------------------
static Status check_fit(const Options *options, const Dataset *data) {
    int64_t pixels = data->rows * data->columns;
    int64_t in = options->layers[0], out = options->layers[options->n_layers - 1];
    if (in == pixels && out >= data->classes) return STATUS_OK;
    return error_set(
        STATUS_FORMAT,
        "--data: %s has %lld pixels an image and %d classes, the model %lld inputs and "
        "%lld outputs. HINT: --layers %lld,...,%d",
        data->name, (long long)pixels, data->classes, (long long)in, (long long)out,
        (long long)pixels, data->classes);
}

// Whether there is anything to train on, and, when not, why (on the report).
static bool can_train(const Options *options, bool report) {
    if (options->epochs == 0 || !options->device->has_data) return false;
    int64_t in = options->layers[0], out = options->layers[options->n_layers - 1];
    if (options->data || (in == DIGITS_SIDE * DIGITS_SIDE && out >= 10)) return true;
    if (report)
        printf("\nTRAINING  none: drawn digits have %d pixels and 10 classes, this model has\n"
               "  %lld inputs and %lld outputs. --data trains on others, --epochs 0 not at all.\n",
               DIGITS_SIDE * DIGITS_SIDE, (long long)in, (long long)out);
    return false;
}

static Status load(const Options *options, Images *images) {
    if (options->data) {
        Status status =
            dataset_read_folder(options->data, &images->train, &images->test, &images->was_split);
        return status ? status : check_fit(options, &images->train);
    }
    Status status =
        digits_generate(TRAIN_DIGITS + TEST_DIGITS, (uint64_t)options->seed, &images->train);
    return status ? status : dataset_split(&images->train, TEST_DIGITS, 0, &images->test);
}

// ---- training --------------------------------------------------------------------------------
static void show_progress(void *argument, const FitProgress *p) {
    double *shown = argument; // when the line was last drawn
    if (p->step < p->steps && p->seconds - *shown < 0.1) return;
    *shown = p->seconds;
    double left = p->seconds / (double)p->step * (double)(p->steps - p->step);
    fprintf(stderr, "\rtraining: epoch %lld/%lld, step %lld/%lld, loss %.4f, %.0f s left \033[K",
            (long long)p->epoch, (long long)p->epochs, (long long)p->step, (long long)p->steps,
            p->loss, left);
    fflush(stderr);
}

static Status fit(const Options *options, Layer *model, Optimizer *optimizer, const Images *images,
                  ProfileTraining *training) {
    double shown = 0.0;
    bool terminal = !options->quiet && isatty(STDERR_FILENO);
    bool spare_core = context_current()->threads < pool_default_threads();
    LoaderOptions load = {.batch = options->batch,
                          .shuffle = true,
                          .scale = 1.0f,
                          .seed = (uint64_t)options->seed,
                          .prefetch = spare_core ? 2 : 0}; // else it would only take turns with us
    FitOptions how = {.epochs = options->epochs,
                      .max_steps = options->steps,
                      .progress = terminal ? show_progress : NULL,
                      .argument = &shown};
    Loader *loader = loader_new(&images->train, load);
    Status status =
        loader ? train_fit(model, optimizer, loader, how, &training->fit) : error_status();
    loader_free(loader);
    if (terminal) fprintf(stderr, "\r\033[K");
    if (status) return status;
    loader = loader_new(&images->test, (LoaderOptions){.batch = TEST_BATCH, .scale = 1.0f});
    status = loader ? train_accuracy(model, loader, &training->test_accuracy) : error_status();
    loader_free(loader);
    return status;
}

static Status run_training(const Options *options, const Images *images,
                           ProfileTraining *training) {
    Layer *model = model_new(options);
    Optimizer *optimizer = model ? optimizer_new(model, optimizer_config(options)) : NULL;
    Status status = optimizer ? fit(options, model, optimizer, images, training) : error_status();
    optimizer_free(optimizer);
    layer_free(model);
    training->data = images->train.name;
    return status;
}

static void print_training(const ProfileTraining *training, const Images *images) {
    const FitResult *f = &training->fit;
    printf("\nTRAINING  %s: %s for training, %s held out%s\n", images->train.name,
           text_count(images->train.count).s, text_count(images->test.count).s,
           images->was_split ? " (one set only: split)" : "");
    printf("  %lld epoch%s, %s steps in %s (%s samples/s): loss %.4f\n  test accuracy %.2f%%\n",
           (long long)f->epochs, f->epochs == 1 ? "" : "s", text_count(f->steps).s,
           text_duration(f->seconds).s,
           text_short_count((int64_t)((double)f->samples / f->seconds)).s, f->final_loss,
           100.0 * training->test_accuracy);
}

// ---- the program -----------------------------------------------------------------------------
static char *command_line(int argc, char **argv, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < argc && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i ? " " : "", argv[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

// 0, or the errno of the first write that failed: a later success would hide it.
static int flush_output(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return errno ? errno : EIO;
}

static int profile_and_train(const Options *options, const char *command, int *output_error) {
    Images images = {0};
    Profile profile = {0};
    ProfileTraining training = {.test_accuracy = (double)NAN};
    bool report = !options->quiet && !(options->json && strcmp(options->json, "-") == 0);
    // What cannot be read or written is told before the work, not after it.
    Status status = options->data ? load(options, &images) : STATUS_OK;
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = run_profile(options, &profile);
    if (!status && report) {
        report_print(&profile, stdout);
        *output_error = flush_output(); // the reader sees it before training starts
    }
    bool train = !status && can_train(options, report);
    if (!status && train && !options->data) status = load(options, &images);
    if (!status && train) status = run_training(options, &images, &training);
    if (!status && train && report) print_training(&training, &images);
    if (!status && json)
        status = profile_write_json(&profile, train ? &training : NULL, command, json);
    else
        json_writer_discard(json);
    int code = status ? fail() : EXIT_SUCCESS;
    profile_free(&profile);
    dataset_free(&images.train);
    dataset_free(&images.test);
    return code;
}

int main(int argc, char **argv) {
    Options options;
    char command[1024];
    command_line(argc, argv, command, sizeof(command)); // getopt reorders argv
    if (!options_parse(argc, argv, &options)) return EXIT_USAGE;
    if (options.help && !options_print_help(options.topic)) return EXIT_USAGE;
    if (options.version) printf("profile_mlp %s\n", ridgepoint_version);
    int code = EXIT_SUCCESS, output_error = 0;
    if (!options.help && !options.version) {
        context_set_device(options.device);
        if (options.threads > 0) context_set_threads((int)options.threads);
        code = profile_and_train(&options, command, &output_error);
        context_release_thread();
    }
    bool json_only = options.json && strcmp(options.json, "-") == 0; // its writer has checked
    if (output_error == 0 && !json_only) output_error = flush_output();
    if (output_error == 0 || output_error == EPIPE || code != EXIT_SUCCESS)
        return code; // a reader that has had enough is no failure of ours
    fprintf(stderr, "profile_mlp: standard output: %s\n", strerror(output_error));
    return EXIT_UNUSABLE;
}
