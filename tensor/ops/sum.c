// sum.c -- sum and mean over one dimension, or over all; sum_to over several: those that a program
// names, or along which a gradient's input was broadcast. Nothing is transposed: rows are added to
// rows.
#include "tensor/ops/reduce.h"

// ---- kept and reduced dimensions ---------------------------------------------------------------
// x's dimensions, innermost first; adjacent ones that are both kept or both reduced are merged.
typedef struct Groups {
    int count;
    bool kept[TENSOR_MAX_DIMS + 1];
    int64_t size[TENSOR_MAX_DIMS + 1], step[TENSOR_MAX_DIMS + 1]; // step: in elements of x
} Groups;

// `to`: the target shape, with 1 for reduced dimensions, or without leading ones.
static Groups groups_of(const Tensor *x, const Shape *to) {
    Groups g = {0};
    for (int i = 0; i <= TENSOR_MAX_DIMS; i++) g.size[i] = 1; // also for unused groups
    int missing = x->shape.ndim - to->ndim;
    int64_t step = 1;
    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        if (x->shape.dims[d] == 1) continue;
        bool kept = d >= missing && to->dims[d - missing] != 1;
        if (g.count == 0 || g.kept[g.count - 1] != kept) {
            g.kept[g.count] = kept;
            g.step[g.count++] = step;
        }
        g.size[g.count - 1] *= x->shape.dims[d];
        step *= x->shape.dims[d];
    }
    return g;
}

// Offset in x of the index-th combination of the kept (or reduced) groups from `first` on.
static int64_t offset_of(const Groups *g, int first, bool kept, int64_t index) {
    int64_t offset = 0;
    for (int i = first; i < g->count; i++) {
        if (g->kept[i] != kept) continue;
        offset += index % g->size[i] * g->step[i];
        index /= g->size[i];
    }
    return offset;
}

// Int64 sums, outputs [begin, end). The order does not matter, since they wrap around. A sum
// without an innermost reduced group is x itself.
KERNEL static Status sum_whole_groups(const Groups *g, const OpCall *call, int64_t begin,
                                      int64_t end) {
    int inner = g->kept[0] ? 1 : 0;
    int64_t blocks = 1;
    for (int i = inner + 1; i < g->count; i++)
        if (!g->kept[i]) blocks *= g->size[i];
    for (int64_t o = begin; o < end; o++) {
        const int64_t *from = tensor_indices(call->in[0]) + offset_of(g, 0, true, o);
        int64_t total = 0;
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t *x = from + offset_of(g, inner + 1, false, b);
            for (int64_t i = 0; i < g->size[inner]; i++)
                total = math_whole_add(total, x[i * g->step[inner]]);
        }
        tensor_indices(call->out[0])[o] = total;
    }
    return STATUS_OK;
}

// ---- sum, mean ---------------------------------------------------------------------------------
// params: dim, or DIM_ALL; flags: SUM_MEAN, SUM_KEEP_DIM
enum { SUM_MEAN = 1, SUM_KEEP_DIM = 2 };

static Tensor *run(Tensor *x, int dim, unsigned flags) {
    if (x && dim < 0 && dim >= -x->shape.ndim) dim += x->shape.ndim;
    return OP_RUN(op_sum, (&(OpParams){.dim = dim, .flags = flags}), x);
}

Tensor *tensor_sum(Tensor *x, int dim, bool keep_dim) {
    return run(x, dim, keep_dim ? SUM_KEEP_DIM : 0);
}

// Refuses a mean of int64; sums take int64.
static bool has_mean(const char *name, const Tensor *x) {
    if (!x || x->dtype == DTYPE_FLOAT32) return true;
    char text[SHAPE_TEXT];
    error_set(STATUS_DTYPE, "%s of %s: it is %s. HINT: tensor_cast to float32", name,
              shape_text(x->shape, text), dtype_name((DType)x->dtype));
    return false;
}

Tensor *tensor_mean(Tensor *x, int dim, bool keep_dim) {
    if (!has_mean("mean", x)) return NULL;
    return run(x, dim, SUM_MEAN | (keep_dim ? SUM_KEEP_DIM : 0));
}

// x's shape, with 1 for reduced dimensions.
static Shape kept_shape(const OpCall *call) {
    Shape shape = call->in[0]->shape;
    for (int i = 0; i < shape.ndim; i++)
        if (call->params.dim == DIM_ALL || i == call->params.dim) shape.dims[i] = 1;
    return shape;
}

// x seen as (outer, n, inner), n the reduced dimension
typedef struct Extent {
    int64_t n, inner;
} Extent;

static Extent extent_of(const OpCall *call) {
    const Tensor *x = call->in[0];
    int dim = call->params.dim;
    if (dim == DIM_ALL) return (Extent){x->numel, 1};
    Extent e = {x->shape.dims[dim], 1};
    for (int i = dim + 1; i < x->shape.ndim; i++) e.inner *= x->shape.dims[i];
    return e;
}

static Status sum_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    int dim = call->params.dim;
    bool all = dim == DIM_ALL;
    if (!all && (dim < 0 || dim >= x->shape.ndim))
        return op_error(call, STATUS_SHAPE, "no dimension %d. HINT: DIM_ALL reduces all", dim);
    if (call->params.flags & SUM_KEEP_DIM)
        return op_output(call, 0, (DType)x->dtype, kept_shape(call));
    Shape shape = {0};
    for (int i = 0; i < x->shape.ndim && !all; i++)
        if (i != dim) shape.dims[shape.ndim++] = x->shape.dims[i];
    return op_output_of(call, 0, (DType)x->dtype, &shape);
}

// y[j] = sum over n rows of x (n, inner) / by, for columns [from, to)
KERNEL static void sum_rows(const float *x, float *y, Extent e, int64_t from, int64_t to,
                            float by) {
    for (int64_t first = from; first < to; first += REDUCE_TILE) {
        int64_t width = to - first < REDUCE_TILE ? to - first : REDUCE_TILE;
        double total[REDUCE_TILE];
        for (int64_t j = 0; j < width; j++) total[j] = 0.0;
        reduce_add_rows(total, x + first, e.n, e.inner, width);
        for (int64_t j = 0; j < width; j++) y[first + j] = (float)total[j] / by;
    }
}

KERNEL static Status sum_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    Extent e = extent_of(call);
    float by = call->params.flags & SUM_MEAN ? (float)e.n : 1.0f; // 1 / n would round
    if (e.inner == 1) {
        for (int64_t o = begin; o < end; o++) y[o] = reduce_sum(x + o * e.n, e.n) / by;
        return STATUS_OK;
    }
    while (begin < end) { // outputs are (outer, inner): one outer index at a time
        int64_t o = begin / e.inner, from = begin % e.inner;
        int64_t to = e.inner < from + end - begin ? e.inner : from + end - begin;
        sum_rows(x + o * e.n * e.inner, y + o * e.inner, e, from, to, by);
        begin += to - from;
    }
    return STATUS_OK;
}

static Status sum_whole(const OpCall *call, int64_t begin, int64_t end) {
    Shape kept = kept_shape(call);
    Groups groups = groups_of(call->in[0], &kept);
    return sum_whole_groups(&groups, call, begin, end);
}

// Each summand gets the gradient of its sum, as an expanded view.
static Status sum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *grad = grad_out[0];
    if (saved->params.flags & SUM_MEAN) grad = tensor_div_scalar(grad, (float)extent_of(saved).n);
    grad_in[0] = tensor_expand(tensor_reshape(grad, kept_shape(saved)), saved->in[0]->shape);
    return error_status();
}

static void sum_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (!(params->flags & SUM_MEAN)) return;
    story->formula = "y = the mean over one dimension of x, or all";
    story->elementwise.more = 1;
}

// n - 1 adds per output, and for the mean one division
const Op op_sum = {.id = OP_sum,
                   .name = "sum",
                   .kernel = sum_cpu,
                   .whole = sum_whole,
                   NUMBERS,
                   .work = op_work_elements,
                   .n_inputs = 1,
                   .infer = sum_infer,
                   .backward = sum_backward,
                   .story =
                       STORY(.formula = "y = the sum over one dimension of x, or all", .out = "y",
                             .in = {"x"}, .elementwise = {.basis = PER_SUM}, .vary = sum_vary)};

// ---- sum_to ------------------------------------------------------------------------------------
// params: shape = the target shape
static Status sum_to_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = call->params.shape;
    int missing = x->shape.ndim - shape.ndim;
    char text[SHAPE_TEXT];
    bool fits = missing >= 0;
    for (int i = 0; fits && i < shape.ndim; i++)
        fits = shape.dims[i] == 1 || shape.dims[i] == x->shape.dims[i + missing];
    if (!fits)
        return op_error(call, STATUS_SHAPE,
                        "does not reduce to %s. HINT: its sizes, or 1, counted from the last",
                        shape_text(shape, text));
    return op_output(call, 0, (DType)x->dtype, shape);
}

// Outputs [begin, end): adds blocks in float, and their sums in double, for sums of any length.
KERNEL static void sum_groups(const Groups *g, const float *x, float *y, int64_t begin,
                              int64_t end) {
    bool kept = g->kept[0];
    int inner = kept ? 1 : 0; // the innermost reduced group: rows to add, or a row to add up
    int64_t row = kept ? g->size[0] : 1, blocks = 1;
    for (int i = inner + 1; i < g->count; i++)
        if (!g->kept[i]) blocks *= g->size[i];
    for (int64_t o = begin, width; o < end; o += width) {
        int64_t column = o % row;
        width = row - column < REDUCE_TILE ? row - column : REDUCE_TILE;
        if (width > end - o) width = end - o;
        const float *from = x + offset_of(g, 1, true, o / row) + column;
        double total[REDUCE_TILE];
        for (int64_t j = 0; j < width; j++) total[j] = 0.0;
        for (int64_t b = 0; b < blocks; b++) {
            const float *block = from + offset_of(g, inner + 1, false, b);
            if (kept)
                reduce_add_rows(total, block, g->size[inner], g->step[inner], width);
            else
                total[0] += (double)reduce_sum(block, g->size[inner]);
        }
        for (int64_t j = 0; j < width; j++) y[o + j] = (float)total[j];
    }
}

// Items in whole cache lines: adjacent outputs are sums of adjacent columns.
static OpWork sum_to_work(const OpCall *call) {
    OpWork outputs = op_work_elements(call);
    outputs.together = 16;
    return outputs;
}

static Status sum_to_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Groups groups = groups_of(call->in[0], &call->params.shape);
    sum_groups(&groups, call_in(call, 0), call_out(call, 0), begin, end);
    return STATUS_OK;
}

static Status sum_to_whole(const OpCall *call, int64_t begin, int64_t end) {
    Groups groups = groups_of(call->in[0], &call->params.shape);
    return sum_whole_groups(&groups, call, begin, end);
}

static Status sum_to_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    grad_in[0] = tensor_expand(grad_out[0], saved->in[0]->shape);
    return error_status();
}

const Op op_sum_to = {.id = OP_sum_to,
                      .name = "sum_to",
                      .kernel = sum_to_cpu,
                      .whole = sum_to_whole,
                      NUMBERS,
                      .flags = OP_UNATTRIBUTED,
                      .n_inputs = 1,
                      .infer = sum_to_infer,
                      .work = sum_to_work,
                      .backward = sum_to_backward,
                      .story = STORY(.formula = "y = x, summed over what y's shape does not have",
                                     .out = "y", .in = {"x"}, .elementwise = {.basis = PER_SUM})};

// ---- sum_dims, mean_dims: over the named dimensions, or all if none is named --------------------
typedef struct Reduced {
    Shape kept, left; // kept has 1 for a reduced dimension; left omits it
    int64_t n;        // number of elements in a sum
} Reduced;

static bool reduced_of(const char *name, const Tensor *x, const int *dims, int n_dims, Reduced *r) {
    bool all = n_dims == 0, reduced[TENSOR_MAX_DIMS] = {false};
    if (n_dims < 0 || (n_dims > 0 && !dims)) {
        error_set(STATUS_INVALID_ARGUMENT, "%s: %d dimensions%s. HINT: an array of them, or 0: all",
                  name, n_dims, dims ? "" : " in NULL");
        return false;
    }
    for (int i = 0, d; i < n_dims; i++) {
        if (!rows_find_dim(name, x, dims[i], &d)) return false;
        if (reduced[d]) {
            char text[SHAPE_TEXT];
            error_set(STATUS_SHAPE, "%s of %s: dimension %d twice. HINT: %d is %d, too", name,
                      shape_text(x->shape, text), d, d - x->shape.ndim, d);
            return false;
        }
        reduced[d] = true;
    }
    *r = (Reduced){.kept = x->shape, .n = 1};
    for (int i = 0; i < x->shape.ndim; i++) {
        if (!all && !reduced[i]) {
            r->left.dims[r->left.ndim++] = x->shape.dims[i];
            continue;
        }
        r->n *= x->shape.dims[i];
        r->kept.dims[i] = 1;
    }
    return true;
}

static Tensor *sum_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim, bool mean) {
    Reduced r = {0};
    if (x && !reduced_of(mean ? "mean_dims" : "sum_dims", x, dims, n_dims, &r)) return NULL;
    Tensor *sum = OP_RUN(op_sum_to, (&(OpParams){.shape = r.kept}), x);
    if (mean) sum = tensor_div_scalar(sum, (float)r.n);
    return keep_dim ? sum : tensor_reshape(sum, r.left);
}

Tensor *tensor_sum_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim) {
    return sum_dims(x, dims, n_dims, keep_dim, false);
}

Tensor *tensor_mean_dims(Tensor *x, const int *dims, int n_dims, bool keep_dim) {
    return has_mean("mean_dims", x) ? sum_dims(x, dims, n_dims, keep_dim, true) : NULL;
}
