// learned.c -- which of a file's numbers are parameters: by the exporter's record, by their names,
// and by their place in the graph. guesses.c reports which of that is a guess.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"

// ---- by record and name -----------------------------------------------------------------------
// Names that buffers have in PyTorch or by convention. Where `formula` is set, parameters may have
// the name, too, and the numbers decide: learned ones follow no formula.
static bool is_named_buffer(Import *import, Value *value) {
    static const struct {
        const char *end;
        bool formula;
    } ends[] = {{"freq", false},         {"freqs", false},       {"anchors", false},
                {"running_mean", false}, {"running_var", false}, {"pe", true},
                {"mask", true},          {"attn.bias", true}};
    const char *dot = strrchr(value->name, '.'), *name = dot ? dot + 1 : value->name;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const char *end = ends[i].end, *text = strchr(end, '.') ? value->name : name;
        size_t n = strlen(text), m = strlen(end);
        if (n < m || strcmp(text + n - m, end) != 0) continue;
        if (n == m || text[n - m - 1] == '_' || strchr(end, '.'))
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

// True if another parameter has these numbers already. An initializer's copies have no name of
// their own; a Constant node's numbers are stored once for all calls of its function.
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

bool learned_is_held(const Value *value) {
    return value->name[0] == '/' && strstr(value->name, "/Constant") && !value->initial;
}

bool learned_is_made(const Import *import, const Value *value) {
    return value->fixed || onnx_name_is_computed(value->name) ||
           (import->stores && learned_is_held(value));
}

// ---- by place ---------------------------------------------------------------------------------
// True if `type` is one of these words, each with a space on either side.
static bool is_among(const char *type, const char *these) {
    size_t n = strlen(type);
    for (const char *at = these; n > 0 && (at = strstr(at + 1, type));)
        if (at[-1] == ' ' && at[n] == ' ') return true;
    return false;
}

// Bit i is set where the operator's input i is a weight, or a lookup table.
static unsigned weights_of(const Node *node) {
    static const struct {
        unsigned inputs;
        const char *ops;
    } places[] = {{1, " Gather "},
                  {2, " PRelu RMSNormalization "},
                  {3, " MatMul "},
                  {7, " Gemm "},
                  {6, " Conv ConvTranspose BatchNormalization InstanceNormalization "
                      "GroupNormalization LayerNormalization "},
                  {10, " DeformConv "},
                  {14, " GRU RNN "},
                  {142, " LSTM "},
                  {255, " Einsum "}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (is_among(node->op_type, places[i].ops)) return places[i].inputs;
    return 0;
}

// Scales, and on and off values, are settings of a node: nothing learned is computed with them.
static bool is_setting(const Node *node, size_t input) {
    return input > 0 &&
           is_among(node->op_type, " Resize Upsample OneHot QuantizeLinear DequantizeLinear ");
}

// True if a gradient goes from the result to that input, through an operator that runs here.
static bool passes(const Node *node, size_t input) {
    const char *type = node->op_type;
    const Operator *op = onnx_operator(type);
    if (strcmp(type, "Identity") == 0) return true;
    if (strcmp(type, "DequantizeLinear") == 0) return input == 0;
    if (strcmp(type, "Cast") == 0) return onnx_is_float((int)attribute_int(node, "to", 0));
    if (is_setting(node, input)) return false;
    if (strcmp(type, "BatchNormalization") == 0 && input > 2 &&
        attribute_int(node, "training_mode", 0) != 0)
        return false;
    return op && (op->type == 0 || onnx_is_float(op->type)) && strcmp(type, "Shape") != 0 &&
           strcmp(type, "Size") != 0;
}

// True if a node makes the weights that it is given as whole numbers reals, or moves them: its
// other whole numbers are sizes, places and conditions.
static bool is_read_as_reals(const Node *node, size_t input) {
    return input == 0 &&
           is_among(node->op_type, " Cast DequantizeLinear Identity Transpose Reshape "
                                   "Squeeze Unsqueeze ");
}

// A value's path through the graph, from the nodes before and after it.
typedef struct Way {
    bool running;    // known only when the model runs
    bool moved;      // it reaches a place for weights through another node
    bool learned;    // it is computed from a parameter
    int64_t numbers; // of the largest value that it is computed from
} Way;

static void find_running(const Import *import, Way ways[]) {
    for (int i = 0; i < import->n_values; i++) {
        const Value *value = import->values[i];
        ways[i].running = value->kind == VALUE_RUN;
        ways[i].numbers = value->stored ? shape_numel(value->shape) : 0;
        ways[i].learned = value->kind == VALUE_PARAMETER;
    }
    for (size_t i = 0; i < import->graph->n_node; i++) {
        const Node *node = import->graph->node[i];
        const char *type = node->op_type;
        bool runs = strncmp(type, "Random", 6) == 0 || strcmp(type, "Bernoulli") == 0;
        bool shape = strcmp(type, "Shape") == 0 || strcmp(type, "Size") == 0;
        bool holds = node->n_input == 0 && node->n_attribute > 0; // a Constant node
        const Onnx__Attribute *a = holds ? node->attribute[0] : NULL;
        size_t n = !a ? 0 : a->t ? a->t->n_float_data + a->t->raw_data.len / 4 : a->n_floats;
        int64_t most = (int64_t)n;
        bool learned = false;
        for (size_t k = 0; k < node->n_input && !shape; k++) {
            int at = import_find(import, node->input[k]);
            runs = runs || (at >= 0 && ways[at].running);
            if (at >= 0 && ways[at].numbers > most) most = ways[at].numbers;
            learned = learned || (at >= 0 && ways[at].learned);
        }
        for (size_t k = 0; k < node->n_output; k++) {
            int at = import_find(import, node->output[k]);
            if (at < 0) continue;
            ways[at].running = ways[at].running || runs;
            ways[at].numbers = most;
            ways[at].learned = ways[at].learned || learned;
        }
    }
}

// True if the input only scales or shifts a weight, as the norms of its rows do: it has fewer
// numbers, or as many as a parameter. Of two parameters each is one.
static bool is_factor(const Import *import, const Node *node, size_t input, const Way ways[]) {
    if (node->n_input != 2 || !is_among(node->op_type, " Mul Div Add Sub ")) return false;
    int at = import_find(import, node->input[input]);
    int other = import_find(import, node->input[1 - input]);
    if (other < 0 || (ways[at].learned && ways[other].learned)) return false;
    int64_t own = ways[at].numbers, all = ways[other].numbers;
    return own < all || (own == all && ways[other].learned);
}

// Marks the inputs of a node that reach a place for weights, or numbers that are computed when the
// model runs. Later nodes have been visited before.
static void find_placed(const Import *import, const Node *node, Way ways[]) {
    unsigned weights = 0;
    bool runs = false, placed = false, reaches = false;
    for (size_t i = 0; i < node->n_output; i++) {
        int at = import_find(import, node->output[i]);
        runs = runs || (at >= 0 && ways[at].running);
        placed = placed || (at >= 0 && import->values[at]->placed);
        reaches = reaches || (at >= 0 && import->values[at]->reaches);
    }
    if (runs) weights = weights_of(node);
    for (size_t i = 0; i < node->n_input; i++) {
        int at = import_find(import, node->input[i]);
        if (at < 0 || ways[at].running) continue;
        Value *value = import->values[at];
        bool takes = !value->stored || onnx_is_float(value->type) || is_read_as_reals(node, i);
        bool moves =
            !runs && placed && takes && passes(node, i) && !is_factor(import, node, i, ways);
        if (moves || (runs && i < 32 && (weights >> i & 1))) value->placed = true;
        if (moves) ways[at].moved = true;
        if ((runs || reaches) && passes(node, i)) value->reaches = true;
        if (is_setting(node, i)) value->fixed = true;
    }
}

// True if numbers without a telling name reach a place for weights through other nodes. Those nodes
// then run, so that the gradient comes back. (step_weights takes those that are there directly.)
static bool is_on_its_way(Import *import, Value *value) {
    return value->placed && !import->recorded && !learned_is_made(import, value) &&
           onnx_is_float(value->type) && shape_numel(value->shape) > 1 &&
           !value_is_all(import, value, 0.0f) && !value_is_all(import, value, 1.0f) &&
           !value_is_formula(import, value);
}

Status learned_by_place(Import *import) {
    Way *ways = memory_new(((size_t)import->n_values + 1) * sizeof *ways);
    if (ways) find_running(import, ways);
    for (size_t i = import->graph->n_node; i > 0 && ways; i--)
        find_placed(import, import->graph->node[i - 1], ways);
    for (int i = 0; i < import->n_values && ways && !error_pending(); i++) {
        Value *value = import->values[i];
        value->unread = value->initial && value->readers == 0;
        value->placed = value->placed && !ways[i].running;
        value->moved = ways[i].moved;
        if (value->kind == VALUE_PARAMETER && value->fixed && !value->placed && !value->reaches) {
            value->kind = VALUE_CONSTANT;
            learned_count(import, -shape_numel(value->shape));
        }
        if (value->initial && value->moved && value->kind == VALUE_CONSTANT &&
            is_on_its_way(import, value))
            learned_anew(import, value);
        import->stores |= value->initial && value->placed;
    }
    memory_free(ways);
    return error_status();
}

void learned_constant(Import *import, Value *value) {
    if (value->stored && value->moved && is_on_its_way(import, value)) learned_anew(import, value);
}
