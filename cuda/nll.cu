// nll.cu -- negative log-likelihood of labels, with class weights, an ignored label and smoothed
// targets, and its gradient. Blocks add up the labels' weights in a fixed order, and one more block
// divides by their sum.
//
// A label out of range makes the loss NaN and is a finding (cuda.h); its row has gradient 0.
#include "cuda/reduce.cuh"

// See tensor/ops/nll.c: `certain` is the label's part of a row's target, `share` that of each
// class.
struct Targets {
    const int64_t *labels;
    const float *weight; // or NULL: 1
    int64_t rows, classes, ignored;
    bool ignores;
    double certain, share;
    unsigned long long *findings; // destination of findings, here labels out of range,
    int op;                       // with this op
};

static Targets targets_of(const OpCall *call, CudaDevice *cuda, Shape shape) {
    double smoothing = (double)call->params.value[0];
    Targets t = {};
    t.labels = cuda_indices(call->in[1]);
    t.weight = call->in[2] ? call_in(call, 2) : NULL;
    t.rows = shape.dims[0];
    t.classes = shape.dims[1];
    t.ignored = call->params.begin;
    t.ignores = call->params.flags != 0;
    t.certain = 1.0 - smoothing;
    t.share = smoothing / (double)t.classes;
    t.findings = cuda->findings;
    t.op = call->op->id;
    return t;
}

static __device__ inline bool is_ignored(const Targets &t, int64_t row) {
    return t.ignores && t.labels[row] == t.ignored;
}
static __device__ inline bool is_known(const Targets &t, int64_t row) {
    return t.labels[row] >= 0 && t.labels[row] < t.classes;
}
static __device__ inline double weight_of(const Targets &t, int64_t row) {
    return t.weight ? (double)t.weight[t.labels[row]] : 1.0;
}

// The sum of w[j] x[j] over a row, computed by its team; 0 for a team without a row.
static __device__ inline double weighted_sum(const Targets &t, const float *x, int64_t length,
                                             Team team, double *shared) {
    double total = 0.0;
    for (int64_t from = 0; from < t.classes; from += tile_span(team)) {
        int left = tile_left(team, from, length);
        Tile tile;
        tile_load(tile, x + from, left, team, 0.0f);
        for (int k = 0; k < TILE && t.weight; k++)
            if (tile_place(team, k) < left) tile.at[k] *= t.weight[from + tile_place(team, k)];
        for (int i = 0; i < TILE && tile_has(team, i, left); i += 4)
            total += add_four(tile.at[i], tile.at[i + 1], tile.at[i + 2], tile.at[i + 3]);
    }
    return team_sum(team, total, shared);
}

// parts (blocks, 2) = the losses of each block's rows, and the weights of their labels; x (rows,
// classes) NULL: the weights alone
__global__ static void nll_rows(Targets t, const float *x, Rows rows, double *parts) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    double loss = 0.0, counted = 0.0;
    for (int64_t base = team.begin; base < t.rows; base += team.step) {
        int64_t row = base + team.index;
        const float *from = x + row * t.classes;
        bool smooth = x && t.share > 0.0;
        double all = smooth ? weighted_sum(t, from, row < t.rows ? t.classes : 0, team, shared) : 0;
        if (row >= t.rows || team.lane != 0 || is_ignored(t, row)) continue;
        bool known = is_known(t, row);
        if (!known) cuda_note_finding(t.findings, t.op, row);
        double weight = known ? weight_of(t, row) : NAN;
        counted += weight;
        if (!x) continue;
        loss -= t.certain * weight * (double)(known ? from[t.labels[row]] : NAN);
        if (smooth) loss -= t.share * all;
    }
    loss = block_sum(loss, shared);
    counted = block_sum(counted, shared);
    if (threadIdx.x == 0) {
        parts[2 * blockIdx.x] = loss;
        parts[2 * blockIdx.x + 1] = counted;
    }
}

// *counted = the weight of all labels; *y = the loss, if y is not NULL
__global__ static void nll_divide(const double *parts, int64_t n, double *counted, float *y) {
    __shared__ double shared[REDUCE_WARPS];
    double loss = 0.0, weight = 0.0;
    for (int64_t i = threadIdx.x; i < n; i += CUDA_BLOCK) {
        loss += parts[2 * i];
        weight += parts[2 * i + 1];
    }
    loss = block_sum(loss, shared);
    weight = block_sum(weight, shared);
    if (threadIdx.x != 0) return;
    *counted = weight;
    if (y) *y = weight == 0.0 ? NAN : (float)(loss / weight);
}

// Puts the labels' weight in *counted, on the device, and the loss in y, if not NULL.
static Status add_up(CudaDevice *cuda, const Targets &t, const float *x, Rows rows,
                     const double **counted, float *y) {
    if (!x || t.share == 0.0) rows.lanes = 1; // a thread reads at most one element of its row
    unsigned grid = team_grid(t.rows, rows.lanes, REDUCE_PARTS);
    double *parts = (double *)cuda_scratch(cuda, (2 * grid + 1) * sizeof(double));
    if (!parts) return cuda->host->error_status();
    *counted = parts + 2 * grid;
    Status status = CUDA_LAUNCH(nll_rows, grid, CUDA_BLOCK, 0, t, x, rows, parts);
    return status ? status
                  : CUDA_LAUNCH(nll_divide, 1, CUDA_BLOCK, 0, parts, (int64_t)grid,
                                parts + 2 * grid, y);
}

CUDA_OP(nll) {
    const float *x = call_in(call, 0);
    const double *counted;
    return add_up(cuda, targets_of(call, cuda, call->in[0]->shape), x, rows_of(call->in[0], x),
                  &counted, call_out(call, 0));
}

// out (rows, classes) = -(certain onehot(label) + share) w g / counted; a team handles one tile of
// one row
__global__ static void nll_gradient(Targets t, const float *grad, const double *counted, float *out,
                                    Rows rows) {
    Team team = team_of(rows.lanes, rows.wide);
    double scale = -(double)*grad / *counted;
    float share = (float)(scale * t.share);
    int64_t tiles = row_tiles(rows), count = rows.count * tiles;
    for (int64_t i = team.begin + team.index; i < count; i += team.step) {
        int64_t row = tiles == 1 ? i : i / tiles, from = (i - row * tiles) * tile_span(team);
        bool live = !is_ignored(t, row) && is_known(t, row);
        int left = tile_left(team, from, rows.n);
        Tile tile;
        for (int k = 0; k < TILE && live; k++) {
            int64_t place = from + tile_place(team, k);
            if (place - from >= left) continue;
            if (t.share > 0.0) tile.at[k] = t.weight ? share * t.weight[place] : share;
            if (place == t.labels[row])
                tile.at[k] += (float)(scale * t.certain * weight_of(t, row));
        }
        tile_store(tile, out + row * rows.n + from, left, team);
    }
}

CUDA_OP(nll_backward) {
    const float *grad = call_in(call, 0);
    float *out = call_out(call, 0);
    Targets t = targets_of(call, cuda, call->out[0]->shape);
    Rows rows = rows_of(call->out[0], out);
    const double *counted;
    if (rows.count == 0) return STATUS_OK;
    Status status = add_up(cuda, t, NULL, rows, &counted, NULL);
    unsigned grid = team_grid(rows.count * row_tiles(rows), rows.lanes, CUDA_MOST_BLOCKS);
    return status ? status
                  : CUDA_LAUNCH(nll_gradient, grid, CUDA_BLOCK, 0, t, grad, counted, out, rows);
}
