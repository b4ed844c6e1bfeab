// program_profile.c -- profiles what the program is about, with the ceilings that verdicts need.
#include <math.h>
#include <stdio.h>

#include "profiler/program/program.h"
#include "profiler/report/text.h"
#include "tensor/clock.h"

OptimizerConfig program_optimizer(const Options *options) {
    OptimizerConfig config = optimizer_defaults(options->optimizer);
    if (!isnan(options->learning_rate)) config.learning_rate = (float)options->learning_rate;
    return config;
}

// What does not train is frozen before there is an optimizer.
static Status freeze(Layer *model, const Options *options) {
    for (int i = 0; i < options->n_freeze; i++) {
        int64_t count;
        Status status = layer_freeze(model, options->freeze[i], true, &count);
        if (status) return status;
        if (count == 0)
            return error_set(STATUS_INVALID_ARGUMENT,
                             "--freeze %s: no parameter's path matches. HINT: --weights lists "
                             "them; a layer's name stands for all in it",
                             options->freeze[i]);
    }
    return STATUS_OK;
}

Layer *program_model_new(const Program *program) {
    context_seed((uint64_t)program->options->seed); // profile and training have the same weights
    Layer *model = program->kind->model_new(program);
    if (!model || !freeze(model, program->options)) return model;
    layer_free(model);
    return NULL;
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
    ProgressLine *line = argument;
    if (!progress_due(line)) return;
    double gone = line->shown - line->begun;
    fprintf(stderr, "\rprofiling: %.0f%%", 100.0 * fraction);
    if (fraction > 0.0)
        fprintf(stderr, ", %s left", text_duration(gone / fraction * (1.0 - fraction)).s);
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

// Where nothing runs there is nothing to hold against them.
static bool has_ceilings(const Program *program) { return program->device->has_data; }

static Status run_profile(Program *program, Loader *loader) {
    const Options *options = program->options;
    const Subject *subject = &program->subject;
    ProfileOptions how = profile_defaults();
    double now = clock_seconds();
    ProgressLine line = {.begun = now, .shown = now};
    how.iterations = options->iterations;
    how.warmup = options->warmup;
    how.percentiles = options->percentiles;
    how.loss = program->loss;
    how.unit = subject->unit;
    how.units = subject->batch * subject->units_per_sample;
    how.machine = has_ceilings(program) ? &program->machine : NULL;
    how.loader = loader;
    how.progress = program->terminal ? show_profiling : NULL;
    how.argument = &line;
    Status status = options->inference
                        ? profile_inference(program->model, program->x, how, &program->profile)
                        : profile_training(program->model, program_optimizer(options), program->x,
                                           program->labels, how, &program->profile);
    progress_clear(program);
    snprintf(program->profile.model, sizeof(program->profile.model), "%s", subject->name);
    return status;
}

Status program_profile(Program *program) {
    const Options *options = program->options;
    Status status = has_ceilings(program) ? obtain_machine(program) : STATUS_OK;
    if (status) return status;
    program->model = program_model_new(program);
    status = program->model ? program_batch_new(program) : error_status();
    bool data = program->images.train.count > 0 && options->epochs > 0;
    Loader *loader = !status && data ? program_loader_new(program) : NULL;
    if (!status && data && !loader) status = error_status();
    if (!status) status = run_profile(program, loader);
    loader_free(loader);
    return status;
}
