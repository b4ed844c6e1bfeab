// node.c -- turns one node of a graph into a constant, another name of a value, or a step. A step
// finds its results' shapes by running on the meta device.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "layers/files/onnx/schema.h"
#include "tensor/memory.h"

// ---- operators --------------------------------------------------------------------------------
static const Operator *find(const Operator *const tables[], size_t n, const char *op_type) {
    for (size_t t = 0; t < n; t++)
        for (const Operator *op = tables[t]; op->name; op++)
            if (strcmp(op->name, op_type) == 0) return op;
    return NULL;
}

// The quick operators compute constants while a file is loaded, in time proportional to their size.
// For the others, constants are computed whenever the model runs.
static const Operator *const quick[] = {onnx_elements, onnx_activations, onnx_moves,
                                        onnx_picks,    onnx_places,      onnx_reductions};
static const Operator *const others[] = {onnx_products,  onnx_images, onnx_norms,  onnx_recurrent,
                                         onnx_attention, onnx_random, onnx_classic};

static const Operator *quick_operator(const char *op_type) {
    return find(quick, sizeof quick / sizeof quick[0], op_type);
}

bool onnx_is_quick(const Operator *op) { return quick_operator(op->name) == op; }

const Operator *onnx_operator(const char *op_type) {
    const Operator *op = quick_operator(op_type);
    return op ? op : find(others, sizeof others / sizeof others[0], op_type);
}

// ---- steps ------------------------------------------------------------------------------------
// A meta tensor of the value's shape: constants and parameters get one here, results have theirs.
static Tensor *shadow_of(Value *value) {
    if (!value || value->tensor) return value ? value->tensor : NULL;
    Shape shape = value->shape;
    if (value->flipped) shape = SHAPE(shape.dims[1], shape.dims[0]);
    value->tensor = tensor_new(shape, onnx_dtype(value->type));
    return value->tensor;
}

static Status try_step(Import *import, Step *step) {
    Tensor *out[STEP_OUTPUTS] = {NULL};
    Tensor **in = memory_new((size_t)(step->n_in + 1) * sizeof *in);
    Scope *scope = in ? scope_open() : NULL;
    for (int i = 0; i < step->n_in && scope; i++)
        in[i] = shadow_of(import_value(import, step->in[i]));
    if (scope && !error_pending()) step_run(step, false, in, out);
    for (int i = 0; i < step->n_out && !error_pending(); i++) {
        Value *value = import_value(import, step->out[i]);
        if (!value) continue;
        if (!out[i]) {
            import_error(import, STATUS_NOT_IMPLEMENTED, "its output %d", i);
            continue;
        }
        value->kind = VALUE_RUN;
        value->type = step_type(step, i);
        value->shape = out[i]->shape;
        value->step = import->n_steps - 1;
        value->tensor = tensor_keep(out[i]);
    }
    scope_close(scope);
    memory_free(in);
    return error_status();
}

// The node's first input that is not of reals; NULL: none.
static const Value *first_not_real(Import *import, const Node *node) {
    for (size_t i = 0; i < node->n_input; i++) {
        const Value *value = node_input(import, node, (int)i);
        if (value && !onnx_is_float(value->type)) return value;
    }
    return NULL;
}

// Puts the node's name in front of an op's error, and says it in the file's words.
static Status name_node(Import *import, const Node *node) {
    char said[512];
    Status status = error_status();
    if (!status || strncmp(error_message(), "onnx: ", 6) == 0) return status;
    snprintf(said, sizeof said, "%s", error_message());
    bool reals = status == STATUS_DTYPE && strstr(said, "it takes float32");
    const Value *whole = reals ? first_not_real(import, node) : NULL;
    error_clear();
    if (whole)
        return error_set(
            STATUS_NOT_IMPLEMENTED,
            "onnx: %s: its input \"%s\" is %s, and only reals are read here. HINT: a Cast "
            "to float32 before it",
            import->text, whole->name, onnx_type_name(whole->type));
    char *hint =
        status == STATUS_SHAPE && import->options->batch > 1 ? strstr(said, " HINT: ") : NULL;
    if (hint)
        return error_set(status,
                         "onnx: %s: %.*s HINT: the file may fix its batch, and %lld is told; leave "
                         "that out, or export the model with an open batch",
                         import->text, (int)(hint - said), said, (long long)import->options->batch);
    return error_set(status, "onnx: %s: %s", import->text, said);
}

// Adds a step to the model: its run on the meta device gives its results' shapes.
Status step_add(Import *import, Step *step) {
    if (!try_step(import, step)) import_join(import);
    return error_status();
}

// ---- other names ------------------------------------------------------------------------------
// Adds a parameter that an Identity names: the older exporter stores equal numbers once. Numbers
// that are all equal (a fresh norm's ones, a bias's zeros) were not tied: each gets its own.
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

// True if the node only gives its input another name: its result equals the input.
static bool renames(Import *import, const Node *node) {
    if (strcmp(node->op_type, "Identity") == 0) return true;
    if (strcmp(node->op_type, "Dropout") == 0) { // without its third input it does nothing
        Value *trains = node_input(import, node, 2);
        bool known = trains && trains->kind == VALUE_CONSTANT && shape_numel(trains->shape) == 1;
        bool evaluates =
            !trains || (known && value_data(import, trains) && value_number(trains, 0) == 0.0);
        const Value *mask = node_output(import, node, 1);
        return evaluates && (!mask || mask->readers == 0);
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
    other->type = (int)attribute_int(node, "to", value->type);
    value->uses += other->uses;
    value->readers += other->readers - 1;
    return STATUS_OK;
}

// True for weights that the older exporter transposed, or cut out of others, and stored once for
// several layers (copies of a block, or all elements equal): each layer has its own.
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
    in->readers--; // readers of the copy no longer read the original
    import_copies(import, in, shape_numel(in->shape));
    return true;
}

// ---- a node -----------------------------------------------------------------------------------
typedef struct Inputs {
    bool constant; // all inputs are constant
    bool poisoned; // one of them is poisoned
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

static Status make(Import *import, const Node *node, const Maker *maker) {
    if (!node_output(import, node, 0)) return STATUS_OK; // nobody reads it
    for (int i = 0; i < (int)node->n_input && !maker->of_shape; i++) {
        Value *value = node_input(import, node, i);
        if (value && !value_data(import, value)) return error_status();
    }
    return maker->make(import, node);
}

// True if the maker's input numbers are known. Numbers that only need to be told count, too: making
// then fails with an error that says what to tell.
static bool is_asked(Import *import, const Node *node) {
    Known known = KNOWN;
    for (int i = 0; i < (int)node->n_input; i++) {
        Value *value = node_input(import, node, i);
        Known one = value ? import_known(import, value) : KNOWN;
        if (one > known) known = one;
    }
    return known == KNOWN || (known == KNOWN_IF_TOLD && !import->options->partial);
}

static Status become(Import *import, const Node *node) {
    Inputs inputs;
    if (look_at_inputs(import, node, &inputs)) return error_status();
    bool ours = schema_find(node->domain, node->op_type) != NULL;
    const Maker *maker = ours ? onnx_maker(node->op_type) : NULL;
    const Operator *op = ours ? onnx_operator(node->op_type) : NULL;
    const Value *first = node_input(import, node, 0);
    if (strcmp(node->op_type, "CastLike") == 0) // only its second input's type counts
        inputs.constant = first && first->kind == VALUE_CONSTANT;
    if (inputs.poisoned) {
        for (int i = 0; i < (int)node->n_output; i++) {
            Value *value = node_output(import, node, i);
            if (value) value->poisoned = true;
        }
        return ours ? STATUS_OK : missing_note(import, node);
    }
    if (schema_check(import, node)) return error_status();
    if (is_stored_again(import, node)) return error_status();
    if (maker && (inputs.constant || maker->of_shape || is_asked(import, node))) {
        if (make(import, node, maker)) return error_status();
        if (strcmp(node->op_type, "Constant") == 0 && node_output(import, node, 0))
            learned_constant(import, node_output(import, node, 0));
        return error_status();
    }
    if (inputs.constant && ours && quick_operator(node->op_type))
        return import_compute(import, node, op);
    if (node_input(import, node, 0) && node_output(import, node, 0) && ours &&
        renames(import, node))
        return rename_value(import, node);
    if (!op) return import_missing(import, node);
    return step_build(import, node, op, step_add);
}

Status import_node(Import *import, const Node *node) {
    const char *type = node->op_type;
    snprintf(import->text, sizeof import->text, "%s: %.60s %.150s", import->path, type,
             node->name[0]                              ? node->name
             : node->n_output > 0 && node->output[0][0] ? node->output[0]
                                                        : "");
    if (!type[0] || node->n_output == 0)
        return import_error(import, STATUS_FORMAT, "a node without an operator or an output");
    if (become(import, node)) import_blame_given(import);
    for (int i = 0; i < (int)node->n_input; i++) {
        Value *value = node_input(import, node, i);
        bool again = value && value->kind != VALUE_RUN && (value->stored || !value->held);
        if (value && --value->uses == 0 && again) value_drop(import, value);
    }
    return name_node(import, node);
}
