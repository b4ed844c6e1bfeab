// sum.c -- sum or mean over one dimension, or over all; no transposing: rows are added to rows
// params: dim, or DIM_ALL; flags: SUM_MEAN, SUM_KEEP_DIM
#include "tensor/ops/reduce.h"

enum { SUM_MEAN = 1, SUM_KEEP_DIM = 2 };

static Tensor *run(Tensor *x, int dim, unsigned flags) {
    if (x && dim < 0 && dim >= -x->shape.ndim) dim += x->shape.ndim;
    return OP_RUN(op_sum, (&(OpParams){.dim = dim, .flags = flags}), x);
}

Tensor *tensor_sum(Tensor *x, int dim, bool keep_dim) {
    return run(x, dim, keep_dim ? SUM_KEEP_DIM : 0);
}

Tensor *tensor_mean(Tensor *x, int dim, bool keep_dim) {
    return run(x, dim, SUM_MEAN | (keep_dim ? SUM_KEEP_DIM : 0));
}

// x seen as (outer, n, inner), n the reduced dimension
typedef struct Extent {
    int64_t outer, n, inner;
} Extent;

static Extent extent_of(const OpCall *call) {
    const Tensor *x = call->in[0];
    Extent e = {1, 1, 1};
    if (call->params.dim == DIM_ALL) return (Extent){1, x->numel, 1};
    for (int i = 0; i < x->shape.ndim; i++) {
        if (i < call->params.dim)
            e.outer *= x->shape.dims[i];
        else if (i == call->params.dim)
            e.n = x->shape.dims[i];
        else
            e.inner *= x->shape.dims[i];
    }
    return e;
}

static Status sum_infer(OpCall *call) {
    const Tensor *x = call->in[0];
    int dim = call->params.dim;
    bool all = dim == DIM_ALL, keep = call->params.flags & SUM_KEEP_DIM;
    if (!all && (dim < 0 || dim >= x->shape.ndim))
        return op_error(call, STATUS_SHAPE, "no dimension %d. HINT: DIM_ALL reduces all", dim);
    Shape shape = {0};
    for (int i = 0; i < x->shape.ndim; i++) {
        if (!all && i != dim)
            shape.dims[shape.ndim++] = x->shape.dims[i];
        else if (keep)
            shape.dims[shape.ndim++] = 1;
    }
    return op_output(call, 0, DTYPE_FLOAT32, shape);
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
    float by =
        call->params.flags & SUM_MEAN ? (float)e.n : 1.0f; // a product with 1 / n would round
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

// Every summand gets the gradient of its sum: a view, expanded.
static Status sum_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *grad = grad_out[0];
    Extent e = extent_of(saved);
    if (saved->params.flags & SUM_MEAN) grad = tensor_div_scalar(grad, (float)e.n);
    Shape kept = x->shape;
    for (int i = 0; i < kept.ndim; i++)
        if (saved->params.dim == DIM_ALL || i == saved->params.dim) kept.dims[i] = 1;
    if (grad) grad = tensor_expand(tensor_reshape(grad, kept), x->shape);
    grad_in[0] = grad;
    return grad ? STATUS_OK : error_status();
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
                   .work = op_work_elements,
                   .n_inputs = 1,
                   .infer = sum_infer,
                   .backward = sum_backward,
                   .story =
                       STORY(.formula = "y = the sum over one dimension of x, or all", .out = "y",
                             .in = {"x"}, .elementwise = {.basis = PER_SUM}, .vary = sum_vary)};
