// batch_norm_backward.c -- the gradients of a batch norm, channel by channel: of x, weight and bias
// together, from two sums over dy and x, with a second pass if dx is wanted. In evaluation, mean
// and variance are constants, and dx needs no sum.
// params: value[0] = epsilon (evaluation), flags: NORM_WANTS_X, _WEIGHT, _BIAS
#include "tensor/ops/batch_norm.h"

#include <math.h>

enum { DY, X, WEIGHT, MEAN, SPREAD }; // inputs; the last is rstd, or in evaluation the variance

// dx = (dy - mean(dy) - z mean(dy z)) rstd weight, z = (x - mean) rstd; evaluation: dy rstd weight
// dweight = the sum of dy z, dbias = the sum of dy
typedef struct Backward {
    const OpCall *call;
    Channels of;
    bool training, sums; // training: uses the statistics of this batch; sums: sums are wanted
} Backward;

static Backward backward_of(const OpCall *call) {
    bool training = call->op->id == OP_batch_norm_backward;
    bool sums = training || call->params.flags & (NORM_WANTS_WEIGHT | NORM_WANTS_BIAS);
    return (Backward){call, channels_of(call->in[DY]), training, sums};
}

// The wanted outputs, in the order of the inputs: dx is like dy, others have a number per channel.
static Status gradients_infer(OpCall *call) {
    int n = 0;
    Shape channels = SHAPE(call->in[DY]->shape.dims[1]);
    Status status = STATUS_OK;
    if (call->params.flags & NORM_WANTS_X) status = op_output_like(call, n++, call->in[DY]);
    for (int want = NORM_WANTS_WEIGHT; want <= NORM_WANTS_BIAS && !status; want *= 2)
        if (call->params.flags & (unsigned)want)
            status = op_output(call, n++, DTYPE_FLOAT32, channels);
    return status;
}

static float *wanted(const OpCall *call, unsigned want) { // the output for it; NULL: not wanted
    unsigned flags = call->params.flags;
    if (!(flags & want)) return NULL;
    return call_out(call, __builtin_popcount(flags & (want - 1)));
}

// ---- a channel ---------------------------------------------------------------------------------
typedef struct GradientPlane { // dy and x (n); x NULL: z is not needed
    const float *dy, *x;
    float mean, rstd;
} GradientPlane;

MATH_INLINE NormTerm gradient_term(const void *plane, int64_t j) {
    const GradientPlane *of = plane;
    float z = of->x ? (of->x[j] - of->mean) * of->rstd : 0.0f;
    return (NormTerm){of->dy[j], of->dy[j] * z};
}

typedef struct Slope { // dx = (dy - first - (x - mean) second) scale
    float first, mean, second, scale;
} Slope;

static float rstd_of(const Backward *b, int64_t c) {
    if (!b->call->in[SPREAD]) return 0.0f; // only dbias is wanted
    float spread = call_in(b->call, SPREAD)[c];
    if (b->training) return spread;
    return (float)(1.0 / sqrt((double)spread + (double)b->call->params.value[0]));
}

static GradientPlane plane_of(const Backward *b, int64_t c) {
    const OpCall *call = b->call;
    return (GradientPlane){call_in(call, DY) + c * b->of.plane,
                           call->in[X] ? call_in(call, X) + c * b->of.plane : NULL,
                           call->in[MEAN] ? call_in(call, MEAN)[c] : 0.0f, rstd_of(b, c)};
}

// Stores the sums of channel c, and returns the coefficients of its dx.
static Slope channel_end(const Backward *b, int64_t c, float rstd, NormSums sums) {
    float *dweight = wanted(b->call, NORM_WANTS_WEIGHT), *dbias = wanted(b->call, NORM_WANTS_BIAS);
    double n = (double)channels_size(b->of);
    float scale = b->call->in[WEIGHT] ? rstd * call_in(b->call, WEIGHT)[c] : rstd;
    if (dweight) dweight[c] = (float)sums.second;
    if (dbias) dbias[c] = (float)sums.first;
    if (!b->training) return (Slope){.scale = scale};
    return (Slope){(float)(sums.first / n), b->call->in[MEAN] ? call_in(b->call, MEAN)[c] : 0.0f,
                   (float)(sums.second / n) * rstd, scale};
}

// ---- wide planes -------------------------------------------------------------------------------
MATH_INLINE NormSums plane_sums(GradientPlane plane, Channels of) {
    LaneSums lanes = {.held = 0};
    int64_t step = channels_step(of);
    for (int64_t s = 0; s < of.samples; s++) {
        lanes_add(&lanes, &plane, of.plane, gradient_term);
        plane.dy += step;
        if (plane.x) plane.x += step;
    }
    lanes_flush(&lanes);
    return lanes.sums;
}

MATH_INLINE void write_plane(const float *dy, const float *x, float *dx, int64_t n, Slope k) {
    for (int64_t j = 0; j < n; j++)
        dx[j] = x ? (dy[j] - k.first - (x[j] - k.mean) * k.second) * k.scale : dy[j] * k.scale;
}

KERNEL static void wide_channels(void *argument, int64_t begin, int64_t end) {
    const Backward *b = argument;
    int64_t step = channels_step(b->of), n = b->of.plane;
    for (int64_t c = begin; c < end; c++) {
        GradientPlane plane = plane_of(b, c);
        const float *dy = plane.dy, *x = plane.x;
        NormSums sums = {0.0, 0.0};
        if (b->sums && x) {
            sums = plane_sums(plane, b->of);
        } else if (b->sums) {
            plane.x = NULL; // a constant for the inlined loop
            sums = plane_sums(plane, b->of);
        }
        Slope slope = channel_end(b, c, plane.rstd, sums);
        float *dx = wanted(b->call, NORM_WANTS_X);
        if (!dx) continue;
        dx += c * n;
        for (int64_t s = 0; s < b->of.samples; s++)
            if (b->training)
                write_plane(dy + s * step, x + s * step, dx + s * step, n, slope);
            else
                write_plane(dy + s * step, NULL, dx + s * step, n, slope);
    }
}

// ---- narrow planes: the columns of adjacent channels -------------------------------------------
typedef struct GradientTile {
    double bias[CHANNEL_TILE], weight[CHANNEL_TILE]; // sums down the columns
    float mean[CHANNEL_TILE], rstd[CHANNEL_TILE];
    float first[CHANNEL_TILE], second[CHANNEL_TILE], scale[CHANNEL_TILE];
} GradientTile;

// As reduce_add_rows: adds some rows in float, and their sums in double.
MATH_INLINE void add_columns(const float *dy, const float *x, Channels of, int64_t width,
                             GradientTile *tile) {
    int64_t step = channels_step(of);
    for (int64_t s = 0; s < of.samples; s += REDUCE_ROWS) {
        int64_t last = of.samples - s < REDUCE_ROWS ? of.samples : s + REDUCE_ROWS;
        float bias[CHANNEL_TILE] = {0}, weight[CHANNEL_TILE] = {0};
        for (int64_t i = s * step; i < last * step; i += step)
            for (int64_t j = 0; j < width; j++) {
                bias[j] += dy[i + j];
                if (x) weight[j] += dy[i + j] * ((x[i + j] - tile->mean[j]) * tile->rstd[j]);
            }
        for (int64_t j = 0; j < width; j++) {
            tile->bias[j] += (double)bias[j];
            tile->weight[j] += (double)weight[j];
        }
    }
}

MATH_INLINE void write_columns(const float *dy, const float *x, float *dx, Channels of,
                               int64_t width, const GradientTile *tile) {
    int64_t step = channels_step(of);
    for (int64_t i = 0; i < of.samples * step; i += step)
        for (int64_t j = 0; j < width; j++) {
            float rest =
                x ? dy[i + j] - tile->first[j] - (x[i + j] - tile->mean[j]) * tile->second[j]
                  : dy[i + j];
            dx[i + j] = rest * tile->scale[j];
        }
}

static void tile_begin(const Backward *b, int64_t first, int64_t count, GradientTile *tile) {
    memset(tile->bias, 0, sizeof tile->bias);
    memset(tile->weight, 0, sizeof tile->weight);
    for (int64_t c = 0, j = 0; c < count; c++) {
        GradientPlane plane = plane_of(b, first + c);
        for (int64_t end = j + b->of.plane; j < end; j++) {
            tile->mean[j] = plane.mean;
            tile->rstd[j] = plane.rstd;
        }
    }
}

static void tile_end(const Backward *b, int64_t first, int64_t count, GradientTile *tile) {
    int64_t plane = b->of.plane;
    for (int64_t c = 0; c < count; c++) {
        NormSums sums = {0.0, 0.0};
        for (int64_t j = c * plane; j < (c + 1) * plane; j++) {
            sums.first += tile->bias[j];
            sums.second += tile->weight[j];
        }
        Slope slope = channel_end(b, first + c, rstd_of(b, first + c), sums);
        for (int64_t j = c * plane; j < (c + 1) * plane; j++) {
            tile->first[j] = slope.first;
            tile->second[j] = slope.second;
            tile->scale[j] = slope.scale;
        }
    }
}

KERNEL static void narrow_channels(void *argument, int64_t begin, int64_t end) {
    const Backward *b = argument;
    for (int64_t first = begin, count; first < end; first += count) {
        int64_t plane = b->of.plane, most = channels_together(b->of);
        count = end - first < most ? end - first : most;
        const float *dy = call_in(b->call, DY) + first * plane;
        const float *x = b->call->in[X] ? call_in(b->call, X) + first * plane : NULL;
        float *dx = wanted(b->call, NORM_WANTS_X);
        GradientTile tile;
        tile_begin(b, first, count, &tile);
        if (b->sums && x)
            add_columns(dy, x, b->of, count * plane, &tile);
        else if (b->sums)
            add_columns(dy, NULL, b->of, count * plane, &tile);
        tile_end(b, first, count, &tile);
        if (dx && b->training)
            write_columns(dy, x, dx + first * plane, b->of, count * plane, &tile);
        else if (dx)
            write_columns(dy, NULL, dx + first * plane, b->of, count * plane, &tile);
    }
}

// ---- the ops -----------------------------------------------------------------------------------
static OpWork gradients_work(const OpCall *call) {
    OpWork work = channels_work(channels_of(call->in[DY]));
    work.cost *= 2.0;
    return work;
}

static Status gradients_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Backward b = backward_of(call);
    (channels_are_narrow(b.of) ? narrow_channels : wide_channels)(&b, begin, end);
    return STATUS_OK;
}

#define Z_FORMULA ", z = (x - mean) rstd"
#define WEIGHT_FORMULA "dweight = sum(dy z)"
#define BIAS_FORMULA "dbias = sum(dy)"
static void training_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool weight = given & SAVE_IN(WEIGHT), dweight = params->flags & NORM_WANTS_WEIGHT;
    bool dbias = params->flags & NORM_WANTS_BIAS;
    if (params->flags & NORM_WANTS_X) { // its sums are dweight and dbias
        story->elementwise = (OpRule){PER_CHANNEL, .each = 9, .more = weight};
        if (weight) story->formula = "dx = (dy - mean(dy) - z mean(dy z)) rstd weight" Z_FORMULA;
        return;
    }
    story->elementwise =
        (OpRule){PER_CHANNEL, .each = 4 * dweight + dbias, .more = -dweight - dbias};
    story->out = dweight ? "dweight" : "dbias";
    story->formula = dweight && dbias ? WEIGHT_FORMULA ", " BIAS_FORMULA Z_FORMULA
                     : dweight        ? WEIGHT_FORMULA Z_FORMULA
                                      : BIAS_FORMULA;
}

static void eval_vary(OpStory *story, const OpParams *params, unsigned given) {
    static const char *const formulas[] = {"",
                                           "dx = dy rstd",
                                           WEIGHT_FORMULA Z_FORMULA,
                                           "dx = dy rstd, " WEIGHT_FORMULA Z_FORMULA,
                                           BIAS_FORMULA,
                                           "dx = dy rstd, " BIAS_FORMULA,
                                           WEIGHT_FORMULA ", " BIAS_FORMULA Z_FORMULA,
                                           "dx = dy rstd, " WEIGHT_FORMULA
                                           ", " BIAS_FORMULA Z_FORMULA};
    static const char *const weighted[] = {
        "", "dx = dy rstd weight",
        "", "dx = dy rstd weight, " WEIGHT_FORMULA Z_FORMULA,
        "", "dx = dy rstd weight, " BIAS_FORMULA,
        "", "dx = dy rstd weight, " WEIGHT_FORMULA ", " BIAS_FORMULA Z_FORMULA};
    unsigned flags = params->flags & 7;
    bool weight = given & SAVE_IN(WEIGHT), dx = flags & NORM_WANTS_X;
    bool dweight = flags & NORM_WANTS_WEIGHT, dbias = flags & NORM_WANTS_BIAS;
    bool rstd = dx || dweight;
    story->formula = weight && dx ? weighted[flags] : formulas[flags];
    story->out = dx ? "dx" : dweight ? "dweight" : "dbias";
    story->elementwise = (OpRule){PER_CHANNEL, .each = dx + 4 * dweight + dbias,
                                  .more = rstd + (dx && weight) - dweight - dbias};
    if (rstd) story->transcendental = (OpRule){PER_CHANNEL, .more = 1};
}

// Per element: sum of dy 1, z 2, sum of dy z 2, dx 4; the n - 1 adds and the division of a mean
// count as n. rstd times weight is one per channel.
const Op op_batch_norm_backward = {
    .id = OP_batch_norm_backward,
    .name = "batch_norm_backward",
    .kernel = gradients_cpu,
    .n_inputs = 5,
    .optional = SAVE_IN(X) | SAVE_IN(WEIGHT) | SAVE_IN(MEAN) | SAVE_IN(SPREAD),
    .infer = gradients_infer,
    .work = gradients_work,
    .story = STORY(.formula = "dx = (dy - mean(dy) - z mean(dy z)) rstd" Z_FORMULA, .out = "dx",
                   .in = {"dy", "x", "weight", "mean", "rstd"}, .vary = training_vary)};

// rstd takes an add and a root per channel.
const Op op_batch_norm_eval_backward = {
    .id = OP_batch_norm_eval_backward,
    .name = "batch_norm_eval_backward",
    .kernel = gradients_cpu,
    .n_inputs = 5,
    .optional = SAVE_IN(X) | SAVE_IN(WEIGHT) | SAVE_IN(MEAN) | SAVE_IN(SPREAD),
    .infer = gradients_infer,
    .work = gradients_work,
    .story = STORY(.formula = "dx = dy rstd", .out = "dx",
                   .in = {"dy", "x", "weight", "mean", "variance"}, .vary = eval_vary)};
