// program_profile.c -- profiles the subject, with the ceilings that verdicts need.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/kv_cache.h"
#include "profiler/base/system.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "tensor/clock.h"

OptimizerConfig program_optimizer(const Options *options) {
    OptimizerConfig config = optimizer_defaults(options->optimizer);
    if (!isnan(options->rate.base)) config.learning_rate = (float)options->rate.base;
    return config;
}

// Freezes parameters before the optimizer is made.
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

// With --recompute auto (choose_recomputed), copies the marks of the profiled model, if any.
static Status mark_recomputed(const Program *program, Layer *model) {
    const char *pattern = program->options->recompute;
    int64_t count;
    if (options_choose_recompute(program->options))
        return program->model ? layer_recompute_as(model, program->model) : STATUS_OK;
    if (!pattern || layer_recompute_matching(model, pattern, &count)) return error_status();
    if (count > 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--recompute %s: no layer's path matches%s. HINT: --by layer lists them",
                     pattern,
                     program->subject.is_onnx ? ", of one that the file runs as one step" : "");
}

Layer *program_model_new(const Program *program) {
    context_seed((uint64_t)program->options->seed); // same weights for profile and training
    Layer *model = program->kind->model_new(program);
    if (!model || (!freeze(model, program->options) && !mark_recomputed(program, model)))
        return model;
    layer_free(model);
    return NULL;
}

static void show_calibration(void *argument, const char *what, double fraction) {
    const Program *program = argument;
    progress_draw("measuring this %s, once: %s, %.0f%%",
                  program->device->on_host ? "machine" : "card", what, 100.0 * fraction);
}

// Obtains the ceilings: those saved by the first run, unless a file or a flag says otherwise.
static Status obtain_machine(Program *program) {
    const Options *options = program->options;
    bool fresh;
    char kept_in[512];
    if (program->machine.n_levels > 0) return STATUS_OK; // from the network before
    MachineRequest request = {.peaks_file = options->peaks,
                              .again = options->calibrate,
                              .progress = program->terminal ? show_calibration : NULL,
                              .argument = program};
    Status status = machine_obtain(&request, &program->machine, &fresh, kept_in);
    if (fresh) progress_clear(program);
    const char *then = kept_in[0]
                           ? ", once; saved in\n  "
                           : "; there is no cache folder to write to\n  (XDG_CACHE_HOME), so that "
                             "the next run measures again";
    if (!status && fresh && program->report)
        printf("%sMeasured %s%s%.400s\n",
               program->machine.begun_anew
                   ? "For three days memory has given under 70% of the best seen here. "
                   : "",
               program->device->on_host ? "this machine" : program->machine.device, then, kept_in);
    return status;
}

// If nothing runs, the ceilings of a machine named by --peaks still give bounds.
static bool has_ceilings(const Program *program) {
    const Options *options = program->options;
    return !options->no_peaks && (program->device->has_data || options->peaks);
}

// ---- the profile -------------------------------------------------------------------------------
static Status fold_norms(Program *program) {
    int64_t count;
    Status status = layer_fold_norms(program->model, &program->x, 1, &count);
    size_t used = strlen(program->subject.name);
    snprintf(program->subject.name + used, sizeof(program->subject.name) - used,
             ", %lld batch norm%s folded", (long long)count, count == 1 ? "" : "s");
    return status;
}

BudgetTask program_budget_task(const Program *program) {
    return (BudgetTask){.model = program->model,
                        .x = program->x,
                        .labels = program->labels,
                        .loss = program->loss,
                        .kind = program->options->inference ? PROFILE_INFERENCE : PROFILE_TRAINING,
                        .source = program_source(program),
                        .accumulate = program->options->accumulate};
}

// The total number of sets is not known in advance.
static void show_choosing(void *argument, int64_t tried) {
    ProgressLine *line = argument;
    if (progress_due(line)) progress_draw("%s: %lld sets tried", line->what, (long long)tried);
}

static Status choose_recomputed(Program *program) {
    const Options *options = program->options;
    if (!options_choose_recompute(options)) return STATUS_OK;
    BudgetTask task = program_budget_task(program);
    ProgressLine line = {.what = "choosing layers to run again", .shown = clock_seconds()};
    task.progress = program->terminal ? show_choosing : NULL;
    task.argument = &line;
    progress_say(program, line.what);
    Status status = budget_recompute(&task, program_optimizer(options), options->memory_budget,
                                     &program->choice);
    progress_clear(program);
    return status;
}

static Status make_model(Program *program) {
    const Options *options = program->options;
    program->model = program_model_new(program);
    if (!program->model || program_batch_new(program)) return error_status();
    if (!options->inference && layer_trainable_count(program->model) == 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: it has no parameter that trains. HINT: --inference, or less in "
                         "--freeze",
                         program->subject.name);
    if (options->generate && !kv_cache_fits(program->model))
        return error_set(
            STATUS_INVALID_ARGUMENT,
            "--generate: %s writes no text: its attention is not causal, or there is "
            "more than that between its positions. HINT: gpt2, llama-2-7b and char-gpt "
            "do",
            options->model);
    return options->inference && options->fuse ? fold_norms(program) : STATUS_OK;
}

static Status run_profile(Program *program, ProfileOptions how) {
    const Subject *subject = &program->subject;
    how.loss = program->loss;
    how.unit = subject->unit;
    how.units = subject->batch * subject->units_per_sample * program->options->accumulate;
    how.accumulate = program->options->accumulate;
    if (options_choose_recompute(program->options)) how.budget = program->options->memory_budget;
    if (program->options->inference)
        return profile_inference(program->model, program->x, how, &program->profile);
    return profile_training(program->model, program_optimizer(program->options), program->x,
                            program->labels, how, &program->profile);
}

static Status count_peak(Program *trial, int64_t *bytes) {
    Status status = run_profile(trial, profile_defaults());
    *bytes = trial->profile.predicted.peak.total;
    profile_free(&trial->profile);
    return status;
}

// Counts bytes on the meta device first, since the system kills a program that takes too many.
Status program_check_memory(const Program *program) {
    if (!program->device->on_host || !program->device->has_data) return STATUS_OK;
    int threads = context_current()->threads;
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    context_set_threads(threads);
    Program trial = *program;
    int64_t bytes = 0;
    Status status = make_model(&trial);
    if (!status) status = count_peak(&trial, &bytes);
    // Choosing layers takes long, so do it here only if the step does not fit without.
    if (!status && options_choose_recompute(program->options) && !system_has_memory(bytes)) {
        status = choose_recomputed(&trial);
        if (!status) status = count_peak(&trial, &bytes);
    }
    tensor_free(trial.x);
    tensor_free(trial.labels);
    layer_free(trial.model);
    context_pop();
    context_free(context);
    if (status || system_has_memory(bytes)) return status;
    int64_t available = system_bytes("/proc/meminfo", "MemAvailable");
    return error_set(
        STATUS_OUT_OF_MEMORY,
        "%s: a step takes %s, and this machine has %s free. HINT: --device meta counts it; a "
        "smaller %s takes less",
        program->subject.name, text_bytes_si(bytes).s, text_bytes_si(available).s,
        program->options->inference ? "--batch or network"
                                    : "--batch (and --accumulate), --optimizer sgd or --inference");
}

static Status watch_profile(Program *program, Loader *loader) {
    const Options *options = program->options;
    ProfileOptions how = profile_defaults();
    double now = clock_seconds();
    ProgressLine line = {.what = program->progress, .begun = now, .shown = now};
    how.iterations = options->iterations;
    how.warmup = options->warmup;
    how.percentiles = options->percentiles;
    how.most_seconds = options->time_limit; // 0: not given
    if (options->time_limit > 0.0) how.seconds = options->time_limit;
    how.probe_seconds = options->measure_only ? -1.0 : options->try_advice ? 10.0 : 0.0;
    how.machine = has_ceilings(program) ? &program->machine : NULL;
    how.ceilings_stay = options->measure_only;                  // the comparing process has its own
    how.metronome = options->measure_only || options->runs > 1; // beside other processes
    how.loader = loader;
    how.source = program_source(program);
    how.progress = program->terminal ? program_show_progress : NULL;
    how.argument = &line;
    how.stop = program_is_stopped;
    if (!options->measure_only) program_watch_signals(); // a measure-only process ends at once
    Status status = run_profile(program, how);
    progress_clear(program);
    if (program->profile.has_machine) {
        program->machine = program->profile.machine; // perhaps updated
        if (!options->measure_only) machine_keep(&program->machine);
    }
    const ProfileMemory *peak =
        program->device->has_data ? &program->profile.measured : &program->profile.predicted;
    program->failed = options_choose_recompute(options) &&
                      (!program->choice.fits || peak->peak.total > options->memory_budget);
    program->profile.config = options->config_lines;
    snprintf(program->profile.model, sizeof(program->profile.model), "%s", program->subject.name);
    program->profile.fixed_layers = options->line->program != PROGRAM_MLP;
    if (!status && program->subject.is_onnx) program_onnx_note(&program->onnx, &program->profile);
    return status;
}

Status program_profile(Program *program) {
    const Options *options = program->options;
    Status status = program_check_memory(program);
    bool runs = !options_need_weights_only(options);
    if (!status && options->epochs != 0) status = program_try_training(program);
    if (!status && runs && has_ceilings(program)) status = obtain_machine(program);
    if (!status && runs) status = program_run_others(program);
    progress_say(program, "making the model");
    if (!status) status = make_model(program);
    progress_clear(program);
    if (status || !runs) return status;
    status = choose_recomputed(program);
    bool data = program_has_data(program) && options->epochs > 0;
    Loader *loader = !status && data ? program_loader_new(program) : NULL;
    if (!status && data && !loader) status = error_status();
    if (!status) status = watch_profile(program, loader);
    if (!status) status = program_take_runs(program);
    loader_free(loader);
    return status;
}
