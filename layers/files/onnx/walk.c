// walk.c -- visits the nodes of a graph in order, after noting stored numbers and inputs. node.c
// handles a single node, inputs.c the inputs.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/context.h"
#include "tensor/memory.h"

static Status bad_name(const Import *import, const char *name) {
    return error_set(STATUS_FORMAT, "onnx: %s: \"%s\" is computed twice", import->path, name);
}

// ---- stored numbers ---------------------------------------------------------------------------
static Status add_stored(Import *import, const Onnx__Tensor *stored) {
    const char *name = stored->name;
    if (!name || !name[0])
        return error_set(STATUS_FORMAT, "onnx: %s: numbers without a name", import->path);
    if (import_find(import, name) >= 0) return bad_name(import, name);
    int at = import_value_new(import, name);
    if (at < 0) return error_status();
    Value *value = import->values[at];
    value->stored = stored;
    value->type = stored->data_type;
    if (onnx_stored_shape(stored, &value->shape)) return error_status();
    value->initial = true;
    return learned_by_name(import, value);
}

// ---- readers of values ------------------------------------------------------------------------
static Status add_outputs(Import *import, const Node *node) {
    for (size_t i = 0; i < node->n_output; i++) {
        const char *name = node->output[i];
        if (!name[0]) continue;
        if (import_find(import, name) >= 0) return bad_name(import, name);
        if (import_value_new(import, name) < 0) return error_status();
    }
    return STATUS_OK;
}

static void count_use(const Import *import, const char *name) {
    Value *value = import_value(import, import_find(import, name));
    if (value) value->readers = ++value->uses;
}

// Notes the file's types of its nodes' results; a type with a shape takes precedence.
static void note_recorded(const Import *import, Onnx__ValueInfo *const infos[], size_t n) {
    for (size_t i = 0; i < n; i++) {
        Value *value = import_value(import, import_find(import, infos[i]->name));
        const Onnx__TensorType *type = infos[i]->type ? infos[i]->type->tensor_type : NULL;
        if (value && type && (type->shape || !value->recorded)) value->recorded = type;
    }
}

static Status note_values(Import *import) {
    const Onnx__Graph *graph = import->graph;
    if (graph->n_sparse_initializer > 0)
        return error_set(STATUS_NOT_IMPLEMENTED,
                         "onnx: %s: it stores sparse tensors (sparse_initializer), which are not "
                         "read. HINT: store them dense, as initializers",
                         import->path);
    size_t names = graph->n_initializer + graph->n_input + graph->n_node * 2 + 1;
    import->n_buckets = names > 1 << 24 ? 1 << 24 : (int)names;
    import->buckets = memory_new((size_t)import->n_buckets * sizeof(int));
    if (!error_pending()) told_read(import);
    for (size_t i = 0; i < graph->n_initializer && !error_pending(); i++)
        add_stored(import, graph->initializer[i]);
    if (!error_pending()) told_apply(import);
    if (!error_pending()) import_inputs(import);
    for (size_t i = 0; i < graph->n_node && !error_pending(); i++)
        add_outputs(import, graph->node[i]);
    if (error_pending()) return error_status();
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++)
            count_use(import, graph->node[i]->input[k]);
    for (size_t i = 0; i < graph->n_output; i++)
        if (graph->output[i]->name) count_use(import, graph->output[i]->name);
    note_recorded(import, graph->value_info, graph->n_value_info);
    note_recorded(import, graph->output, graph->n_output);
    return learned_by_place(import);
}

// ---- the nodes --------------------------------------------------------------------------------
Status import_walk(Import *import) {
    const Onnx__Graph *graph = import->graph;
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    Scope *scope = scope_open();
    if (scope) note_values(import);
    for (size_t i = 0; i < graph->n_node && !error_pending(); i++) {
        import_node_scope(import, i);
        import_node(import, graph->node[i]);
    }
    if (!error_pending() && import->about->n_missing > 0 && !import->options->partial)
        missing_report(import);
    for (int i = 0; i < import->n_values; i++) {
        tensor_free(import->values[i]->tensor);
        import->values[i]->tensor = NULL;
    }
    scope_close(scope);
    context_pop();
    context_free(context);
    return error_status();
}
