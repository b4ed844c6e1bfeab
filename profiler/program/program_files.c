// program_files.c -- writes a program's output files, and runs the steps of a trace.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "layers/files/npy.h"
#include "profiler/compare/trend.h"
#include "profiler/files/exports.h"
#include "profiler/files/profile_file.h"
#include "profiler/files/saved.h"
#include "profiler/look/page.h"
#include "profiler/program/program.h"
#include "profiler/report/memory_curve.h"
#include "profiler/session/profiler.h"
#include "tensor/memory.h"

Status program_check_files(const Options *options) {
    const char *path;
    if (options->folder && mkdir(options->folder, 0777) != 0 && errno != EEXIST)
        return error_set(STATUS_IO, "--output %s: %s", options->folder, strerror(errno));
    for (int i = 0; options_output(options, i, &path); i++)
        if (path && whole_file_check(path)) return error_status();
    History history = {0}; // read it to check that the file is a history
    struct stat about;
    bool there = options->history && stat(options->history, &about) == 0;
    Status status = STATUS_OK;
    if (there && !S_ISREG(about.st_mode))
        status = error_set(STATUS_IO, "--history %s: it is no file that grows", options->history);
    else if (there)
        status = history_read(options->history, &history);
    history_free(&history);
    return status;
}

Status program_trend(const Options *options) {
    History history;
    Status status = history_read(options->history, &history);
    if (!status) status = trend_print(&history, stdout);
    history_free(&history);
    return status;
}

// ---- the traced steps --------------------------------------------------------------------------
enum { TRACE_WARMUP = 3, TRACE_STEPS = 10 };

typedef struct TracedStep {
    Program *program;
    Optimizer *optimizer;
    Loader *loader; // NULL: the resident batch
} TracedStep;

static Status next_batch(const Program *program, Loader *loader, Batch *batch) {
    *batch = (Batch){program->x, program->labels, program->subject.batch};
    if (!loader) return STATUS_OK;
    PROFILE_SCOPE("data loading") {
        if (!loader_next(loader, batch) && !error_pending()) {
            loader_start_epoch(loader);
            loader_next(loader, batch);
        }
    }
    return error_status();
}

// Forward and backward of one of the step's batches. *loss lives within the current scope.
static Status run_batch(const Program *program, Loader *loader, Tensor **loss) {
    Batch batch;
    Status status = next_batch(program, loader, &batch);
    if (status) return status;
    Tensor *output = layer_forward(program->model, batch.images);
    *loss = program->loss(output, batch.labels);
    float share = 1.0f / (float)program->options->accumulate;
    PROFILE_SCOPE("backward") { autograd_backward_scaled(*loss, share); }
    return error_status();
}

// PyTorch's five lines, with profile scopes around those that are not layers.
Status program_step(const Program *program, Optimizer *optimizer, Loader *loader) {
    Scope *scope = NULL;
    Tensor *loss = NULL;
    Status status = STATUS_OK;
    optimizer_zero_grad(optimizer);
    for (int64_t i = 0; i < program->options->accumulate && !status; i++) {
        scope_close(scope);
        scope = scope_open();
        status = run_batch(program, loader, &loss);
    }
    PROFILE_SCOPE("optimizer") { optimizer_step(optimizer); }
    if (!error_pending()) profiler_counter("loss", (double)tensor_item(loss));
    scope_close(scope);
    return error_status();
}

static Status record_steps(const TracedStep *step, Profiler *profiler) {
    Status status = profiler_start(profiler);
    for (int i = 0; i < TRACE_WARMUP + TRACE_STEPS && !status; i++) {
        status = program_step(step->program, step->optimizer, step->loader);
        profiler_step(profiler);
    }
    profiler_stop(profiler);
    return status;
}

static Status write_trace(Program *program, const char *path) {
    const Options *options = program->options;
    if (!program->device->has_data)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--trace: nothing runs on the meta device. HINT: --device cpu");
    TracedStep step = {.program = program};
    ProfilerOptions how = profiler_defaults();
    how.machine = program->machine.n_levels > 0 ? &program->machine : NULL;
    how.schedule = (ProfilerSchedule){.warmup = TRACE_WARMUP, .active = TRACE_STEPS, .repeat = 1};
    Profiler *profiler = profiler_new(how);
    step.optimizer = profiler ? optimizer_new(program->model, program_optimizer(options)) : NULL;
    Status status = step.optimizer ? STATUS_OK : error_status();
    bool data = program_has_data(program) && !program->training.absent;
    if (!status && data) step.loader = program_loader_new(program);
    if (!status && data && !step.loader) status = error_status();
    progress_say(program, "tracing steps");
    if (!status) status = record_steps(&step, profiler);
    progress_clear(program);
    if (!status) status = profiler_write_trace(profiler, path);
    loader_free(step.loader);
    optimizer_free(step.optimizer);
    profiler_free(profiler);
    return status;
}

// ---- the outputs -------------------------------------------------------------------------------
// The path of output `i`: the given path for the first, "y.npy"; "y.1.npy" and so on for others.
static char *output_path_new(const char *path, int i) {
    size_t length = strlen(path), stem = length, size = length + 16;
    if (i == 0) return memory_copy_string(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) stem = length - 4;
    char *other = memory_new(size);
    if (other) snprintf(other, size, "%.*s.%d%s", (int)stem, path, i, path + stem);
    return other;
}

static Status check_output(const Options *options, int i) {
    char *path = output_path_new(options->output, i);
    if (!path) return error_status();
    if (options_has_file(options, path))
        error_set(STATUS_INVALID_ARGUMENT,
                  "--output %s: output %d goes to %s, which is read, or written by another flag. "
                  "HINT: name another",
                  options->output, i, path);
    else
        whole_file_check(path);
    memory_free(path);
    return error_status();
}

Status program_check_outputs(const Program *program) {
    const Options *options = program->options;
    int n = program->onnx.n_outputs;
    struct stat about;
    if (!options->output || n < 2) return STATUS_OK;
    bool there = stat(options->output, &about) == 0;
    if (n > LAYER_MAX_OUTPUTS)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--output: this model has %d outputs, and at most %d can be written. "
                         "HINT: leave out --output",
                         n, LAYER_MAX_OUTPUTS);
    if (strcmp(options->output, "-") == 0 || (there && !S_ISREG(about.st_mode)))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--output %s: this model has %d outputs, each of which needs a file. "
                         "HINT: --output y.npy writes y.1.npy, too",
                         options->output, n);
    for (int i = 1; i < n; i++)
        if (check_output(options, i)) return error_status();
    return STATUS_OK;
}

static Status write_one(const char *path, int i, Tensor *y, const char *type) {
    Tensor *dense = y ? tensor_contiguous(y) : NULL;
    char *own = dense ? output_path_new(path, i) : NULL;
    Status status = own ? npy_write_as(dense, type, own) : error_status();
    memory_free(own);
    return status;
}

static Status write_each(const Program *program, Layer *model, const char *path) {
    const OnnxModel *onnx = &program->onnx;
    int n = program->subject.is_onnx ? onnx->n_outputs : 1;
    Tensor *y[LAYER_MAX_OUTPUTS] = {NULL};
    layer_forward_each(model, &program->x, 1, y, n);
    for (int i = 0; i < n && !error_pending(); i++) {
        const char *type = !program->subject.is_onnx && y[i]->dtype == DTYPE_INT64 ? "i8" : "f4";
        write_one(path, i, y[i], program->subject.is_onnx ? onnx->outputs[i].numpy : type);
    }
    return error_status();
}

// Runs the model in evaluation mode.
Status program_write_output(const Program *program, Layer *model) {
    const char *path = program->options->output;
    LayerModes modes;
    if (!path) return STATUS_OK;
    Status status = layer_modes_save(model, &modes);
    if (status) return status;
    layer_train(model, false);
    no_grad_begin();
    Scope *scope = scope_open();
    status = scope ? write_each(program, model, path) : error_status();
    scope_close(scope);
    no_grad_end();
    layer_modes_restore(model, &modes);
    return status;
}

// In a folder, drawings without data are skipped; *drawn: mask of the written ones.
static Status write_drawings(const Options *options, const Page *page, unsigned *drawn) {
    Status status = STATUS_OK;
    *drawn = 0;
    for (int d = 0; d < PAGE_DRAWINGS && !status; d++) {
        if (!options->svg[d]) continue;
        status = page_write_drawing(page, (PageDrawing)d, options->svg[d]);
        if (!status) *drawn |= 1U << d;
        if (status != STATUS_STATE || !options_is_in_folder(options, options->svg[d])) continue;
        error_clear();
        status = STATUS_OK;
    }
    return status;
}

static bool is_there(const Options *options, const char *path, unsigned drawn) {
    bool there = path != options->index;
    for (int d = 0; d < PAGE_DRAWINGS; d++)
        there = there && (path != options->svg[d] || drawn >> d & 1);
    return there;
}

static Status write_pictures(const Program *program) {
    const Options *options = program->options;
    const Profile *profile = &program->profile;
    const Page page = {.title = profile->model,
                       .profile = profile,
                       .training = &program->training,
                       .command = program->command};
    unsigned drawn;
    Status status = options->html ? page_write(&page, options->html) : STATUS_OK;
    if (!status) status = write_drawings(options, &page, &drawn);
    if (status || !options->index) return status;
    const char *names[PAGE_FILES], *path;
    int n = 0;
    for (int i = 0; options_output(options, i, &path) && n < PAGE_FILES; i++) {
        const char *name = options_in_folder(options, i);
        if (name && is_there(options, path, drawn)) names[n++] = name;
    }
    return page_write_index(options->index, profile->model, names, n);
}

static Status add_to_history(const Program *program) {
    const char *path = program->options->history;
    if (!path || program->profile.cut_short) return STATUS_OK; // fewer steps would not compare
    char *work = program_series_new(program);
    Status status = work ? history_append(&program->profile, work, path) : error_status();
    memory_free(work);
    return status;
}

Status program_write_files(Program *program, JsonWriter *json) {
    const Options *options = program->options;
    Status status = error_status(); // after a failed training, only the JSON is written
    bool trained = !program->training.absent;
    if (!status && !trained) status = program_write_output(program, program->model);
    // The traced steps change the weights, so they come after all other uses of the model.
    if (!status && options->trace) status = write_trace(program, options->trace);
    if (!status && options->memory_json)
        status = memory_write_json(&program->profile, options->memory_json);
    if (!status && options->tinytorch)
        status = tinytorch_write(&program->profile, options->tinytorch);
    if (!status && options->csv) status = profile_write_csv(&program->profile, options->csv);
    if (!status && options->gbench)
        status = gbench_write(&program->profile, program->command, options->gbench);
    if (!status && options->openmetrics)
        status = openmetrics_write(&program->profile, options->openmetrics);
    if (!status) status = write_pictures(program);
    if (!status) status = add_to_history(program);
    if (!json) return status;
    Status written =
        profile_write_json(&program->profile, &program->training, program->command, json);
    return status ? status : written;
}
