// load.c -- an ONNX file to layers: the stages in order, and the description of the file.
#include "layers/files/onnx.h"

#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/graph.h"
#include "tensor/context.h"
#include "tensor/memory.h"

static const char folded_remark[] =
    "batch norms were folded into the layers before them by the exporter: what training costs is "
    "not the original's. HINT: torch.onnx.export(..., dynamo=False, "
    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False) keeps them";

// ---- the description of the file --------------------------------------------------------------
static bool norms_are_folded(const Import *import) {
    const Onnx__Graph *graph = import->graph;
    for (size_t i = 0; i < graph->n_node; i++) {
        const Node *node = graph->node[i];
        bool biased = strcmp(node->op_type, "Conv") == 0 && node->n_input > 2;
        if (biased && strncmp(node->input[1], "onnx::Conv_", 11) == 0 &&
            strncmp(node->input[2], "onnx::Conv_", 11) == 0)
            return true;
        for (size_t k = 0; k < node->n_metadata_props; k++) {
            const Onnx__Text *entry = node->metadata_props[k];
            if (strstr(entry->value, "FuseBatchNorm")) return true;
        }
    }
    return false;
}

static Status describe(Import *import) {
    OnnxModel *about = import->about;
    const Onnx__Model *model = import->model;
    const char *producer = model->producer_name, *version = model->producer_version;
    size_t size = strlen(producer) + strlen(version) + 2;
    about->producer = memory_new(size);
    if (!about->producer) return error_status();
    snprintf(about->producer, size, "%s%s%s", producer, producer[0] && version[0] ? " " : "",
             version);
    about->opset = import->opset;
    about->nodes = (int64_t)import->graph->n_node;
    about->norms_folded = norms_are_folded(import);
    about->remark = about->norms_folded ? folded_remark : "";
    return STATUS_OK;
}

// The type that the graph declares, otherwise the computed one. Floats may be declared in any
// precision, since all are computed in float32.
static int declared_type(const Import *import, const Onnx__ValueInfo *output, const Value *value) {
    const Onnx__TensorType *type = output->type ? output->type->tensor_type : NULL;
    int declared = type && type->elem_type ? type->elem_type : value->type;
    bool floats = onnx_is_float(declared) && onnx_is_float(value->type);
    if (declared == value->type || floats) return declared;
    error_set(STATUS_FORMAT, "onnx: %s: its output \"%s\" is declared as %s, and computed as %s",
              import->path, output->name, onnx_type_name(declared), onnx_type_name(value->type));
    return value->type;
}

static Status describe_outputs(Import *import) {
    OnnxModel *about = import->about;
    const Onnx__Graph *graph = import->graph;
    about->outputs = memory_new((graph->n_output + 1) * sizeof(OnnxPort));
    for (size_t i = 0; i < graph->n_output && about->outputs; i++) {
        const char *name = graph->output[i]->name;
        const Value *value = import_value(import, import_find(import, name));
        if (value && value->poisoned)
            return error_set(
                STATUS_NOT_IMPLEMENTED,
                "onnx: %s: its output \"%s\" is behind an operator that is missing, %s, "
                "and the file does not say what shapes lie between. HINT: "
                "onnx.shape_inference.infer_shapes",
                import->path, name, about->missing[0].name);
        if (!value || value->kind == VALUE_UNKNOWN)
            return error_set(STATUS_FORMAT, "onnx: %s: its output \"%s\" is computed by no node",
                             import->path, name);
        OnnxPort *port = &about->outputs[i];
        port->name = memory_copy_string(name);
        if (!port->name) break;
        about->n_outputs++;
        port->shape = value->shape;
        port->dtype = onnx_dtype(value->type);
        port->numpy = onnx_numpy(declared_type(import, graph->output[i], value));
    }
    return error_status();
}

// If told numbers decide, the model holds for one batch only: no input is batched.
static void describe_inputs(Import *import) {
    OnnxModel *about = import->about;
    bool decided = false;
    for (int i = 0; i < about->n_inputs; i++) decided = decided || about->inputs[i].decides;
    for (int i = 0; i < about->n_inputs && decided; i++) about->inputs[i].batched = false;
}

// Notes that floats of another precision are kept and computed in float32, and that casts do not
// round.
static Status note_precision(Import *import) {
    static const int types[] = {ONNX_FLOAT16, ONNX_BFLOAT16, ONNX_DOUBLE};
    bool seen[sizeof types / sizeof types[0]] = {false};
    for (int i = 0; i < import->n_values; i++) {
        const Value *value = import->values[i];
        bool early = value->kind == VALUE_CONSTANT && !value->stored && !value->initial;
        bool computed = value->kind == VALUE_RUN || value->alias >= 0 || early ||
                        value->kind == VALUE_PARAMETER;
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
            seen[k] = seen[k] || (computed && value->type == types[k]);
    }
    for (size_t k = 0; k < sizeof types / sizeof types[0] && !error_pending(); k++) {
        char what[64];
        snprintf(what, sizeof what, "the precision of %s numbers", onnx_type_name(types[k]));
        if (seen[k]) import_assume(import, what, "that of float32, in which they are computed");
    }
    return error_status();
}

void onnx_model_free(OnnxModel *about) {
    if (!about) return;
    for (int i = 0; i < about->n_inputs; i++) memory_free(about->inputs[i].name);
    for (int i = 0; i < about->n_outputs; i++) memory_free(about->outputs[i].name);
    for (int i = 0; i < about->n_missing; i++) memory_free(about->missing[i].name);
    for (int i = 0; i < about->n_assumed; i++) {
        memory_free(about->assumed[i].what);
        memory_free(about->assumed[i].taken);
    }
    memory_free(about->assumed);
    memory_free(about->inputs);
    memory_free(about->outputs);
    memory_free(about->missing);
    memory_free(about->producer);
    memset(about, 0, sizeof *about);
}

// ---- the stages -------------------------------------------------------------------------------
static Layer *load(Import *import) {
    if (onnx_file_read(import) || import_inline(import) || describe(import) || import_walk(import))
        return NULL;
    if (describe_outputs(import) || note_precision(import)) return NULL;
    import_finish(import);
    describe_inputs(import);
    if (import_paths(import) || import_tie(import)) return NULL;
    Program *program = program_new(import);
    if (!program) return NULL;
    import->about->steps = program->n_steps;
    Layer *model = graph_tree_new(import, program);
    if (model) import->about->parameters = layer_parameter_count(model);
    if (model && import_guesses(import)) {
        layer_free(model);
        return NULL;
    }
    layer_train(model, false);
    return model;
}

// Makes the context that computes constants, whatever device the model is made for.
static Context *host_context_new(void) {
    Context *context = context_new();
    if (!context) return NULL;
    context_push(context);
    context_set_device(device_cpu());
    context_pop();
    return context;
}

// Adds a general hint to errors of malformed files that have none.
static void add_hint(void) {
    char said[512];
    if (error_status() != STATUS_FORMAT || strstr(error_message(), " HINT: ")) return;
    snprintf(said, sizeof said, "%.440s", error_message());
    error_clear();
    error_set(STATUS_FORMAT, "%s. HINT: export it again; onnx.checker.check_model checks it", said);
}

Layer *onnx_load(const char *path, const OnnxOptions *options, OnnxModel *about) {
    const OnnxOptions plain = {.shapes = NULL};
    OnnxModel own;
    Import import = {.path = path,
                     .options = options ? options : &plain,
                     .about = about ? about : &own};
    memset(import.about, 0, sizeof own);
    import.about->remark = "";
    if (error_pending()) return NULL;
    import.host = host_context_new();
    Layer *model = import.host ? load(&import) : NULL;
    if (!model) add_hint();
    import_free(&import);
    if (!about) onnx_model_free(&own);
    return model;
}
