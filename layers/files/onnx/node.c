// node.c -- what one node of a graph becomes: a constant, another name of a value, or a step,
// whose results' shapes its own code finds on the meta device.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- operators --------------------------------------------------------------------------------
const Operator *onnx_operator(const char *op_type) {
    const Operator *const tables[] = {onnx_elements,  onnx_activations, onnx_moves,
                                      onnx_picks,     onnx_places,      onnx_products,
                                      onnx_images,    onnx_norms,       onnx_reductions,
                                      onnx_recurrent, onnx_attention,   onnx_random,
                                      onnx_classic};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const Operator *op = tables[t]; op->name; op++)
            if (strcmp(op->name, op_type) == 0) return op;
    return NULL;
}

static Status note_missing(Import *import, const char *op_type) {
    OnnxModel *about = import->about;
    for (int i = 0; i < about->n_missing; i++)
        if (strcmp(about->missing[i].name, op_type) == 0) {
            about->missing[i].count++;
            return STATUS_OK;
        }
    size_t bytes = (size_t)about->n_missing * sizeof(OnnxMissing);
    OnnxMissing *grown = memory_resize(about->missing, bytes, bytes + sizeof(OnnxMissing));
    if (!grown) return error_status();
    about->missing = grown;
    char *name = memory_copy_string(op_type);
    if (!name) return error_status();
    grown[about->n_missing++] = (OnnxMissing){.name = name, .count = 1};
    return STATUS_OK;
}

// ---- steps ------------------------------------------------------------------------------------
// Of a constant or parameter, of its shape; what runs has its own.
static Tensor *shadow_of(Value *value) {
    if (!value || value->tensor) return value ? value->tensor : NULL;
    bool integer =
        value->kind == VALUE_CONSTANT && !onnx_is_float(value->type) && value->type != ONNX_BOOL;
    Shape shape = value->shape;
    if (value->flipped) shape = SHAPE(shape.dims[1], shape.dims[0]);
    value->tensor = tensor_new(shape, integer ? DTYPE_INT64 : DTYPE_FLOAT32);
    return value->tensor;
}

static Status try_step(Import *import, Step *step) {
    Tensor *out[STEP_OUTPUTS] = {NULL};
    Tensor **in = memory_new((size_t)(step->n_in + 1) * sizeof *in);
    Scope *scope = in ? scope_open() : NULL;
    for (int i = 0; i < step->n_in && scope; i++)
        in[i] = shadow_of(import_value(import, step->in[i]));
    if (scope && !error_pending()) step->op->run(step, false, in, out);
    for (int i = 0; i < step->n_out && !error_pending(); i++) {
        Value *value = import_value(import, step->out[i]);
        if (!value) continue;
        if (!out[i]) {
            import_error(import, STATUS_NOT_IMPLEMENTED, "its output %d", i);
            continue;
        }
        value->kind = VALUE_RUN;
        value->type = i == 1 && step->op->second_type ? step->op->second_type : step->type;
        value->shape = out[i]->shape;
        value->step = import->n_steps - 1;
        value->tensor = tensor_keep(out[i]);
    }
    scope_close(scope);
    memory_free(in);
    return error_status();
}

// What an op said, with the node in front.
static Status name_node(const Import *import) {
    char said[512];
    Status status = error_status();
    if (!status || strncmp(error_message(), "onnx: ", 6) == 0) return status;
    snprintf(said, sizeof said, "%s", error_message());
    error_clear();
    return error_set(status, "onnx: %s: %s", import->text, said);
}

static Step *step_new(Import *import, const Node *node, const Operator *op) {
    if (import_grow((void **)&import->steps, import->n_steps, sizeof(Step *))) return NULL;
    Step *step = memory_new(sizeof *step);
    if (!step) return NULL;
    step->op = op;
    step->node = node;
    const Value *first = node_input(import, node, 0);
    step->type = op->type ? op->type : first ? first->type : ONNX_FLOAT;
    return step;
}

// A split into more parts than a step has results: as many slices.
static Status add_slices(Import *import, const Node *node) {
    const Value *in = node_input(import, node, 0);
    int parts = (int)node->n_output, axis;
    if (!in) return import_error(import, STATUS_FORMAT, "it has no input");
    int64_t begin = 0, *sizes = memory_new((size_t)parts * sizeof *sizes);
    if (sizes) shape_split(import, node, in->shape, &axis, sizes);
    for (int i = 0; i < parts && !error_pending(); i++) {
        Step *step = step_new(import, node, onnx_operator("Slice"));
        if (!step) break;
        for (int d = 0; d < in->shape.ndim; d++) {
            step->params.slice.begin[d] = d == axis ? begin : 0;
            step->params.slice.count[d] = d == axis ? sizes[i] : in->shape.dims[d];
            step->params.slice.step[d] = 1;
        }
        step_inputs(import, node, step, 1);
        import->steps[import->n_steps++] = step;
        step->n_out = 1;
        step->out[0] = import_find(import, node->output[i]);
        begin += sizes[i];
        if (!error_pending()) try_step(import, step);
    }
    memory_free(sizes);
    return error_status();
}

// In place of a result that nobody computes: zeros of the shape that the file records, at no cost.
static Status add_zeros(Import *import, const Node *node, int output,
                        const Onnx__TensorType *type) {
    Step *step = step_new(import, node, onnx_operator("Expand"));
    if (!step) return error_status();
    import->steps[import->n_steps++] = step;
    Shape *shape = &step->params.shape;
    shape->ndim = (int)type->shape->n_dim;
    for (int d = 0; d < shape->ndim; d++) {
        const Onnx__Dimension *dim = type->shape->dim[d];
        shape->dims[d] = dim->has_dim_value && dim->dim_value >= 0 ? dim->dim_value : 1;
    }
    step->type = type->elem_type;
    step->n_out = 1;
    step->out[0] = output;
    if (step_input(import, step, import_constant(import, ONNX_FLOAT, SHAPE_SCALAR)))
        return error_status();
    return error_pending() ? error_status() : try_step(import, step);
}

// What is behind an operator that is missing is left out, unless the file says what it gives.
static Status missing(Import *import, const Node *node) {
    const Onnx__Graph *graph = import->graph;
    if (note_missing(import, node->op_type)) return error_status();
    for (int i = 0; i < (int)node->n_output; i++) {
        int output = import_find(import, node->output[i]);
        Value *value = import_value(import, output);
        if (value) value->poisoned = true;
        for (size_t k = 0; k < graph->n_value_info && value && value->poisoned; k++) {
            const Onnx__ValueInfo *info = graph->value_info[k];
            const Onnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
            if (!import->options->partial || !info->name || strcmp(info->name, value->name) != 0 ||
                !type || !type->shape || type->shape->n_dim > TENSOR_MAX_DIMS)
                continue;
            value->poisoned = false;
            if (add_zeros(import, node, output, type)) return error_status();
        }
    }
    return STATUS_OK;
}

// Those that somebody reads, and all before them: a batch norm had this batch's statistics among
// its outputs until opset 14, a pool has places. A Split has as many parts as it says.
static size_t outputs_read(const Import *import, const Node *node) {
    size_t n = node->n_output;
    if (strcmp(node->op_type, "Split") == 0) return n;
    for (; n > 1; n--) {
        const Value *last = node_output(import, node, (int)n - 1);
        if (last && last->readers > 0) break;
    }
    return n;
}

static Status add_step(Import *import, const Node *node, const Operator *op) {
    if (strcmp(op->name, "Split") == 0 && node->n_output > STEP_OUTPUTS)
        return add_slices(import, node);
    Step *step = step_new(import, node, op);
    if (!step) return error_status();
    Status status = op->build(import, node, step);
    import->steps[import->n_steps++] = step; // roles name it by this number
    size_t outputs = outputs_read(import, node);
    if (!status && outputs > STEP_OUTPUTS)
        status = import_error(import, STATUS_NOT_IMPLEMENTED, "%zu outputs", outputs);
    for (int i = 0; (i < step->n_in || i == 0) && !status; i++)
        if (i == step->n_in || (step->in[i] < 0 && !(step->op->optional >> i & 1)))
            status = import_error(import, STATUS_FORMAT, "it has no input %d", i);
    step->n_out = status ? 0 : (int)outputs;
    for (int i = 0; i < step->n_out; i++) step->out[i] = import_find(import, node->output[i]);
    if (!status) status = try_step(import, step);
    if (!status) import_join(import);
    return status;
}

// ---- other names ------------------------------------------------------------------------------
// The older exporter stores equal numbers once, and names the others by an Identity. Where they are
// all alike (a fresh norm's ones, a bias's zeros) they were no tied weights.
static Status add_parameter(Import *import, int from, int to) {
    Value *value = import->values[from], *other = import->values[to];
    other->kind = VALUE_PARAMETER;
    other->type = value->type;
    other->shape = value->shape;
    other->stored = value->stored;
    bool own = value_is_uniform(import, value) || onnx_paths_are_copies(value->name, other->name);
    other->twin = own ? -1 : value->twin >= 0 ? value->twin : from;
    return own ? import_copies(import, value, shape_numel(value->shape)) : error_status();
}

// Whether the node only gives its input another name: what it computes is the input.
static bool renames(Import *import, const Node *node) {
    if (strcmp(node->op_type, "Identity") == 0) return true;
    if (strcmp(node->op_type, "Dropout") == 0) { // without its third input it does nothing
        Value *trains = node_input(import, node, 2);
        const double *data = trains && trains->kind == VALUE_CONSTANT && trains->stored
                                 ? value_data(import, trains)
                             : trains ? trains->data
                                      : NULL;
        const Value *mask = node_output(import, node, 1);
        return (!data || data[0] == 0.0) && (!mask || mask->readers == 0);
    }
    const Value *in = node_input(import, node, 0);
    if (strcmp(node->op_type, "Cast") == 0 && in)
        return onnx_is_float(in->type) && onnx_is_float((int)attribute_int(node, "to", 0));
    return false;
}

static Status rename_value(Import *import, const Node *node) {
    int from = node_input_index(import, node, 0), to = import_find(import, node->output[0]);
    Value *value = import->values[from], *other = import->values[to];
    if (value->kind == VALUE_PARAMETER && value->stored && onnx_name_is_path(other->name))
        return add_parameter(import, from, to);
    other->alias = from;
    value->uses += other->uses;
    value->readers += other->readers - 1;
    return STATUS_OK;
}

// Weights that the older exporter turned, or cut out of others, and stored once for copies of a
// block, or with another's that are as much alike: each has its own.
static bool is_stored_again(Import *import, const Node *node) {
    Value *in = node_input(import, node, 0), *out = node_output(import, node, 0);
    if (strcmp(node->op_type, "Identity") != 0 || !in || !out || !in->initial ||
        in->kind == VALUE_RUN || !onnx_is_float(in->type))
        return false;
    if (onnx_name_is_path(in->name) &&
        (onnx_name_is_path(out->name) || !value_is_uniform(import, in)))
        return false;
    out->kind = VALUE_CONSTANT;
    out->type = in->type;
    out->shape = in->shape;
    out->stored = in->stored;
    out->initial = true;
    in->readers--; // who reads the copy reads the copy
    import_copies(import, in, shape_numel(in->shape));
    return true;
}

// ---- a node -----------------------------------------------------------------------------------
typedef struct Inputs {
    bool constant; // all of them
    bool poisoned; // one of them
} Inputs;

static Status look_at_inputs(Import *import, const Node *node, Inputs *inputs) {
    *inputs = (Inputs){.constant = true};
    for (int i = 0; i < (int)node->n_input; i++) {
        if (!node->input[i][0]) continue;
        const Value *value = node_input(import, node, i);
        if (value && value->poisoned)
            inputs->poisoned = true;
        else if (!value || value->kind == VALUE_UNKNOWN)
            return import_error(
                import, STATUS_FORMAT,
                "its input \"%s\" is stored nowhere, and no node before computes it",
                node->input[i]);
        if (value->kind != VALUE_CONSTANT) inputs->constant = false;
    }
    return STATUS_OK;
}

static Status fold(Import *import, const Node *node, const Folder *folder, bool shape_only) {
    if (!node_output(import, node, 0) && strcmp(node->op_type, "Split") != 0)
        return STATUS_OK; // for nobody
    for (int i = 0; i < folder->inputs; i++)
        if (!node_input(import, node, i))
            return import_error(import, STATUS_FORMAT, "it has no input %d", i);
    for (int i = 0; i < (int)node->n_input && !shape_only; i++) {
        Value *value = node_input(import, node, i);
        if (value && value->kind == VALUE_CONSTANT && !value_data(import, value))
            return error_status();
    }
    return folder->fold(import, node);
}

static Status become(Import *import, const Node *node) {
    Inputs inputs;
    if (look_at_inputs(import, node, &inputs)) return error_status();
    // Classical models have a domain of their own, with no name that is the other's, too.
    bool ours = !node->domain || !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0 ||
                strcmp(node->domain, "ai.onnx.ml") == 0;
    const Folder *folder = ours ? onnx_folder(node->op_type) : NULL;
    const Operator *op = ours ? onnx_operator(node->op_type) : NULL;
    bool shape_only = strcmp(node->op_type, "Shape") == 0 || strcmp(node->op_type, "Size") == 0;
    const Value *first = node_input(import, node, 0);
    if (strcmp(node->op_type, "CastLike") == 0) // of the second the type counts
        inputs.constant = first && first->kind == VALUE_CONSTANT;
    if (inputs.poisoned) {
        for (int i = 0; i < (int)node->n_output; i++) {
            Value *value = node_output(import, node, i);
            if (value) value->poisoned = true;
        }
        return folder || op ? STATUS_OK : note_missing(import, node->op_type);
    }
    if (is_stored_again(import, node)) return error_status();
    if (folder && (inputs.constant || shape_only)) {
        if (fold(import, node, folder, shape_only)) return error_status();
        if (strcmp(node->op_type, "Constant") == 0 && node_output(import, node, 0))
            learned_constant(import, node_output(import, node, 0));
        return error_status();
    }
    if (node_input(import, node, 0) && node_output(import, node, 0) && ours &&
        renames(import, node))
        return rename_value(import, node);
    if (!op) return missing(import, node);
    return add_step(import, node, op);
}

Status import_node(Import *import, const Node *node) {
    const char *type = node->op_type ? node->op_type : "";
    snprintf(import->text, sizeof import->text, "%s: %.60s %.150s", import->path, type,
             node->name && node->name[0]                ? node->name
             : node->n_output > 0 && node->output[0][0] ? node->output[0]
                                                        : "");
    if (!type[0] || node->n_output == 0)
        return import_error(import, STATUS_FORMAT, "a node without an operator or an output");
    become(import, node);
    for (int i = 0; i < (int)node->n_input; i++) {
        Value *value = node_input(import, node, i);
        if (value && --value->uses == 0 && (value->stored || !value->held))
            value_drop(import, value);
    }
    return name_node(import);
}
