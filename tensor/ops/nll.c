// nll.c -- negative log-likelihood of labels, with class weights, an ignored label and smoothed
// targets. Cross-entropy with any of these is log_softmax, then nll; the plain cross-entropy is
// fused in cross_entropy.c.
#include "tensor/ops/reduce.h"

// params: value = {smoothing}, flags: NLL_IGNORES the label in begin
// inputs: x (n, classes), labels (n), weight (classes) or none
enum { NLL_IGNORES = 1 };

LabelLoss label_loss_defaults(void) { return (LabelLoss){.ignores = true, .ignored = -100}; }

static OpParams params_of(LabelLoss options) {
    return (OpParams){.value = {options.smoothing},
                      .begin = options.ignored,
                      .flags = options.ignores ? NLL_IGNORES : 0};
}

Tensor *tensor_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options) {
    OpParams params = params_of(options);
    return OP_RUN(op_nll, &params, log_probabilities, labels, options.weight);
}

Tensor *tensor_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options) {
    return tensor_nll(tensor_log_softmax(logits, 1), labels, options);
}

static Status nll_infer(OpCall *call) {
    const Tensor *x = call->in[0], *labels = call->in[1], *weight = call->in[2];
    if (x->shape.ndim != 2 || labels->shape.ndim != 1 || x->shape.dims[0] != labels->shape.dims[0])
        return op_error(call, STATUS_SHAPE,
                        "the shapes do not belong together. HINT: (n, classes) and labels (n,)");
    if (x->shape.dims[1] == 0)
        return op_error(call, STATUS_SHAPE, "there are no classes. HINT: x is (n, classes)");
    if (weight && (weight->shape.ndim != 1 || weight->shape.dims[0] != x->shape.dims[1]))
        return op_error(call, STATUS_SHAPE, "the weight is not (%lld,). HINT: one for each class",
                        (long long)x->shape.dims[1]);
    if (call_needs(call, 2))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "the weights of classes have no gradient. HINT: tensor_detach them");
    float smoothing = call->params.value[0];
    if (!(smoothing >= 0.0f && smoothing <= 1.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT, "a smoothing of %g. HINT: from 0 to 1",
                        (double)smoothing);
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
}

// The targets of a call. A row with label l has target (1 - smoothing) w[l] at l, plus smoothing /
// classes w[j] at every class j; all are divided by `counted`.
typedef struct Targets {
    const int64_t *labels;
    const float *weight; // w, or NULL: 1
    int64_t rows, classes, ignored;
    bool ignores;
    double certain, share; // 1 - smoothing, smoothing / classes
    double counted;        // sum of w[l] over the rows that count
} Targets;

static bool counts(const Targets *targets, int64_t row) {
    return !targets->ignores || targets->labels[row] != targets->ignored;
}

static double weight_of(const Targets *targets, int64_t row) {
    return targets->weight ? (double)targets->weight[targets->labels[row]] : 1.0;
}

// For a call on (rows, classes) with in[labels]; the weight may be in[labels + 1].
static Targets targets_of(const OpCall *call, Shape shape, int labels) {
    double smoothing = (double)call->params.value[0];
    const Tensor *weight = call->in[labels + 1];
    Targets targets = {.labels = tensor_indices(call->in[labels]),
                       .weight = weight ? call_in(call, labels + 1) : NULL,
                       .rows = shape.dims[0],
                       .classes = shape.dims[1],
                       .ignored = call->params.begin,
                       .ignores = call->params.flags & NLL_IGNORES,
                       .certain = 1.0 - smoothing,
                       .share = smoothing / (double)shape.dims[1]};
    for (int64_t r = 0; r < targets.rows; r++)
        if (counts(&targets, r)) targets.counted += weight_of(&targets, r);
    return targets;
}

static Status check_labels(const OpCall *call, Shape shape, const int64_t *labels) {
    int64_t classes = shape.dims[1];
    bool ignores = call->params.flags & NLL_IGNORES;
    for (int64_t r = 0; r < shape.dims[0]; r++)
        if ((labels[r] < 0 || labels[r] >= classes) &&
            !(ignores && labels[r] == call->params.begin))
            return op_error(call, STATUS_INVALID_ARGUMENT,
                            "label %lld in row %lld is not in [0, %lld), and is not ignored. HINT: "
                            "the last layer has one output per class",
                            (long long)labels[r], (long long)r, (long long)classes);
    return STATUS_OK;
}

static Status nll_check(const OpCall *call) {
    return check_labels(call, call->in[0]->shape, tensor_indices(call->in[1]));
}

// Sum of w[j] x[j] over a row of c.
KERNEL static double weighted_sum(const float *x, const float *weight, int64_t c) {
    float part[REDUCE_BLOCK];
    double total = 0.0;
    for (int64_t from = 0; from < c; from += REDUCE_BLOCK) {
        int64_t n = c - from < REDUCE_BLOCK ? c - from : REDUCE_BLOCK;
        for (int64_t j = 0; j < n; j++)
            part[j] = weight ? weight[from + j] * x[from + j] : x[from + j];
        total += (double)reduce_sum(part, n);
    }
    return total;
}

static Status nll_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    Targets targets = targets_of(call, call->in[0]->shape, 1);
    double total = 0.0;
    for (int64_t r = 0; r < targets.rows; r++) {
        const float *x = call_in(call, 0) + r * targets.classes;
        if (!counts(&targets, r)) continue;
        total -= targets.certain * weight_of(&targets, r) * (double)x[targets.labels[r]];
        if (targets.share > 0.0)
            total -= targets.share * weighted_sum(x, targets.weight, targets.classes);
    }
    // If all weights are 0 there is no mean, even if smoothing leaves a sum.
    *call_out(call, 0) = targets.counted == 0.0 ? NAN : (float)(total / targets.counted);
    return STATUS_OK;
}

static Status nll_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (!call_needs(saved, 0)) return STATUS_OK;
    OpParams params = saved->params;
    params.shape = saved->in[0]->shape;
    return OP_INTO(&grad_in[0], op_nll_backward, &params, grad_out[0], saved->in[1], saved->in[2]);
}

static unsigned nll_saves(const OpCall *call) {
    (void)call;
    return SAVE_IN(1) | SAVE_IN(2);
}

// Every class of a row gets a share of the smoothing; the label also gets the rest.
static void nll_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool weighted = given & SAVE_IN(2), smooth = params->value[0] != 0.0f;
    story->elementwise.each = smooth ? 1 + weighted : 0;
    story->elementwise.more = 1 + 2 * weighted + 2 * smooth;
    if (weighted) story->formula = "y = sum of -w[label] x[label], divided by the sum of w[label]";
    if (smooth) story->formula = "y = sum of -target w x, divided by the sum of w[label]";
}

// ---- backward: dx = -target w g / counted, 0 in rows that do not count --------------------------
// Inputs: grad (), labels (n), weight (classes) or none. params.shape: x's.
static Status backward_check(const OpCall *call) { // labels may differ from forward's
    return check_labels(call, call->params.shape, tensor_indices(call->in[1]));
}

typedef struct BackwardJob {
    const OpCall *call;
    Targets targets;
} BackwardJob;

// out (n, classes), rows [begin, end): numbers that do not depend on the row are computed once.
KERNEL static void backward_rows(void *argument, int64_t begin, int64_t end) {
    const BackwardJob *job = argument;
    const Targets *targets = &job->targets;
    int64_t classes = targets->classes;
    double scale = -(double)*call_in(job->call, 0) / targets->counted;
    float share = (float)(scale * targets->share), part[REDUCE_BLOCK],
          *out = call_out(job->call, 0);
    bool smooth = targets->share > 0.0;
    for (int64_t from = 0; from < classes; from += REDUCE_BLOCK) {
        int64_t n = classes - from < REDUCE_BLOCK ? classes - from : REDUCE_BLOCK;
        for (int64_t j = 0; j < n; j++)
            part[j] = !smooth ? 0.0f : targets->weight ? share * targets->weight[from + j] : share;
        for (int64_t r = begin; r < end; r++)
            if (counts(targets, r))
                memcpy(out + r * classes + from, part, (size_t)n * sizeof(float));
            else
                memset(out + r * classes + from, 0, (size_t)n * sizeof(float));
    }
    for (int64_t r = begin; r < end; r++)
        if (counts(targets, r))
            out[r * classes + targets->labels[r]] +=
                (float)(scale * targets->certain * weight_of(targets, r));
}

static OpWork rows_of(const Shape *shape) {
    return (OpWork){.items = shape->dims[0], .cost = (double)shape->dims[1]};
}

static int64_t nll_backward_handoffs(const OpCall *call) {
    return cpu_handoffs(rows_of(&call->params.shape));
}

static Status nll_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    BackwardJob job = {call, targets_of(call, call->params.shape, 1)};
    cpu_parallel(rows_of(&call->params.shape), backward_rows, &job);
    return STATUS_OK;
}

static void backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    story->elementwise.each = (given & SAVE_IN(2) ? 2 : 0) + (params->value[0] != 0.0f);
}

static const DTypeSignature nll_types[1] = {{3, {DTYPE_FLOAT32, DTYPE_INT64, DTYPE_FLOAT32}}};

// n - 1 adds and a division; with weights, a product and an add to their sum per row; smoothed, C -
// 1 adds, with weights C products, and 2 products and an add per row.
const Op op_nll = {.id = OP_nll,
                   .name = "nll",
                   .kernel = nll_cpu,
                   .n_inputs = 3,
                   .optional = SAVE_IN(2),
                   .dtypes = nll_types,
                   .n_dtypes = 1,
                   .infer = nll_infer,
                   .check = nll_check,
                   .backward = nll_backward,
                   .saves = nll_saves,
                   .story = STORY(.formula = "y = mean of -x[label]", .out = "y",
                                  .in = {"x", "labels", "w"}, .elementwise = {PER_ROW, .more = 1},
                                  .vary = nll_vary)};
// Per row with a weight: a product, and an add to the sum; smoothed: an add at the label.
const Op op_nll_backward = {.id = OP_nll_backward,
                            .name = "nll_backward",
                            .kernel = nll_backward_cpu,
                            .handoffs = nll_backward_handoffs,
                            .n_inputs = 3,
                            .optional = SAVE_IN(2),
                            .dtypes = nll_types,
                            .n_dtypes = 1,
                            .infer = op_infer_shape,
                            .check = backward_check,
                            .story = STORY(.formula = "dx = -target dy / the sum of w[label]",
                                           .out = "dx", .in = {"dy", "labels", "w"},
                                           .elementwise = {PER_INPUT, .input = 1},
                                           .vary = backward_vary)};
