// batch_norm.c -- y = (x - mean) rstd weight + bias in training: mean and rstd = 1 / sqrt(variance
// + epsilon) of each channel, over all other dimensions (Ioffe, Szegedy 2015); updates running
// statistics in place. params: value = {epsilon, momentum}
#include "tensor/ops/batch_norm.h"

#include <math.h>

enum { X, WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VARIANCE, BATCHES }; // inputs; and outputs:
enum { Y, MEAN, RSTD };                                            // as every norm's, in this order

Tensor *tensor_batch_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                          RunningStatistics running) {
    OpParams params = {.value = {epsilon, running.momentum}};
    return OP_RUN(op_batch_norm, &params, x, weight, bias, running.mean, running.variance,
                  running.batches);
}

// ---- checks ------------------------------------------------------------------------------------
Status batch_norm_check(const OpCall *call) {
    static const char *const names[] = {"", "weight", "bias", "running mean", "running variance"};
    const Shape *x = &call->in[X]->shape;
    if (x->ndim < 2)
        return op_error(call, STATUS_SHAPE, "x has no channels. HINT: it is (batch, channels ...)");
    for (int i = WEIGHT; i <= RUNNING_VARIANCE; i++)
        if (call->in[i] && !shape_equal(call->in[i]->shape, SHAPE(x->dims[1])))
            return op_error(call, STATUS_SHAPE,
                            "the %s is not (%lld,). HINT: it has a number for "
                            "each channel",
                            names[i], (long long)x->dims[1]);
    return norm_check_epsilon(call);
}

static Status check_running(const OpCall *call) {
    const Tensor *mean = call->in[RUNNING_MEAN], *batches = call->in[BATCHES];
    float momentum = call->params.value[1];
    if (!mean != !call->in[RUNNING_VARIANCE] || (batches && !mean))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "running statistics are not whole. HINT: a mean and a variance, and a "
                        "number of batches only with them");
    if (batches && batches->numel != 1)
        return op_error(call, STATUS_SHAPE, "the number of batches is one number. HINT: SHAPE(1)");
    if (mean && isnan(momentum) && !batches)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "momentum is nan, by which all batches count alike, and nothing counts "
                        "them. HINT: give the number of batches");
    if (!isinf(momentum)) return STATUS_OK;
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "momentum is %g. HINT: what the newest batch counts, such as 0.1",
                    (double)momentum);
}

static Status batch_norm_infer(OpCall *call) {
    if (batch_norm_check(call) || check_running(call)) return error_status();
    if (call->in[X]->numel > 0 && channels_size(channels_of(call->in[X])) == 1)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "x has one value per channel, which has no variance. HINT: a larger "
                        "batch; or, to evaluate, layer_train(model, false)");
    Shape channels = SHAPE(call->in[X]->shape.dims[1]);
    Status status = op_output_like(call, Y, call->in[X]);
    if (!status) status = op_output(call, MEAN, DTYPE_FLOAT32, channels);
    return status ? status : op_output(call, RSTD, DTYPE_FLOAT32, channels);
}

static bool batch_norm_mutates(const OpCall *call, int input) {
    (void)call;
    return input >= RUNNING_MEAN;
}

// ---- statistics --------------------------------------------------------------------------------
// As norm_moments, for a channel x that consists of separate planes.
MATH_INLINE Moments plane_moments(const float *x, Channels of) {
    int64_t step = channels_step(of);
    double n = (double)channels_size(of), sum = 0.0;
    for (int64_t s = 0; s < of.samples; s++) sum += (double)reduce_sum(x + s * step, of.plane);
    float about = (float)(sum / n);
    LaneSums lanes = {.held = 0};
    for (int64_t s = 0; s < of.samples; s++) {
        Centred plane = {x + s * step, about};
        lanes_add(&lanes, &plane, of.plane, distance_and_square);
    }
    lanes_flush(&lanes);
    double rest = lanes.sums.first / n;
    return (Moments){about, (float)rest, lanes.sums.second / n - rest * rest};
}

typedef struct ColumnSums {
    double first[CHANNEL_TILE], second[CHANNEL_TILE];
} ColumnSums;

// The sums of x - about, and of its squares, down each of `width` columns: as reduce_add_rows.
MATH_INLINE void add_distances(const float *x, Channels of, int64_t width, const float *about,
                               ColumnSums *sums) {
    int64_t step = channels_step(of);
    for (int64_t s = 0; s < of.samples; s += REDUCE_ROWS) {
        int64_t last = of.samples - s < REDUCE_ROWS ? of.samples : s + REDUCE_ROWS;
        float first[CHANNEL_TILE] = {0}, second[CHANNEL_TILE] = {0};
        for (int64_t k = s; k < last; k++)
            for (int64_t j = 0; j < width; j++) {
                float d = x[k * step + j] - about[j];
                first[j] += d;
                second[j] += d * d;
            }
        for (int64_t j = 0; j < width; j++) {
            sums->first[j] += (double)first[j];
            sums->second[j] += (double)second[j];
        }
    }
}

MATH_INLINE double sum_few(const double *x, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

// Moments of `count` narrow adjacent channels at x.
MATH_INLINE void column_moments(const float *x, Channels of, int64_t count, Moments *moments) {
    int64_t width = count * of.plane;
    double n = (double)channels_size(of);
    ColumnSums sums = {{0}, {0}};
    float about[CHANNEL_TILE];
    reduce_add_rows(sums.first, x, of.samples, channels_step(of), width);
    for (int64_t c = 0; c < count; c++) {
        moments[c].about = (float)(sum_few(sums.first + c * of.plane, of.plane) / n);
        for (int64_t j = 0; j < of.plane; j++) about[c * of.plane + j] = moments[c].about;
    }
    sums = (ColumnSums){{0}, {0}};
    add_distances(x, of, width, about, &sums);
    for (int64_t c = 0; c < count; c++) {
        double rest = sum_few(sums.first + c * of.plane, of.plane) / n;
        moments[c].rest = (float)rest;
        moments[c].variance = sum_few(sums.second + c * of.plane, of.plane) / n - rest * rest;
    }
}

// For channels whose sum or squares are too large or too small for a float.
static Moments moments_in_double(const float *x, Channels of) {
    int64_t step = channels_step(of);
    double n = (double)channels_size(of), mean = 0.0, variance = 0.0;
    for (int64_t s = 0; s < of.samples; s++)
        for (int64_t j = 0; j < of.plane; j++) mean += (double)x[s * step + j];
    mean /= n;
    for (int64_t s = 0; s < of.samples; s++)
        for (int64_t j = 0; j < of.plane; j++) {
            double d = (double)x[s * step + j] - mean;
            variance += d * d / n;
        }
    float about = (float)mean; // an infinite mean has no rest
    return (Moments){about, isinf(about) ? 0.0f : (float)(mean - (double)about), variance};
}

// ---- training ----------------------------------------------------------------------------------
typedef struct Training {
    const OpCall *call;
    Channels of;
    double momentum; // weight of this batch
} Training;

static void follow(const Training *t, int64_t c, double mean, double variance) {
    float *means = call_in(t->call, RUNNING_MEAN), *variances = call_in(t->call, RUNNING_VARIANCE);
    double unbiased = math_unbiased(variance, (double)channels_size(t->of), 1.0);
    means[c] = math_follow(means[c], mean, t->momentum);
    variances[c] = math_follow(variances[c], unbiased, t->momentum);
}

// Stores the statistics of channel c, and returns its Affine.
static Affine channel_end(const Training *t, int64_t c, Moments m) {
    const OpCall *call = t->call;
    double epsilon = (double)call->params.value[0];
    if (!norm_square_holds(m.variance, epsilon))
        m = moments_in_double(call_in(call, X) + c * t->of.plane, t->of);
    if (m.variance < 0.0) m.variance = 0.0; // due to rounding
    float rstd = (float)(1.0 / sqrt(m.variance + epsilon));
    call_out(call, MEAN)[c] = m.about + m.rest;
    call_out(call, RSTD)[c] = rstd;
    if (call->in[RUNNING_MEAN]) follow(t, c, (double)m.about + (double)m.rest, m.variance);
    return (Affine){m.about, m.rest, rstd * number_or(call, WEIGHT, c, 1.0f),
                    number_or(call, BIAS, c, 0.0f)};
}

KERNEL static void train_wide(void *argument, int64_t begin, int64_t end) {
    const Training *t = argument;
    int64_t step = channels_step(t->of);
    for (int64_t c = begin; c < end; c++) {
        const float *x = call_in(t->call, X) + c * t->of.plane;
        float *y = call_out(t->call, Y) + c * t->of.plane;
        Affine affine = channel_end(t, c, plane_moments(x, t->of));
        for (int64_t s = 0; s < t->of.samples; s++)
            affine_plane(x + s * step, y + s * step, t->of.plane, affine);
    }
}

KERNEL static void train_narrow(void *argument, int64_t begin, int64_t end) {
    const Training *t = argument;
    for (int64_t first = begin, count; first < end; first += count) {
        int64_t plane = t->of.plane, most = channels_together(t->of);
        count = end - first < most ? end - first : most;
        const float *x = call_in(t->call, X) + first * plane;
        Moments moments[CHANNEL_TILE];
        AffineTile tile;
        column_moments(x, t->of, count, moments);
        for (int64_t c = 0; c < count; c++)
            affine_tile_set(&tile, c * plane, plane, channel_end(t, first + c, moments[c]));
        affine_columns(x, call_out(t->call, Y) + first * plane, t->of, count * plane, &tile);
    }
}

static int64_t batch_norm_handoffs(const OpCall *call) {
    Channels of = channels_of(call->in[X]);
    return channels_size(of) ? cpu_handoffs(channels_work(of)) : 0;
}

static Status batch_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Training training = {call, channels_of(call->in[X]), (double)call->params.value[1]};
    (void)begin, (void)end;
    if (call->in[BATCHES]) {
        int64_t batches = ++*tensor_indices(call->in[BATCHES]);
        training.momentum = math_batch_momentum(call->params.value[1], batches);
    }
    if (channels_size(training.of) == 0) { // empty channels; running statistics stay
        for (int64_t c = 0; c < training.of.count; c++)
            call_out(call, MEAN)[c] = call_out(call, RSTD)[c] = NAN;
        return STATUS_OK;
    }
    cpu_parallel(channels_work(training.of),
                 channels_are_narrow(training.of) ? train_narrow : train_wide, &training);
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
Status batch_norm_run_backward(const Op *op, const OpCall *saved, Tensor *grad_in[],
                               Tensor *in[5]) {
    OpParams params = saved->params;
    Tensor **slots[3];
    int n = 0;
    params.flags = 0;
    for (int i = X; i <= BIAS; i++) {
        if (!call_needs(saved, i)) continue;
        params.flags |= 1u << i;
        slots[n++] = &grad_in[i];
    }
    return n > 0 ? op_run_into_each(slots, n, op, &params, in, 5) : STATUS_OK;
}

static Status batch_norm_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    bool input = call_needs(saved, X), any = input || call_needs(saved, WEIGHT);
    Tensor *in[] = {grad_out[Y], any ? saved->in[X] : NULL, input ? saved->in[WEIGHT] : NULL,
                    any ? saved->out[MEAN] : NULL, any ? saved->out[RSTD] : NULL};
    return batch_norm_run_backward(&op_batch_norm_backward, saved, grad_in, in);
}

static void training_vary(OpStory *story, const OpParams *params, unsigned given) {
    norm_vary(story, params, given);
    if (given & SAVE_IN(RUNNING_MEAN)) story->elementwise.more += 7;
}

static const DTypeSignature batch_norm_dtypes[] = {
    {6, {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_INT64}}};

// As a layer norm with a channel as row. Per channel, running statistics take 3 for the mean, 3 for
// the variance, and 1 to unbias it.
const Op op_batch_norm = {
    .id = OP_batch_norm,
    .name = "batch_norm",
    .kernel = batch_norm_cpu,
    .handoffs = batch_norm_handoffs,
    .n_inputs = 6,
    .optional = SAVE_IN(WEIGHT) | SAVE_IN(BIAS) | SAVE_IN(RUNNING_MEAN) |
                SAVE_IN(RUNNING_VARIANCE) | SAVE_IN(BATCHES),
    .dtypes = batch_norm_dtypes,
    .n_dtypes = 1,
    .infer = batch_norm_infer,
    .mutates = batch_norm_mutates,
    .backward = batch_norm_backward,
    .saves = norm_saves,
    .story =
        STORY(.formula = "y = (x - mean) rstd, rstd = 1 / sqrt(variance + epsilon)", .out = "y",
              .in = {"x", "weight", "bias", "running mean", "running variance", "batches"},
              .elementwise = {PER_CHANNEL, .each = 5, .more = 1},
              .transcendental = {PER_CHANNEL, .more = 1}, .extra = "mean and rstd of a channel",
              .extra_elements = {PER_CHANNEL, .more = 2}, .keeps = KEEP_X | KEEP_EXTRA,
              .kind = KIND_NORM, .vary = training_vary)};
