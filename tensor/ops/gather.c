// gather.c -- picks one element of x per element of index, along one dimension
// params: dim; of the backward also size = x's shape (count dims)
#include <string.h>

#include "tensor/op.h"
#include "tensor/ops.h"

Tensor *tensor_gather(Tensor *x, int dim, Tensor *index) {
    return OP_RUN(op_gather, (&(OpParams){.dim = dim}), x, index);
}

static Status gather_infer(OpCall *call) {
    const Tensor *x = call->in[0], *index = call->in[1];
    int dim = call->params.dim < 0 ? call->params.dim + x->ndim : call->params.dim;
    if (dim < 0 || dim >= x->ndim)
        return op_error(call, STATUS_SHAPE,
                        "there is no dimension %d. HINT: negative ones count from the last",
                        call->params.dim);
    bool fits = index->ndim == x->ndim;
    for (int d = 0; fits && d < x->ndim; d++) fits = d == dim || index->shape[d] <= x->shape[d];
    if (!fits)
        return op_error(call, STATUS_SHAPE,
                        "the index does not fit. HINT: as many dimensions, and no size larger than "
                        "x's except along dimension %d",
                        dim);
    call->params.dim = dim;
    return op_output(call, 0, DTYPE_FLOAT32, tensor_shape(index));
}

// ---- the walk over the index, for both directions -----------------------------------------------
// Element i of `picked` (of index's shape) belongs to the element of `table` at the same place, but
// for dimension dim, where it is at index[i].
typedef struct Walk {
    const OpCall *call;
    const Tensor *index, *picked, *table;
    bool add; // table += picked, instead of picked = table
} Walk;

static Status bad_index(const Walk *walk, int64_t row, int64_t column, int64_t value) {
    const Tensor *index = walk->index;
    Shape at = tensor_shape(index);
    at.dims[index->ndim - 1] = column;
    for (int d = index->ndim - 2; d >= 0; d--) {
        at.dims[d] = row % index->shape[d];
        row /= index->shape[d];
    }
    int dim = walk->call->params.dim;
    char text[SHAPE_TEXT];
    return op_error(walk->call, STATUS_INVALID_ARGUMENT,
                    "index %lld at %s is not in [0, %lld). HINT: dimension %d of x is that long",
                    (long long)value, shape_text(at, text), (long long)walk->table->shape[dim],
                    dim);
}

// One row of the index; the offsets are those of its first element.
static Status walk_row(const Walk *walk, int64_t row, int64_t at_index, int64_t at_picked,
                       int64_t at_table) {
    const Tensor *index = walk->index, *table = walk->table;
    int last = index->ndim - 1, dim = walk->call->params.dim;
    const int64_t *from = (const int64_t *)(const void *)tensor_raw(index) + at_index;
    float *picked = (float *)(void *)tensor_raw(walk->picked) + at_picked;
    float *base = (float *)(void *)tensor_raw(table) + at_table;
    int64_t step = dim == last ? 0 : table->stride[last];
    for (int64_t j = 0; j < index->shape[last]; j++) {
        int64_t value = from[j * index->stride[last]];
        if (value < 0 || value >= table->shape[dim]) return bad_index(walk, row, j, value);
        float *place = base + j * step + value * table->stride[dim];
        if (walk->add)
            *place += picked[j * walk->picked->stride[last]];
        else
            picked[j] = *place;
    }
    return STATUS_OK;
}

// In the order of the index, on one thread: equal indices always add up in the same order.
static Status walk_index(const Walk *walk) {
    const Tensor *index = walk->index;
    int last = index->ndim - 1;
    int64_t rows = index->shape[last] ? index->numel / index->shape[last] : 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t rest = row, at_index = 0, at_picked = 0, at_table = 0;
        for (int d = last - 1; d >= 0; d--) {
            int64_t i = rest % index->shape[d];
            rest /= index->shape[d];
            at_index += i * index->stride[d];
            at_picked += i * walk->picked->stride[d];
            if (d != walk->call->params.dim) at_table += i * walk->table->stride[d];
        }
        if (walk_row(walk, row, at_index, at_picked, at_table)) return error_status();
    }
    return STATUS_OK;
}

Status gather_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return walk_index(&(Walk){call, call->in[1], call->out[0], call->in[0], false});
}

static Status gather_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    const Tensor *x = saved->in[0];
    OpParams params = {.dim = saved->params.dim, .count = x->ndim};
    for (int i = 0; i < x->ndim; i++) params.size[i] = x->shape[i];
    return OP_INTO(&grad_in[0], op_gather_backward, &params, grad_out[0], saved->in[1]);
}

static unsigned gather_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(1);
}

// ---- backward: zeros of x's shape, plus each gradient where its element came from ---------------
static Status backward_infer(OpCall *call) {
    Shape shape = {.ndim = call->params.count};
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = call->params.size[i];
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

static OpCost backward_cost(const OpCall *call) { // one add per element of the gradient
    OpCost cost = op_cost_traffic(call);
    cost.elementwise_flops = (uint64_t)call->in[0]->numel;
    return cost;
}

Status gather_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const Tensor *out = call->out[0];
    if (out->numel) memset(tensor_raw(out), 0, (size_t)out->numel * sizeof(float));
    return walk_index(&(Walk){call, call->in[1], call->in[0], out, true});
}

static const DTypeSignature values_and_index[1] = {{2, {DTYPE_FLOAT32, DTYPE_INT64}}};
const Op op_gather = {.id = OP_gather,
                      .name = "gather",
                      .flags = OP_STRIDED,
                      .min_inputs = 2,
                      .max_inputs = 2,
                      .dtypes = values_and_index,
                      .n_dtypes = 1,
                      .infer = gather_infer,
                      .cost = COUNTED(op_cost_traffic),
                      .backward = gather_backward,
                      .saves = gather_saves};
const Op op_gather_backward = {.id = OP_gather_backward,
                               .name = "gather_backward",
                               .flags = OP_STRIDED,
                               .min_inputs = 2,
                               .max_inputs = 2,
                               .dtypes = values_and_index,
                               .n_dtypes = 1,
                               .infer = backward_infer,
                               .cost = COUNTED(backward_cost)};
