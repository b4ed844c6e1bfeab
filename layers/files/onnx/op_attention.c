// op_attention.c -- attention, one operator since opset 23 and a whole graph of them before; and
// dropout, which only a model exported for training has.
#include <math.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// ---- Attention --------------------------------------------------------------------------------
// dim, other: heads of q, and of k and v, if not a dimension of their own; value: the scale
static Status build_attention(Import *import, const Node *node, Step *step) {
    const Value *q = node_input(import, node, 0), *mask = node_input(import, node, 3);
    int64_t heads = attribute_int(node, "q_num_heads", 0);
    int64_t shared = attribute_int(node, "kv_num_heads", 0);
    bool flat = q && q->shape.ndim == 3;
    if (flat && (heads < 1 || shared < 1 || heads > 1 << 20 || shared > 1 << 20))
        return import_error(import, STATUS_FORMAT, "it does not say how many heads there are");
    step->params.plain.dim = flat ? (int)heads : 0;
    step->params.plain.other = flat ? (int)shared : 0;
    step->params.plain.value[0] = attribute_float(node, "scale", 0.0f);
    step->params.plain.flags[0] = attribute_int(node, "is_causal", 0) != 0;
    step->params.plain.flags[1] = mask && mask->type == ONNX_BOOL;
    return step_inputs(import, node, step, 4);
}

// (batch, s, heads d) to (batch, heads, s, d)
static Tensor *by_heads(Tensor *x, int heads) {
    if (heads == 0 || !x) return x;
    Shape s = x->shape;
    if (s.ndim != 3) return NULL;
    Tensor *split = tensor_reshape(x, SHAPE(s.dims[0], s.dims[1], heads, s.dims[2] / heads));
    return tensor_transpose(split, 1, 2);
}

static Status run_attention(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    int heads = step->params.plain.dim, shared = step->params.plain.other;
    AttentionOptions options = attention_defaults();
    options.scale = step->params.plain.value[0];
    options.causal = step->params.plain.flags[0];
    Tensor *mask = in[3];
    if (mask && step->params.plain.flags[1]) { // true: 0, false: -infinity
        Tensor *seen = onnx_as_float(mask);
        mask =
            tensor_masked_fill(tensor_mul_scalar(seen, 0.0f), tensor_logical_not(seen), -INFINITY);
    }
    Tensor *y = tensor_attention(by_heads(in[0], heads), by_heads(in[1], shared),
                                 by_heads(in[2], shared), mask, options);
    if (heads > 0 && y) { // (batch, heads, s, e) to (batch, s, heads e)
        Shape s = y->shape;
        y = tensor_reshape(tensor_transpose(y, 1, 2), SHAPE(s.dims[0], s.dims[2], -1));
    }
    out[0] = y;
    return error_status();
}

// ---- Dropout ----------------------------------------------------------------------------------
static Status build_dropout(Import *import, const Node *node, Step *step) {
    Value *ratio = node_input(import, node, 1), *trains = node_input(import, node, 2);
    if (import->opset < 12)
        return import_error(import, STATUS_NOT_IMPLEMENTED,
                            "its second output, of which opsets before 12 do not say what it is in "
                            "evaluation. HINT: onnx.version_converter.convert_version(model, 13)");
    if (trains && !value_data(import, trains)) return error_status();
    if (trains && value_number(trains, 0) != 0.0)
        import_assume(import, "Dropout whose training_mode is 1",
                      "it drops nothing in evaluation, and acts in a training step");
    if (ratio && !value_is_one(import, ratio, "ratio")) return error_status();
    step->params.plain.value[0] = ratio ? (float)value_number(ratio, 0) : 0.5f;
    return step_inputs(import, node, step, 1);
}

static Status run_dropout(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    float ratio = step->params.plain.value[0];
    if (step->n_out < 2) {
        out[0] = training ? tensor_dropout(in[0], ratio) : in[0];
    } else { // the mask of kept elements is a result, too
        Tensor *ones = tensor_equal(in[0], in[0]);
        Tensor *noise = training ? tensor_dropout(ones, ratio) : ones;
        out[0] = training ? tensor_mul(in[0], noise) : in[0];
        out[1] = tensor_logical_not(tensor_logical_not(noise));
    }
    return error_status();
}

const Operator onnx_attention[] = {
    {.name = "Attention", .build = build_attention, .run = run_attention, .optional = 1 << 3},
    {.name = "Dropout",
     .build = build_dropout,
     .run = run_dropout,
     .module = "Dropout",
     .second_type = ONNX_BOOL},
    {.name = NULL},
};
