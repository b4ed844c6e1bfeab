// missing.c -- unknown operators. An error names them all at once; with `partial`, steps with the
// same inputs and no cost replace them, where the shape of their results is known.
#include <stdio.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"
#include "tensor/op.h"
#include "tensor/ops.h"

// ---- naming them ------------------------------------------------------------------------------
Status missing_note(Import *import, const Node *node) {
    OnnxModel *about = import->about;
    char op_type[200];
    schema_name(node, op_type, sizeof op_type);
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

Status missing_report(const Import *import) {
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

// ---- the shape of their results -----------------------------------------------------------------
// The shape that the file records for a value; false where it records none, or an open size that
// was not told.
static bool recorded_shape(const Import *import, const Value *value, Shape *shape) {
    const Onnx__Sizes *sizes = value->recorded ? value->recorded->shape : NULL;
    if (!sizes || sizes->n_dim > TENSOR_MAX_DIMS) return false;
    *shape = (Shape){.ndim = (int)sizes->n_dim};
    for (int d = 0; d < shape->ndim; d++) {
        shape->dims[d] = import_size(import, sizes->dim[d]);
        if (shape->dims[d] < 0) return false;
    }
    return true;
}

// ONNX's own operators whose result has the shape of the first input, or of all inputs broadcast.
static bool like_shape(Import *import, const Node *node, Shape *shape) {
    static const char *const first[] = {
        "Acos", "Acosh", "Asin",       "Asinh",   "Atan", "Atanh",          "Cosh",
        "Sinh", "Tan",   "BitwiseNot", "Hardmax", "LRN",  "QuantizeLinear", "DequantizeLinear"};
    static const char *const all[] = {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    const Value *in = node_input(import, node, 0);
    bool ours = !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0;
    if (!ours || !in) return false;
    *shape = in->shape;
    if (strstr(node->op_type, "Normalization")) return true;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (strcmp(first[i], node->op_type) == 0) return true;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const Value *other = node_input(import, node, 1);
        if (strcmp(all[i], node->op_type) == 0 && other)
            return shape_broadcast(import, *shape, other->shape, shape) == STATUS_OK;
    }
    return false;
}

// The type of a result, where the file records none: that of the first input, but for quantisation,
// whose results have the type of its zero (bytes without one), or of its scale.
static int like_type(const Import *import, const Node *node) {
    bool to = strcmp(node->op_type, "QuantizeLinear") == 0;
    bool from = strcmp(node->op_type, "DequantizeLinear") == 0;
    const Value *of = node_input(import, node, to ? 2 : from ? 1 : 0);
    return of ? of->type : to ? ONNX_UINT8 : ONNX_FLOAT;
}

// ---- their replacement --------------------------------------------------------------------------
// An op that gives zeros of a shape at no cost. It has the node's inputs, so that computing those
// is counted, forward and backward.
static Status nothing_infer(OpCall *call) {
    return op_output_of(call, 0, DTYPE_FLOAT32, &call->params.shape);
}

static OpCost nothing_cost(const OpCall *call) {
    (void)call;
    return (OpCost){0};
}

static Status nothing_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    memset(call_out(call, 0), 0, (size_t)tensor_bytes(call->out[0]));
    return STATUS_OK;
}

static Status nothing_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < saved->n_in; i++) {
        if (!call_needs(saved, i)) continue;
        OpParams params = {.shape = saved->in[i]->shape};
        if (OP_INTO(&grad_in[i], *saved->op, &params, grad_out[0])) return error_status();
    }
    return STATUS_OK;
}

static const Op nothing = {.name = "missing",
                           .least_inputs = 1,
                           .infer = nothing_infer,
                           .cost = nothing_cost,
                           .backward = nothing_backward,
                           .kernel = nothing_cpu};

// The last input is a number of the result's type. Integers need no gradient, so they do not pass.
static Status run_missing(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *number = in[step->n_in - 1];
    if (number->dtype != DTYPE_FLOAT32) {
        out[0] = tensor_expand(number, step->params.shape);
        return error_status();
    }
    Tensor **floats = memory_new((size_t)step->n_in * sizeof *floats);
    if (!floats) return error_status();
    int n = 0;
    for (int i = 0; i < step->n_in; i++)
        if (in[i] && in[i]->dtype == DTYPE_FLOAT32) floats[n++] = in[i];
    OpParams params = {.shape = step->params.shape};
    out[0] = op_run(&nothing, &params, floats, n);
    memory_free(floats);
    return error_status();
}

static const Operator stand_in = {.name = "Missing",
                                  .run = run_missing,
                                  .module = "Missing",
                                  .whole = WHOLE_MOVED,
                                  .optional = ~0u};

// Stored numbers among its inputs are treated as weights, as in a layer.
static Status take_inputs(Import *import, const Node *node, Step *step) {
    for (int i = 0; i < (int)node->n_input; i++)
        if (step_weight(import, node, step, i, i > 0 ? "weight" : NULL)) return error_status();
    return STATUS_OK;
}

static Status add_stand_in(Import *import, const Node *node, int output, int type, Shape shape) {
    Step *step = step_new(import, node, &stand_in);
    if (!step) return error_status();
    take_inputs(import, node, step);
    step_input(import, step, import_constant(import, type, SHAPE_SCALAR));
    step->params.shape = shape;
    step->type = type;
    step->n_out = 1;
    step->out[0] = output;
    return step_hand_over(import, step, step_add);
}

// Notes that graphs inside a node (the branches of If) are not read.
static Status note_graphs(Import *import, const Node *node) {
    char name[200], what[240];
    bool graphs = false;
    for (size_t i = 0; i < node->n_attribute; i++) graphs = graphs || node->attribute[i]->has_g;
    if (!graphs) return STATUS_OK;
    schema_name(node, name, sizeof name);
    snprintf(what, sizeof what, "the graphs inside of %s", name);
    return import_assume(import, what,
                         "not counted, nor the numbers that they store; what only they read is "
                         "taken for read by nobody");
}

Status import_missing(Import *import, const Node *node) {
    if (missing_note(import, node) || note_graphs(import, node)) return error_status();
    for (int i = 0; i < (int)node->n_output; i++) {
        int output = import_find(import, node->output[i]);
        Value *value = import_value(import, output);
        Shape shape;
        if (!value) continue;
        value->poisoned =
            !recorded_shape(import, value, &shape) && !like_shape(import, node, &shape);
        if (error_pending()) return error_status();
        int type = value->recorded ? value->recorded->elem_type : like_type(import, node);
        if (!value->poisoned && add_stand_in(import, node, output, type, shape))
            return error_status();
    }
    return STATUS_OK;
}
