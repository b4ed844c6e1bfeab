// gather.c -- picks one element of x per element of index, along one dimension
// params: dim; flags: whether the index is signed; for backward also shape = x's
#include <string.h>

#include "tensor/ops/reduce.h"

Tensor *tensor_gather(Tensor *x, int dim, Tensor *index) {
    return OP_RUN(op_gather, (&(OpParams){.dim = dim}), x, index);
}

Tensor *tensor_gather_signed(Tensor *x, int dim, Tensor *index) {
    return OP_RUN(op_gather, (&(OpParams){.dim = dim, .flags = true}), x, index);
}

static Status gather_infer(OpCall *call) {
    const Tensor *x = call->in[0], *index = call->in[1];
    int dim = call->params.dim < 0 ? call->params.dim + x->shape.ndim : call->params.dim;
    if (dim < 0 || dim >= x->shape.ndim)
        return op_error(call, STATUS_SHAPE,
                        "there is no dimension %d. HINT: negative ones count from the last",
                        call->params.dim);
    bool fits = index->shape.ndim == x->shape.ndim;
    for (int d = 0; fits && d < x->shape.ndim; d++)
        fits = d == dim || index->shape.dims[d] <= x->shape.dims[d];
    if (!fits)
        return op_error(call, STATUS_SHAPE,
                        "the index does not fit. HINT: as many dimensions, and no size larger than "
                        "x's except along dimension %d",
                        dim);
    call->params.dim = dim;
    return op_output(call, 0, (DType)x->dtype, index->shape);
}

// ---- the walk over the index, for both directions -----------------------------------------------
// Element i of `picked` (which has index's shape) belongs to the element of `table` at the same
// position, except along dimension dim, where the position is index[i].
typedef struct Walk {
    const OpCall *call;
    const Tensor *index, *picked, *table;
    bool add; // table += picked, instead of picked = table
} Walk;

static Status bad_index(const OpCall *call, int64_t row, int64_t column, int64_t value,
                        int64_t size) {
    const Tensor *index = call->in[1];
    Shape at = index->shape;
    at.dims[index->shape.ndim - 1] = column;
    for (int d = index->shape.ndim - 2; d >= 0; d--) {
        at.dims[d] = row % index->shape.dims[d];
        row /= index->shape.dims[d];
    }
    char text[SHAPE_TEXT];
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "index %lld at %s is not in [%lld, %lld). HINT: dimension %d of x has %lld",
                    (long long)value, shape_text(at, text),
                    call->params.flags ? -(long long)size : 0LL, (long long)size, call->params.dim,
                    (long long)size);
}

// Offset of the first element of row `row` of the index: in the index, in `picked`, and in the
// table.
typedef struct Place {
    int64_t index, picked, table;
} Place;

static Place place_of(const Walk *walk, int64_t row) {
    const Tensor *index = walk->index;
    Place at = {0};
    for (int d = index->shape.ndim - 2; d >= 0; d--) {
        int64_t i = row % index->shape.dims[d];
        row /= index->shape.dims[d];
        at.index += i * index->stride[d];
        at.picked += i * walk->picked->stride[d];
        if (d != walk->call->params.dim) at.table += i * walk->table->stride[d];
    }
    return at;
}

// Rows [begin, end) of the index, in order: equal indices always add up in one order.
static void walk_rows(const Walk *walk, int64_t begin, int64_t end) {
    const Tensor *index = walk->index, *table = walk->table;
    int last = index->shape.ndim - 1, dim = walk->call->params.dim;
    int64_t step = dim == last ? 0 : table->stride[last];
    int64_t size = table->shape.dims[dim];
    bool whole = table->dtype == DTYPE_INT64, is_signed = walk->call->params.flags;
    for (int64_t row = begin; row < end; row++) {
        Place at = place_of(walk, row);
        const int64_t *from = tensor_indices(index) + at.index;
        for (int64_t j = 0; j < index->shape.dims[last]; j++) {
            int64_t own = at.picked + j * walk->picked->stride[last];
            int64_t row_there = math_place(from[j * index->stride[last]], size, is_signed);
            int64_t there = at.table + j * step + row_there * table->stride[dim];
            if (walk->add)
                tensor_floats(table)[there] += tensor_floats(walk->picked)[own];
            else if (whole)
                tensor_indices(walk->picked)[own] = tensor_indices(table)[there];
            else
                tensor_floats(walk->picked)[own] = tensor_floats(table)[there];
        }
    }
}

// `size`: size of the dimension that the index points into.
static Status check_index(const OpCall *call, int64_t size) {
    const Tensor *index = call->in[1];
    Walk walk = {.call = call, .index = index, .picked = index, .table = index};
    int64_t least = call->params.flags ? -size : 0;
    for (int64_t row = 0; row < row_count(index); row++) {
        const int64_t *from = tensor_indices(index) + place_of(&walk, row).index;
        for (int64_t j = 0; j < row_length(index); j++) {
            int64_t value = from[j * index->stride[index->shape.ndim - 1]];
            if (value < least || value >= size) return bad_index(call, row, j, value, size);
        }
    }
    return STATUS_OK;
}

static Status gather_check(const OpCall *call) {
    return check_index(call, call->in[0]->shape.dims[call->params.dim]);
}

static OpWork gather_work(const OpCall *call) { // items: rows of the index
    const Tensor *index = call->in[1];
    return (OpWork){.items = row_count(index), .cost = 2.0 * (double)row_length(index)};
}

static Status gather_cpu(const OpCall *call, int64_t begin, int64_t end) {
    walk_rows(&(Walk){call, call->in[1], call->out[0], call->in[0], false}, begin, end);
    return STATUS_OK;
}

static Status gather_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.dim = saved->params.dim,
                       .flags = saved->params.flags,
                       .shape = saved->in[0]->shape};
    return OP_ADDING(&grad_in[0], op_gather_backward, &params, grad_out[0], saved->in[1]);
}

static unsigned gather_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(1);
}

// ---- backward: zeros of x's shape, or a given sum, plus each gradient at its element -----------
static Status backward_check(const OpCall *call) { // the index may differ from forward's
    return check_index(call, call->out[0]->shape.dims[call->params.dim]);
}

static Status gather_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Tensor *out = call->out[0];
    if (out->numel && !call->adds) memset(tensor_raw(out), 0, (size_t)out->numel * sizeof(float));
    walk_rows(&(Walk){call, call->in[1], call->in[0], out, true}, 0, row_count(call->in[1]));
    return STATUS_OK;
}

static const DTypeSignature numbers_and_indices[2] = {{2, {DTYPE_FLOAT32, DTYPE_INT64}},
                                                      {2, {DTYPE_INT64, DTYPE_INT64}}};
const Op op_gather = {.id = OP_gather,
                      .name = "gather",
                      .kernel = gather_cpu,
                      .flags = OP_STRIDED,
                      .n_inputs = 2,
                      .dtypes = numbers_and_indices,
                      .n_dtypes = 2,
                      .infer = gather_infer,
                      .work = gather_work,
                      .check = gather_check,
                      .backward = gather_backward,
                      .saves = gather_saves,
                      .story =
                          STORY(.formula = "y = x at the index", .out = "y", .in = {"x", "index"})};
// one add per element of the gradient
const Op op_gather_backward = {
    .id = OP_gather_backward,
    .name = "gather_backward",
    .kernel = gather_backward_cpu,
    .flags = OP_STRIDED | OP_ADDS,
    .n_inputs = 2,
    .dtypes = floats_and_indices,
    .n_dtypes = 1,
    .infer = op_infer_shape,
    .check = backward_check,
    .story = STORY(.formula = "dx = the sum of dy at each index", .out = "dx",
                   .in = {"dy", "index"}, .elementwise = {PER_INPUT, .each = 1}, .scatters = true)};
