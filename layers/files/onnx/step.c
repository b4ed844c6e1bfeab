// step.c -- the inputs of a step, and which of them are parameters of its layer. node.c makes steps
// of nodes.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

Status import_grow(void **block, int count, size_t size) {
    if (count & (count - 1)) return STATUS_OK; // room doubles at powers of two
    size_t old = (size_t)count * size, more = count ? old * 2 : size;
    void *grown = memory_resize(*block, old, more);
    if (!grown) return error_status();
    *block = grown;
    return STATUS_OK;
}

Status step_input(Import *import, Step *step, int value) {
    if (import_grow((void **)&step->in, step->n_in, sizeof(int))) return error_status();
    if (value >= 0 && !import->computing) import->values[value]->held = true;
    step->in[step->n_in++] = value;
    return STATUS_OK;
}

Status step_inputs(Import *import, const Node *node, Step *step, int n) {
    for (int i = 0; i < n; i++)
        if (step_input(import, step, node_input_index(import, node, i))) return error_status();
    return STATUS_OK;
}

Status step_build_one(Import *import, const Node *node, Step *step) {
    return step_inputs(import, node, step, 1);
}

bool value_is_uniform(Import *import, Value *value) {
    int64_t n = shape_numel(value->shape);
    if (value->uniform != UNIFORM_UNKNOWN) return value->uniform == UNIFORM;
    if (!value->stored) return true; // zeros
    float *numbers = onnx_stored_new(import, value->stored, n);
    if (!numbers) return false;
    bool same = true;
    for (int64_t i = 1; i < n && same; i++) same = numbers[i] == numbers[0];
    value->all = same ? numbers[0] : 0.0f;
    memory_free(numbers);
    value->uniform = same ? UNIFORM : UNIFORM_NOT;
    return same;
}

bool value_is_all(Import *import, Value *value, float number) {
    return value_is_uniform(import, value) && value->all == number;
}

// One number for each channel: a bias, or a scale.
static bool is_vector(Shape shape) {
    int long_ones = 0;
    for (int i = 0; i < shape.ndim; i++) long_ones += shape.dims[i] != 1;
    return long_ones == 1 || shape_equal(shape, SHAPE(1));
}

static void promote(Import *import, const Step *step, Value *value, const char *role) {
    float nothing = strcmp(role, "weight") == 0 ? 1.0f : 0.0f; // a norm's neutral value
    bool norm = strstr(step->op->name, "Normalization") != NULL;
    bool added = value->initial && is_vector(value->shape) && !value->folded &&
                 !onnx_name_is_path(value->name); // else its name marks a buffer
    bool summed = strcmp(step->op->name, "Einsum") == 0 && !value->folded &&
                  !value_is_uniform(import, value) && !value_is_formula(import, value);
    bool filter = strcmp(step->op->name, "Conv") == 0 && strcmp(role, "weight") == 0 &&
                  value_is_formula(import, value); // as a blurring pool has
    bool placed = step->op->module || added || summed;
    if (!placed || filter || value->kind != VALUE_CONSTANT || !value->stored ||
        learned_is_made(import, value) || value->tensor || !onnx_is_float(value->type) ||
        value->shape.ndim < 1 ||
        (norm && value_is_all(import, value, nothing) && // as in a group norm's instance norm
         !onnx_name_ends_as_weight(value->name)))
        return;
    learned_anew(import, value);
}

Status step_rows(Import *import, Step *step, int whole, Shape shape, GateRows rows,
                 const char *role) {
    int at = import_value_new(import, NULL);
    if (at < 0) return error_status();
    Value *from = import->values[whole], *value = import->values[at];
    if (from->kind == VALUE_CONSTANT) // else other steps have rows of it: these may be copies
        learned_anew(import, from);
    else if (import_copies(import, from, shape_numel(shape)))
        return error_status();
    value->kind = VALUE_PARAMETER;
    value->type = from->type;
    value->shape = shape;
    value->stored = from->stored;
    value->readers = 1;
    value->role = role;
    value->role_step = import->n_steps;
    value->rows = rows;
    told_read_as(import, step->node, role);
    return step_input(import, step, at);
}

// The older exporter keeps a parameter's own name: a node that reads it by that name shares it.
static bool is_called_again(const Value *value, const Node *node) {
    return onnx_name_is_path(value->name) && node->name[0] == '/';
}

// The copy that an earlier call of the same layer made of it, for that role; else -1.
static int copy_before(const Import *import, const Value *value, const Node *node,
                       const char *role) {
    for (int i = import->n_values - 1; i >= 0; i--) {
        const Value *other = import->values[i];
        if (other->stored == value->stored && other->name[0] == '\0' && other->role &&
            strcmp(other->role, role) == 0 &&
            onnx_same_layer(import->steps[other->role_step]->node, node))
            return i;
    }
    return -1;
}

// A copy of the numbers, as a constant; -1 with an error pending.
static int copy_of(Import *import, int at) {
    const Value *value = import->values[at];
    if (import_copies(import, value, shape_numel(value->shape))) return -1;
    int copy = import_value_new(import, NULL);
    if (copy < 0) return -1;
    Value *own = import->values[copy];
    own->kind = VALUE_CONSTANT;
    own->type = value->type;
    own->shape = value->shape;
    own->stored = value->stored;
    own->uniform = value->uniform;
    own->all = value->all;
    own->readers = 1;
    return copy;
}

static void play_role(Import *import, int at, const char *role) {
    import->values[at]->role = role;
    import->values[at]->role_step = import->n_steps;
}

// A layer's own product or sum does not show the parameter's name. A recorded one that nobody has
// read yet is another with the same value throughout. Without one, the layer reads `again`.
static int next_of_layer(Import *import, int at, const Node *node, const char *role, int again) {
    bool named = strcmp(node->op_type, "Mul") != 0 && strcmp(node->op_type, "Add") != 0;
    char *path =
        named || !value_is_uniform(import, import->values[at]) ? NULL : told_sibling(import, node);
    int copy = path ? copy_of(import, at) : again;
    if (!path || copy < 0) {
        memory_free(path);
        return again;
    }
    import->values[copy]->kind = VALUE_PARAMETER;
    import->values[copy]->path = path;
    play_role(import, copy, role);
    return copy;
}

// Numbers without an earlier reader may still belong to another layer, which reads them later.
static int first_reader(Import *import, int at, const Node *node, const char *role) {
    char *own;
    Owner owner = told_owner(import, import->values[at], node, role, &own);
    int copy = owner == OWNER_ANOTHER ? copy_before(import, import->values[at], node, role) : -1;
    if (copy >= 0) { // the layer is called again
        memory_free(own);
        at = next_of_layer(import, at, node, role, copy);
        if (at == copy) import->values[copy]->readers++;
        return at;
    }
    import->values[at]->tied = owner == OWNER_TIED;
    copy =
        owner == OWNER_LAYER || owner == OWNER_TIED || error_pending() ? at : copy_of(import, at);
    if (copy >= 0 && owner == OWNER_ANOTHER) {
        import->values[copy]->kind = VALUE_PARAMETER;
        import->values[copy]->path = own;
        own = NULL;
    }
    memory_free(own);
    if (copy >= 0 && owner != OWNER_NONE && !import->values[copy]->role)
        play_role(import, copy, role);
    return copy;
}

// Exporters store equal tensors once. Those with all elements equal (a fresh norm's ones, a bias's
// zeros) in several layers, or in copies of a block, were not tied: each layer gets its own, or a
// constant, where the record says that it has no parameter of that name.
static int own_copy(Import *import, int at, const Node *node, const char *role) {
    Value *value = import->values[at];
    const Node *user = import->steps[value->role_step]->node;
    bool placed = onnx_is_placed(node); // else each node is a layer
    if (is_called_again(value, node)) return at;
    if (placed && onnx_same_layer(user, node))
        return strcmp(value->role, role) == 0 ? next_of_layer(import, at, node, role, at)
                                              : first_reader(import, at, node, role);
    char *path;
    Owner owner = told_owner(import, value, node, role, &path);
    if (owner != OWNER_ANOTHER && !onnx_copied_layer(user, node) &&
        !value_is_uniform(import, value))
        return at;
    int before = placed ? copy_before(import, value, node, role) : -1;
    if (before >= 0) {
        memory_free(path);
        int next = next_of_layer(import, at, node, role, before);
        if (next == before) import->values[before]->readers++;
        return next;
    }
    if (owner == OWNER_TIED) return at;
    if (!path && value_path(value)) path = onnx_path_moved(value_path(value), user, node);
    bool told = path && told_of(import, path, strlen(path)) == TOLD_LEARNED;
    bool learned = told || owner != OWNER_NONE;
    int copy = error_pending() ? -1 : copy_of(import, at);
    if (copy < 0) {
        memory_free(path);
        return at;
    }
    Value *own = import->values[copy];
    own->path = path;
    if (path) told_claim(import, path);
    if (!learned) return copy;
    own->kind = VALUE_PARAMETER;
    play_role(import, copy, role);
    return copy;
}

// Makes one number per channel, stored with ones around it for broadcasting, PyTorch's vector; only
// where no other node reads the stored shape.
void value_flatten(Value *value) {
    if (value->kind == VALUE_PARAMETER && value->readers == 1 && !value->flipped)
        value->shape = SHAPE(shape_numel(value->shape));
}

Status step_weight(Import *import, const Node *node, Step *step, int i, const char *role) {
    int at = node_input_index(import, node, i);
    Value *value = import_value(import, at);
    bool plays = value && role && !import->computing;
    if (plays) promote(import, step, value, role);
    if (plays && value->kind == VALUE_PARAMETER) {
        bool here = value->role_step == import->n_steps; // this step reads it in another role, too
        if (value->role && !here && !value->is_state)
            at = own_copy(import, at, node, role);
        else if (!value->role || (here && strcmp(value->role, role) != 0))
            at = first_reader(import, at, node, role);
        told_read_as(import, node, role);
    }
    return error_pending() ? error_status() : step_input(import, step, at);
}

Status step_weights(Import *import, const Node *node, Step *step, int n,
                    const char *const roles[]) {
    for (int i = 0; i < n; i++)
        if (step_weight(import, node, step, i, roles[i])) return error_status();
    return STATUS_OK;
}

// True if it is a parameter, too, or another layer's: fresh norms' zeros and ones are stored once.
static bool is_anothers(const Import *import, const Value *state, const Node *node) {
    if (!state->is_state)
        return state->placed || state->role ||
               told_of(import, state->name, strlen(state->name)) == TOLD_LEARNED;
    return onnx_is_placed(node) && !onnx_same_layer(import->steps[state->role_step]->node, node);
}

Status step_state(Import *import, const Node *node, Step *step, int i, const char *role) {
    int at = step->in[i];
    Value *state = import->values[at];
    if (import->computing || state->kind == VALUE_RUN || !state->stored || state->twin >= 0)
        return STATUS_OK;
    if (is_anothers(import, state, node)) {
        int before = onnx_is_placed(node) ? copy_before(import, state, node, role) : -1;
        if (before >= 0)
            import->values[before]->readers++;
        else
            before = copy_of(import, at);
        if (before < 0) return error_status();
        step->in[i] = before;
        state = import->values[before];
        state->held = true;
    }
    state->kind = VALUE_PARAMETER; // without a gradient
    state->is_state = true;
    if (!state->role) play_role(import, step->in[i], role);
    return STATUS_OK;
}
