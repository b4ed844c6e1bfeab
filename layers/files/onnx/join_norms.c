// join_norms.c -- joins norms that exporters write out: a layer norm by its formula (before opset
// 17), a group norm as an instance norm of groups; and the weights after either.
#include <string.h>

#include "layers/files/onnx/import.h"

// ---- layer norm (Ba et al. 2016) --------------------------------------------------------------
// Number of the last dimensions that a mean reduces and keeps as ones; 0: another operation.
static int rows_of_mean(const Import *import, const Step *mean) {
    const Value *in = step_is(mean, "ReduceMean") ? import_value(import, mean->in[0]) : NULL;
    const ReduceParams *reduce = in ? &mean->params.reduce : NULL;
    if (!in || reduce->nothing || !reduce->keep || reduce->n_dims >= in->shape.ndim) return 0;
    for (int i = 0; i < reduce->n_dims; i++)
        if (reduce->dims[i] < in->shape.ndim - reduce->n_dims) return 0;
    return reduce->n_dims;
}

// True if the step is the square of the value.
static bool is_square(const Step *step, int of) {
    if (!step || step->in[0] != of) return false;
    if (step_is(step, "Mul")) return step->params.plain.dim == 0 && step->in[1] == of;
    return step_is(step, "Pow") && step->params.plain.dim != 0 &&
           step->params.plain.value[0] == 2.0f;
}

// Joins (x - mean) / sqrt(mean of its square + epsilon), if no other node reads a part of it.
static void join_layer_norm(Import *import, Step *quotient) {
    if (quotient->n_in != 2) return;
    const Step *centred = step_of(import, quotient->in[0]);
    const Step *root = step_of(import, quotient->in[1]);
    const Step *sum = step_is(root, "Sqrt") ? step_of(import, root->in[0]) : NULL;
    const Step *variance =
        step_is(sum, "Add") && sum->params.plain.dim != 0 ? step_of(import, sum->in[0]) : NULL;
    if (!step_is(centred, "Sub") || centred->n_in != 2 || !variance) return;
    const Step *mean = step_of(import, centred->in[1]);
    int rows = rows_of_mean(import, mean);
    if (rows == 0 || mean->in[0] != centred->in[0] || rows_of_mean(import, variance) != rows ||
        !is_square(step_of(import, variance->in[0]), quotient->in[0]) ||
        import_value(import, quotient->in[1])->readers != 1)
        return;
    int x = mean->in[0];
    const Shape *shape = &import_value(import, x)->shape;
    NormParams norm = {.epsilon = sum->params.plain.value[0], .row = {.ndim = rows}};
    for (int i = 0; i < rows; i++) norm.row.dims[i] = shape->dims[shape->ndim - rows + i];
    quotient->op = onnx_operator("LayerNormalization");
    quotient->params = (StepParams){.norm = norm};
    quotient->in[0] = x;
    quotient->n_in = 1;
}

// ---- group norm (Wu and He 2018) ----------------------------------------------------------------
// Joins x reshaped to (n, groups, rest), an instance norm without weights, and the reshape back.
static void join_group_norm(Import *import, Step *back) {
    const Step *norm = step_of(import, back->in[0]);
    if (!step_is(norm, "InstanceNormalization") || norm->n_in != 1) return;
    const Step *there = step_of(import, norm->in[0]);
    if (!step_is(there, "Reshape")) return;
    const Value *x = import_value(import, there->in[0]), *y = import_value(import, back->out[0]);
    const Shape *grouped = &import_value(import, norm->in[0])->shape;
    if (x->shape.ndim < 3 || !shape_equal(x->shape, y->shape) || grouped->ndim != 3 ||
        grouped->dims[0] != x->shape.dims[0] || grouped->dims[1] < 1 ||
        x->shape.dims[1] % grouped->dims[1] != 0 || import_value(import, back->in[0])->readers != 1)
        return;
    back->op = onnx_operator("GroupNormalization");
    back->params =
        (StepParams){.norm = {.epsilon = norm->params.norm.epsilon, .groups = grouped->dims[1]}};
    back->in[0] = there->in[0];
    back->n_in = 1;
}

// ---- the weights after them ---------------------------------------------------------------------
// The parameter that a value is, perhaps with added dimensions of 1.
static int parameter_of(const Import *import, int value) {
    const Step *step = step_of(import, value);
    if (step_is(step, "Unsqueeze")) value = step->in[0];
    const Value *of = import_value(import, value);
    return of && of->kind == VALUE_PARAMETER ? value : VALUE_ABSENT;
}

// True if the value has one number for each that the norm takes, in the norm's dimension.
static bool is_weight_of(const Import *import, const Step *norm, int value) {
    const Shape *weight = &import_value(import, value)->shape;
    if (step_is(norm, "LayerNormalization")) return shape_equal(*weight, norm->params.norm.row);
    const Shape *x = &import_value(import, norm->in[0])->shape;
    int place = 1 - (x->ndim - weight->ndim); // dimension of the channels
    return place >= 0 && weight->dims[place] == x->dims[1] && shape_numel(*weight) == x->dims[1];
}

// Joins norm(x) and a weight, or these and a bias, of one layer; other layers' scales stay apart.
static void join_affine(Import *import, Step *step) {
    int i = step_is(step, "Mul") ? 1 : 2; // the norm's input index
    for (int k = 0; k < 2; k++) {
        Step *norm = step_of(import, step->in[k]);
        bool norms = step_is(norm, "LayerNormalization") || step_is(norm, "GroupNormalization");
        int at = parameter_of(import, step->in[1 - k]);
        if (!norms || norm->n_in != i || at < 0 || !is_weight_of(import, norm, step->in[1 - k]) ||
            import_value(import, step->in[k])->readers != 1 ||
            !onnx_same_layer(norm->node, step->node))
            continue;
        int place = import_value(import, step->in[k])->step;
        if (step_input(import, norm, at)) return;
        if (step_is(norm, "GroupNormalization")) value_flatten(import->values[at]);
        import->values[at]->role = i == 1 ? "weight" : "bias";
        import->values[at]->role_step = place;
        step_moves(import, step, place);
        return;
    }
}

void import_join_norms(Import *import, Step *step) {
    if (step_is(step, "Div")) join_layer_norm(import, step);
    if (step_is(step, "Reshape")) join_group_norm(import, step);
    if ((step_is(step, "Mul") || step_is(step, "Add")) && step->n_in == 2)
        join_affine(import, step);
}
