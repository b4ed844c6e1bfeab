// assign.c -- ops that write given or existing numbers: fill, assign, accumulate, contiguous.
#include "tensor/ops/elementwise.h"

// ---- fill: every element becomes params.value[0], in place --------------------------------------
Status tensor_fill(Tensor *x, float value) {
    OpCall call = {.op = &op_fill, .in = &x, .n_in = 1, .params = {.value = {value}}};
    return op_dispatch(&call);
}

static Status fill_infer(OpCall *call) {
    (void)call; // no output: it writes to its input
    return STATUS_OK;
}

static OpCost fill_cost(const OpCall *call) { // the old values are not read
    return (OpCost){.bytes_written = (uint64_t)tensor_bytes(call->in[0])};
}

KERNEL static Status fill_cpu(const OpCall *call, int64_t begin, int64_t end) {
    float *x = call_in(call, 0), value = call->params.value[0];
    for (int64_t i = begin; i < end; i++) x[i] = value;
    return STATUS_OK;
}

const Op op_fill = {.id = OP_fill,
                    .name = "fill",
                    .kernel = fill_cpu,
                    .n_inputs = 1,
                    .infer = fill_infer,
                    .cost = COUNTED(fill_cost),
                    .work = op_work_elements,
                    .mutates = mutates_all,
                    .story = STORY(.formula = "x = a constant", .in = {"x"})};

// True if the source must be copied first: another view of the same buffer may overlap.
static bool overlaps(const Tensor *into, const Tensor *value) {
    return into && value && into->storage == value->storage &&
           !(into->offset == value->offset && tensor_is_contiguous(into) &&
             tensor_is_contiguous(value)); // otherwise equal, element for element
}

// ---- assign: into = from, in place; it may be a view --------------------------------------------
Status tensor_assign(Tensor *into, Tensor *from) {
    if (overlaps(into, from)) from = OP_RUN(op_contiguous, NULL, from);
    OpCall call = {.op = &op_assign, .in = (Tensor *[]){into, from}, .n_in = 2};
    return error_pending() ? error_status() : op_dispatch(&call);
}

static Status assign_infer(OpCall *call) {
    const Tensor *into = call->in[0];
    if (!shape_equal(into->shape, call->in[1]->shape))
        return op_error(call, STATUS_SHAPE, "shapes differ. HINT: tensor_expand the second one");
    for (int d = 0; d < into->shape.ndim; d++)
        if (into->stride[d] == 0 && into->shape.dims[d] > 1)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "the elements of dimension %d are one in memory. HINT: write what was "
                            "expanded",
                            d);
    return STATUS_OK; // no output: it writes to its first input
}

static OpCost assign_cost(const OpCall *call) { // the old values are not read
    return (OpCost){.bytes_read = (uint64_t)tensor_distinct_bytes(call->in[1]),
                    .bytes_written = (uint64_t)tensor_bytes(call->in[0])};
}

static bool assign_mutates(const OpCall *call, int input) {
    (void)call;
    return input == 0;
}

// Offset of row r, along the last dimension.
static int64_t row_offset(const Tensor *t, int64_t r) {
    int64_t offset = 0;
    for (int d = t->shape.ndim - 2; d >= 0; d--) {
        offset += r % t->shape.dims[d] * t->stride[d];
        r /= t->shape.dims[d];
    }
    return offset;
}

static Status assign_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *into = call->in[0], *from = call->in[1];
    int last = into->shape.ndim - 1;
    int64_t row = last < 0 ? 1 : into->shape.dims[last];
    int64_t to_step = last < 0 ? 1 : into->stride[last], step = last < 0 ? 1 : from->stride[last];
    for (int64_t r = begin; r < end; r++) {
        float *y = call_in(call, 0) + row_offset(into, r);
        const float *x = call_in(call, 1) + row_offset(from, r);
        for (int64_t j = 0; j < row; j++) y[j * to_step] = x[j * step];
    }
    return STATUS_OK;
}

const Op op_assign = {.id = OP_assign,
                      .name = "assign",
                      .kernel = assign_cpu,
                      .flags = OP_STRIDED,
                      .work = op_work_rows,
                      .n_inputs = 2,
                      .infer = assign_infer,
                      .cost = COUNTED(assign_cost),
                      .mutates = assign_mutates,
                      .story = STORY(.formula = "x = y", .in = {"x", "y"})};

// ---- accumulate: into + value; autograd adds gradients, mostly in place (out is into) -----------
Status tensor_accumulate(Tensor *into, Tensor *value) {
    if (overlaps(into, value)) value = OP_RUN(op_contiguous, NULL, value);
    return OP_INTO(&into, op_accumulate, NULL, into, value);
}

static Status accumulate_infer(OpCall *call) {
    if (!shape_equal(call->in[0]->shape, call->in[1]->shape))
        return op_error(call, STATUS_SHAPE, "shapes differ. HINT: tensor_expand the smaller one");
    return op_infer_same(call);
}

KERNEL static Status accumulate_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_add);
}

const Op op_accumulate = {.id = OP_accumulate,
                          .name = "accumulate",
                          .kernel = accumulate_cpu,
                          .flags = OP_UNATTRIBUTED,
                          .work = op_work_elements,
                          .n_inputs = 2,
                          .infer = accumulate_infer,
                          .story = STORY(.formula = "y = x + more", .out = "y", .in = {"x", "more"},
                                         .elementwise = {PER_OUTPUT, .each = 1})};

// ---- contiguous: copies a strided view in row-major order, for any dtype ------------------------
Tensor *tensor_contiguous(Tensor *x) {
    if (x && x->storage && tensor_is_contiguous(x)) return error_pending() ? NULL : x;
    return OP_RUN(op_contiguous, NULL, x);
}

static Status contiguous_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *x = call->in[0];
    char *to = tensor_raw(call->out[0]);
    const char *from = tensor_raw(x);
    int64_t size = dtype_size(x->dtype), row = x->shape.ndim ? x->shape.dims[x->shape.ndim - 1] : 1;
    int64_t step = x->shape.ndim ? x->stride[x->shape.ndim - 1] : 1;
    while (begin < end) {
        int64_t column = begin % row, rest = begin / row, n = row - column;
        if (n > end - begin) n = end - begin;
        int64_t offset = column * step;
        for (int d = x->shape.ndim - 2; d >= 0; d--) {
            offset += rest % x->shape.dims[d] * x->stride[d];
            rest /= x->shape.dims[d];
        }
        strided_copy(to + begin * size, from + offset * size, n, step, size);
        begin += n;
    }
    return STATUS_OK;
}

const Op op_contiguous = {.id = OP_contiguous,
                          .name = "contiguous",
                          .kernel = contiguous_cpu,
                          .flags = OP_STRIDED,
                          .work = op_work_elements,
                          .n_inputs = 1,
                          .dtypes = dtypes_any,
                          .n_dtypes = DTYPE_COUNT,
                          .infer = op_infer_same,
                          .backward = backward_same,
                          .story =
                              STORY(.formula = "y = x, laid out densely", .out = "y", .in = {"x"})};
