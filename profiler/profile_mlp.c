// profile_mlp.c -- the program: profile a multilayer perceptron, then train it on images.
#include <errno.h>
#include <math.h>
#include <signal.h>
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
#include "tensor/clock.h"

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
// "MLP 784-512-10 relu"; cut with "..." where there are very many layers.
static void name_model(const Options *options, Profile *profile) {
    char *name = profile->model;
    size_t size = sizeof(profile->model), used = (size_t)snprintf(name, size, "MLP ");
    for (int i = 0; i < options->n_layers; i++) {
        bool room = used + 32 < size;
        used += (size_t)snprintf(name + used, size - used, "%s", i ? "-" : "");
        used +=
            room ? (size_t)snprintf(name + used, size - used, "%lld", (long long)options->layers[i])
                 : (size_t)snprintf(name + used, size - used, "...");
        if (!room) break;
    }
    if (options->n_layers > 2) // else there is no activation
        snprintf(name + used, size - used, " %s", activation_name(options->activation));
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

static void show_calibration(void *argument, const char *what, double fraction) {
    (void)argument;
    fprintf(stderr, "\rmeasuring this machine, once: %s, %.0f%%\033[K", what, 100.0 * fraction);
    fflush(stderr);
}

// The ceilings that verdicts stand on: kept from the first run, unless a file or a flag says else.
static Status obtain_machine(const Options *options, bool report, Machine *machine) {
    bool terminal = !options->quiet && isatty(STDERR_FILENO), fresh;
    char kept_in[512];
    MachineRequest request = {.peaks_file = options->peaks,
                              .again = options->calibrate,
                              .progress = terminal ? show_calibration : NULL};
    Status status = machine_obtain(&request, machine, &fresh, kept_in);
    if (terminal && fresh) fprintf(stderr, "\r\033[K");
    if (!status && fresh && report)
        printf("Measured this machine, once%s%.400s\n", kept_in[0] ? "; saved in\n  " : ".",
               kept_in);
    return status;
}

static void show_profiling(void *argument, double fraction) {
    double *shown = argument; // when the line was last drawn
    double now = clock_seconds();
    if (now - *shown < 0.2) return;
    *shown = now;
    fprintf(stderr, "\rprofiling: %.0f%%\033[K", 100.0 * fraction);
    fflush(stderr);
}

static Status run_profile(const Options *options, bool report, Profile *profile) {
    Tensor *x = NULL, *labels = NULL;
    Machine machine;
    bool timed = options->device->has_data;
    Status status = timed ? obtain_machine(options, report, &machine) : STATUS_OK;
    Layer *model = status ? NULL : model_new(options);
    if (!status) status = model ? batch_new(options, &x, &labels) : error_status();
    ProfileOptions how = profile_defaults();
    how.iterations = options->iterations;
    how.warmup = options->warmup;
    how.machine = timed ? &machine : NULL;
    bool terminal = !options->quiet && isatty(STDERR_FILENO);
    double shown = clock_seconds();
    how.progress = terminal ? show_profiling : NULL;
    how.argument = &shown;
    if (!status)
        status = profile_training(model, optimizer_config(options), x, labels, how, profile);
    if (terminal) fprintf(stderr, "\r\033[K");
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

// Whether there is anything to train on; when not, why.
static bool can_train(const Options *options, ProfileTraining *training) {
    int64_t in = options->layers[0], out = options->layers[options->n_layers - 1];
    bool fits = options->data || (in == DIGITS_SIDE * DIGITS_SIDE && out >= 10);
    if (options->epochs == 0)
        training->absent = "--epochs 0";
    else if (!options->device->has_data)
        training->absent = "nothing runs on the meta device";
    else if (!fits)
        training->absent = "drawn digits have 784 pixels and 10 classes";
    return !training->absent;
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
    fprintf(stderr, "\rtraining: epoch %lld/%lld, step %lld/%lld, loss %.4f, %s left\033[K",
            (long long)p->epoch, (long long)p->epochs, (long long)p->step, (long long)p->steps,
            p->loss, text_duration(left).s);
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

// One line where prediction and execution differ: a defect, of this program or of a layer.
static int verdict_of(const Profile *profile) {
    if (profile->totals[REPORT_STEP].latency.count == 0 || profile->reconciled) return EXIT_SUCCESS;
    fprintf(stderr, "profile_mlp: predicted is not executed: %s\n", profile->difference);
    return EXIT_FAILURE;
}

// Profile, report, train, and write the JSON last: of a training that failed it says why.
static Status work(const Options *options, const char *command, Images *images, Profile *profile,
                   int *output_error) {
    ProfileTraining training = {.test_accuracy = (double)NAN};
    bool report = !options->quiet && !(options->json && strcmp(options->json, "-") == 0);
    // What cannot be read or written is told before the work, not after it.
    Status status = options->data ? load(options, images) : STATUS_OK;
    JsonWriter *json = !status && options->json ? json_file_open(options->json) : NULL;
    if (!status && options->json && !json) status = error_status();
    if (!status) status = run_profile(options, report, profile);
    bool profiled = !status;
    if (profiled && report) {
        report_print(profile, stdout);
        *output_error = flush_output(); // the reader sees it before training starts
    }
    bool train = profiled && can_train(options, &training);
    if (train && !options->data) status = load(options, images);
    if (train && !status) status = run_training(options, images, &training);
    if (train && status)
        training.absent = error_message(), training.data = NULL;
    else if (train && report)
        print_training(&training, images);
    else if (profiled && report && options->epochs > 0 && options->device->has_data)
        printf("\nTRAINING  none: %s. --data trains on other images.\n", training.absent);
    if (!profiled)
        json_writer_discard(json);
    else if (json && profile_write_json(profile, &training, command, json))
        status = error_status();
    return status;
}

static int profile_and_train(const Options *options, const char *command, int *output_error) {
    Images images = {0};
    Profile profile = {0};
    int code =
        work(options, command, &images, &profile, output_error) ? fail() : verdict_of(&profile);
    profile_free(&profile);
    dataset_free(&images.train);
    dataset_free(&images.test);
    return code;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); // a reader that has had enough is no reason to lose the JSON
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
