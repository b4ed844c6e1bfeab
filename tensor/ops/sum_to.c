// sum_to.c -- sums a gradient over the dimensions along which its input was broadcast
// params: shape = the one to arrive at
#include "tensor/ops/reduce.h"

static Status infer(OpCall *call) {
    const Tensor *x = call->in[0];
    Shape shape = call->params.shape;
    int missing = x->shape.ndim - shape.ndim;
    char text[SHAPE_TEXT];
    bool fits = missing >= 0;
    for (int i = 0; fits && i < shape.ndim; i++)
        fits = shape.dims[i] == 1 || shape.dims[i] == x->shape.dims[i + missing];
    if (!fits)
        return op_error(call, STATUS_SHAPE, "does not reduce to %s", shape_text(shape, text));
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

// x's dimensions, the innermost first; neighbours that are both kept, or both reduced, are one.
typedef struct Groups {
    int count;
    bool kept[TENSOR_MAX_DIMS + 1];
    int64_t size[TENSOR_MAX_DIMS + 1], step[TENSOR_MAX_DIMS + 1]; // step: in elements of x
} Groups;

static Groups groups_of(const Tensor *x, const Tensor *out) {
    Groups g = {0};
    for (int i = 0; i <= TENSOR_MAX_DIMS; i++) g.size[i] = 1; // those that are not there, too
    int64_t stride[TENSOR_MAX_DIMS], step = 1; // of the output along x's dims: 0 where reduced
    broadcast_strides(out, x, stride);
    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        if (x->shape.dims[d] == 1) continue;
        bool kept = stride[d] != 0;
        if (g.count == 0 || g.kept[g.count - 1] != kept) {
            g.kept[g.count] = kept;
            g.step[g.count++] = step;
        }
        g.size[g.count - 1] *= x->shape.dims[d];
        step *= x->shape.dims[d];
    }
    return g;
}

// Where in x the index-th combination of the kept (or the reduced) groups from `first` on lies.
static int64_t offset_of(const Groups *g, int first, bool kept, int64_t index) {
    int64_t offset = 0;
    for (int i = first; i < g->count; i++) {
        if (g->kept[i] != kept) continue;
        offset += index % g->size[i] * g->step[i];
        index /= g->size[i];
    }
    return offset;
}

// As sum.c: blocks in float, their sums in double, however many blocks an output takes.
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

// Whole lines of the cache: outputs that are neighbours are sums of columns that are.
static OpWork work(const OpCall *call) {
    OpWork outputs = op_work_elements(call);
    outputs.together = 16;
    return outputs;
}

static Status sum_to_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Groups groups = groups_of(call->in[0], call->out[0]);
    sum_groups(&groups, call_in(call, 0), call_out(call, 0), begin, end);
    return STATUS_OK;
}

const Op op_sum_to = {.id = OP_sum_to,
                      .name = "sum_to",
                      .kernel = sum_to_cpu,
                      .flags = OP_UNATTRIBUTED,
                      .n_inputs = 1,
                      .infer = infer,
                      .work = work,
                      .story = STORY(.formula = "dx = dy, summed where x was broadcast",
                                     .out = "dx", .in = {"dy"}, .elementwise = {.basis = PER_SUM})};
