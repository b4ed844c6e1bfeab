// walk.c -- over the nodes of a graph in their order, after what is stored and what comes in
// has been noted. What one node becomes is node.c's.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/context.h"
#include "tensor/memory.h"

static Status bad_name(const Import *import, const char *name) {
    return error_set(STATUS_FORMAT, "onnx: %s: \"%s\" is computed twice", import->path, name);
}

// ---- what is stored ---------------------------------------------------------------------------
static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// What modules keep as buffers under names that are PyTorch's or usual: the file does not say.
static bool is_buffer(const char *name) {
    static const char *const ends[] = {"inv_freq", "running_mean", "running_var", ".pe",
                                       "_mask",    ".mask",        "attn.bias"};
    if (strcmp(name, "pe") == 0) return true;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

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
    Told told = told_of(import, name, strlen(name));
    bool learned =
        onnx_name_is_path(name) && !is_buffer(name) && (value->shape.ndim > 0 || strchr(name, '.'));
    learned = onnx_is_float(value->type) && (told == TOLD_NOTHING ? learned : told == TOLD_LEARNED);
    value->kind = learned ? VALUE_PARAMETER : VALUE_CONSTANT;
    value->initial = true;
    value->fixed = told == TOLD_FIXED;
    if (told == TOLD_LEARNED) value->path = onnx_path_checked(memory_copy_string(name));
    if (error_pending()) return error_status();
    if (learned) import->about->parameters_stored += shape_numel(value->shape);
    return STATUS_OK;
}

// ---- what comes in ----------------------------------------------------------------------------
static const OnnxShape *shape_given(const Import *import, const char *name, int index) {
    const OnnxOptions *options = import->options;
    for (int i = 0; i < options->n_shapes; i++) {
        const char *of = options->shapes[i].name;
        if (of ? strcmp(of, name) == 0 : i == index) return &options->shapes[i];
    }
    return NULL;
}

static Status input_shape(const Import *import, const Onnx__ValueInfo *info, int index,
                          Shape *shape) {
    const Onnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    const OnnxShape *given = shape_given(import, info->name, index);
    bool open = !type || !type->shape;
    size_t n = open ? 0 : type->shape->n_dim;
    if (!type)
        return error_set(STATUS_NOT_IMPLEMENTED, "onnx: %s: input \"%s\" is no tensor",
                         import->path, info->name);
    if (n > TENSOR_MAX_DIMS || (open && !given) || (given && !open && given->shape.ndim != (int)n))
        return error_set(
            STATUS_SHAPE,
            "onnx: %s: input \"%s\" has %zu dimensions%s. HINT: --input %s=1x3x224x224",
            import->path, info->name, n, given ? ", what was asked for has others" : "",
            info->name);
    *shape = given ? given->shape : (Shape){.ndim = (int)n};
    for (size_t i = 0; i < n; i++) {
        const Onnx__Dimension *dim = type->shape->dim[i];
        bool fixed = dim->has_dim_value && dim->dim_value >= 0;
        if (!given) shape->dims[i] = fixed ? dim->dim_value : 1;
        if (given && fixed && dim->dim_value != shape->dims[i])
            return error_set(STATUS_SHAPE,
                             "onnx: %s: input \"%s\" has the size %lld as dimension %zu, not %lld. "
                             "HINT: torch.onnx.export(..., dynamic_shapes=...) leaves sizes open",
                             import->path, info->name, (long long)dim->dim_value, i,
                             (long long)shape->dims[i]);
    }
    return STATUS_OK;
}

static Status add_input(Import *import, const Onnx__ValueInfo *info) {
    OnnxModel *about = import->about;
    if (!info->name || !info->name[0])
        return error_set(STATUS_FORMAT, "onnx: %s: an input without a name", import->path);
    if (import_find(import, info->name) >= 0) return STATUS_OK; // stored: a default, as of old
    int at = import_value_new(import, info->name);
    Shape shape;
    if (at < 0 || input_shape(import, info, about->n_inputs, &shape)) return error_status();
    Value *value = import->values[at];
    value->kind = VALUE_RUN;
    value->type = info->type->tensor_type->elem_type;
    value->shape = shape;
    OnnxPort *port = &about->inputs[about->n_inputs];
    port->name = memory_copy_string(info->name);
    if (!port->name) return error_status();
    port->shape = shape;
    port->dtype = onnx_is_float(value->type) ? DTYPE_FLOAT32 : DTYPE_INT64;
    about->n_inputs++;
    value->tensor = tensor_new(shape, port->dtype);
    return error_status();
}

// ---- who reads what ---------------------------------------------------------------------------
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

static Status note_values(Import *import) {
    const Onnx__Graph *graph = import->graph;
    size_t names = graph->n_initializer + graph->n_input + graph->n_node * 2 + 1;
    import->n_buckets = names > 1 << 24 ? 1 << 24 : (int)names;
    import->buckets = memory_new((size_t)import->n_buckets * sizeof(int));
    import->about->inputs = memory_new((graph->n_input + 1) * sizeof(OnnxPort));
    if (!error_pending()) told_read(import);
    for (size_t i = 0; i < graph->n_initializer && !error_pending(); i++)
        add_stored(import, graph->initializer[i]);
    if (!error_pending()) told_apply(import);
    for (size_t i = 0; i < graph->n_input && !error_pending(); i++)
        add_input(import, graph->input[i]);
    for (size_t i = 0; i < graph->n_node && !error_pending(); i++)
        add_outputs(import, graph->node[i]);
    if (error_pending()) return error_status();
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_input; k++)
            count_use(import, graph->node[i]->input[k]);
    for (size_t i = 0; i < graph->n_output; i++)
        if (graph->output[i]->name) count_use(import, graph->output[i]->name);
    return STATUS_OK;
}

// ---- operators that are missing ---------------------------------------------------------------
static Status report_missing(const Import *import) {
    const OnnxModel *about = import->about;
    char text[400] = "";
    size_t length = 0;
    for (int i = 0; i < about->n_missing && length < sizeof text; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s (%lld)", i ? ", " : "",
                             about->missing[i].name, (long long)about->missing[i].count);
    return error_set(STATUS_NOT_IMPLEMENTED,
                     "onnx: %s: %d operator%s missing: %s. HINT: --partial with --device meta "
                     "counts the rest",
                     import->path, about->n_missing, about->n_missing == 1 ? " is" : "s are", text);
}

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
        report_missing(import);
    for (int i = 0; i < import->n_values; i++) {
        tensor_free(import->values[i]->tensor);
        import->values[i]->tensor = NULL;
    }
    scope_close(scope);
    context_pop();
    context_free(context);
    return error_status();
}
