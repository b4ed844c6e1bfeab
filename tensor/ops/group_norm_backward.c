// group_norm_backward.c -- the gradients of a group norm: of x, row by row; of weight and bias
// together, channel by channel. z = (x - mean) rstd in both.
// params: count = groups; flags of the weight's op: NORM_WITH_BIAS
#include "tensor/ops/group_norm.h"

// ---- dx = rstd (g - mean(g) - z mean(g z)), g = dy weight --------------------------------------
enum { DY, X, WEIGHT, MEAN, RSTD }; // inputs; the weight may be absent

static OpWork input_work(const OpCall *call) {
    Groups g = groups_of(call->in[X], &call->params);
    return (OpWork){.items = g.n ? g.rows : 0, .cost = (double)g.n};
}

enum { TILE = 1024 };

// Channels may be short, so a loop over each would mostly be overhead. So a row is handled in
// tiles, with the channels' weights spread over their elements.
// The tile [from, from + n) of a row, with the weight of each element in `weights`.
MATH_INLINE GradientRow tile_of(GradientRow row, int64_t spatial, int64_t from, int64_t n,
                                float weights[TILE]) {
    for (int64_t j = 0, end, k = from / spatial; j < n; j = end, k++) {
        end = (k + 1) * spatial - from < n ? (k + 1) * spatial - from : n;
        float weight = row.weight[k];
        for (; j < end; j++) weights[j] = weight;
    }
    row.dy += from;
    row.x += from;
    row.weight = weights;
    return row;
}

// dx (width, spatial)
MATH_INLINE void write_channels(GradientRow row, const Groups *g, float *dx) {
    NormSums sums = {0.0, 0.0};
    float weights[TILE];
    for (int64_t from = 0, n; from < g->n; from += n) {
        n = g->n - from < TILE ? g->n - from : TILE;
        GradientRow tile = tile_of(row, g->spatial, from, n, weights);
        NormSums part = norm_sums(&tile, n, norm_gradient_term);
        sums.first += part.first;
        sums.second += part.second;
    }
    float mean_g = (float)(sums.first / (double)g->n),
          mean_gz = (float)(sums.second / (double)g->n);
    for (int64_t from = 0, n; from < g->n; from += n) {
        n = g->n - from < TILE ? g->n - from : TILE;
        GradientRow tile = tile_of(row, g->spatial, from, n, weights);
        norm_write_slopes(&tile, n, mean_g, mean_gz, dx + from);
    }
}

KERNEL static Status group_norm_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Groups g = groups_of(call->in[X], &call->params);
    for (int64_t r = begin; r < end; r++) {
        GradientRow row = {.dy = call_in(call, DY) + r * g.n,
                           .x = call_in(call, X) + r * g.n,
                           .mean = call_in(call, MEAN)[r],
                           .rstd = call_in(call, RSTD)[r],
                           .centred = true};
        float *dx = call_out(call, 0) + r * g.n;
        if (call->in[WEIGHT]) row.weight = call_in(call, WEIGHT) + first_channel(&g, r);
        if (g.spatial == 1 || !row.weight) // a row as in a layer norm
            norm_write_gradient(row, g.n, dx);
        else
            write_channels(row, &g, dx);
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

// ---- dweight = the sum of dy z over a channel, dbias = the sum of dy ----------------------------
enum { WEIGHT_DY, WEIGHT_X, WEIGHT_MEAN, WEIGHT_RSTD }; // inputs

static Status weight_infer(OpCall *call) {
    Shape channels = SHAPE(call->in[WEIGHT_X]->shape.dims[1]);
    Status status = op_output(call, 0, DTYPE_FLOAT32, channels);
    if (status || !(call->params.flags & NORM_WITH_BIAS)) return status;
    return op_output(call, 1, DTYPE_FLOAT32, channels);
}

static OpWork weight_work(const OpCall *call) { // items: channels
    Groups g = groups_of(call->in[WEIGHT_X], &call->params);
    double cost = (double)g.samples * (double)g.spatial;
    return (OpWork){.items = g.channels, .cost = cost > 1.0 ? cost : 1.0, .together = 16};
}

enum { TILE_CHANNELS = 256 };

typedef struct ChannelSums {
    double weight[TILE_CHANNELS], bias[TILE_CHANNELS];
} ChannelSums;

// A channel of a sample is a GradientRow without weight: its sums of dy and of dy z. For few
// elements, as many lanes as in norm_sums would cost more than they save.
MATH_INLINE NormSums channel_sums(const GradientRow *of, int64_t n) {
    if (n >= 2 * NORM_LANES) return norm_sums(of, n, norm_gradient_term);
    enum { LANES = 8 };
    float first[LANES] = {0}, second[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES; k++) first[k] += of->dy[i + k];
        for (int k = 0; k < LANES; k++) second[k] += of->dy[i + k] * norm_normalised(of, i + k);
    }
    float sum = reduce_pairs(first, LANES), product = reduce_pairs(second, LANES);
    for (; i < n; i++) {
        sum += of->dy[i];
        product += of->dy[i] * norm_normalised(of, i);
    }
    return (NormSums){(double)sum, (double)product};
}

// Handles `count` channels of one group of a sample, starting at `row`.
MATH_INLINE void add_channels(const GradientRow *row, int64_t count, int64_t spatial,
                              double *weight, double *bias) {
    for (int64_t k = 0; k < count && spatial == 1; k++) {
        weight[k] += (double)(row->dy[k] * norm_normalised(row, k));
        bias[k] += (double)row->dy[k];
    }
    if (spatial == 1) return;
    GradientRow of = *row;
    for (int64_t k = 0; k < count; k++, of.dy += spatial, of.x += spatial) {
        NormSums sums = channel_sums(&of, spatial);
        weight[k] += sums.second;
        bias[k] += sums.first;
    }
}

// Handles channels [first, first + width), group by group.
MATH_INLINE void add_sample(const OpCall *call, const Groups *g, int64_t sample, int64_t first,
                            int64_t width, ChannelSums *sums) {
    for (int64_t c = first, count; c < first + width; c += count) {
        int64_t group = c / g->width, left = first + width - c;
        count = (group + 1) * g->width - c < left ? (group + 1) * g->width - c : left;
        int64_t at = (sample * g->channels + c) * g->spatial, row = sample * g->count + group;
        GradientRow of = {.dy = call_in(call, WEIGHT_DY) + at,
                          .x = call_in(call, WEIGHT_X) + at,
                          .mean = call_in(call, WEIGHT_MEAN)[row],
                          .rstd = call_in(call, WEIGHT_RSTD)[row]};
        add_channels(&of, count, g->spatial, sums->weight + (c - first), sums->bias + (c - first));
    }
}

// Channels [begin, end): each adds samples in order, in whichever thread.
KERNEL static Status group_norm_backward_weight_cpu(const OpCall *call, int64_t begin,
                                                    int64_t end) {
    Groups g = groups_of(call->in[WEIGHT_X], &call->params);
    for (int64_t first = begin, width; first < end; first += width) {
        width = end - first < TILE_CHANNELS ? end - first : TILE_CHANNELS;
        ChannelSums sums = {{0}, {0}};
        for (int64_t s = 0; s < g.samples; s++) add_sample(call, &g, s, first, width, &sums);
        for (int i = 0; i < call->n_out; i++) {
            const double *sum = i == 0 ? sums.weight : sums.bias;
            for (int64_t k = 0; k < width; k++) call_out(call, i)[first + k] = (float)sum[k];
        }
    }
    return STATUS_OK;
}

static void weight_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_OUT(1))) return; // dbias is not wanted
    story->elementwise = (OpRule){PER_COLUMN, .each = 5, .more = -2, .input = WEIGHT_X};
    story->extra = "dbias";
    story->extra_elements = (OpRule){PER_OUTPUT, .each = 1};
    story->formula = "dweight = dy (x - mean) rstd and dbias = dy, each summed over a channel";
}

// Counts as in layer_norm_backward.c.
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
