// functions.c -- expands a model's own functions where they are called, before the walk, so that
// the graph has no calls. It does not interpret the nodes of their bodies.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "layers/files/onnx/schema.h"
#include "tensor/memory.h"

typedef Onnx__Function Function;
// Bounds on the expansion: functions that call the next one twice double at each level.
enum { MOST_NODES = 1 << 17 };
static const size_t MOST_BYTES = (size_t)1 << 27, MOST_COMPARED = (size_t)1 << 28;

typedef struct Block {
    struct Block *next;
} Block;

struct Inlined {
    Onnx__Graph graph;      // the file's graph, with the expanded nodes
    const Function **scope; // each node's function; NULL: none
    Block *blocks;          // all memory of the expansion
    size_t bytes, compared, calls;
};

static void *make(Import *import, size_t bytes) {
    struct Inlined *inlined = import->inlined;
    inlined->bytes += bytes < MOST_BYTES ? bytes : MOST_BYTES;
    if (inlined->bytes > MOST_BYTES)
        error_set(STATUS_OUT_OF_MEMORY, "onnx: %s: its functions come to more than %zu MB of nodes",
                  import->path, MOST_BYTES >> 20);
    Block *block = error_pending() ? NULL : memory_new(sizeof *block + bytes);
    if (!block) return NULL;
    block->next = inlined->blocks;
    inlined->blocks = block;
    return block + 1;
}

// Counts `n` names to compare; false with an error pending where a file needs too many.
static bool may_compare(Import *import, size_t n) {
    import->inlined->compared += n < MOST_COMPARED ? n : MOST_COMPARED;
    if (import->inlined->compared <= MOST_COMPARED) return true;
    error_set(STATUS_FORMAT, "onnx: %s: its functions have too many names", import->path);
    return false;
}

// ---- finding the function ---------------------------------------------------------------------

static bool same_domain(const char *a, const char *b) {
    const SchemaDomain *known = schema_domain(a); // "" is "ai.onnx", too
    return known ? known == schema_domain(b) : strcmp(a, b) == 0;
}

static const Function *called(Import *import, const Node *node) {
    const Onnx__Model *model = import->model;
    const Function *found = NULL;
    for (size_t i = 0; i < model->n_functions && may_compare(import, 1); i++) {
        const Function *function = model->functions[i];
        bool is = strcmp(function->name, node->op_type) == 0 &&
                  same_domain(node->domain, function->domain) &&
                  strcmp(function->overload, node->overload) == 0;
        if (is && found)
            error_set(STATUS_FORMAT, "onnx: %s: it has two functions with the name \"%s\"",
                      import->path, node->op_type);
        if (is) found = function;
    }
    return found;
}

// ---- a call -----------------------------------------------------------------------------------
typedef struct Call {
    const Function *function;
    const Node *node;
    const char *own; // its first result's name; with `number` the prefix of its inner names
    size_t number;   // of all calls, because an inner call may give the same result
} Call;

static Status wrong(const Import *import, const Call *call, const char *what, const char *name) {
    return error_set(STATUS_FORMAT,
                     "onnx: %s: a call of the function %s has the %s \"%s\", which "
                     "the function has not",
                     import->path, call->function->name, what, name);
}

static bool declares(const Function *function, const char *attribute) {
    for (size_t i = 0; i < function->n_attribute; i++)
        if (strcmp(function->attribute[i], attribute) == 0) return true;
    for (size_t i = 0; i < function->n_attribute_proto; i++)
        if (strcmp(function->attribute_proto[i]->name, attribute) == 0) return true;
    return false;
}

static Status call_new(Import *import, const Function *function, const Node *node, Call *call) {
    *call = (Call){function, node, "", ++import->inlined->calls};
    for (size_t i = 0; i < node->n_output && !call->own[0]; i++) call->own = node->output[i];
    if (!call->own[0])
        return error_set(STATUS_FORMAT, "onnx: %s: a call of the function %s has no result",
                         import->path, function->name);
    if (node->n_input > function->n_input)
        return wrong(import, call, "input", node->input[function->n_input]);
    if (node->n_output > function->n_output)
        return wrong(import, call, "output", node->output[function->n_output]);
    size_t names = function->n_attribute + function->n_attribute_proto;
    for (size_t i = 0; i < node->n_attribute && may_compare(import, names); i++) {
        const char *name = node->attribute[i]->name;
        if (!declares(function, name)) return wrong(import, call, "attribute", name);
    }
    return error_status();
}

// ---- names ------------------------------------------------------------------------------------
// The outer name of a value in the body: the caller's name of an input or result, or a new one for
// this call. NULL: an error is pending.
static char *name_outside(Import *import, const Call *call, const char *name) {
    const Function *function = call->function;
    const Node *node = call->node;
    static char absent[] = "";
    if (!name[0]) return absent;
    if (!may_compare(import, function->n_input + function->n_output)) return NULL;
    for (size_t i = 0; i < function->n_input; i++)
        if (strcmp(function->input[i], name) == 0)
            return i < node->n_input ? node->input[i] : absent;
    for (size_t i = 0; i < node->n_output; i++)
        if (strcmp(function->output[i], name) == 0 && node->output[i][0]) return node->output[i];
    size_t size = strlen(call->own) + strlen(name) + 24;
    char *own = make(import, size);
    if (own) snprintf(own, size, "%s/%zu/%s", call->own, call->number, name);
    return own;
}

static char **names_outside(Import *import, const Call *call, char *const names[], size_t n) {
    char **out = make(import, (n + 1) * sizeof *out);
    for (size_t i = 0; i < n && out; i++)
        if (!(out[i] = name_outside(import, call, names[i]))) return NULL;
    return out;
}

// ---- attributes -------------------------------------------------------------------------------
static Onnx__Attribute *attribute_of(Onnx__Attribute *const all[], size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

// An attribute that refers to one of the function's gets the call's value, or else the function's
// default; with neither the node has no such attribute.
static Status fill_attributes(Import *import, const Call *call, const Node *body, Node *node) {
    const Function *function = call->function;
    node->n_attribute = 0;
    node->attribute = make(import, (body->n_attribute + 1) * sizeof *node->attribute);
    for (size_t i = 0; i < body->n_attribute && node->attribute; i++) {
        Onnx__Attribute *one = body->attribute[i], *given = one;
        const char *of = one->ref_attr_name;
        if (of[0]) {
            if (!may_compare(import, call->node->n_attribute + function->n_attribute_proto)) break;
            given = attribute_of(call->node->attribute, call->node->n_attribute, of);
            if (!given)
                given = attribute_of(function->attribute_proto, function->n_attribute_proto, of);
            if (!given) continue;
            Onnx__Attribute *copy = make(import, sizeof *copy);
            if (!copy) break;
            *copy = *given;
            copy->name = one->name;
            given = copy;
        }
        node->attribute[node->n_attribute++] = given;
    }
    return error_status();
}

// ---- nodes ------------------------------------------------------------------------------------
static Node *node_outside(Import *import, const Call *call, const Node *body) {
    const char *caller = call->node->name, *name = body->name;
    size_t size = strlen(caller) + strlen(name) + 2;
    Node *node = make(import, sizeof *node);
    if (!node) return NULL;
    *node = *body;
    node->input = names_outside(import, call, body->input, body->n_input);
    node->output = node->input ? names_outside(import, call, body->output, body->n_output) : NULL;
    node->name = node->output ? make(import, size) : NULL;
    if (!node->name || fill_attributes(import, call, body, node)) return NULL;
    snprintf(node->name, size, "%s%s%s", caller, caller[0] && name[0] ? "/" : "", name);
    if (node->n_metadata_props == 0) { // it belongs to the call's module
        node->n_metadata_props = call->node->n_metadata_props;
        node->metadata_props = call->node->metadata_props;
    }
    return node;
}

// Makes an Identity for a result that is an input or another result, under a second name.
static Node *rename_new(Import *import, const Call *call, char *from, char *to) {
    static char identity[] = "Identity";
    Node *node = make(import, sizeof *node);
    char **names = make(import, 2 * sizeof *names);
    if (!node || !names) return NULL;
    names[0] = from;
    names[1] = to;
    *node = (Node)ONNX__NODE__INIT;
    node->op_type = identity;
    node->name = call->node->name;
    node->n_input = node->n_output = 1;
    node->input = names;
    node->output = names + 1;
    return node;
}

typedef struct Nodes {
    Node **nodes;
    const Function **scope;
    size_t n;
} Nodes;

static Status add_call(Import *import, const Call *call, Nodes *to) {
    const Function *function = call->function;
    for (size_t i = 0; i < function->n_node; i++) {
        to->scope[to->n] = function;
        to->nodes[to->n] = node_outside(import, call, function->node[i]);
        if (!to->nodes[to->n++]) return error_status();
    }
    for (size_t i = 0; i < call->node->n_output; i++) {
        char *name = call->node->output[i];
        char *is = name[0] ? name_outside(import, call, function->output[i]) : name;
        if (!is) return error_status();
        if (strcmp(is, name) == 0) continue;
        to->scope[to->n] = NULL;
        to->nodes[to->n] = rename_new(import, call, is, name);
        if (!to->nodes[to->n++]) return error_status();
    }
    return STATUS_OK;
}

// Expands every call among the nodes once; *calls is the number of calls.
static Status expand(Import *import, size_t *calls) {
    struct Inlined *inlined = import->inlined;
    const Onnx__Graph *graph = &inlined->graph;
    size_t room = graph->n_node;
    const Function **function = make(import, (graph->n_node + 1) * sizeof(Function *));
    *calls = 0;
    for (size_t i = 0; i < graph->n_node && function && !error_pending(); i++) {
        function[i] = called(import, graph->node[i]);
        if (!function[i]) continue;
        *calls += 1;
        room += function[i]->n_node + graph->node[i]->n_output;
        if (room > MOST_NODES)
            return error_set(STATUS_FORMAT, "onnx: %s: its functions come to more than %d nodes",
                             import->path, MOST_NODES);
    }
    if (error_pending() || *calls == 0) return error_status();
    Nodes to = {.nodes = make(import, (room + 1) * sizeof(Node *))};
    to.scope = to.nodes ? make(import, (room + 1) * sizeof(Function *)) : NULL;
    for (size_t i = 0; i < graph->n_node && to.scope && !error_pending(); i++) {
        Call call;
        if (function[i]) {
            if (!call_new(import, function[i], graph->node[i], &call)) add_call(import, &call, &to);
            continue;
        }
        to.scope[to.n] = inlined->scope ? inlined->scope[i] : NULL;
        to.nodes[to.n++] = graph->node[i];
    }
    inlined->scope = to.scope;
    inlined->graph.node = to.nodes;
    inlined->graph.n_node = to.n;
    return error_status();
}

Status import_inline(Import *import) {
    const Onnx__Model *model = import->model;
    size_t calls = 1;
    if (model->n_functions == 0) return STATUS_OK;
    import->inlined = memory_new(sizeof *import->inlined);
    if (!import->inlined) return error_status();
    *import->inlined = (struct Inlined){.graph = *import->graph};
    import->graph = &import->inlined->graph;
    // A chain of calls that is longer than the number of functions is a cycle.
    for (size_t depth = 0; depth <= model->n_functions && calls > 0; depth++)
        if (expand(import, &calls)) return error_status();
    if (calls == 0) return STATUS_OK;
    return error_set(STATUS_FORMAT,
                     "onnx: %s: one of its functions calls itself, directly or through others",
                     import->path);
}

void import_node_scope(Import *import, size_t node) {
    const struct Inlined *inlined = import->inlined;
    const Function *function = inlined && inlined->scope ? inlined->scope[node] : NULL;
    if (function)
        import_scope(import, function->opset_import, function->n_opset_import);
    else
        import_scope(import, import->model->opset_import, import->model->n_opset_import);
}

void import_inline_free(Import *import) {
    while (import->inlined && import->inlined->blocks) {
        Block *next = import->inlined->blocks->next;
        memory_free(import->inlined->blocks);
        import->inlined->blocks = next;
    }
    memory_free(import->inlined);
    import->inlined = NULL;
}
