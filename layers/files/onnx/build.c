// build.c -- makes a step of a node: the operator reads its attributes, inputs and outputs are
// looked up, and results get the types that the graph says when the step runs.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

// ---- types ------------------------------------------------------------------------------------
int step_type(const Step *step, int i) {
    return i == 1 && step->op->second_type ? step->op->second_type : step->type;
}

// True if every number of type `from` is one of type `to`.
static bool holds_all(int from, int to) {
    bool from_signed, to_signed;
    int from_bits = onnx_bits(from, &from_signed), to_bits = onnx_bits(to, &to_signed);
    if (from_bits == 0) return !onnx_is_float(from); // truth values
    return from_signed == to_signed ? from_bits <= to_bits : !from_signed && from_bits < to_bits;
}

// Integers of more bits than this are not all float32 numbers.
enum { EXACT_BITS = 24 };

// Chooses how a step computes with this type: as integers, which wrap around where results may
// leave their type. An error where computing in float32 would round.
static Status choose_type(Import *import, Step *step, int type) {
    bool is_signed;
    bool wraps = step->op->wraps && (type == step->type || !holds_all(type, step->type));
    int bits = onnx_bits(step->type, &is_signed);
    // uint64 is held as int64, half of whose numbers are negative: it can be moved, but not
    // computed.
    if ((type == ONNX_UINT64 && step->op->whole == WHOLE_COMPUTED) ||
        (wraps && step->type == ONNX_UINT64))
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "arithmetic of uint64 is not computed. HINT: Cast to int64 before it");
    step->narrow = wraps && bits < 64 ? bits : 0;
    step->is_signed = is_signed;
    bits = onnx_bits(type, &is_signed);
    step->whole = bits > 0 && step->op->whole;
    for (int i = 0; i < 2; i++) step->dtypes[i] = onnx_dtype(step_type(step, i));
    const char *module = step->op->module ? step->op->module : step->op->name;
    bool sums = strcmp(module, "Linear") == 0 || strcmp(module, "Einsum") == 0;
    if (bits <= (sums ? 0 : EXACT_BITS) || step->op->whole) return STATUS_OK;
    return import_error(import, STATUS_NOT_IMPLEMENTED,
                        "it is computed of floats only, which would round %s numbers above 2^24. "
                        "HINT: Cast to float before it, where no number is so large",
                        onnx_type_name(type));
}

Tensor *step_number(const Step *step, Tensor *x) {
    return step->whole ? onnx_as_index(x) : onnx_as_float(x);
}

Status step_run(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    step->op->run(step, training, in, out);
    if (step->narrow && out[0])
        out[0] = tensor_wrap(onnx_as_index(out[0]), step->narrow, step->is_signed);
    for (int i = 0; i < step->n_out && !error_pending(); i++) {
        DType wanted = step->dtypes[i == 1];
        if (out[i] && (DType)out[i]->dtype != wanted) out[i] = tensor_cast(out[i], wanted);
    }
    return error_status();
}

// ---- steps --------------------------------------------------------------------------------------
// The step is in the list from the start, because roles of values refer to it by its index.
Step *step_new(Import *import, const Node *node, const Operator *op) {
    if (import_grow((void **)&import->steps, import->n_steps, sizeof(Step *))) return NULL;
    Step *step = memory_new(sizeof *step);
    if (!step) return NULL;
    step->op = op;
    step->node = node;
    const Value *first = node_input(import, node, 0);
    step->type = op->type ? op->type : first ? first->type : ONNX_FLOAT;
    if (!import->computing) import->steps[import->n_steps] = step;
    return step;
}

static bool may_lack(const Operator *op, int input) {
    enum { LAST = 31 };
    return (op->optional >> (input < LAST ? input : LAST) & 1) != 0;
}

static Status check_inputs(Import *import, const Step *step) {
    for (int i = 0; i < step->n_in || i == 0; i++)
        if (i == step->n_in || (step->in[i] < 0 && !may_lack(step->op, i)))
            return import_error(import, STATUS_FORMAT, "it has no input %d", i);
    return STATUS_OK;
}

// Hands a finished step to `take`, unless an error is pending. The import keeps steps of the model,
// also after an error, because roles refer to them by index.
Status step_hand_over(Import *import, Step *step, Status (*take)(Import *import, Step *step)) {
    if (!import->computing) import->n_steps++;
    if (!error_pending()) check_inputs(import, step);
    int data = step->op->data;
    const Value *of = data < step->n_in ? import_value(import, step->in[data]) : NULL;
    if (!error_pending()) choose_type(import, step, of ? of->type : ONNX_FLOAT);
    if (error_pending()) step->n_out = 0;
    if (!error_pending()) take(import, step);
    if (import->computing) step_free(step);
    return error_status();
}

// Builds a split into more parts than a step has results as that many slices.
static Status build_slices(Import *import, const Node *node,
                           Status (*take)(Import *import, Step *step)) {
    const Value *in = node_input(import, node, 0);
    int parts = (int)node->n_output, axis;
    Shape shape = in->shape;
    int64_t begin = 0, *sizes = memory_new((size_t)parts * sizeof *sizes);
    if (sizes) shape_split(import, node, shape, &axis, sizes);
    for (int i = 0; i < parts && !error_pending(); i++) {
        Step *step = step_new(import, node, onnx_operator("Slice"));
        if (!step) break;
        for (int d = 0; d < shape.ndim; d++) {
            step->params.slice.begin[d] = d == axis ? begin : 0;
            step->params.slice.count[d] = d == axis ? sizes[i] : shape.dims[d];
            step->params.slice.step[d] = 1;
        }
        step_inputs(import, node, step, 1);
        step->n_out = 1;
        step->out[0] = import_find(import, node->output[i]);
        begin += sizes[i];
        step_hand_over(import, step, take);
    }
    memory_free(sizes);
    return error_status();
}

// Number of outputs up to the last one that is read: until opset 14 a batch norm had statistics as
// outputs that nobody reads. All outputs of a Split count, because they define the split.
static size_t outputs_read(const Import *import, const Node *node) {
    size_t n = node->n_output;
    if (strcmp(node->op_type, "Split") == 0) return n;
    for (; n > 1; n--) {
        const Value *last = node_output(import, node, (int)n - 1);
        if (last && last->readers > 0) break;
    }
    return n;
}

// Refuses numbers of two types without a Cast; all floats are float32 here, whatever the file has.
static Status check_types(const Import *import, const Node *node) {
    const Value *first = node_input(import, node, 0);
    for (int i = 1; i < (int)node->n_input && first; i++) {
        const Value *next = node_input(import, node, i);
        bool floats = next && onnx_is_float(first->type) && onnx_is_float(next->type);
        if (next && next->type != first->type && !floats)
            return import_error(import, STATUS_FORMAT,
                                "its inputs are of the types %s and %s, and must be of one. HINT: "
                                "a Cast before it",
                                onnx_type_name(first->type), onnx_type_name(next->type));
    }
    return STATUS_OK;
}

Status step_build(Import *import, const Node *node, const Operator *op,
                  Status (*take)(Import *import, Step *step)) {
    if (strcmp(op->name, "Split") == 0 && node->n_output > STEP_OUTPUTS)
        return build_slices(import, node, take);
    if (op->of_two && strcmp(op->name, "Pow") != 0 && check_types(import, node))
        return error_status();
    Step *step = step_new(import, node, op);
    if (!step) return error_status();
    op->build(import, node, step);
    size_t outputs = outputs_read(import, node);
    if (outputs > STEP_OUTPUTS && !error_pending())
        import_error(import, STATUS_NOT_IMPLEMENTED,
                     "%zu of its outputs are read, and at most %d can be", outputs, STEP_OUTPUTS);
    step->n_out = error_pending() ? 0 : (int)outputs;
    for (int i = 0; i < step->n_out; i++) step->out[i] = import_find(import, node->output[i]);
    return step_hand_over(import, step, take);
}

void step_free(Step *step) {
    if (!step) return;
    memory_free(step->in);
    memory_free(step->path);
    memory_free(step);
}
