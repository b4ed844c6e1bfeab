// op_reductions.c -- ONNX's reductions, argmax and argmin, top-k, and running sums.
#include <float.h>
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

static Status done(Tensor *y, Tensor *out[]) {
    out[0] = y;
    return error_status();
}

// True for a pool over whole planes, which the newer exporter writes as a mean.
static bool is_pool(const Node *node, Shape in, const ReduceParams *reduce) {
    const char *classes = onnx_recorded(node, "pkg.torch.onnx.class_hierarchy");
    if (strcmp(node->op_type, "ReduceMean") != 0 || !classes || !reduce->keep) return false;
    for (int i = 0; i < reduce->n_dims; i++)
        if (reduce->dims[i] < 2) return false;
    return in.ndim > 2 && in.ndim < 5 && reduce->n_dims == in.ndim - 2 &&
           strstr(classes, in.ndim == 4 ? ".AdaptiveAvgPool2d', 'aten."
                                        : ".AdaptiveAvgPool1d', 'aten.") != NULL;
}

static Status build_reduce(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    if (shape_reduce(import, node, in->shape, &step->params.reduce)) return error_status();
    if (is_pool(node, in->shape, &step->params.reduce))
        step->op = onnx_operator("GlobalAveragePool");
    return step_inputs(import, node, step, 1);
}

// Reduces one dimension after the other, from the last, so that the others keep their indices.
static Tensor *one_by_one(Tensor *x, const ReduceParams *reduce,
                          Tensor *(*of)(Tensor *x, int dim, bool keep)) {
    for (int dim = TENSOR_MAX_DIMS - 1; dim >= 0; dim--)
        for (int i = 0; i < reduce->n_dims; i++)
            if (reduce->dims[i] == dim) x = of(x, dim, reduce->keep);
    return x;
}

static Tensor *sum(Tensor *x, const ReduceParams *reduce) {
    return tensor_sum_dims(x, reduce->dims, reduce->n_dims, reduce->keep);
}

// Multiplies halves until one number is left; an empty dimension gives 1.
static Tensor *product(Tensor *x, int dim, bool keep) {
    int64_t none[TENSOR_MAX_DIMS] = {0}, one[TENSOR_MAX_DIMS] = {0};
    one[dim] = 1;
    if (x && x->shape.dims[dim] == 0) x = tensor_pad(x, none, one, PAD_CONSTANT, 1.0f);
    while (x && x->shape.dims[dim] > 1) {
        int64_t n = x->shape.dims[dim], half = n / 2;
        Tensor *y =
            tensor_mul(tensor_slice(x, dim, 0, half, 1), tensor_slice(x, dim, half, 2 * half, 1));
        Tensor *both[2] = {y, n % 2 ? tensor_slice(x, dim, n - 1, n, 1) : NULL};
        x = n % 2 ? tensor_concat(both, 2, dim) : y;
    }
    return x ? tensor_sum(x, dim, keep) : NULL;
}

// log(sum(exp(x - m))) + m, with m the largest number, limited to finite values.
static Tensor *log_sum_exp(Tensor *x, int dim, bool keep) {
    Tensor *most = tensor_clamp(tensor_detach(tensor_max(x, dim, true)), -FLT_MAX, FLT_MAX);
    Tensor *sums = tensor_log(tensor_sum(tensor_exp(tensor_sub(x, most)), dim, true));
    Tensor *y = tensor_add(sums, most);
    return keep ? y : tensor_sum(y, dim, false);
}

static Tensor *reduce_by(const char *name, Tensor *x, const ReduceParams *reduce) {
    if (strcmp(name, "ReduceMean") == 0)
        return tensor_mean_dims(x, reduce->dims, reduce->n_dims, reduce->keep);
    if (strcmp(name, "ReduceMax") == 0) return one_by_one(x, reduce, tensor_max);
    if (strcmp(name, "ReduceMin") == 0) return one_by_one(x, reduce, tensor_min);
    if (strcmp(name, "ReduceProd") == 0) return one_by_one(x, reduce, product);
    if (strcmp(name, "ReduceLogSumExp") == 0) return one_by_one(x, reduce, log_sum_exp);
    if (strcmp(name, "ReduceL1") == 0) return sum(tensor_abs(x), reduce);
    if (strcmp(name, "ReduceSumSquare") == 0) return sum(tensor_mul(x, x), reduce);
    if (strcmp(name, "ReduceL2") == 0) return tensor_sqrt(sum(tensor_mul(x, x), reduce));
    if (strcmp(name, "ReduceLogSum") == 0) return tensor_log(sum(x, reduce));
    return sum(x, reduce);
}

// Reduces single numbers: reduce_by without a sum.
static Tensor *alone(const char *name, Tensor *x) {
    if (strcmp(name, "ReduceL1") == 0 || strcmp(name, "ReduceL2") == 0) return tensor_abs(x);
    if (strcmp(name, "ReduceSumSquare") == 0) return tensor_mul(x, x);
    return strcmp(name, "ReduceLogSum") == 0 ? tensor_log(x) : x;
}

static Status run_reduce(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    const ReduceParams *reduce = &step->params.reduce;
    Tensor *x = step_number(step, in[0]);
    bool same = reduce->nothing || (reduce->n_dims == 0 && x && x->shape.ndim == 0);
    return done(same ? alone(step->op->name, x) : reduce_by(step->op->name, x, reduce), out);
}

// ---- along one dimension ----------------------------------------------------------------------
static Status build_extreme(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int axis = import_axis(import, attribute_int(node, "axis", 0), in->shape.ndim);
    step->params.plain.dim = axis;
    step->params.plain.flags[0] = attribute_int(node, "keepdims", 1) != 0;
    return error_pending() ? error_status() : step_inputs(import, node, step, 1);
}

static Status run_extreme(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    Tensor *x = step_number(step, in[0]);
    int dim = step->params.plain.dim;
    bool keep = step->params.plain.flags[0], most = strcmp(step->op->name, "ArgMax") == 0;
    return done(most ? tensor_argmax(x, dim, keep) : tensor_argmin(x, dim, keep), out);
}

// ---- TopK: dim; count: k; flags[0]: the largest; the result is sorted ---------------------------
static Status build_topk(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    int64_t k = attribute_int(node, "k", -1); // in old opsets
    if (k < 0 && import_ints(import, node, NULL, 1, &k, 1) != 1)
        return error_pending() ? error_status()
                               : import_error(import, STATUS_FORMAT, "it has no k");
    step->params.plain.dim = import_axis(import, attribute_int(node, "axis", -1), in->shape.ndim);
    step->params.plain.count = k;
    step->params.plain.flags[0] = attribute_int(node, "largest", 1) != 0;
    return error_pending() ? error_status() : step_inputs(import, node, step, 1);
}

static Status run_topk(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    out[0] = tensor_topk(step_number(step, in[0]), step->params.plain.count, step->params.plain.dim,
                         step->params.plain.flags[0], &out[1]);
    return error_status();
}

static Status build_running(Import *import, const Node *node, Step *step) {
    const Value *in = node_input(import, node, 0);
    Value *dim = node_input(import, node, 1);
    if (!value_is_one(import, dim, "axis")) return error_status();
    step->params.plain.dim = import_axis(import, value_integer(dim, 0), in->shape.ndim);
    return error_pending() ? error_status() : step_inputs(import, node, step, 1);
}

static Status run_running(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    return done(tensor_cumsum(step_number(step, in[0]), step->params.plain.dim), out);
}

#define REDUCTION(text, ...)                                                                       \
    { .name = text, .build = build_reduce, .run = run_reduce, __VA_ARGS__ }
const Operator onnx_reductions[] = {
    REDUCTION("ReduceMean", .whole = WHOLE_NOT),
    REDUCTION("ReduceSum", .whole = WHOLE_COMPUTED, .wraps = true),
    REDUCTION("ReduceMax", .whole = WHOLE_COMPUTED),
    REDUCTION("ReduceMin", .whole = WHOLE_COMPUTED),
    REDUCTION("ReduceL1", .whole = WHOLE_COMPUTED, .wraps = true),
    REDUCTION("ReduceL2", .whole = WHOLE_NOT),
    REDUCTION("ReduceSumSquare", .whole = WHOLE_COMPUTED, .wraps = true),
    REDUCTION("ReduceLogSum", .whole = WHOLE_NOT),
    REDUCTION("ReduceProd", .whole = WHOLE_COMPUTED, .wraps = true),
    REDUCTION("ReduceLogSumExp", .whole = WHOLE_NOT),
    {.name = "ArgMax",
     .build = build_extreme,
     .run = run_extreme,
     .type = ONNX_INT64,
     .whole = WHOLE_COMPUTED},
    {.name = "ArgMin",
     .build = build_extreme,
     .run = run_extreme,
     .type = ONNX_INT64,
     .whole = WHOLE_COMPUTED},
    {.name = "TopK",
     .build = build_topk,
     .run = run_topk,
     .second_type = ONNX_INT64,
     .whole = WHOLE_COMPUTED},
    {.name = "CumSum",
     .build = build_running,
     .run = run_running,
     .whole = WHOLE_COMPUTED,
     .wraps = true},
    {.name = NULL},
};
