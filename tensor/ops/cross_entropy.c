// cross_entropy.c -- mean over rows of log(sum(e^(x - max))) - (x[label] - max): softmax and its
// logarithm, fused. Forward reads the logits once and keeps two numbers per row; backward writes
// the gradient in one pass.
#include "tensor/ops/reduce.h"

Tensor *tensor_cross_entropy(Tensor *logits, Tensor *labels) {
    return OP_RUN(op_cross_entropy, NULL, logits, labels);
}

static Status cross_entropy_infer(OpCall *call) {
    const Tensor *logits = call->in[0], *labels = call->in[1];
    if (logits->shape.ndim != 2 || labels->shape.ndim != 1 ||
        logits->shape.dims[0] != labels->shape.dims[0])
        return op_error(call, STATUS_SHAPE,
                        "the shapes do not belong together. HINT: logits (n, classes) "
                        "and labels (n,)");
    if (logits->shape.dims[1] == 0)
        return op_error(call, STATUS_SHAPE, "there are no classes. HINT: logits are (n, classes)");
    Status status = op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
    return status ? status : op_output(call, 1, DTYPE_FLOAT32, SHAPE(logits->shape.dims[0], 2));
}

static Status check_labels(const OpCall *call, const Tensor *logits, const int64_t *labels) {
    int64_t rows = logits->shape.dims[0], classes = logits->shape.dims[1];
    for (int64_t r = 0; r < rows; r++)
        if (labels[r] < 0 || labels[r] >= classes)
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "label %lld in row %lld is not in [0, %lld). HINT: the last layer has "
                            "one output per class",
                            (long long)labels[r], (long long)r, (long long)classes);
    return STATUS_OK;
}

// statistics (rows, 2) = {max, sum(e^(x - max))} for rows [begin, end) of x (rows, c). They stay
// separate, since their logsumexp in one float would lose digits for large logits.
KERNEL static void row_statistics(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = argument;
    int64_t c = call->in[0]->shape.dims[1];
    float part[REDUCE_BLOCK];
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * c;
        float largest = reduce_max(x, c);
        double total = 0.0;
        for (int64_t from = 0; from < c; from += REDUCE_BLOCK) {
            int64_t n = c - from < REDUCE_BLOCK ? c - from : REDUCE_BLOCK;
            for (int64_t j = 0; j < n; j++) part[j] = math_exp_falling(x[from + j] - largest);
            total += (double)reduce_sum(part, n);
        }
        call_out(call, 1)[2 * r] = largest;
        call_out(call, 1)[2 * r + 1] = (float)total;
    }
}

static OpWork rows_of(const Tensor *logits) { // an exponential costs as much as two elements
    return (OpWork){.items = logits->shape.dims[0], .cost = 2.0 * (double)logits->shape.dims[1]};
}

static int64_t cross_entropy_handoffs(const OpCall *call) {
    return cpu_handoffs(rows_of(call->in[0]));
}

static Status cross_entropy_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const int64_t *labels = tensor_indices(call->in[1]);
    if (check_labels(call, call->in[0], labels)) return error_status();
    cpu_parallel(rows_of(call->in[0]), row_statistics, (void *)(uintptr_t)call);
    const float *x = call_in(call, 0), *statistics = call_out(call, 1);
    int64_t rows = call->in[0]->shape.dims[0], c = call->in[0]->shape.dims[1];
    double total = 0.0; // in the order of rows, for any thread count
    for (int64_t r = 0; r < rows; r++) {
        float largest = statistics[2 * r], sum = statistics[2 * r + 1];
        total += (double)(math_log(sum) - (x[r * c + labels[r]] - largest));
    }
    *call_out(call, 0) = (float)(total / (double)rows);
    return STATUS_OK;
}

static Status cross_entropy_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (!call_needs(saved, 0)) return STATUS_OK;
    return OP_INTO(&grad_in[0], op_cross_entropy_backward, NULL, grad_out[0], saved->in[0],
                   saved->in[1], saved->out[1]);
}

static unsigned cross_entropy_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(0) | SAVE_IN(1) | SAVE_OUT(1);
}

// ---- backward: dx = (e^(x - max) / sum - onehot(label)) g / rows --------------------------------
// Inputs: grad (), logits (n, c), labels (n), statistics (n, 2). Per row: C subtractions, C
// exponentials, one division for g / rows / sum, C products, one subtraction at the label.
static OpWork backward_work(const OpCall *call) { return rows_of(call->in[1]); }

static Status backward_check(const OpCall *call) { // labels may differ from forward's
    const int64_t *labels = tensor_indices(call->in[2]);
    return check_labels(call, call->in[1], labels);
}

KERNEL static Status cross_entropy_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t c = call->in[1]->shape.dims[1];
    const int64_t *labels = tensor_indices(call->in[2]);
    const float *statistics = call_in(call, 3);
    float scale = *call_in(call, 0) / (float)call->in[1]->shape.dims[0];
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 1) + r * c;
        float *out = call_out(call, 0) + r * c;
        float largest = statistics[2 * r], factor = scale / statistics[2 * r + 1];
        for (int64_t j = 0; j < c; j++) out[j] = math_exp_falling(x[j] - largest) * factor;
        out[labels[r]] -= scale;
    }
    return STATUS_OK;
}

// Per row of C: C - 1 comparisons, C subtractions, C exponentials, C - 1 adds, a logarithm, 2
// subtractions for log(sum) - (x[label] - max); then the mean: one more per row.
const Op op_cross_entropy = {
    .id = OP_cross_entropy,
    .name = "cross_entropy",
    .kernel = cross_entropy_cpu,
    .handoffs = cross_entropy_handoffs,
    .n_inputs = 2,
    .dtypes = floats_and_indices,
    .n_dtypes = 1,
    .infer = cross_entropy_infer,
    .backward = cross_entropy_backward,
    .saves = cross_entropy_saves,
    .story =
        STORY(.formula = "y = mean of log(sum of e^(x - max)) - (x[label] - max)", .out = "y",
              .in = {"x", "labels"}, .elementwise = {PER_ROW, .each = 3, .more = 1},
              .transcendental = {PER_ROW, .each = 1, .more = 1}, .extra = "max and sum of a row",
              .extra_elements = {PER_ROW, .more = 2}, .keeps = KEEP_X | KEEP_EXTRA)};
static const DTypeSignature backward_types[1] = {
    {4, {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_INT64, DTYPE_FLOAT32}}};
const Op op_cross_entropy_backward = {
    .id = OP_cross_entropy_backward,
    .name = "cross_entropy_backward",
    .kernel = cross_entropy_backward_cpu,
    .n_inputs = 4,
    .dtypes = backward_types,
    .n_dtypes = 1,
    .infer = infer_like_second,
    .work = backward_work,
    .check = backward_check,
    .story = STORY(.formula = "dx = (softmax(x) - one-hot(label)) dy / rows", .out = "dx",
                   .in = {"dy", "x", "labels", "max and sum of a row"},
                   .elementwise = {PER_ROW, .each = 2, .more = 2, .input = 1},
                   .transcendental = {PER_ROW, .each = 1, .input = 1})};
