// model_case.c -- from a model text to a run of a case, with the library's own counts.
#include "exercises/course/model_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/support/model_line.h"
#include "layers/cost.h"
#include "profiler/report/preset.h"
#include "profiler/session/profiler.h"

Status model_case_begin(ModelCase *model_case, const char *text, CaseRun *run) {
    *model_case = (ModelCase){.context = context_new()};
    if (!model_case->context) return error_status();
    context_push(model_case->context);
    context_set_device(device_meta());
    snprintf(run->input, sizeof(run->input), "%s", text);
    line_add(run->shown, "%s", text);
    model_case->model = model_from_line(text, &model_case->input);
    if (!model_case->model) return error_status();
    layer_train(model_case->model, false);
    return STATUS_OK;
}

Status model_case_end(ModelCase *model_case, Status status) {
    layer_free(model_case->model);
    if (!model_case->context) return status;
    context_pop();
    context_free(model_case->context);
    return status ? status : error_status();
}

static Status count(Layer *model, Tensor *x, ModelCounts *counts) {
    Profile profile;
    uint64_t bytes_read = 0, bytes_written = 0;
    Status status = profile_inference(model, x, profile_defaults(), &profile);
    if (!status) {
        counts->flops = (int64_t)preset_count(PRESET_TEXTBOOK, &profile).forward;
        status = profiler_count_bytes(model, x, &bytes_read, &bytes_written);
    }
    counts->bytes_read = (int64_t)bytes_read;
    counts->bytes_written = (int64_t)bytes_written;
    profile_free(&profile);
    return status;
}

Status model_case_count(ModelCase *model_case, ModelCounts *counts) {
    *counts = (ModelCounts){0};
    Tensor *x = tensor_new(model_case->input, DTYPE_FLOAT32);
    Status status = x ? count(model_case->model, x, counts) : error_status();
    tensor_free(x);
    if (status != STATUS_SHAPE) return status;
    counts->status = status;
    error_clear(); // the student shall find this error
    return STATUS_OK;
}

// ---- a training step ---------------------------------------------------------------------------
static Status run_step(const Layer *model, Shape input, int64_t *saved) {
    Tensor *x = tensor_new_as(input, DTYPE_FLOAT32, MEM_DATA);
    Scope *scope = x ? scope_open() : NULL;
    Tensor *y = scope ? layer_forward((Layer *)model, x) : NULL, *grad = NULL;
    *saved = autograd_saved_bytes();
    if (tensor_wants_grad(y)) {
        grad = tensor_new_as(tensor_shape(y), DTYPE_FLOAT32, MEM_ACTIVATION);
        if (grad) autograd_backward_from(y, grad);
    }
    tensor_free(grad);
    scope_close(scope);
    tensor_free(x);
    return error_status();
}

// Runs a layer with its own, unshared input. *wanted: a parameter in it or before it wants a
// gradient.
static Status run_alone(Layer *layer, Shape *shape, bool *wanted, StepMemory *memory) {
    Tensor *x = tensor_new_as(*shape, DTYPE_FLOAT32, memory->last ? MEM_ACTIVATION : MEM_DATA);
    if (x && *wanted) tensor_requires_grad(x, true);
    Scope *scope = x && !error_pending() ? scope_open() : NULL;
    Tensor *y = scope ? layer_forward(layer, x) : NULL;
    if (y) {
        *shape = tensor_shape(y);
        *wanted = tensor_wants_grad(y);
        memory->last = tensor_bytes(y);
        memory->outputs += memory->last;
        if (layer->n_parameters > 0) memory->of_linear += memory->last;
        memory->unshared += autograd_saved_bytes();
    }
    scope_close(scope);
    tensor_free(x);
    return error_status();
}

static Status run_each(Layer *layer, Shape *shape, bool *wanted, StepMemory *memory) {
    Status status = STATUS_OK;
    for (int i = 0; i < layer->n_children && !status; i++)
        status = run_each(layer->children[i], shape, wanted, memory);
    bool leaf = layer->n_children == 0 && strcmp(layer->type->name, "Sequential") != 0;
    return leaf ? run_alone(layer, shape, wanted, memory) : status;
}

static Status dry_run(Layer *model, Shape input, OptimizerKind kind, StepMemory *memory) {
    Context *context = dry_run_begin(model);
    if (!context) return error_status();
    bool wanted = false;
    Shape shape = input;
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(kind));
    Status status = optimizer ? run_step(model, input, &memory->activations) : error_status();
    const int64_t *live = context->ledger->live.category;
    memory->parameters = live[MEM_PARAMETER];
    memory->gradients = live[MEM_GRADIENT];
    memory->optimizer = live[MEM_OPTIMIZER];
    if (!status) status = run_each(model, &shape, &wanted, memory);
    optimizer_free(optimizer);
    dry_run_end(context);
    return status;
}

Status model_case_step(const char *text, OptimizerKind kind, StepMemory *memory) {
    Device *device = context_current()->device;
    context_set_device(device_meta());
    Shape input;
    *memory = (StepMemory){0};
    Layer *model = model_from_line(text, &input);
    Status status = model ? dry_run(model, input, kind, memory) : error_status();
    memory->batch = memory->input = input.dims[0];
    for (int i = 1; i < input.ndim; i++) memory->input *= input.dims[i];
    memory->input *= (int64_t)sizeof(float);
    memory->rows = input.ndim == 3 ? input.dims[1] : 1;
    for (int i = 0; model && i < model->n_children; i++)
        memory->upper += (int64_t)sizeof(float) * layer_own_parameter_count(model->children[i]);
    layer_free(model);
    context_set_device(device);
    return status;
}

// ---- lines -------------------------------------------------------------------------------------
void line_add(char line[CASE_LINE], const char *format, ...) {
    size_t used = strlen(line), room = CASE_LINE - used;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(line + used, room, format, arguments);
    va_end(arguments);
    if (wanted >= (int)room) memcpy(line + CASE_LINE - 4, "...", 4);
}

void case_say(CaseRun *run, const char *asked, const char *formula) {
    snprintf(run->asked, CASE_LINE, "%s", asked);
    snprintf(run->formula, CASE_LINE, "%s", formula);
}

void expect_bytes(CaseRun *run, const char *name, int64_t bytes) {
    run_expect_integer(run, name, bytes);
    run_mistake_integer(run, "integer_overflow", (int32_t)bytes);
    run_mistake_integer(run, "integer_overflow", (int64_t)(uint32_t)bytes);
    run_mistake_integer(run, "elements_for_bytes", bytes / 4);
    if (bytes < 1024 * 1024) return; // 0 MB would hide mistakes
    run_mistake_integer(run, "megabytes_for_bytes", bytes / 1000000);
    run_mistake_integer(run, "megabytes_for_bytes", bytes / (1024 * 1024));
}

void text_fill(char *text, size_t size, const char *pattern, const int64_t numbers[128]) {
    size_t used = 0;
    while (*pattern && used + 24 < size) {
        if (*pattern != '$') {
            text[used++] = *pattern++;
            continue;
        }
        int64_t sum = numbers[pattern[1] & 127];
        for (pattern += 2; pattern[0] == '+' && pattern[1] == '$'; pattern += 3)
            sum += numbers[pattern[2] & 127];
        used += (size_t)snprintf(text + used, size - used, "%lld", (long long)sum);
    }
    text[used] = '\0';
}

int64_t draw_odd(Draw *draw, int64_t least, int64_t most) {
    return 2 * draw_between(draw, least / 2, (most - 1) / 2) + 1;
}
