// group_norm_backward.c -- the gradients of a group norm: of x, row by row; of weight and bias
// together, channel by channel. z = (x - mean) rstd in both. A channel's weight is one number, so
// sums are those of its elements, multiplied once.
// params: count = groups; flags of the second: NORM_WITH_BIAS
#include "tensor/ops/group_norm.h"

typedef struct Channel { // dy and x, of one channel of one sample
    const float *dy, *x;
    float mean, rstd;
} Channel;

MATH_INLINE float normalised(const Channel *of, int64_t j) {
    return (of->x[j] - of->mean) * of->rstd;
}
MATH_INLINE NormTerm gradient_term(const void *channel, int64_t j) {
    const Channel *of = channel;
    return (NormTerm){of->dy[j], of->dy[j] * normalised(of, j)};
}

// The sums of dy and of dy z. For few elements lanes would cost more than they save.
MATH_INLINE NormSums channel_sums(const Channel *of, int64_t n) {
    if (n >= NORM_LANES) return norm_sums(of, n, gradient_term);
    NormSums sums = {0.0, 0.0};
    for (int64_t j = 0; j < n; j++) {
        NormTerm t = gradient_term(of, j);
        sums.first += (double)t.first;
        sums.second += (double)t.second;
    }
    return sums;
}

// ---- dx = rstd (g - mean(g) - z mean(g z)), g = dy weight --------------------------------------
enum { DY, X, WEIGHT, MEAN, RSTD }; // inputs; the weight may be absent

static OpWork input_work(const OpCall *call) {
    Groups g = groups_of(call->in[X], &call->params);
    return (OpWork){.items = g.n ? g.rows : 0, .cost = (double)g.n};
}

static Channel channel_at(const OpCall *call, int64_t row, int64_t offset) {
    return (Channel){.dy = call_in(call, DY) + offset,
                     .x = call_in(call, X) + offset,
                     .mean = call_in(call, MEAN)[row],
                     .rstd = call_in(call, RSTD)[row]};
}

KERNEL static Status group_norm_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Groups g = groups_of(call->in[X], &call->params);
    for (int64_t r = begin; r < end; r++) {
        const float *weight =
            call->in[WEIGHT] ? call_in(call, WEIGHT) + first_channel(&g, r) : NULL;
        double sum = 0.0, product = 0.0;
        for (int64_t k = 0; k < g.width; k++) {
            Channel of = channel_at(call, r, r * g.n + k * g.spatial);
            NormSums sums = channel_sums(&of, g.spatial);
            double w = weight ? (double)weight[k] : 1.0;
            sum += w * sums.first;
            product += w * sums.second;
        }
        float mean_g = (float)(sum / (double)g.n), mean_gz = (float)(product / (double)g.n);
        for (int64_t k = 0; k < g.width; k++) {
            Channel of = channel_at(call, r, r * g.n + k * g.spatial);
            float *dx = call_out(call, 0) + r * g.n + k * g.spatial;
            float w = weight ? weight[k] : 1.0f;
            for (int64_t j = 0; j < g.spatial; j++)
                dx[j] = (of.dy[j] * w - mean_g - normalised(&of, j) * mean_gz) * of.rstd;
        }
    }
    return STATUS_OK;
}

static void input_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(WEIGHT))) return;
    story->elementwise.each++;
    story->formula = "dx = rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd, "
                     "means of each group";
}

// ---- dweight = the sum of dy z of a channel, dbias = that of dy ---------------------------------
enum { WEIGHT_DY, WEIGHT_X, WEIGHT_MEAN, WEIGHT_RSTD }; // inputs

static Status weight_infer(OpCall *call) {
    Shape channels = SHAPE(call->in[WEIGHT_X]->shape.dims[1]);
    Status status = op_output(call, 0, DTYPE_FLOAT32, channels);
    if (status || !(call->params.flags & NORM_WITH_BIAS)) return status;
    return op_output(call, 1, DTYPE_FLOAT32, channels);
}

static OpWork weight_work(const OpCall *call) { // channels
    Groups g = groups_of(call->in[WEIGHT_X], &call->params);
    double cost = (double)g.samples * (double)g.spatial;
    return (OpWork){.items = g.channels, .cost = cost > 1.0 ? cost : 1.0, .together = 16};
}

enum { TILE_CHANNELS = 256 };

// Channels [begin, end): each added up in the order of the samples, whichever thread has it.
KERNEL static Status group_norm_backward_weight_cpu(const OpCall *call, int64_t begin,
                                                    int64_t end) {
    Groups g = groups_of(call->in[WEIGHT_X], &call->params);
    for (int64_t first = begin, width; first < end; first += width) {
        width = end - first < TILE_CHANNELS ? end - first : TILE_CHANNELS;
        double weight[TILE_CHANNELS] = {0}, bias[TILE_CHANNELS] = {0};
        for (int64_t s = 0; s < g.samples; s++)
            for (int64_t k = 0; k < width; k++) {
                int64_t row = s * g.count + (first + k) / g.width;
                int64_t offset = (s * g.channels + first + k) * g.spatial;
                Channel of = {.dy = call_in(call, WEIGHT_DY) + offset,
                              .x = call_in(call, WEIGHT_X) + offset,
                              .mean = call_in(call, WEIGHT_MEAN)[row],
                              .rstd = call_in(call, WEIGHT_RSTD)[row]};
                NormSums sums = channel_sums(&of, g.spatial);
                weight[k] += sums.second;
                bias[k] += sums.first;
            }
        for (int64_t k = 0; k < width; k++) {
            call_out(call, 0)[first + k] = (float)weight[k];
            if (call->n_out > 1) call_out(call, 1)[first + k] = (float)bias[k];
        }
    }
    return STATUS_OK;
}

static void weight_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_OUT(1))) return; // no dbias
    story->elementwise = (OpRule){PER_COLUMN, .each = 5, .more = -2, .input = WEIGHT_X};
    story->extra = "dbias";
    story->extra_bytes = (OpRule){PER_OUTPUT, .each = 4};
    story->formula = "dweight = dy (x - mean) rstd and dbias = dy, each summed over a channel";
}

// As layer_norm_backward.c counts.
const Op op_group_norm_backward = {
    .id = OP_group_norm_backward,
    .name = "group_norm_backward",
    .kernel = group_norm_backward_cpu,
    .n_inputs = 5,
    .optional = SAVE_IN(WEIGHT),
    .infer = infer_like_second,
    .work = input_work,
    .story = STORY(.formula = "dx = rstd (g - mean(g) - z mean(g z)), g = dy, z = (x - mean) rstd, "
                              "means of each group",
                   .out = "dx", .in = {"dy", "x", "weight", "mean", "rstd"},
                   .elementwise = {PER_OUTPUT, .each = 9}, .vary = input_vary)};
const Op op_group_norm_backward_weight = {
    .id = OP_group_norm_backward_weight,
    .name = "group_norm_backward_weight",
    .kernel = group_norm_backward_weight_cpu,
    .n_inputs = 4,
    .infer = weight_infer,
    .work = weight_work,
    .story =
        STORY(.formula = "dweight = dy (x - mean) rstd, summed over a channel", .out = "dweight",
              .in = {"dy", "x", "mean", "rstd"},
              .elementwise = {PER_COLUMN, .each = 4, .more = -1, .input = 1}, .vary = weight_vary)};
