// convert.c -- conversions: to another dtype, and of labels to rows of 0 and 1.
#include "tensor/ops/elementwise.h"

static const DTypeSignature labels_only[1] = {{1, {DTYPE_INT64}}};

// ---- cast ---------------------------------------------------------------------------------------
// params: flags = the dtype of the result
Tensor *tensor_cast(Tensor *x, DType dtype) {
    if (x && (DType)x->dtype == dtype) return tensor_contiguous(x);
    return OP_RUN(op_cast, (&(OpParams){.flags = (uint32_t)dtype}), x);
}

static Status cast_infer(OpCall *call) {
    DType to = (DType)call->params.flags;
    if (to != DTYPE_FLOAT32 && to != DTYPE_INT64)
        return op_error(call, STATUS_DTYPE, "not to %s. HINT: to float32 or int64",
                        (unsigned)to < DTYPE_COUNT ? dtype_name(to) : "what is no element type");
    return op_output(call, 0, to, call->in[0]->shape);
}

// One loop for each pair of different types.
KERNEL static Status cast_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const void *from = tensor_raw(call->in[0]);
    void *to = tensor_raw(call->out[0]);
    if (call->in[0]->dtype == DTYPE_FLOAT32)
        for (int64_t i = begin; i < end; i++)
            ((int64_t *)to)[i] = math_to_int64(((const float *)from)[i]);
    else if (call->out[0]->dtype == DTYPE_INT64)
        for (int64_t i = begin; i < end; i++) ((int64_t *)to)[i] = ((const uint8_t *)from)[i];
    else if (call->in[0]->dtype == DTYPE_INT64)
        for (int64_t i = begin; i < end; i++) ((float *)to)[i] = (float)((const int64_t *)from)[i];
    else
        for (int64_t i = begin; i < end; i++) ((float *)to)[i] = ((const uint8_t *)from)[i];
    return STATUS_OK;
}

const Op op_cast = {.id = OP_cast,
                    .name = "cast",
                    .kernel = cast_cpu,
                    .work = op_work_elements,
                    .n_inputs = 1,
                    .dtypes = dtypes_any,
                    .n_dtypes = DTYPE_COUNT,
                    .infer = cast_infer,
                    .story = STORY(.formula = "y = x in another type", .out = "y", .in = {"x"})};

// ---- wrap ---------------------------------------------------------------------------------------
// params: count = the bits; flags: whether the numbers are signed
Tensor *tensor_wrap(Tensor *x, int bits, bool is_signed) {
    if (x && x->dtype == DTYPE_INT64 && bits == 64 && is_signed) return error_pending() ? NULL : x;
    return OP_RUN(op_wrap, (&(OpParams){.count = bits, .flags = is_signed}), x);
}

static Status wrap_infer(OpCall *call) {
    if (call->params.count >= 1 && call->params.count <= 63) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "numbers of %lld bits%s. HINT: 1 to 63, or 64 with a sign",
                    (long long)call->params.count, call->params.flags ? "" : " without a sign");
}

KERNEL static Status wrap_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const int64_t *x = tensor_indices(call->in[0]);
    int64_t *y = tensor_indices(call->out[0]);
    int bits = (int)call->params.count;
    bool is_signed = call->params.flags;
    for (int64_t i = begin; i < end; i++) y[i] = math_whole_wrap(x[i], bits, is_signed);
    return STATUS_OK;
}

static void wrap_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->flags) story->formula = "y = the last bits of x, the first of them a sign";
}

const Op op_wrap = {.id = OP_wrap,
                    .name = "wrap",
                    .kernel = wrap_cpu,
                    .work = op_work_elements,
                    .n_inputs = 1,
                    .dtypes = labels_only,
                    .n_dtypes = 1,
                    .infer = wrap_infer,
                    .story = STORY(.formula = "y = the last bits of x", .out = "y", .in = {"x"},
                                   .vary = wrap_vary)};

// ---- one_hot ------------------------------------------------------------------------------------
// params: count = the classes; flags: whether the labels are signed
Tensor *tensor_one_hot(Tensor *labels, int64_t classes) {
    return OP_RUN(op_one_hot, (&(OpParams){.count = classes}), labels);
}

Tensor *tensor_one_hot_signed(Tensor *labels, int64_t classes) {
    return OP_RUN(op_one_hot, (&(OpParams){.count = classes, .flags = true}), labels);
}

static Status one_hot_infer(OpCall *call) {
    Shape shape = call->in[0]->shape;
    if (call->params.count < 0 || shape.ndim >= TENSOR_MAX_DIMS)
        return op_error(call, STATUS_SHAPE,
                        "%lld classes, behind %d dimensions. HINT: from 0 on, and at most %d "
                        "dimensions together",
                        (long long)call->params.count, shape.ndim, TENSOR_MAX_DIMS);
    shape.dims[shape.ndim++] = call->params.count;
    return op_output_of(call, 0, DTYPE_FLOAT32, &shape);
}

static Status one_hot_check(const OpCall *call) {
    const int64_t *labels = tensor_indices(call->in[0]);
    int64_t least = call->params.flags ? -call->params.count : 0;
    for (int64_t i = 0; i < call->in[0]->numel; i++)
        if (labels[i] < least || labels[i] >= call->params.count)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "label %lld at %lld is not in [%lld, %lld). HINT: classes count from 0",
                            (long long)labels[i], (long long)i, (long long)least,
                            (long long)call->params.count);
    return STATUS_OK;
}

static OpWork one_hot_work(const OpCall *call) {
    return (OpWork){.items = call->in[0]->numel, .cost = (double)call->params.count};
}

// out (..., classes), for labels [begin, end)
static Status one_hot_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const int64_t *labels = tensor_indices(call->in[0]);
    int64_t classes = call->params.count;
    float *out = call_out(call, 0);
    if (begin < end)
        memset(out + begin * classes, 0, (size_t)((end - begin) * classes) * sizeof(float));
    for (int64_t i = begin; i < end; i++)
        out[i * classes + math_place(labels[i], classes, call->params.flags)] = 1.0f;
    return STATUS_OK;
}

const Op op_one_hot = {.id = OP_one_hot,
                       .name = "one_hot",
                       .kernel = one_hot_cpu,
                       .work = one_hot_work,
                       .check = one_hot_check,
                       .n_inputs = 1,
                       .dtypes = labels_only,
                       .n_dtypes = 1,
                       .infer = one_hot_infer,
                       .story = STORY(.formula = "y = 1 at the label, else 0", .out = "y",
                                      .in = {"labels"})};
