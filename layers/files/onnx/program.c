// program.c -- turns an import into steps that run: values get slots, constants become tensors, and
// each slot gets its last reader. tree.c makes the tree of layers.
#include <string.h>

#include "layers/files/onnx/graph.h"
#include "tensor/context.h"
#include "tensor/memory.h"

// ---- slots ------------------------------------------------------------------------------------
// The value that holds the numbers: tied parameters share one.
static Value *holder(const Import *import, int at) {
    Value *value = import_value(import, at);
    while (value && value->twin >= 0) value = import->values[value->twin];
    return value;
}

static int slot_of(const Import *import, int at) {
    const Value *value = holder(import, at);
    return value ? value->slot : -1;
}

static void give_slot(const Import *import, Program *program, int at) {
    Value *value = holder(import, at);
    if (value && value->slot < 0) value->slot = program->n_slots++;
}

static void give_slots(const Import *import, Program *program) {
    const Onnx__Graph *graph = import->graph;
    for (int i = 0; i < import->n_steps; i++) {
        const Step *step = import->steps[i];
        for (int k = 0; k < step->n_in && !step->dead; k++) give_slot(import, program, step->in[k]);
        for (int k = 0; k < step->n_out && !step->dead; k++)
            give_slot(import, program, step->out[k]);
        program->n_steps += !step->dead;
    }
    for (int i = 0; i < program->n_outputs; i++)
        give_slot(import, program, import_find(import, graph->output[i]->name));
    for (int i = 0; i < import->about->n_inputs; i++)
        give_slot(import, program, import_find(import, import->about->inputs[i].name));
}

// ---- constants --------------------------------------------------------------------------------
static Tensor *constant_new(Import *import, Value *value) {
    if (!context_current()->device->has_data)
        return tensor_new(value->shape, onnx_dtype(value->type));
    if (!value_data(import, value)) return NULL;
    Tensor *tensor = value->data->dtype == DTYPE_INT64
                         ? tensor_from_labels_new(value->shape, value_integers(value))
                         : tensor_from_floats_new(value->shape, value_floats(value));
    value_drop(import, value);
    return tensor;
}

static Status make_constants(Import *import, Program *program) {
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        Value *value = import->values[i];
        if (value->slot < 0 || value->twin >= 0) continue;
        program->slots[value->slot].is_result = value->kind == VALUE_RUN && value->step >= 0;
        if (value->kind == VALUE_CONSTANT)
            program->slots[value->slot].constant = constant_new(import, value);
    }
    return error_status();
}

// ---- steps ------------------------------------------------------------------------------------
static Status copy_step(const Import *import, const Step *from, RunStep *to) {
    to->step = *from;
    to->step.path = NULL;
    to->step.node = NULL;
    to->step.in = memory_new((size_t)(from->n_in + 1) * sizeof(int));
    to->ends = memory_new((size_t)(from->n_in + from->n_out) * sizeof(int));
    if (!to->step.in || !to->ends) return error_status();
    for (int k = 0; k < from->n_in; k++) to->step.in[k] = slot_of(import, from->in[k]);
    for (int k = 0; k < from->n_out; k++) to->step.out[k] = slot_of(import, from->out[k]);
    return STATUS_OK;
}

// Goes backwards from the last step: the first reader that it meets is a slot's last.
static Status find_ends(Program *program) {
    bool *met = memory_new((size_t)(program->n_slots + 1) * sizeof *met);
    if (!met) return error_status();
    for (int i = 0; i < program->n_outputs; i++)
        if (program->outputs[i] >= 0) met[program->outputs[i]] = true;
    for (int s = program->n_steps - 1; s >= 0; s--) {
        RunStep *step = &program->steps[s];
        for (int k = 0; k < step->step.n_in + step->step.n_out; k++) {
            bool is_in = k < step->step.n_in;
            int at = is_in ? step->step.in[k] : step->step.out[k - step->step.n_in];
            if (at < 0 || met[at]) continue;
            met[at] = true;
            if (program->slots[at].is_result) step->ends[step->n_ends++] = at;
        }
    }
    memory_free(met);
    return STATUS_OK;
}

// Keeps an input's numbers if they determined shapes: the model accepts no others.
static Status keep_deciding(const Import *import, Program *program, int i) {
    const Value *value = import_value(import, import_find(import, import->about->inputs[i].name));
    if (!value || !value->decides) return STATUS_OK;
    Deciding *own = &program->decides[i];
    own->size = (size_t)tensor_bytes(value->given);
    own->bytes = memory_new(own->size + 1);
    if (own->bytes) memcpy(own->bytes, tensor_raw(value->given), own->size);
    return error_status();
}

Program *program_new(Import *import) {
    Program *program = memory_new(sizeof *program);
    if (!program) return NULL;
    const OnnxModel *about = import->about;
    size_t outputs = import->graph->n_output;
    program->n_outputs = outputs < LAYER_MAX_OUTPUTS ? (int)outputs : LAYER_MAX_OUTPUTS;
    give_slots(import, program);
    int n_steps = program->n_steps, most = 1;
    program->n_steps = 0;
    program->n_inputs = about->n_inputs;
    program->inputs = memory_new((size_t)(about->n_inputs + 1) * sizeof(int));
    program->shapes = memory_new((size_t)(about->n_inputs + 1) * sizeof(Shape));
    program->decides = memory_new((size_t)(about->n_inputs + 1) * sizeof(Deciding));
    program->given = memory_new((size_t)(about->n_inputs + 1) * sizeof(Tensor *));
    program->slots = memory_new((size_t)(program->n_slots + 1) * sizeof(Slot));
    program->values = memory_new((size_t)(program->n_slots + 1) * sizeof(Tensor *));
    program->steps = memory_new((size_t)(n_steps + 1) * sizeof(RunStep));
    if (!error_pending()) make_constants(import, program);
    for (int i = 0; i < import->n_steps && !error_pending(); i++) {
        const Step *step = import->steps[i];
        if (step->dead) continue;
        copy_step(import, step, &program->steps[program->n_steps++]);
        if (step->n_in > most) most = step->n_in;
    }
    if (!error_pending()) program->in = memory_new((size_t)most * sizeof(Tensor *));
    for (int i = 0; i < about->n_inputs && !error_pending(); i++) {
        program->inputs[i] = slot_of(import, import_find(import, about->inputs[i].name));
        program->shapes[i] = about->inputs[i].shape;
        keep_deciding(import, program, i);
    }
    for (int i = 0; i < program->n_outputs; i++)
        program->whole[i] = about->outputs[i].dtype == DTYPE_INT64;
    for (int i = 0; i < program->n_outputs; i++)
        program->outputs[i] = slot_of(import, import_find(import, import->graph->output[i]->name));
    if (!error_pending()) find_ends(program);
    if (!error_pending()) return program;
    program_free(program);
    return NULL;
}
