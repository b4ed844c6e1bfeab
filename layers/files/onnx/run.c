// run.c -- runs a model from a file, step by step, each in its layer, and releases results after
// their last reader.
#include <string.h>

#include "layers/files/onnx.h"
#include "layers/files/onnx/graph.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tensor/shadow.h"

enum { MOST_ABOVE = 66 };

static Tensor *slot_tensor(const Program *program, int at) {
    if (at < 0) return NULL;
    const Slot *slot = &program->slots[at];
    if (!slot->owner) return slot->constant ? slot->constant : program->values[at];
    const Layer *owner = layer_here(slot->owner);
    if (!owner) return NULL;
    return slot->is_buffer ? owner->buffers[slot->index].tensor
                           : owner->parameters[slot->index].tensor;
}

// Gives a result that is an input a handle of its own, so that it may be released before the input.
static void part_from_inputs(Tensor *const in[], int n_in, Tensor *out[], int n_out) {
    for (int k = 0; k < n_out; k++)
        for (int i = 0; i < n_in && out[k]; i++)
            if (out[k] == in[i]) {
                out[k] = tensor_reshape(out[k], out[k]->shape);
                break;
            }
}

// The step of a layer that runs by itself, as backward does for a recomputed one. NULL with an
// error pending: there are several.
static const Step *only_step(const Program *program, const Layer *self) {
    const Step *found = NULL;
    int count = 0;
    for (int i = 0; i < program->n_steps; i++) {
        const Layer *layer = program->steps[i].layer;
        if (!layer || layer->serial != self->serial) continue;
        found = &program->steps[i].step;
        count++;
    }
    if (count == 1) return found;
    error_set(
        STATUS_STATE,
        "%d steps of a file run here, and only one can run by itself. HINT: layers of one step "
        "can be recomputed",
        count);
    return NULL;
}

Status graph_part_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    const Program *program = ((GraphLayer *)self)->program;
    const Step *step = program->running ? &program->running->step : only_step(program, self);
    if (!step) return error_status();
    step_run(step, self->training, in, out);
    part_from_inputs(in, n_in, out, step->n_out);
    return error_status();
}

// Runs a step inside the call sites of the layers around it, so that reports show its path.
static void run_step(Layer *root, const RunStep *step, Tensor *const in[], Tensor *out[]) {
    int outer[MOST_ABOVE], n = 0;
    const Layer *above[MOST_ABOVE];
    if (step->layer == NULL) {
        graph_part_forward(root, in, step->step.n_in, out);
        return;
    }
    for (const Layer *l = step->layer->parent; l && l->parent && n < MOST_ABOVE; l = l->parent)
        above[n++] = l;
    for (int i = n - 1; i >= 0; i--)
        outer[i] = site_enter(above[i]->serial, above[i]->name, above[i]->type->name);
    layer_forward_each(step->layer, in, step->step.n_in, out, step->step.n_out);
    for (int i = 0; i < n; i++) site_leave(outer[i]);
}

// Checks deciding numbers, if the host can read them.
static Status check_numbers(const Program *program, int i, Tensor *x) {
    bool readable = x->device->on_host && x->device->has_data && tensor_is_contiguous(x);
    const Deciding *own = &program->decides[i];
    if (!own->bytes || !readable) return STATUS_OK;
    if (own->size == (size_t)tensor_bytes(x) && memcmp(own->bytes, tensor_raw(x), own->size) == 0)
        return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "input %d of the model has other numbers than it was loaded for, which made "
                     "its shapes. HINT: onnx_load with these in OnnxShape.numbers",
                     i);
}

static Status check_inputs(const Program *program, Tensor *const in[], int n_in) {
    for (int i = n_in; i < program->n_inputs; i++)
        if (!program->given[i]) n_in = -1;
    if (n_in < 0 || n_in > program->n_inputs)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "this model takes %d inputs. HINT: all at once, or the later ones by "
                         "onnx_give_input",
                         program->n_inputs);
    for (int i = 0; i < n_in; i++) {
        char got[SHAPE_TEXT], wanted[SHAPE_TEXT];
        if (!in[i]) return error_set(STATUS_INVALID_ARGUMENT, "input %d of the model is NULL", i);
        if (!shape_equal(in[i]->shape, program->shapes[i]))
            return error_set(STATUS_SHAPE,
                             "input %d of the model is %s, and it was loaded for %s. HINT: "
                             "OnnxOptions.shapes, or --input, as often as there are inputs",
                             i, shape_text(in[i]->shape, got),
                             shape_text(program->shapes[i], wanted));
        if (check_numbers(program, i, in[i])) return error_status();
    }
    for (int i = n_in; i < program->n_inputs; i++)
        if (check_numbers(program, i, tensor_here(program->given[i]))) return error_status();
    return STATUS_OK;
}

static void let_go(Program *program, const RunStep *step) {
    for (int i = 0; i < step->n_ends; i++) {
        Tensor **value = &program->values[step->ends[i]];
        if (*value) tensor_release(*value);
        *value = NULL;
    }
}

Status graph_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    Program *program = ((GraphLayer *)self)->program;
    if (check_inputs(program, in, n_in)) return error_status();
    for (int i = 0; i < program->n_slots; i++) program->values[i] = NULL;
    for (int i = 0; i < program->n_inputs; i++)
        if (program->inputs[i] >= 0)
            program->values[program->inputs[i]] = i < n_in ? in[i] : tensor_here(program->given[i]);
    for (int s = 0; s < program->n_steps && !error_pending(); s++) {
        const RunStep *step = &program->steps[s];
        Tensor *results[STEP_OUTPUTS] = {NULL};
        for (int i = 0; i < step->step.n_in; i++)
            program->in[i] = slot_tensor(program, step->step.in[i]);
        program->running = step;
        run_step(self, step, program->in, results);
        for (int i = 0; i < step->step.n_out; i++)
            if (step->step.out[i] >= 0) program->values[step->step.out[i]] = results[i];
        let_go(program, step);
    }
    program->running = NULL;
    for (int i = 0; i < program->n_outputs && !error_pending(); i++) {
        Tensor *y = slot_tensor(program, program->outputs[i]);
        if (y && !program->slots[program->outputs[i]].is_result)
            y = tensor_reshape(y, y->shape); // an input, a constant or a parameter
        out[i] = program->whole[i] ? onnx_as_index(y) : onnx_as_float(y);
        part_from_inputs(out, i, &out[i], 1);
    }
    return error_status();
}

static Status program_give(Program *program, int input, Tensor *value) {
    char wanted[SHAPE_TEXT];
    if (input < 0 || input >= program->n_inputs || !value ||
        !shape_equal(value->shape, program->shapes[input]))
        return error_set(STATUS_SHAPE, "onnx_give_input: input %d of %d takes a tensor of %s",
                         input, program->n_inputs,
                         input >= 0 && input < program->n_inputs
                             ? shape_text(program->shapes[input], wanted)
                             : "no shape");
    tensor_free(program->given[input]);
    program->given[input] = tensor_retain(value);
    return STATUS_OK;
}

void program_free(Program *program) {
    if (!program) return;
    for (int i = 0; i < program->n_inputs && program->given; i++) tensor_free(program->given[i]);
    memory_free(program->given);
    for (int i = 0; i < program->n_inputs && program->decides; i++)
        memory_free(program->decides[i].bytes);
    memory_free(program->decides);
    for (int i = 0; i < program->n_slots && program->slots; i++)
        tensor_free(program->slots[i].constant);
    for (int i = 0; i < program->n_steps; i++) {
        memory_free(program->steps[i].step.in);
        memory_free(program->steps[i].ends);
    }
    memory_free(program->slots);
    memory_free(program->steps);
    memory_free(program->inputs);
    memory_free(program->shapes);
    memory_free(program->values);
    memory_free(program->in);
    memory_free(program);
}

Status onnx_give_input(Layer *model, int input, Tensor *value) {
    if (error_pending()) return error_status();
    if (!model || model->type->forward_each != graph_forward)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "onnx_give_input: this is no model of onnx_load's");
    return program_give(((GraphLayer *)model)->program, input, value);
}
