// oracle_loss.c -- the losses and dropout.
#include "tests/ops/oracle.h"

#include "tensor/random.h"

static const double *row_of(const OracleTensor *t, int64_t row) {
    return t->values + row * t->shape.dims[1];
}

// Sets *top to a row's maximum; returns the sum of exp(x - max).
static double sum_of_powers(OpCost *n, const double *x, int64_t classes, double *top) {
    *top = x[0];
    for (int64_t c = 1; c < classes; c++) {
        if (overtakes(n, x[c], *top)) *top = x[c];
    }
    double total = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        double power = transcendental(n, exp, minus(n, x[c], *top));
        total = c == 0 ? power : plus(n, total, power);
    }
    return total;
}

// Mean over the rows of log(sum exp(row - max)) - (row[label] - max); the mean of no rows is NaN.
// The second output holds max and sum of each row.
static bool cross_entropy(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *logits = &call->in[0];
    int64_t rows = logits->shape.dims[0];
    int64_t classes = logits->shape.dims[1];
    if (!oracle_expects(call, 0, SHAPE_SCALAR) || !oracle_expects(call, 1, SHAPE(rows, 2))) {
        return false;
    }
    double total = 0.0;
    for (int64_t r = 0; r < rows; r++) {
        double top, sum = sum_of_powers(n, row_of(logits, r), classes, &top);
        double below = minus(n, row_of(logits, r)[(int64_t)call->in[1].values[r]], top);
        double loss = minus(n, transcendental(n, log, sum), below);
        call->out[1].values[2 * r] = top;
        call->out[1].values[2 * r + 1] = sum;
        total = r == 0 ? loss : plus(n, total, loss);
    }
    call->out[0].values[0] = rows == 0 ? (double)NAN : over(n, total, (double)rows);
    return true;
}

// exp(x - max) (g / R / sum), minus g / R at the label
static bool cross_entropy_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *logits = &call->in[1];
    int64_t rows = logits->shape.dims[0];
    int64_t classes = logits->shape.dims[1];
    double scale = call->in[0].values[0] / (double)rows;
    if (!oracle_expects(call, 0, logits->shape)) return false;
    for (int64_t r = 0; r < rows; r++) {
        int64_t label = (int64_t)call->in[2].values[r];
        double top = call->in[3].values[2 * r];
        double factor = over(n, scale, call->in[3].values[2 * r + 1]);
        double *gradient = &call->out[0].values[r * classes];
        for (int64_t c = 0; c < classes; c++) {
            double power = transcendental(n, exp, minus(n, row_of(logits, r)[c], top));
            gradient[c] = times(n, power, factor);
        }
        gradient[label] = minus(n, gradient[label], scale);
    }
    return true;
}

// ---- labels, with all options ------------------------------------------------------------------
// The factor of element c of a row: its weight times its share of the target.
static double target_of(const OracleCall *call, int64_t classes, int64_t label, int64_t c) {
    const double *weight = call->in[2].identity ? call->in[2].values : NULL;
    double smoothing = (double)call->params.value[0];
    double share =
        c == label ? 1.0 - smoothing + smoothing / (double)classes : smoothing / (double)classes;
    return share * (weight ? weight[c] : 1.0);
}

static bool is_ignored(const OracleCall *call, int64_t row) {
    return call->params.flags && (int64_t)call->in[1].values[row] == call->params.begin;
}

// The sum of the labels' weights over the rows that are not ignored.
static double weight_of_labels(const OracleCall *call) {
    double total = 0.0;
    for (int64_t r = 0; r < call->in[1].numel; r++) {
        if (is_ignored(call, r)) continue;
        total += call->in[2].identity ? call->in[2].values[(int64_t)call->in[1].values[r]] : 1.0;
    }
    return total;
}

// The cost is the declared steps, whatever the labels are: multiply by the label's weight and add
// the weight to its sum; sum the weighted row, scale it and the label's term, and add the two.
static bool nll(OracleCall *call) {
    OpCost *n = &call->counted;
    int64_t rows = call->in[0].shape.dims[0], classes = call->in[0].shape.dims[1];
    bool weighted = call->in[2].identity != NULL, smooth = call->params.value[0] != 0.0f;
    double total = 0.0;
    if (!oracle_expects(call, 0, SHAPE_SCALAR)) return false;
    for (int64_t r = 0; r < rows; r++) {
        double loss = 0.0;
        if (weighted) n->elementwise_flops += 2;
        if (smooth)
            n->elementwise_flops += (uint64_t)(weighted ? classes : 0) + (uint64_t)classes + 2;
        n->elementwise_flops++; // for the mean
        if (is_ignored(call, r)) continue;
        for (int64_t c = 0; c < classes; c++)
            loss -= target_of(call, classes, (int64_t)call->in[1].values[r], c) *
                    row_of(&call->in[0], r)[c];
        total += loss;
    }
    call->out[0].values[0] = total / weight_of_labels(call);
    return true;
}

static bool nll_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    int64_t rows = call->params.shape.dims[0], classes = call->params.shape.dims[1];
    double scale = call->in[0].values[0] / weight_of_labels(call);
    if (!oracle_expects(call, 0, call->params.shape)) return false;
    for (int64_t r = 0; r < rows; r++) {
        n->elementwise_flops += (call->in[2].identity ? 2 : 0) + (call->params.value[0] != 0.0f);
        for (int64_t c = 0; c < classes; c++)
            call->out[0].values[r * classes + c] =
                is_ignored(call, r)
                    ? 0.0
                    : -scale * target_of(call, classes, (int64_t)call->in[1].values[r], c);
    }
    return true;
}

// ---- element by element ------------------------------------------------------------------------
// The sum of a loss over all elements, divided by `by`; without elements 0 / by.
static bool mean_of(OracleCall *call, int64_t by,
                    double (*loss)(OpCost *n, double x, double t, double parameter)) {
    OpCost *n = &call->counted;
    int64_t count = call->in[0].numel;
    double total = 0.0;
    if (!oracle_expects(call, 0, SHAPE_SCALAR)) return false;
    for (int64_t i = 0; i < count; i++) {
        double one =
            loss(n, call->in[0].values[i], call->in[1].values[i], (double)call->params.value[0]);
        total = i == 0 ? one : plus(n, total, one);
    }
    call->out[0].values[0] = count ? over(n, total, (double)by) : total / (double)by;
    return true;
}

static double squared(OpCost *n, double x, double t, double unused) {
    double difference = minus(n, x, t);
    (void)unused;
    return times(n, difference, difference);
}

// Mean of (p - t)^2; NaN without elements.
static bool mse(OracleCall *call) { return mean_of(call, call->in[0].numel, squared); }

static double distance(OpCost *n, double x, double t, double unused) {
    double difference = minus(n, x, t);
    (void)unused;
    return less(n, difference, 0.0) ? -difference : difference;
}

static bool l1(OracleCall *call) { return mean_of(call, call->in[0].numel, distance); }

// The sign of x - t, times g / n, negated for the gradient of t.
static bool l1_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[1];
    double scale = call->in[0].values[0] / (double)x->numel * (double)call->params.value[0];
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double d = minus(n, x->values[i], call->in[2].values[i]);
        bool above = less(n, 0.0, d), below = less(n, d, 0.0);
        call->out[0].values[i] = times(n, above ? 1.0 : below ? -1.0 : 0.0, scale);
    }
    return true;
}

static double bent(OpCost *n, double x, double t, double delta) {
    double size = distance(n, x, t, 0.0);
    if (less(n, delta, size)) return times(n, delta, minus(n, size, delta / 2.0));
    return times(n, times(n, size, size), 0.5);
}

static bool huber(OracleCall *call) { return mean_of(call, call->in[0].numel, bent); }

static bool huber_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[1];
    double scale = call->in[0].values[0] / (double)x->numel * (double)call->params.value[0];
    double delta = (double)call->params.value[1];
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double d = minus(n, x->values[i], call->in[2].values[i]);
        bool beyond = less(n, delta, d), before = less(n, d, -delta);
        call->out[0].values[i] = times(n, beyond ? delta : before ? -delta : d, scale);
    }
    return true;
}

static double divergence(OpCost *n, double x, double t, double unused) {
    double own = times(n, t, transcendental(n, log, t));
    (void)unused;
    return minus(n, t == 0.0 ? 0.0 : own, times(n, t, x));
}

static bool kl_divergence(OracleCall *call) {
    return mean_of(call, call->in[0].shape.dims[0], divergence);
}

// (p - t) (2 g / n), negated for the gradient of t
static bool mse_backward(OracleCall *call) {
    const OracleTensor *p = &call->in[1];
    double scale = 2.0 * call->in[0].values[0] / (double)p->numel * (double)call->params.value[0];
    if (!oracle_expects(call, 0, p->shape)) return false;
    for (int64_t i = 0; i < p->numel; i++) {
        double difference = minus(&call->counted, p->values[i], call->in[2].values[i]);
        call->out[0].values[i] = times(&call->counted, difference, scale);
    }
    return true;
}

static double crossed(OpCost *n, double x, double t, double unused) {
    double above = overtakes(n, x, 0.0) ? x : 0.0, size = less(n, x, 0.0) ? -x : x;
    double line = minus(n, above, times(n, x, t));
    (void)unused;
    n->elementwise_flops++; // the 1 + of log1p
    return plus(n, line, transcendental(n, log1p, transcendental(n, exp, -size)));
}

// Mean of max(x, 0) - x t + log(1 + exp(-|x|)); NaN without elements.
static bool binary_cross_entropy(OracleCall *call) {
    return mean_of(call, call->in[0].numel, crossed);
}

// (sigmoid(x) - t) (g / n)
static bool binary_cross_entropy_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[1];
    double scale = call->in[0].values[0] / (double)x->numel;
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double p = over(n, 1.0, plus(n, 1.0, transcendental(n, exp, -x->values[i])));
        call->out[0].values[i] = times(n, minus(n, p, call->in[2].values[i]), scale);
    }
    return true;
}

// Keeps block i when its uniform number is at least p, scaled by 1 / (1 - p).
static bool dropout(OracleCall *call) {
    OpCost *n = &call->counted;
    const OracleTensor *x = &call->in[0];
    double p = (double)call->params.value[0];
    Shape mask = x->shape;
    mask.ndim -= call->params.shape.ndim;
    if (!oracle_expects(call, 0, x->shape) || !oracle_expects(call, 1, mask)) return false;
    int64_t block = shape_numel(call->params.shape);
    OpCost nothing = {0}; // uncounted cost, for empty blocks
    for (int64_t i = 0; i < shape_numel(mask); i++) {
        float uniform = 0.0f;
        random_uniform(call->params.seed, call->params.offset, i, i + 1, &uniform);
        bool kept = !less(block ? n : &nothing, (double)uniform, p);
        call->out[1].values[i] = kept ? 1.0 : 0.0;
        for (int64_t k = i * block; k < (i + 1) * block; k++) {
            n->elementwise_flops++; // product with 0 or the scale
            call->out[0].values[k] = kept ? x->values[k] / (1.0 - p) : 0.0;
        }
    }
    return true;
}

// Inputs: grad and the mask of the forward.
static bool dropout_backward(OracleCall *call) {
    const OracleTensor *grad = &call->in[0], *mask = &call->in[1];
    if (!oracle_expects(call, 0, grad->shape)) return false;
    int64_t block = shape_numel(call->params.shape);
    for (int64_t i = 0; i < grad->numel; i++) {
        call->counted.elementwise_flops++;
        bool kept = mask->values[i / block] != 0.0;
        call->out[0].values[i] =
            kept ? grad->values[i] / (1.0 - (double)call->params.value[0]) : 0.0;
    }
    return true;
}

const OracleFunction oracle_losses[OP_COUNT] = {
    [OP_cross_entropy] = cross_entropy,
    [OP_cross_entropy_backward] = cross_entropy_backward,
    [OP_nll] = nll,
    [OP_nll_backward] = nll_backward,
    [OP_mse] = mse,
    [OP_l1] = l1,
    [OP_l1_backward] = l1_backward,
    [OP_huber] = huber,
    [OP_huber_backward] = huber_backward,
    [OP_kl_divergence] = kl_divergence,
    [OP_mse_backward] = mse_backward,
    [OP_binary_cross_entropy_with_logits] = binary_cross_entropy,
    [OP_binary_cross_entropy_with_logits_backward] = binary_cross_entropy_backward,
    [OP_dropout] = dropout,
    [OP_dropout_backward] = dropout_backward,
};
