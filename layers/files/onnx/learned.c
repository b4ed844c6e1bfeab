// learned.c -- which of the numbers that a file holds are parameters: by what the exporter
// recorded, by their names, and by where they go. What of that is a guess: guesses.c.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- by record and name -----------------------------------------------------------------------
static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// Names that buffers have in PyTorch or by habit. Where `formula` is set parameters are called so,
// too, and the numbers decide: learned ones follow no formula.
static bool is_named_buffer(Import *import, Value *value) {
    static const struct {
        const char *end;
        bool formula;
    } ends[] = {{"freq", false},         {"freqs", false},       {"anchors", false},
                {"running_mean", false}, {"running_var", false}, {"pe", true},
                {"mask", true},          {"attn.bias", true}};
    const char *dot = strrchr(value->name, '.'), *name = dot ? dot + 1 : value->name;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const char *end = ends[i].end;
        size_t n = strlen(name), m = strlen(end);
        bool path = strchr(end, '.') != NULL;
        bool whole = path || n == m || (n > m && name[n - m - 1] == '_');
        if (whole && ends_with(path ? value->name : name, end))
            return !ends[i].formula || value_is_uniform(import, value) ||
                   value_is_formula(import, value);
    }
    return false;
}

Status learned_count(Import *import, int64_t numbers) {
    int64_t *all = &import->about->parameters_stored;
    if (!__builtin_add_overflow(*all, numbers, all)) return STATUS_OK;
    *all = INT64_MAX;
    return error_set(STATUS_FORMAT,
                     "onnx: %s: it claims to store more numbers than can be counted. HINT: export "
                     "it again; onnx.checker.check_model checks it",
                     import->path);
}

Status learned_by_name(Import *import, Value *value) {
    const char *name = value->name;
    Told told = told_of(import, name, strlen(name));
    bool learned = told == TOLD_LEARNED;
    if (told == TOLD_NOTHING)
        learned = onnx_name_is_path(name) && (value->shape.ndim > 0 || strchr(name, '.')) &&
                  onnx_is_float(value->type) && !is_named_buffer(import, value);
    learned = learned && onnx_is_float(value->type);
    value->kind = learned ? VALUE_PARAMETER : VALUE_CONSTANT;
    value->fixed = told == TOLD_FIXED;
    if (told == TOLD_LEARNED) told_claim(import, name);
    if (told == TOLD_LEARNED) value->path = onnx_path_checked(memory_copy_string(name));
    if (error_pending()) return error_status();
    return learned ? learned_count(import, shape_numel(value->shape)) : STATUS_OK;
}

// Do other parameters have these numbers? An initializer's copies have names that are not its own;
// a Constant node's numbers are stored once for all calls of the function that it belongs to.
static bool is_counted(Import *import, const Value *value) {
    const char *name = value->stored->name;
    bool of_node = !value->initial && value->name[0];
    if (!of_node) return name && name[0] && strcmp(value->name, name) != 0;
    if (!import->inlined || import_work(import, import->n_values)) return false;
    for (int i = 0; i < import->n_values; i++)
        if (import->values[i] != value && import->values[i]->stored == value->stored &&
            import->values[i]->kind == VALUE_PARAMETER)
            return true;
    return false;
}

void learned_anew(Import *import, Value *value) {
    if (!is_counted(import, value)) learned_count(import, shape_numel(value->shape));
    value->kind = VALUE_PARAMETER;
}

// ---- by place ---------------------------------------------------------------------------------
// Bit i is set where the operator's input i is a weight, or a table that is looked up.
static unsigned weights_of(const Node *node) {
    static const struct {
        const char *op;
        unsigned inputs;
    } places[] = {{"Conv", 6},
                  {"ConvTranspose", 6},
                  {"DeformConv", 10},
                  {"Gemm", 7},
                  {"MatMul", 3},
                  {"Einsum", 255},
                  {"BatchNormalization", 6},
                  {"InstanceNormalization", 6},
                  {"GroupNormalization", 6},
                  {"LayerNormalization", 6},
                  {"RMSNormalization", 2},
                  {"LSTM", 142},
                  {"GRU", 14},
                  {"RNN", 14},
                  {"PRelu", 2},
                  {"Gather", 1}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcmp(places[i].op, node->op_type) == 0) return places[i].inputs;
    return 0;
}

// Does a gradient go from the result to that input, by an operator that runs here?
static bool passes(const Node *node, size_t input) {
    const char *type = node->op_type;
    const Operator *op = onnx_operator(type);
    if (strcmp(type, "Identity") == 0) return true;
    if (strcmp(type, "Cast") == 0) return onnx_is_float((int)attribute_int(node, "to", 0));
    if (input > 0 && (strcmp(type, "Resize") == 0 || strcmp(type, "Upsample") == 0 ||
                      strcmp(type, "OneHot") == 0)) // scales, and what is on and off
        return false;
    if (strcmp(type, "BatchNormalization") == 0 && input > 2 &&
        attribute_int(node, "training_mode", 0) != 0)
        return false;
    return op && (op->type == 0 || onnx_is_float(op->type)) && strcmp(type, "Shape") != 0 &&
           strcmp(type, "Size") != 0;
}

// Which values are known only when the model runs.
static void find_running(const Import *import, bool running[]) {
    for (int i = 0; i < import->n_values; i++) running[i] = import->values[i]->kind == VALUE_RUN;
    for (size_t i = 0; i < import->graph->n_node; i++) {
        const Node *node = import->graph->node[i];
        const char *type = node->op_type;
        bool runs = strncmp(type, "Random", 6) == 0 || strcmp(type, "Bernoulli") == 0;
        bool shape = strcmp(type, "Shape") == 0 || strcmp(type, "Size") == 0;
        for (size_t k = 0; k < node->n_input && !shape; k++) {
            int at = import_find(import, node->input[k]);
            runs = runs || (at >= 0 && running[at]);
        }
        for (size_t k = 0; k < node->n_output && runs; k++) {
            int at = import_find(import, node->output[k]);
            if (at >= 0) running[at] = true;
        }
    }
}

// Marks the inputs of a node that reach a place of weights, or numbers that are computed when the
// model runs; nodes behind it have been looked at.
static void find_placed(const Import *import, const Node *node, const bool running[]) {
    unsigned weights = 0;
    bool runs = false, placed = false, reaches = false;
    for (size_t i = 0; i < node->n_output; i++) {
        int at = import_find(import, node->output[i]);
        runs = runs || (at >= 0 && running[at]);
        placed = placed || (at >= 0 && import->values[at]->placed);
        reaches = reaches || (at >= 0 && import->values[at]->reaches);
    }
    if (runs) weights = weights_of(node);
    for (size_t i = 0; i < node->n_input && (runs || placed || reaches); i++) {
        int at = import_find(import, node->input[i]);
        if (at < 0 || running[at]) continue;
        Value *value = import->values[at];
        if (runs ? i < 32 && (weights >> i & 1) : placed && passes(node, i)) value->placed = true;
        if ((runs || reaches) && passes(node, i)) value->reaches = true;
    }
}

// Whether numbers without a telling name get to a place of weights through other nodes. Those nodes
// then run, so that the gradient comes back. (step_weights takes those that are there at once.)
static bool is_on_its_way(Import *import, Value *value) {
    return value->placed && !import->recorded && !value->fixed && onnx_is_float(value->type) &&
           shape_numel(value->shape) > 1 && !onnx_name_is_computed(value->name) &&
           !value_is_all(import, value, 0.0f) && !value_is_all(import, value, 1.0f) &&
           !value_is_formula(import, value);
}

// Marks the values that get to a place of weights through another node.
static void note_direct(const Import *import, const bool running[], bool moved[]) {
    for (size_t i = 0; i < import->graph->n_node; i++) {
        const Node *node = import->graph->node[i];
        int out = node->n_output > 0 ? import_find(import, node->output[0]) : VALUE_ABSENT;
        if (out < 0 || running[out] || !import->values[out]->placed) continue;
        for (size_t k = 0; k < node->n_input; k++) {
            int at = import_find(import, node->input[k]);
            if (at >= 0 && passes(node, k)) moved[at] = true;
        }
    }
}

Status learned_by_place(Import *import) {
    size_t n = (size_t)import->n_values + 1;
    bool *running = memory_new(n * sizeof *running);
    bool *moved = running ? memory_new(n * sizeof *moved) : NULL;
    if (moved) {
        find_running(import, running);
        for (size_t i = import->graph->n_node; i > 0; i--)
            find_placed(import, import->graph->node[i - 1], running);
        note_direct(import, running, moved);
    }
    for (int i = 0; i < import->n_values && moved && !error_pending(); i++) {
        Value *value = import->values[i];
        value->unread = value->initial && value->readers == 0;
        value->placed = value->placed && !running[i];
        value->moved = moved[i];
        if (value->initial && moved[i] && value->kind == VALUE_CONSTANT &&
            is_on_its_way(import, value))
            learned_anew(import, value);
    }
    memory_free(moved);
    memory_free(running);
    return error_status();
}

void learned_constant(Import *import, Value *value) {
    if (value->stored && value->moved && is_on_its_way(import, value)) learned_anew(import, value);
}
