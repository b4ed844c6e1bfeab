// wide.c -- a reshape to more dimensions than a tensor has here, with the transpose and the reshape
// after it (windows of a volume, channels to pixels). Between them the numbers are a vector.
// Dimensions that stay adjacent count as one in the transpose; if these are still too many, several
// permutations do it.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// ---- running ------------------------------------------------------------------------------------
// The order that begins with the first `t` dimensions of the wanted one, then has the others as
// they are, in all[]. Adjacent dimensions merge into one of `shape`, and turn[] permutes those.
// Returns their number; if above TENSOR_MAX_DIMS, shape and turn are not set.
static int runs_of(const WideParams *wide, int t, int all[], Shape *shape, int turn[]) {
    bool placed[MOST_WIDE] = {false}, begins[MOST_WIDE] = {false};
    int place[MOST_WIDE], runs = 0, k = t;
    for (int i = 0; i < t; i++) placed[all[i] = wide->order[i]] = true;
    for (int i = 0; i < wide->n; i++)
        if (!placed[i]) all[k++] = i;
    for (int i = 0; i < wide->n; i++) begins[all[i]] = i == 0 || all[i - 1] != all[i] - 1;
    for (int i = 0; i < wide->n; i++) runs += begins[i];
    if (runs > TENSOR_MAX_DIMS) return runs;
    *shape = (Shape){.ndim = runs};
    for (int i = 0, run = -1; i < wide->n; i++) {
        if (begins[i]) shape->dims[++run] = 1;
        shape->dims[run] *= wide->sizes[i];
        place[i] = run;
    }
    for (int i = 0, run = 0; i < wide->n; i++)
        if (begins[all[i]]) turn[run++] = place[all[i]];
    return runs;
}

// Each permutation moves as many dimensions to their places as it can; then fewer runs are left.
static Status run_turned(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training;
    WideParams wide = step->params.wide, next = wide;
    Tensor *x = in[0];
    for (int done = 0; done < wide.n && x; wide = next) {
        int all[MOST_WIDE], turn[TENSOR_MAX_DIMS], t = wide.n, back[MOST_WIDE];
        Shape shape;
        while (runs_of(&wide, t, all, &shape, turn) > TENSOR_MAX_DIMS) t--;
        x = tensor_reshape(tensor_permute(tensor_reshape(x, shape), turn), SHAPE(-1));
        for (int i = 0; i < wide.n; i++) {
            next.sizes[i] = wide.sizes[all[i]];
            back[all[i]] = i;
        }
        for (int i = 0; i < wide.n; i++) next.order[i] = back[wide.order[i]];
        done = t;
    }
    out[0] = x == in[0] ? tensor_reshape(x, SHAPE(-1)) : x;
    return error_status();
}

static Status run_apart(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    out[0] = tensor_reshape(in[0], SHAPE(-1));
    return error_status();
}

static const Operator apart = {.name = "WideReshape", .run = run_apart};
static const Operator turned = {.name = "WideTranspose", .run = run_turned};

// ---- reading the nodes --------------------------------------------------------------------------
// The only node that reads a node's result, as its first input; NULL where there is another reader
// or none.
static const Node *only_reader(Import *import, const Node *node) {
    const Onnx__Graph *graph = import->graph;
    const Value *value = node_output(import, node, 0);
    if (!value || value->readers != 1 || import_work(import, (int64_t)graph->n_node)) return NULL;
    for (size_t i = 0; i < graph->n_node; i++)
        if (graph->node[i]->n_input > 0 && strcmp(graph->node[i]->input[0], node->output[0]) == 0)
            return graph->node[i];
    return NULL;
}

static bool is_of(const Node *node, const char *op_type) {
    return node && node->n_output > 0 && strcmp(node->op_type, op_type) == 0;
}

// Resolves -1 (an open size) and 0 (the size as before); false: they do not fit.
static bool read_sizes(const Node *node, Shape in, int64_t sizes[], int n) {
    int64_t known = 1, numel = shape_numel(in);
    int open = -1;
    for (int i = 0; i < n; i++) {
        if (sizes[i] == 0 && attribute_int(node, "allowzero", 0) == 0 && i < in.ndim)
            sizes[i] = in.dims[i];
        if (sizes[i] == -1 && open < 0)
            open = i;
        else if (sizes[i] < 1 || __builtin_mul_overflow(known, sizes[i], &known))
            return false;
    }
    if (open >= 0) sizes[open] = numel % known == 0 ? numel / known : 0;
    return open >= 0 ? sizes[open] * known == numel : known == numel;
}

// Leaves out dimensions of 1, which do not affect the order.
static void keep_long(const int64_t sizes[], const int64_t perm[], int n, WideParams *wide) {
    int place[MOST_WIDE];
    wide->n = 0;
    for (int i = 0; i < n; i++) {
        place[i] = wide->n;
        if (sizes[i] != 1) wide->sizes[wide->n++] = sizes[i];
    }
    for (int i = 0, k = 0; i < n; i++)
        if (sizes[perm[i]] != 1) wide->order[k++] = place[perm[i]];
}

Status wide_reshape(Import *import, const Node *node, Shape in, Step *step) {
    int64_t sizes[MOST_WIDE] = {0}, perm[MOST_WIDE];
    int n = import_ints(import, node, NULL, 1, sizes, MOST_WIDE);
    const Node *turn = error_pending() ? NULL : only_reader(import, node);
    const Node *behind = is_of(turn, "Transpose") ? only_reader(import, turn) : NULL;
    unsigned seen = 0;
    if (error_pending()) return error_status();
    bool fits = is_of(behind, "Reshape") && attribute_ints(turn, "perm", perm, MOST_WIDE) == n &&
                read_sizes(node, in, sizes, n);
    for (int i = 0; i < n && fits; i++) {
        fits = perm[i] >= 0 && perm[i] < n && !(seen >> perm[i] & 1);
        if (fits) seen |= 1u << perm[i];
    }
    if (!fits)
        return import_error(
            import, STATUS_NOT_IMPLEMENTED,
            "%d dimensions, and up to %d are possible, or up to %d of sizes that come "
            "to as many numbers, where a Transpose and then a Reshape follow alone",
            n, TENSOR_MAX_DIMS, MOST_WIDE);
    step->op = &apart;
    keep_long(sizes, perm, n, &step->params.wide);
    return step_inputs(import, node, step, 1);
}

Status wide_transpose(Import *import, const Node *node, const WideParams *of, Step *step) {
    step->op = &turned;
    step->params.wide = *of;
    return step_inputs(import, node, step, 1);
}

const WideParams *wide_of(const Import *import, int value) {
    const Step *step = step_of(import, value);
    return step && (step->op == &apart || step->op == &turned) ? &step->params.wide : NULL;
}
