// op_classic.c -- the operators of scikit-learn pipelines around a network (ai.onnx.ml). Class
// names: op_picks.c.
#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// Adds a node's list of floats to the step as a constant input.
static Status take_floats(Import *import, const Node *node, Step *step, const char *name,
                          int64_t columns) {
    const Onnx__Attribute *found = attribute_find(node, name);
    int64_t n = found ? (int64_t)found->n_floats : 0;
    if (n != 1 && n != columns)
        return import_error(import, STATUS_FORMAT, "%lld numbers of %s, not 1 or %lld",
                            (long long)n, name, (long long)columns);
    int at = import_constant(import, ONNX_FLOAT, SHAPE(n));
    for (int64_t i = 0; i < n && at >= 0; i++)
        value_floats(import->values[at])[i] = found->floats[i];
    return at < 0 ? error_status() : step_input(import, step, at);
}

static Status build_scaler(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (in->shape.ndim < 1) return import_error(import, STATUS_SHAPE, "it has no rows");
    int64_t columns = in->shape.dims[in->shape.ndim - 1];
    step->type = ONNX_FLOAT;
    if (step_inputs(import, node, step, 1) || take_floats(import, node, step, "offset", columns))
        return error_status();
    return take_floats(import, node, step, "scale", columns);
}

static Status run_scaler(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    out[0] = tensor_mul(tensor_sub(onnx_as_float(in[0]), in[1]), in[2]);
    return error_status();
}

// ONNX gives a dictionary per row, by class names; here the result is the numbers in that order.
static Status run_zip(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    out[0] = in[0];
    return error_status();
}

const Operator onnx_classic[] = {
    {.name = "Scaler", .build = build_scaler, .run = run_scaler},
    {.name = "ZipMap", .build = step_build_one, .run = run_zip},
    {.name = NULL},
};
