// model_case.c -- from a model text to a run of a case, with the library's own counts.
#include "exercises/course/model_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/support/model_text.h"
#include "profiler/profiler.h"
#include "profiler/report/preset.h"

Status model_case_begin(ModelCase *model_case, const char *text, CaseRun *run) {
    *model_case = (ModelCase){.context = context_new()};
    if (!model_case->context) return error_status();
    context_push(model_case->context);
    context_set_device(device_meta());
    snprintf(run->input, sizeof(run->input), "%s", text);
    line_add(run->shown, "%s", text);
    model_case->model = model_from_text(text, &model_case->input);
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
    error_clear(); // it is what the student shall find
    return STATUS_OK;
}

void line_add(char line[CASE_LINE], const char *format, ...) {
    size_t used = strlen(line), room = CASE_LINE - used;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(line + used, room, format, arguments);
    va_end(arguments);
    if (wanted >= (int)room) memcpy(line + CASE_LINE - 4, "...", 4);
}

int64_t draw_odd(Draw *draw, int64_t least, int64_t most) {
    return 2 * draw_between(draw, least / 2, (most - 1) / 2) + 1;
}
