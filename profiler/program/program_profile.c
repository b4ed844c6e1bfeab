// program_profile.c -- profiles the model that the command line describes.
#include <math.h>
#include <stdio.h>

#include "profiler/program/program.h"
#include "profiler/report/text.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

OptimizerConfig program_optimizer(const Options *options) {
    OptimizerConfig config = optimizer_defaults(options->optimizer);
    if (!isnan(options->learning_rate)) config.learning_rate = (float)options->learning_rate;
    return config;
}

Layer *program_model_new(const Options *options) {
    MlpOptions mlp = mlp_defaults();
    mlp.activation = options->activation;
    mlp.fuse = options->fuse;
    context_seed((uint64_t)options->seed); // profile and training start from the same weights
    return mlp_new(options->layers, options->n_layers, mlp);
}

bool progress_due(ProgressLine *line) {
    double now = clock_seconds();
    if (now - line->shown < 0.1) return false;
    line->shown = now;
    return true;
}

void progress_clear(const Program *program) {
    if (program->terminal) fprintf(stderr, "\r\033[K");
}

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
        snprintf(name + used, size - used, " %s",
                 options->activation ? options->activation->name : "none");
}

// Which numbers the batch holds makes no difference to the work: random pixels, labels in turn.
static Status batch_new(Program *program) {
    const Options *options = program->options;
    int64_t classes = options->layers[options->n_layers - 1], n = options->batch;
    int64_t *labels = memory_new((size_t)n * sizeof(int64_t));
    if (!labels) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; i++) labels[i] = i % classes;
    program->x = tensor_uniform_new(SHAPE(n, options->layers[0]), 0.0f, 1.0f);
    program->labels = program->x ? tensor_from_labels_new(SHAPE(n), labels) : NULL;
    memory_free(labels);
    return program->labels ? STATUS_OK : error_status();
}

static void show_calibration(void *argument, const char *what, double fraction) {
    const Program *program = argument;
    fprintf(stderr, "\rmeasuring this %s, once: %s, %.0f%%\033[K",
            program->device->on_host ? "machine" : "card", what, 100.0 * fraction);
    fflush(stderr);
}

// The ceilings that verdicts stand on: kept from the first run, unless a file or a flag says else.
static Status obtain_machine(Program *program) {
    const Options *options = program->options;
    bool fresh;
    char kept_in[512];
    MachineRequest request = {.peaks_file = options->peaks,
                              .again = options->calibrate,
                              .progress = program->terminal ? show_calibration : NULL,
                              .argument = program};
    Status status = machine_obtain(&request, &program->machine, &fresh, kept_in);
    if (fresh) progress_clear(program);
    if (!status && fresh && program->report)
        printf("Measured %s%s%.400s\n",
               program->device->on_host ? "this machine" : program->machine.device,
               kept_in[0] ? ", once; saved in\n  "
                          : "; there is no cache folder to write to\n  (XDG_CACHE_HOME), so that "
                            "the next run measures again",
               kept_in);
    return status;
}

static void show_profiling(void *argument, double fraction) {
    if (!progress_due(argument)) return;
    fprintf(stderr, "\rprofiling: %.0f%%\033[K", 100.0 * fraction);
    fflush(stderr);
}

// Where nothing runs there is nothing to hold against them.
static bool has_ceilings(const Program *program) { return program->device->has_data; }

static Status run_profile(Program *program, Loader *loader) {
    const Options *options = program->options;
    ProfileOptions how = profile_defaults();
    ProgressLine line = {.shown = clock_seconds()};
    how.iterations = options->iterations;
    how.warmup = options->warmup;
    how.percentiles = options->percentiles;
    how.machine = has_ceilings(program) ? &program->machine : NULL;
    how.loader = loader;
    how.progress = program->terminal ? show_profiling : NULL;
    how.argument = &line;
    Status status = profile_training(program->model, program_optimizer(options), program->x,
                                     program->labels, how, &program->profile);
    progress_clear(program);
    name_model(options, &program->profile);
    return status;
}

Status program_profile(Program *program) {
    const Options *options = program->options;
    Status status = has_ceilings(program) ? obtain_machine(program) : STATUS_OK;
    if (status) return status;
    program->model = program_model_new(options);
    status = program->model ? batch_new(program) : error_status();
    bool data = program->images.train.count > 0 && options->epochs > 0;
    Loader *loader = !status && data ? program_loader_new(program) : NULL;
    if (!status && data && !loader) status = error_status();
    if (!status) status = run_profile(program, loader);
    loader_free(loader);
    return status;
}
