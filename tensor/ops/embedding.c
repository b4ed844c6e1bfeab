// embedding.c -- picks whole rows of a table; and sums their gradients
// params: count = 1 + the row without a gradient; 0: all have one; flags: whether the index is
// signed; for backward also shape = the table's
#include "tensor/ops/elementwise.h"

Tensor *tensor_embedding(Tensor *index, Tensor *table) {
    return OP_RUN(op_embedding, NULL, index, table);
}

Tensor *tensor_embedding_signed(Tensor *index, Tensor *table) {
    return OP_RUN(op_embedding, (&(OpParams){.flags = true}), index, table);
}

Tensor *tensor_embedding_padded(Tensor *index, Tensor *table, int64_t padding_idx) {
    int64_t count = table && table->shape.ndim == 2 ? table->shape.dims[0] : INT64_MAX;
    if (padding_idx < -count || padding_idx >= count) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "embedding: padding_idx %lld, of %lld rows. HINT: one of them, or below 0 from "
                  "the end",
                  (long long)padding_idx, (long long)count);
        return NULL;
    }
    int64_t row = padding_idx < 0 ? padding_idx + count : padding_idx;
    return OP_RUN(op_embedding, (&(OpParams){.count = row + 1}), index, table);
}

static Status embedding_infer(OpCall *call) {
    const Tensor *index = call->in[0], *table = call->in[1];
    if (table->shape.ndim != 2)
        return op_error(call, STATUS_SHAPE,
                        "the table is no matrix. HINT: it is (count, features)");
    if (index->shape.ndim == TENSOR_MAX_DIMS)
        return op_error(call, STATUS_SHAPE, "the result has one dimension more. HINT: at most %d",
                        TENSOR_MAX_DIMS);
    Shape shape = index->shape;
    shape.dims[shape.ndim++] = table->shape.dims[1];
    return op_output(call, 0, (DType)table->dtype, shape);
}

// No arithmetic. The table counts as many rows as there are indices, and at most all: equal indices
// depend on data.
static OpCost embedding_cost(const OpCall *call) {
    const Tensor *index = call->in[0], *table = call->in[1];
    int64_t rows = index->numel < table->shape.dims[0] ? index->numel : table->shape.dims[0];
    return (OpCost){.bytes_read = (uint64_t)tensor_bytes(index) +
                                  (uint64_t)(rows * table->shape.dims[1]) * table->element_bytes,
                    .bytes_written = (uint64_t)tensor_bytes(call->out[0])};
}

static Status check_indices(const OpCall *call, const Tensor *index, int64_t count) {
    const int64_t *at = tensor_indices(index);
    int64_t i = 0;
    int64_t least = call->params.flags ? -count : 0;
    while (i < index->numel && at[i] >= least && at[i] < count) i++;
    if (i == index->numel) return STATUS_OK;
    Shape place = index->shape;
    int64_t rest = i;
    for (int d = index->shape.ndim - 1; d >= 0; d--) {
        place.dims[d] = rest % index->shape.dims[d];
        rest /= index->shape.dims[d];
    }
    char text[SHAPE_TEXT];
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "index %lld at %s is not in [%lld, %lld). HINT: the table has %lld rows",
                    (long long)at[i], shape_text(place, text), (long long)least, (long long)count,
                    (long long)count);
}

static Status embedding_check(const OpCall *call) {
    return check_indices(call, call->in[0], call->in[1]->shape.dims[0]);
}

static OpWork embedding_work(const OpCall *call) { // items: rows of the result
    return (OpWork){.items = call->in[0]->numel, .cost = (double)call->in[1]->shape.dims[1]};
}

// y (n, d) = table (count, d) at index (n), rows [begin, end)
static Status embedding_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *table = call->in[1];
    int64_t bytes = table->shape.dims[1] * dtype_sizes[table->dtype], count = table->shape.dims[0];
    bool is_signed = call->params.flags;
    const int64_t *index = tensor_indices(call->in[0]);
    for (int64_t i = begin; i < end && bytes > 0; i++)
        memcpy(tensor_raw(call->out[0]) + i * bytes,
               tensor_raw(table) + math_place(index[i], count, is_signed) * bytes, (size_t)bytes);
    return STATUS_OK;
}

static Status embedding_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    OpParams params = {.shape = saved->in[1]->shape,
                       .count = saved->params.count,
                       .flags = saved->params.flags};
    return OP_ADDING(&grad_in[1], op_embedding_backward, &params, grad_out[0], saved->in[0]);
}

// ---- backward: zeros of the table's shape, or a given sum, plus each row's gradient -------------
static Status backward_check(const OpCall *call) { // indices may differ from forward's
    return check_indices(call, call->in[1], call->out[0]->shape.dims[0]);
}

static OpWork backward_work(const OpCall *call) { // items: columns of the table and of dy
    double cleared = call->adds ? 0.0 : (double)call->out[0]->shape.dims[0];
    double rows = cleared + (double)call->in[1]->numel;
    return (OpWork){.items = call->out[0]->shape.dims[1], .cost = rows, .together = 64};
}

// Columns [begin, end) of dtable (count, d) += dy (n, d) at index (n), in the order of the index,
// so the number of threads does not affect the result
KERNEL static Status embedding_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t count = call->out[0]->shape.dims[0], d = call->out[0]->shape.dims[1],
            n = call->in[1]->numel;
    const int64_t *index = tensor_indices(call->in[1]), padding = call->params.count - 1;
    float *table = call_out(call, 0);
    bool is_signed = call->params.flags;
    for (int64_t i = 0; i < count && !call->adds; i++)
        memset(table + i * d + begin, 0, (size_t)(end - begin) * sizeof(float));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = math_place(index[i], count, is_signed);
        if (row == padding) continue;
        const float *dy = call_in(call, 0) + i * d;
        float *to = table + row * d;
        for (int64_t j = begin; j < end; j++) to[j] += dy[j];
    }
    return STATUS_OK;
}

static const DTypeSignature index_and_table[2] = {{2, {DTYPE_INT64, DTYPE_FLOAT32}},
                                                  {2, {DTYPE_INT64, DTYPE_INT64}}};
const Op op_embedding = {.id = OP_embedding,
                         .name = "embedding",
                         .kernel = embedding_cpu,
                         .n_inputs = 2,
                         .dtypes = index_and_table,
                         .n_dtypes = 2,
                         .infer = embedding_infer,
                         .cost = COUNTED(embedding_cost),
                         .work = embedding_work,
                         .check = embedding_check,
                         .backward = embedding_backward,
                         .saves = save_input,
                         .story = STORY(.formula = "y = the row of the table at each index",
                                        .out = "y", .in = {"index", "rows of the table"},
                                        .picks_rows = true, .kind = KIND_EMBEDDING)};
// Inputs: dy (..., features), index (...). Padding counts, too: no cost depends on data.
const Op op_embedding_backward = {
    .id = OP_embedding_backward,
    .name = "embedding_backward",
    .kernel = embedding_backward_cpu,
    .flags = OP_ADDS,
    .n_inputs = 2,
    .dtypes = floats_and_indices,
    .n_dtypes = 1,
    .infer = op_infer_shape,
    .work = backward_work,
    .check = backward_check,
    .story = STORY(.formula = "dtable = the sum of dy at each index", .out = "dtable",
                   .in = {"dy", "index"}, .elementwise = {PER_INPUT, .each = 1}, .scatters = true)};
