// program_batch.c -- the resident batch of a profile: arbitrary numbers of the input's shape, and
// labels for the loss that fits the output.
#include "layers/cost.h"
#include "profiler/program/program.h"
#include "tensor/memory.h"

// The numbers i modulo `below`; the caller memory_frees them.
static int64_t *numbers_in_turn(int64_t count, int64_t below) {
    int64_t *numbers = memory_new((size_t)count * sizeof(int64_t));
    for (int64_t i = 0; numbers && i < count; i++) numbers[i] = i % below;
    return numbers;
}

static Tensor *in_turn_new(Shape shape, int64_t below) {
    if (!context_current()->device->has_data) return tensor_new(shape, DTYPE_INT64);
    int64_t *numbers = numbers_in_turn(shape_numel(shape), below);
    Tensor *tensor = numbers ? tensor_from_labels_new(shape, numbers) : NULL;
    memory_free(numbers);
    return tensor;
}

// Finds the output's shape by a dry run in the mode of the profile (training or evaluation).
static Status output_shape(const Program *program, Shape *shape) {
    Context *context = dry_run_begin(program->model);
    if (!context) return error_status();
    no_grad_begin();
    layer_train(program->model, !program->options->inference);
    Scope *scope = scope_open();
    Tensor *out = layer_forward(program->model, program->x);
    if (out) *shape = out->shape;
    scope_close(scope);
    no_grad_end();
    dry_run_end(context);
    return error_status();
}

// True if the output is rows of logits, one per sample or token, trained by cross-entropy; any
// other output is trained towards numbers of its shape.
static bool has_logits(const Program *program, Shape out) {
    int64_t last = out.ndim > 0 ? out.dims[out.ndim - 1] : 0;
    bool words = program->subject.vocabulary > 0 && last == program->subject.vocabulary;
    return last > 1 && (out.ndim == 2 || (out.ndim == 3 && words));
}

Status program_batch_new(Program *program) {
    const Subject *subject = &program->subject;
    Shape shape = {.ndim = subject->sample.ndim + 1, .dims = {subject->batch}}, out;
    for (int d = 1; d < shape.ndim; d++) shape.dims[d] = subject->sample.dims[d - 1];
    program->x = subject->is_onnx ? program_onnx_input_new(program) : NULL;
    if (error_pending()) return error_status();
    if (program->x)
        shape = program->x->shape; // the given shape
    else if (subject->vocabulary > 0)
        program->x = in_turn_new(shape, subject->vocabulary);
    else
        program->x = tensor_uniform_new(shape, 0.0f, 1.0f);
    if (!program->x || output_shape(program, &out)) return error_status();
    bool logits = has_logits(program, out);
    program->loss = logits ? loss_cross_entropy : loss_mse;
    if (logits) {
        int64_t classes = out.dims[--out.ndim];
        program->labels = in_turn_new(out, classes);
        if (program->subject.classes == 0) program->subject.classes = classes;
    } else {
        program->labels = tensor_uniform_new(out, 0.0f, 1.0f);
    }
    if (!program->labels) return error_status();
    bool text = program->texts.train.count > 0;
    if (!text || (logits && shape_equal(program->labels->shape, program->x->shape)))
        return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: it has no logits of the token that follows each, so that no text can "
                     "teach it. HINT: char-gpt and gpt2 have; without --data and "
                     "--epochs it is profiled all the same",
                     subject->name);
}
