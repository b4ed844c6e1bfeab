// tree.c -- the tree of layers of a model from a file: one for each module that the exporter
// recorded, with the module's own parameters.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/graph.h"
#include "layers/parts.h"
#include "tensor/context.h"
#include "tensor/memory.h"

static void free_part(Layer *self) { memory_free(((GraphLayer *)self)->type_name); }

static void free_root(Layer *self) {
    free_part(self);
    program_free(((GraphLayer *)self)->program);
}

static void set_type(Layer *layer, const char *type, size_t length) {
    GraphLayer *self = (GraphLayer *)layer;
    char *name = onnx_part(type, length);
    if (!name) return;
    memory_free(self->type_name);
    self->type.name = self->type_name = name;
}

static GraphLayer *part_new(Program *program, const char *type, size_t length, bool is_root) {
    const LayerType base = {.name = "Module", .size = sizeof(GraphLayer)};
    GraphLayer *self = (GraphLayer *)layer_new(&base);
    if (!self) return NULL;
    self->type = (LayerType){.name = base.name,
                             .size = base.size,
                             .n_inputs = LAYER_ANY_INPUTS,
                             .forward_each = is_root ? graph_forward : graph_part_forward,
                             .n_outputs = STEP_OUTPUTS,
                             .in_steps = !is_root,
                             .free = is_root ? free_root : free_part};
    if (is_root) self->type.n_outputs = program->n_outputs;
    self->layer.type = &self->type;
    self->program = program;
    set_type(&self->layer, type, length);
    if (!self->type_name) { // the caller still owns the program
        self->program = NULL;
        layer_free(&self->layer);
        return NULL;
    }
    return self;
}

// ---- the tree ---------------------------------------------------------------------------------
static Layer *child_new(Layer *root, Layer *parent, const char *name) {
    GraphLayer *part = part_new(((GraphLayer *)root)->program, "Module", 6, false);
    return part && !layer_add_child(parent, name, &part->layer) ? &part->layer : NULL;
}

// The layer of a path, made with all layers above it if missing. A path below a parameter gives the
// layer that has it: only names unlike PyTorch's lead there.
static Layer *layer_at(Layer *root, const char *path) {
    Layer *layer = root;
    while (layer && path[0]) {
        size_t length = strcspn(path, ".");
        Layer *child = layer_child_named(layer, path, length);
        if (!child) {
            char *name = onnx_part(path, length);
            bool taken = name && layer_has_name(layer, name);
            if (name && !taken) child = child_new(root, layer, name);
            memory_free(name);
            if (taken) return layer;
        }
        layer = child;
        path += length + (path[length] == '.');
    }
    return layer;
}

// ---- types ------------------------------------------------------------------------------------
static bool has_type(const Layer *layer) { return strcmp(layer->type->name, "Module") != 0; }

// The i-th element of "['a', 'b']"; NULL: there is none.
static const char *quoted(const char *list, int i, size_t *length) {
    const char *at = strchr(list, '\'');
    for (; at; at = strchr(at, '\'')) {
        const char *end = strchr(at + 1, '\'');
        if (!end) return NULL;
        if (i-- == 0) {
            *length = (size_t)(end - at - 1);
            return at + 1;
        }
        at = end + 1;
    }
    return NULL;
}

// Sets types from the newer exporter's record of the class of each module around a node.
static void types_of_classes(Layer *root, const Node *node) {
    const char *scopes = onnx_recorded(node, "pkg.torch.onnx.name_scopes");
    const char *classes = onnx_recorded(node, "pkg.torch.onnx.class_hierarchy");
    for (int i = 0; scopes && classes && i < 64; i++) {
        size_t length = 0, size = 0, next = 0;
        char path[512];
        const char *scope = quoted(scopes, i, &length), *type = quoted(classes, i, &size);
        if (!scope || !type || !quoted(scopes, i + 1, &next)) return; // the last one is the op
        if (length >= sizeof path) continue;
        memcpy(path, scope, length);
        path[length] = '\0';
        Layer *layer = layer_find(root, path);
        for (size_t k = size; k > 0; k--)
            if (type[k - 1] == '.') {
                type += k, size -= k;
                break;
            }
        if (layer && !has_type(layer)) set_type(layer, type, size);
    }
}

// Gives a layer of one step the type of PyTorch's layer for it. "Conv2d" becomes "Conv1d" or
// "Conv3d" by the number of dimensions after the channels.
static void type_of_step(const Import *import, const Step *step, Layer *layer) {
    const char *type = step->op->module;
    const Value *in = import_value(import, step->in[0]);
    if (!type) return;
    const float *bounds = step->params.plain.value;
    bool six = bounds[0] == 0.0f && bounds[1] == 6.0f;
    if (strcmp(type, "ReLU6") == 0 && !six) type = "Hardtanh";
    char name[32];
    size_t length = strlen(type);
    snprintf(name, sizeof name, "%s", type);
    if (length > 2 && strcmp(type + length - 2, "2d") == 0 && in && in->shape.ndim != 4)
        name[length - 2] = in->shape.ndim == 5 ? '3' : '1';
    set_type(layer, name, length);
}

static void name_types(Import *import, Layer *root, Program *program) {
    for (int i = 0; i < import->n_steps && !error_pending(); i++)
        if (!import->steps[i]->dead) types_of_classes(root, import->steps[i]->node);
    for (int i = 0, at = 0; i < import->n_steps && !error_pending(); i++) {
        if (import->steps[i]->dead) continue;
        Layer *layer = program->steps[at++].layer;
        bool alone = layer && layer->n_children == 0 && ((GraphLayer *)layer)->n_steps == 1;
        if (alone && !has_type(layer)) type_of_step(import, import->steps[i], layer);
    }
}

// ---- parameters -------------------------------------------------------------------------------
// Copies this parameter's rows of the stored numbers, gate after gate.
static Status fill_rows(Import *import, const Value *value, Tensor *tensor) {
    const GateRows *rows = &value->rows;
    int64_t each = rows->each * rows->columns;
    float *all = memory_new((size_t)(rows->stored ? rows->stored : 1) * sizeof(float));
    float *own =
        all ? memory_new((size_t)(tensor->numel ? tensor->numel : 1) * sizeof(float)) : NULL;
    if (own) onnx_stored_floats(import, value->stored, rows->stored, all);
    for (int g = 0; g < rows->gates && own && !error_pending(); g++)
        memcpy(own + g * each, all + rows->begin * rows->columns + rows->order[g] * each,
               (size_t)each * sizeof(float));
    if (!error_pending()) tensor_write_floats(tensor, own);
    memory_free(own);
    memory_free(all);
    return error_status();
}

static Status fill_zeros(Tensor *tensor) {
    float *zeros = memory_new((size_t)(tensor->numel ? tensor->numel : 1) * sizeof(float));
    if (zeros) tensor_write_floats(tensor, zeros);
    memory_free(zeros);
    return error_status();
}

static Status fill(Import *import, const Value *value, Tensor *tensor) {
    int64_t n = tensor->numel;
    if (!tensor->device->has_data) return STATUS_OK;
    if (!value->stored) return fill_zeros(tensor);
    if (value->rows.gates) return fill_rows(import, value, tensor);
    if (tensor->device->on_host && !value->flipped)
        return onnx_stored_floats(import, value->stored, n, tensor_data(tensor));
    float *numbers = memory_new((size_t)(n ? n : 1) * sizeof(float));
    float *turned = value->flipped ? memory_new((size_t)(n ? n : 1) * sizeof(float)) : numbers;
    if (turned && numbers) onnx_stored_floats(import, value->stored, n, numbers);
    int64_t rows = value->shape.ndim == 2 ? value->shape.dims[0] : 0;
    int64_t columns = value->shape.ndim == 2 ? value->shape.dims[1] : 0;
    for (int64_t j = 0; j < columns && value->flipped && !error_pending(); j++)
        for (int64_t i = 0; i < rows; i++) turned[j * rows + i] = numbers[i * columns + j];
    if (!error_pending()) tensor_write_floats(tensor, turned);
    if (turned != numbers) memory_free(turned);
    memory_free(numbers);
    return error_status();
}

static Tensor *parameter_new(Import *import, const Value *value) {
    Shape shape = value->shape;
    if (value->flipped) shape = SHAPE(shape.dims[1], shape.dims[0]);
    int64_t count = value->rows.gates ? value->rows.stored : shape_numel(shape);
    if (value->stored && context_current()->device->has_data &&
        onnx_stored_check(import, value->stored, count))
        return NULL;
    Tensor *tensor = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    if (tensor && !fill(import, value, tensor)) return tensor;
    tensor_free(tensor);
    return NULL;
}

// "weight_7": the first free number, found by doubling and bisection, as the numbers are
// consecutive.
static void number_name(const Layer *layer, const char *role, char name[64]) {
    int taken = 1, next = 2;
    const char *stem = role ? role : "weight";
    for (;; taken = next, next *= 2) {
        snprintf(name, 64, "%.40s_%d", stem, next);
        if (!layer_has_name(layer, name)) break;
    }
    while (next - taken > 1) {
        int middle = taken + (next - taken) / 2;
        snprintf(name, 64, "%.40s_%d", stem, middle);
        if (layer_has_name(layer, name))
            taken = middle;
        else
            next = middle;
    }
    snprintf(name, 64, "%.40s_%d", stem, next);
}

// Names a linear layer's weight after its bias: "in_proj_weight" with "in_proj_bias".
static void name_by_bias(const Import *import, const Step *user, char name[64]) {
    bool linear = step_is(user, "Linear") && user->n_in > 2 && strcmp(name, "weight") == 0;
    const Value *bias = linear ? import_value(import, user->in[2]) : NULL;
    const char *path = bias && bias->readers == 1 ? value_path(bias) : NULL;
    const char *dot = path ? strrchr(path, '.') : NULL, *own = dot ? dot + 1 : path;
    size_t n = own ? strlen(own) : 0, end = strlen("bias");
    if (n > end && n < 56 && strcmp(own + n - end, "bias") == 0)
        snprintf(name, 64, "%.*sweight", (int)(n - end), own);
}

// Finds a parameter's layer and name: its own if PyTorch's, else its user's layer and its role.
static Layer *place_of(Import *import, Layer *root, const Value *value, char name[64]) {
    const char *known = value_path(value), *dot = known ? strrchr(known, '.') : NULL;
    char *path = NULL;
    if (known) {
        const char *own = dot ? dot + 1 : known;
        bool folded = strcmp(own, "weight_bias") == 0; // a folded norm's
        snprintf(name, 64, "%s", folded ? "bias" : own);
        path = memory_copy_string(known);
        if (path) path[dot ? dot - known : 0] = '\0';
    } else {
        const Step *user = value->role_step >= 0 ? import->steps[value->role_step] : NULL;
        snprintf(name, 64, "%s", value->role ? value->role : "weight");
        if (user) name_by_bias(import, user, name);
        if (value->rows.gates)
            snprintf(name, 64, "%s_l%d%s", value->role, value->rows.layer,
                     value->rows.reverse ? "_reverse" : "");
        path = memory_copy_string(user && user->path ? user->path : "");
    }
    Layer *layer = path ? layer_at(root, path) : NULL;
    memory_free(path);
    if (layer && layer_has_name(layer, name)) number_name(layer, value->role, name);
    return layer;
}

static Status add_parameter(Import *import, Layer *root, Program *program, Value *value) {
    char name[64];
    Layer *layer = place_of(import, root, value, name);
    Tensor *tensor = layer ? parameter_new(import, value) : NULL;
    if (!tensor) return error_status();
    Slot *slot = &program->slots[value->slot];
    slot->is_buffer = value->is_state;
    slot->index = value->is_state ? layer->n_buffers : layer->n_parameters;
    Status status = value->is_state ? layer_add_buffer(layer, name, tensor)
                                    : layer_add_parameter(layer, name, tensor);
    if (!status) slot->owner = layer;
    return status;
}

// Adds a tied parameter under its other path, if it has one.
static Status add_twin(Import *import, Layer *root, Program *program, const Value *value) {
    char name[64];
    const Value *holder = import->values[value->twin];
    if (!value_path(value) || holder->slot < 0 || program->slots[holder->slot].is_buffer)
        return STATUS_OK;
    const Slot *slot = &program->slots[holder->slot];
    Layer *layer = place_of(import, root, value, name);
    if (!layer || !slot->owner) return error_status();
    return layer_tie_parameter(layer, name, slot->owner->parameters[slot->index].tensor);
}

static void count_step(GraphLayer *part) { part->type.in_steps = ++part->n_steps != 1; }

// ---- the whole tree ---------------------------------------------------------------------------
Layer *graph_tree_new(Import *import, Program *program) {
    GraphLayer *self = part_new(program, "Graph", 5, true);
    if (!self) {
        program_free(program);
        return NULL;
    }
    Layer *root = &self->layer;
    for (int i = 0, at = 0; i < import->n_steps && !error_pending(); i++) {
        const Step *step = import->steps[i];
        if (step->dead) continue;
        Layer *layer = layer_at(root, step->path);
        program->steps[at++].layer = layer == root ? NULL : layer;
        if (layer && layer != root) count_step((GraphLayer *)layer);
    }
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        Value *value = import->values[i];
        if (value->kind == VALUE_PARAMETER && value->slot >= 0 && value->twin < 0)
            add_parameter(import, root, program, value);
    }
    for (int i = 0; i < import->n_values && !error_pending(); i++) {
        const Value *value = import->values[i];
        if (value->kind == VALUE_PARAMETER && value->twin >= 0 && value->readers > 0)
            add_twin(import, root, program, value);
    }
    if (!error_pending()) name_types(import, root, program);
    if (!error_pending()) graph_describe(program);
    return layer_finished(root);
}
