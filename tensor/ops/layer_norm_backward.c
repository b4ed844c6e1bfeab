// layer_norm_backward.c -- the gradients of a layer norm: of x, in one pass over the rows; of
// weight and bias together, in one pass down the columns. z = (x - mean) rstd in both. Those of an
// RMS norm follow with mean 0 and without the mean input.
// params: shape = shape of a row; flags of the weight's op: NORM_WITH_BIAS
#include "tensor/ops/layer_norm.h"

// The input before rstd, the last one; NULL for an RMS norm, which has rstd in that place.
static const float *mean_or_null(const OpCall *call, int index) {
    return index + 1 < call->n_in ? call_in(call, index) : NULL;
}
static const float *rstd_of(const OpCall *call) { return call_in(call, call->n_in - 1); }

// ---- dx = rstd (g - mean(g) - z mean(g z)), g = dy weight --------------------------------------
enum { DY, X, WEIGHT, MEAN }; // inputs, then rstd; the weight may be absent

static OpWork input_work(const OpCall *call) {
    NormRows rows = norm_rows_of(call->in[X], &call->params);
    return (OpWork){.items = rows.count, .cost = (double)rows.n};
}

KERNEL static Status layer_norm_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = norm_rows_of(call->in[X], &call->params).n;
    const float *mean = mean_or_null(call, MEAN), *rstd = rstd_of(call);
    for (int64_t r = begin; r < end; r++) {
        GradientRow row = {.dy = call_in(call, DY) + r * n,
                           .x = call_in(call, X) + r * n,
                           .weight = call->in[WEIGHT] ? call_in(call, WEIGHT) : NULL,
                           .mean = mean ? mean[r] : 0.0f,
                           .rstd = rstd[r],
                           .centred = mean != NULL};
        norm_write_gradient(row, n, call_out(call, 0) + r * n);
    }
    return STATUS_OK;
}

// ---- dweight = the sum of dy z over the rows, dbias = the sum of dy -----------------------------
enum { WEIGHT_DY, WEIGHT_X, WEIGHT_MEAN }; // inputs, then rstd

static Status weight_infer(OpCall *call) {
    Status status = op_infer_shape(call);
    if (status || !(call->params.flags & NORM_WITH_BIAS)) return status;
    return op_output(call, 1, DTYPE_FLOAT32, call->params.shape);
}

// Wide enough for reading rows in place, while the sums stay in the nearest cache.
enum { TILE_COLUMNS = 1024 };

// As reduce_add_rows: adds some rows in float, and their sums in double.
typedef struct ColumnSums {
    double weight[TILE_COLUMNS], bias[TILE_COLUMNS];
} ColumnSums;

// Handles columns [first, first + width) of dy and x (rows, n).
MATH_INLINE void add_columns(const OpCall *call, NormRows rows, int64_t first, int64_t width,
                             bool with_bias, ColumnSums *sums) {
    const float *mean = mean_or_null(call, WEIGHT_MEAN), *rstd = rstd_of(call);
    for (int64_t r = 0; r < rows.count; r += REDUCE_ROWS) {
        int64_t last = rows.count - r < REDUCE_ROWS ? rows.count : r + REDUCE_ROWS;
        float weight[TILE_COLUMNS] = {0}, bias[TILE_COLUMNS] = {0};
        for (int64_t k = r; k < last; k++) {
            const float *dy = call_in(call, WEIGHT_DY) + k * rows.n + first;
            const float *x = call_in(call, WEIGHT_X) + k * rows.n + first;
            float centre = mean ? mean[k] : 0.0f;
            for (int64_t j = 0; j < width; j++) {
                weight[j] += dy[j] * ((x[j] - centre) * rstd[k]);
                if (with_bias) bias[j] += dy[j];
            }
        }
        for (int64_t j = 0; j < width; j++) {
            sums->weight[j] += (double)weight[j];
            if (with_bias) sums->bias[j] += (double)bias[j];
        }
    }
}

static OpWork weight_work(const OpCall *call) { // items: columns
    double rows = (double)norm_rows_of(call->in[WEIGHT_X], &call->params).count;
    return (OpWork){.items = call_numel(call), .cost = rows > 1.0 ? rows : 1.0, .together = 64};
}

// dweight (n) and maybe dbias (n), columns [begin, end): each adds rows in order, in whichever
// thread
KERNEL static Status layer_norm_backward_weight_cpu(const OpCall *call, int64_t begin,
                                                    int64_t end) {
    NormRows rows = norm_rows_of(call->in[WEIGHT_X], &call->params);
    for (int64_t first = begin, width; first < end; first += width) {
        width = end - first < TILE_COLUMNS ? end - first : TILE_COLUMNS;
        ColumnSums sums = {{0}, {0}};
        if (call->n_out > 1)
            add_columns(call, rows, first, width, true, &sums);
        else
            add_columns(call, rows, first, width, false, &sums);
        for (int i = 0; i < call->n_out; i++) {
            const double *sum = i == 0 ? sums.weight : sums.bias;
            for (int64_t j = 0; j < width; j++) call_out(call, i)[first + j] = (float)sum[j];
        }
    }
    return STATUS_OK;
}

static void input_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(WEIGHT))) return;
    story->elementwise.each++;
    story->formula = "dx = rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd";
}

// Per element: g 1 if there is a weight, z 2, mean(g) 1, mean(g z) 2, the rest 4; n - 1 adds and a
// division count as n.
const Op op_layer_norm_backward = {
    .id = OP_layer_norm_backward,
    .name = "layer_norm_backward",
    .kernel = layer_norm_backward_cpu,
    .n_inputs = 5,
    .optional = SAVE_IN(WEIGHT),
    .infer = infer_like_second,
    .work = input_work,
    .story = STORY(.formula = "dx = rstd (g - mean(g) - z mean(g z)), g = dy, z = (x - mean) rstd",
                   .out = "dx", .in = {"dy", "x", "weight", "mean", "rstd"},
                   .elementwise = {PER_OUTPUT, .each = 9}, .vary = input_vary)};
static void rms_input_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(WEIGHT))) return;
    story->elementwise.each++;
    story->formula = "dx = rstd (g - z mean(g z)), g = dy weight, z = x rstd";
}

// Per element: g 1 if there is a weight, z 1, mean(g z) 2, the rest 3.
const Op op_rms_norm_backward = {
    .id = OP_rms_norm_backward,
    .name = "rms_norm_backward",
    .kernel = layer_norm_backward_cpu,
    .n_inputs = 4,
    .optional = SAVE_IN(WEIGHT),
    .infer = infer_like_second,
    .work = input_work,
    .story = STORY(.formula = "dx = rstd (g - z mean(g z)), g = dy, z = x rstd", .out = "dx",
                   .in = {"dy", "x", "weight", "rstd"}, .elementwise = {PER_OUTPUT, .each = 6},
                   .vary = rms_input_vary)};

static void weight_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_OUT(1))) return; // dbias is not wanted
    story->elementwise = (OpRule){PER_COLUMN, .each = 5, .more = -2, .input = WEIGHT_X};
    story->extra = "dbias";
    story->extra_elements = (OpRule){PER_OUTPUT, .each = 1};
    story->formula = "dweight = dy (x - mean) rstd and dbias = dy, each summed over the rows";
}

// Per element z 2 and a product; per column and sum rows - 1 adds.
const Op op_layer_norm_backward_weight = {
    .id = OP_layer_norm_backward_weight,
    .name = "layer_norm_backward_weight",
    .kernel = layer_norm_backward_weight_cpu,
    .n_inputs = 4,
    .infer = weight_infer,
    .work = weight_work,
    .story =
        STORY(.formula = "dweight = dy (x - mean) rstd, summed over the rows", .out = "dweight",
              .in = {"dy", "x", "mean", "rstd"},
              .elementwise = {PER_COLUMN, .each = 4, .more = -1, .input = 1}, .vary = weight_vary)};
// Per element z 1 and a product; per column rows - 1 adds.
const Op op_rms_norm_backward_weight = {
    .id = OP_rms_norm_backward_weight,
    .name = "rms_norm_backward_weight",
    .kernel = layer_norm_backward_weight_cpu,
    .n_inputs = 3,
    .infer = weight_infer,
    .work = weight_work,
    .story = STORY(.formula = "dweight = dy x rstd, summed over the rows", .out = "dweight",
                   .in = {"dy", "x", "rstd"},
                   .elementwise = {PER_COLUMN, .each = 3, .more = -1, .input = 1})};
