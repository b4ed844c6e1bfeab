// told.c -- the newer exporter's record beside the numbers: which names are parameters and which
// buffers, what was folded from others, and which biases of zeros it removed.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/math.h"
#include "tensor/memory.h"

typedef struct Target {
    const char *name;
    size_t length;
    bool learned;
    int order; // position in the record
    bool claimed;
} Target;

const char *value_path(const Value *value) {
    if (value->path) return value->path;
    return onnx_name_is_path(value->name) ? value->name : NULL;
}

// ---- names ------------------------------------------------------------------------------------
static int by_name(const void *a, const void *b) {
    const Target *left = a, *right = b;
    size_t n = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->name, right->name, n);
    if (order != 0) return order;
    return (left->length > right->length) - (left->length < right->length);
}

// The last occurrence of the word before `end`; NULL: none. It searches backwards from `end`, so a
// text of many names is read once.
static const char *last_before(const char *text, const char *end, const char *word) {
    size_t n = strlen(word);
    for (const char *at = end; (size_t)(at - text) >= n; at--)
        if (memcmp(at - n, word, n) == 0) return at - n;
    return NULL;
}

// "p_fc_weight: PARAMETER target='fc.weight'", or "kind=<InputKind.BUFFER: 3>, ... target='mask'".
static int read_targets(const char *text, Target *targets) {
    static const char mark[] = "target='";
    int count = 0;
    for (const char *at = text, *found; (found = strstr(at, mark)); count++) {
        const char *name = found + sizeof mark - 1, *end = strchr(name, '\'');
        if (!end) break;
        const char *kind = last_before(at, found, "PARAMETER");
        bool learned = kind && !last_before(kind, found, "BUFFER") &&
                       !last_before(kind, found, "CONSTANT") && !last_before(kind, found, "USER");
        if (targets) targets[count] = (Target){name, (size_t)(end - name), learned, count, false};
        at = end + 1;
    }
    return count;
}

static Target *target_of(const Import *import, const char *name, size_t length) {
    const Target wanted = {.name = name, .length = length};
    if (import->n_targets == 0) return NULL;
    return bsearch(&wanted, import->targets, (size_t)import->n_targets, sizeof wanted, by_name);
}

Told told_of(const Import *import, const char *name, size_t length) {
    const Target *found = target_of(import, name, length);
    return !found ? TOLD_NOTHING : found->learned ? TOLD_LEARNED : TOLD_FIXED;
}

static const char made_from[] = "pkg.onnxscript.optimizer.folded_from";

// Claims the parameters in a list such as "['fc.weight', 'val_3']", and returns their number. *last
// is the last of them; *others tells whether the list has other recorded names, too.
static int made_of(const Import *import, const char *names, const Target **last, bool *others) {
    int count = 0;
    *others = false;
    for (const char *at = strchr(names, '\''); at; at = strchr(at, '\'')) {
        const char *end = strchr(at + 1, '\'');
        if (!end) break;
        Target *target = target_of(import, at + 1, (size_t)(end - at - 1));
        *others = *others || (target && !target->learned);
        if (target && target->learned) {
            target->claimed = true;
            *last = target;
            count++;
        }
        at = end + 1;
    }
    return count;
}

// True if the name is a recorded one with a short prefix: "a/fc.weight".
static bool is_prefixed(const Import *import, const char *name) {
    enum { LONGEST_PREFIX = 64 }; // a bound on the work for hostile names
    size_t n = strlen(name);
    for (size_t i = 1; i < n && i < LONGEST_PREFIX; i++)
        if (!isalnum((unsigned char)name[i - 1]) &&
            told_of(import, name + i, n - i) == TOLD_LEARNED)
            return true;
    return false;
}

Status told_read(Import *import) {
    const Onnx__Graph *graph = import->graph;
    const char *text = onnx_text_of(graph->metadata_props, graph->n_metadata_props,
                                    "pkg.torch.export.ExportedProgram.graph_signature");
    int count = text ? read_targets(text, NULL) : 0;
    import->recorded = text != NULL;
    if (count == 0) return STATUS_OK;
    import->targets = memory_new((size_t)count * sizeof(Target));
    if (!import->targets) return error_status();
    import->n_targets = read_targets(text, import->targets);
    qsort(import->targets, (size_t)count, sizeof(Target), by_name);
    const Target *last;
    bool others, strange = false; // strange: some path of the file is not recorded
    bool named = true; // if no parameter is recorded; else a program may have renamed them
    for (int i = 0; i < count; i++) named = named && !import->targets[i].learned;
    for (size_t i = 0; i < graph->n_initializer && !named; i++) {
        const char *name = graph->initializer[i]->name;
        named = name && told_of(import, name, strlen(name)) != TOLD_NOTHING;
        bool path = name && strchr(name, '.') && onnx_name_is_path(name);
        strange = strange || (!named && name && (path || is_prefixed(import, name)));
    }
    strange = strange && !named;
    for (size_t i = 0; i < graph->n_value_info && !named; i++) {
        const Onnx__ValueInfo *info = graph->value_info[i];
        text = onnx_text_of(info->metadata_props, info->n_metadata_props, made_from);
        named = text && (made_of(import, text, &last, &others) > 0 || others);
    }
    import->recorded = named;
    if (named && !strange) return error_status();
    return import_assume(import, "the exporter's record of parameters, which has other names",
                         named ? "used as far as it can be: tied ones may count twice"
                               : "not used");
}

void told_claim(Import *import, const char *name) {
    Target *found = target_of(import, name, strlen(name));
    if (found) found->claimed = true;
}

// Returns the next parameter, from *at on, that nothing in the file has.
char *told_unclaimed(const Import *import, int *at) {
    while (import->recorded && *at < import->n_targets) {
        const Target *target = &import->targets[(*at)++];
        if (target->learned && !target->claimed) return onnx_part(target->name, target->length);
    }
    return NULL;
}

// True for weights and biases, which are found by their roles.
static bool has_role(const Target *target, size_t from) {
    size_t n = target->length - from;
    return (n == 6 && memcmp(target->name + from, "weight", 6) == 0) ||
           (n == 4 && memcmp(target->name + from, "bias", 4) == 0);
}

// Names inside a layer are adjacent in the sorted list.
char *told_sibling(Import *import, const Node *node) {
    char *layer = import->recorded ? onnx_path_of_node(node) : NULL, *path = NULL;
    size_t n = layer ? strlen(layer) : 0;
    int low = 0, high = n > 0 ? import->n_targets : 0;
    const Target wanted = {.name = layer, .length = n};
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (by_name(&import->targets[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; n > 0 && low < import->n_targets && !path; low++) {
        Target *target = &import->targets[low];
        if (target->length <= n || memcmp(target->name, layer, n) != 0) break;
        bool direct =
            target->name[n] == '.' && !memchr(target->name + n + 1, '.', target->length - n - 1);
        if (!direct || !target->learned || target->claimed || has_role(target, n + 1)) continue;
        target->claimed = true;
        path = onnx_part(target->name, target->length);
    }
    memory_free(layer);
    return onnx_path_checked(path);
}

bool told_before(const Import *import, const char *name, const char *other) {
    const Target *left = target_of(import, name, strlen(name));
    const Target *right = target_of(import, other, strlen(other));
    return left && right && left->order < right->order;
}

// ---- values made from others ------------------------------------------------------------------
enum { SEEN = 1 << 16 };

// Orders floats by their bits, so that NaN has a place, too.
static int by_bits(const void *a, const void *b) {
    uint32_t left = math_to_bits(*(const float *)a), right = math_to_bits(*(const float *)b);
    return (left > right) - (left < right);
}

// True if the value has the numbers of its source, moved. If many are equal, rows were looked up by
// ids or repeated, and the original count is lost. Numbers that are all equal give no evidence: a
// value of one dimension then counts as complete. The first SEEN numbers are enough.
static bool is_rearranged(Import *import, Value *value) {
    int64_t n = shape_numel(value->shape), most = 1 << 26, different = 1, longest = 1;
    for (int i = 0; i < value->shape.ndim; i++)
        if (value->shape.dims[i] > longest) longest = value->shape.dims[i];
    if (n == 0 || n > most) return false;
    if (value_is_uniform(import, value)) return n == longest;
    float *numbers = onnx_stored_new(import, value->stored, n);
    if (!numbers) return false;
    if (n > SEEN) n = SEEN;
    qsort(numbers, (size_t)n, sizeof *numbers, by_bits);
    for (int64_t i = 1; i < n; i++) different += numbers[i] != numbers[i - 1];
    memory_free(numbers);
    return different >= n - n / 4;
}

static Status apply(Import *import, Value *value, const char *names) {
    const Target *last;
    bool others;
    int parameters = made_of(import, names, &last, &others);
    int64_t n = shape_numel(value->shape);
    bool learned = value->kind == VALUE_PARAMETER;
    value->folded = parameters > 0;
    if (parameters == 1 && !value->path)
        value->path = onnx_path_checked(onnx_part(last->name, last->length));
    // If the parameter itself is stored, too, a value of another size is not the parameter.
    const Value *of = value->path ? import_value(import, import_find(import, value->path)) : NULL;
    bool apart = of && of->initial && shape_numel(of->shape) != n;
    value->fixed = parameters == 0 || apart;
    // A recorded buffer may be the index of rows; otherwise it took part in a computation.
    bool picked = !others || onnx_name_is_moved(value->name);
    bool whole = parameters == 1 && picked && !apart && onnx_is_float(value->type) &&
                 is_rearranged(import, value);
    value->kind = whole ? VALUE_PARAMETER : VALUE_CONSTANT;
    value->cut = parameters == 1 && !(whole && onnx_name_is_turned(value->name));
    if (whole != learned) learned_count(import, whole ? n : -n);
    return error_status();
}

Status told_apply(Import *import) {
    const Onnx__Graph *graph = import->graph;
    for (size_t i = 0; i < graph->n_value_info && import->recorded && !error_pending(); i++) {
        const Onnx__ValueInfo *info = graph->value_info[i];
        const char *names = onnx_text_of(info->metadata_props, info->n_metadata_props, made_from);
        Value *value = names ? import_value(import, import_find(import, info->name)) : NULL;
        if (value && value->stored && value->initial) apply(import, value, names);
    }
    return error_status();
}

// The path of the layer's `role`, where that is a parameter; else NULL.
static char *own_path(const Import *import, const char *layer, const char *dot, const char *role) {
    size_t room = strlen(layer) + strlen(dot) + strlen(role) + 1;
    char *path = layer[0] ? memory_new(room) : NULL;
    if (!path) return NULL;
    snprintf(path, room, "%s%s%s", layer, dot, role);
    if (told_of(import, path, strlen(path)) == TOLD_LEARNED) return onnx_path_checked(path);
    memory_free(path);
    return NULL;
}

// True if the layer has a parameter with this role. The weights that attention multiplies by itself
// belong to its projections.
static bool has_parameter(const Import *import, const char *layer, const char *role) {
    static const char *const between[] = {".", ".out_proj.", ".in_proj_"};
    bool has = false;
    for (size_t i = 0; i < sizeof between / sizeof between[0] && !has; i++) {
        char *path = own_path(import, layer, between[i], role);
        has = path != NULL;
        memory_free(path);
    }
    return has;
}

// The exporter stores shared weights under the last of their names, in the order of its record, and
// merely equal ones under the first. So a layer shares them if its own name comes before theirs.
// Numbers computed from parameters get the name of the first user that runs.
static bool is_shared(const Import *import, const Value *value, const char *own, const char *path) {
    bool computed = strcmp(path, value->name) != 0, first = value->role == NULL;
    if (strcmp(own, path) == 0) return !first && (!computed || value->tied);
    return told_before(import, own, path) && (!computed || first || value->tied);
}

void told_read_as(Import *import, const Node *node, const char *role) {
    const char *rule = onnx_recorded(node, "pkg.onnxscript.rewriter.rule_name");
    bool fused = rule && strstr(rule, "FuseBatchNorm"); // its name is the norm's
    char *layer = import->recorded && !fused ? onnx_path_of_node(node) : NULL;
    char *own = layer ? own_path(import, layer, ".", role) : NULL;
    if (own) told_claim(import, own);
    memory_free(own);
    memory_free(layer);
}

Owner told_owner(Import *import, Value *value, const Node *node, const char *role, char **own) {
    const char *path = import->recorded && value->readers > 1 ? value_path(value) : NULL;
    char *layer = path ? onnx_path_of_node(node) : NULL;
    size_t n = layer ? strlen(layer) : 0;
    bool inside = n == 0 || (strncmp(path, layer, n) == 0 && path[n] == '.');
    Owner owner = OWNER_LAYER;
    *own = layer ? own_path(import, layer, ".", role) : NULL;
    if (*own && is_shared(import, value, *own, path))
        owner = OWNER_TIED;
    else if (*own && told_before(import, path, *own))
        owner = OWNER_ANOTHER;
    else if (layer && value_is_uniform(import, value)) {
        if (*own && strcmp(*own, path) != 0)
            owner = OWNER_ANOTHER;
        else if (!inside && !has_parameter(import, layer, role))
            owner = OWNER_NONE;
    }
    if (owner != OWNER_ANOTHER) {
        memory_free(*own);
        *own = NULL;
    }
    memory_free(layer);
    return owner;
}

// ---- biases -----------------------------------------------------------------------------------
// "fc.weight" to "fc.bias"; for a weight without a path, the node's layer gives the path.
static char *bias_path(const Value *weight, const Node *node) {
    const char *path = weight->kind == VALUE_PARAMETER ? value_path(weight) : NULL;
    char *scope = path ? memory_copy_string(path) : onnx_path_of_node(node);
    size_t n = scope ? strlen(scope) : 0, m = path ? strlen("weight") : 0;
    bool named = n >= m && strcmp(scope + n - m, path ? "weight" : "") == 0 && n > 0;
    char *bias = named ? memory_new(n + sizeof ".bias") : NULL;
    if (bias) sprintf(bias, "%.*s%s", (int)(n - m), scope, path ? "bias" : ".bias");
    memory_free(scope);
    return onnx_path_checked(bias);
}

Status told_bias(Import *import, const Node *node, Step *step, int64_t count) {
    const char *rule = onnx_recorded(node, "pkg.onnxscript.rewriter.rule_name");
    if (!rule || !strstr(rule, "RemoveOptionalBias") || step->n_in < 3 || step->in[2] >= 0 ||
        count < 1)
        return STATUS_OK;
    // Without a record (the opset is not the exporter's own) a product had a bias, and a
    // convolution most often none: the exporter writes zeros for a convolution without one.
    bool conv = strncmp(node->op_type, "Conv", 4) == 0;
    char *path = bias_path(import->values[step->in[1]], node);
    bool has =
        path && (import->recorded ? told_of(import, path, strlen(path)) == TOLD_LEARNED : !conv);
    int at =
        has ? import_find(import, path) : VALUE_ABSENT; // found: of a layer that is called again
    bool fresh = has && at < 0;
    if (fresh) at = import_value_new(import, path);
    if (fresh && at >= 0) {
        Value *bias = import->values[at];
        told_claim(import, path);
        bias->kind = VALUE_PARAMETER; // not stored: zeros
        bias->path = path;
        bias->type = ONNX_FLOAT;
        bias->shape = SHAPE(count);
        bias->role = "bias";
        bias->role_step = import->n_steps;
    } else {
        memory_free(path);
    }
    if (at < 0) return error_status();
    Value *bias = import->values[at];
    if (bias->kind != VALUE_PARAMETER || !shape_equal(bias->shape, SHAPE(count)))
        return error_status();
    bias->readers++;
    bias->held = true;
    step->in[2] = at;
    return STATUS_OK;
}
