// loss.cu -- cross-entropy, and element-wise losses, as means over a batch, and their gradients;
// nll.cu has losses of labels with weights. Forward reads its inputs once; a block adds its share
// in a fixed order, and one more block adds the shares. Backward is one pass.
//
// A label out of range makes the loss NaN, and is a finding (cuda.h). Until it is reported,
// backward treats its row as one without a label.
#include "cuda/reduce.cuh"
#include "tensor/math_loss.h"

// ---- cross-entropy ------------------------------------------------------------------------------

// statistics (rows, 2) = {maximum, sum of e^(x - maximum)} of x (rows, n); parts (blocks) = the sum
// of log(sum) - (x[label] - maximum) over each block's rows
__global__ static void cross_entropy_rows(const float *x, const int64_t *labels, float *statistics,
                                          double *parts, unsigned long long *findings, Rows rows) {
    __shared__ float shared_largest[REDUCE_WARPS];
    __shared__ double shared_sum[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    double loss = 0.0;
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Tile tile;
        RowStatistics of = row_statistics(team, x + row * rows.n, rows.n, length, false, tile,
                                          shared_largest, shared_sum);
        if (row >= rows.count || team.lane != 0) continue;
        statistics[2 * row] = of.largest;
        statistics[2 * row + 1] = of.sum;
        int64_t label = labels[row];
        bool known = label >= 0 && label < rows.n;
        if (!known) // findings keep the last one
            cuda_note_finding(findings, OP_cross_entropy, row);
        float picked = known ? x[row * rows.n + label] : NAN;
        loss += (double)(math_log(of.sum) - (picked - of.largest));
    }
    loss = block_sum(loss, shared_sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = loss;
}

CUDA_OP(cross_entropy) {
    const float *x = call_in(call, 0);
    const int64_t *labels = cuda_indices(call->in[1]);
    float *y = call_out(call, 0), *statistics = call_out(call, 1);
    Rows rows = rows_of(call->in[0], x);
    unsigned grid = team_grid(rows.count, rows.lanes, REDUCE_PARTS);
    double *parts = (double *)cuda_scratch(cuda, grid * sizeof(double));
    if (!parts) return cuda->host->error_status();
    Status status = CUDA_LAUNCH(cross_entropy_rows, grid, CUDA_BLOCK, 0, x, labels, statistics,
                                parts, cuda->findings, rows);
    return status ? status : reduce_parts(cuda, parts, grid, 1.0 / (double)rows.count, y);
}

// out (rows, n) = (e^(x - maximum) / sum - onehot(label)) grad () / rows; a team handles one tile
// of one row
__global__ static void cross_entropy_gradient(const float *grad, const float *x,
                                              const int64_t *labels, const float *statistics,
                                              float *out, Rows rows) {
    Team team = team_of(rows.lanes, rows.wide);
    float scale = *grad / (float)rows.count;
    int64_t tiles = row_tiles(rows), count = rows.count * tiles;
    for (int64_t i = team.begin + team.index; i < count; i += team.step) {
        int64_t row = tiles == 1 ? i : i / tiles, from = (i - row * tiles) * tile_span(team);
        int64_t place = labels[row] - from;
        int left = tile_left(team, from, rows.n);
        float largest = statistics[2 * row], factor = scale / statistics[2 * row + 1];
        Tile tile;
        tile_load(tile, x + row * rows.n + from, left, team, 0.0f);
        for (int k = 0; k < TILE && tile_has(team, k / 4 * 4, left); k++) {
            float share = math_exp_falling(tile.at[k] - largest) * factor;
            tile.at[k] = tile_place(team, k) == place ? share - scale : share;
        }
        tile_store(tile, out + row * rows.n + from, left, team);
    }
}

CUDA_OP(cross_entropy_backward) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), *statistics = call_in(call, 3);
    const int64_t *labels = cuda_indices(call->in[2]);
    float *out = call_out(call, 0);
    Rows rows = rows_of(call->in[1], x);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(out);
    unsigned grid = team_grid(rows.count * row_tiles(rows), rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(cross_entropy_gradient, grid, CUDA_BLOCK, 0, grad, x, labels, statistics,
                       out, rows);
}

// ---- element-wise losses ------------------------------------------------------------------------
// Two operands (n); four adjacent elements are one load if both are aligned to 16 bytes.
struct Pair {
    const float *x, *t;
    int64_t n;
    bool wide;
};

static Pair pair_of(const OpCall *call, int first) {
    const float *x = call_in(call, first), *t = call_in(call, first + 1);
    return {x, t, call->in[first]->numel, is_wide(x) && is_wide(t)};
}

// Elements [i, i + 4) of x (n); 0 past its end.
static __device__ inline float4 load_four(const float *x, int64_t i, int64_t n, bool wide) {
    if (wide && i + 4 <= n) return *(const float4 *)(x + i);
    return make_float4(i < n ? x[i] : 0.0f, i + 1 < n ? x[i + 1] : 0.0f,
                       i + 2 < n ? x[i + 2] : 0.0f, i + 3 < n ? x[i + 3] : 0.0f);
}

// The loss of an element, and its slope; p is the op's parameter.
struct SquaredError {
    static __device__ float loss(float x, float t, float) { return (x - t) * (x - t); }
    static __device__ float slope(float x, float t, float) { return x - t; }
};
struct AbsoluteError {
    static __device__ float loss(float x, float t, float) { return math_absolute(x - t); }
    static __device__ float slope(float x, float t, float) { return math_sign(x - t); }
};
struct Huber {
    static __device__ float loss(float x, float t, float p) { return math_huber(x - t, p); }
    static __device__ float slope(float x, float t, float p) { return math_huber_slope(x - t, p); }
};
struct BinaryCrossEntropy {
    static __device__ float loss(float x, float t, float) {
        return math_binary_cross_entropy(x, t);
    }
    static __device__ float slope(float x, float t, float) { return math_sigmoid(x) - t; }
};
struct Divergence {
    static __device__ float loss(float x, float t, float) { return math_kl_divergence(x, t); }
};

// parts (blocks) = the sum of loss(x, t) over the elements of each block
template <class Loss> __global__ static void loss_parts(Pair pair, float p, double *parts) {
    __shared__ double shared[REDUCE_WARPS];
    double total = 0.0;
    for (int64_t i = 4 * GLOBAL_INDEX; i < pair.n; i += 4 * GRID_STRIDE) {
        float4 x = load_four(pair.x, i, pair.n, pair.wide);
        float4 t = load_four(pair.t, i, pair.n, pair.wide);
        float loss[4] = {Loss::loss(x.x, t.x, p), Loss::loss(x.y, t.y, p), Loss::loss(x.z, t.z, p),
                         Loss::loss(x.w, t.w, p)};
        for (int k = 1; k < 4; k++)
            if (i + k >= pair.n) loss[k] = 0.0f; // past the end
        total += add_four(loss[0], loss[1], loss[2], loss[3]);
    }
    total = block_sum(total, shared);
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// out (n) = slope(x, t) * factor * grad () / n
template <class Loss>
__global__ static void loss_gradient(Pair pair, const float *grad, float factor, float p,
                                     float *out, bool wide) {
    float scale = factor * *grad / (float)pair.n;
    for (int64_t i = 4 * GLOBAL_INDEX; i < pair.n; i += 4 * GRID_STRIDE) {
        float4 x = load_four(pair.x, i, pair.n, pair.wide);
        float4 t = load_four(pair.t, i, pair.n, pair.wide);
        float slope[4] = {Loss::slope(x.x, t.x, p) * scale, Loss::slope(x.y, t.y, p) * scale,
                          Loss::slope(x.z, t.z, p) * scale, Loss::slope(x.w, t.w, p) * scale};
        if (wide && i + 4 <= pair.n)
            *(float4 *)(out + i) = make_float4(slope[0], slope[1], slope[2], slope[3]);
        else
            for (int k = 0; k < 4 && i + k < pair.n; k++) out[i + k] = slope[k];
    }
}

// The total loss divided by `by`.
template <class Loss> static Status mean_loss(const OpCall *call, CudaDevice *cuda, int64_t by) {
    Pair pair = pair_of(call, 0);
    float *y = call_out(call, 0);
    unsigned grid = team_grid((pair.n + 3) / 4, 1, REDUCE_PARTS);
    double *parts = (double *)cuda_scratch(cuda, grid * sizeof(double));
    if (!parts) return cuda->host->error_status();
    Status status =
        CUDA_LAUNCH(loss_parts<Loss>, grid, CUDA_BLOCK, 0, pair, call->params.value[0], parts);
    return status ? status : reduce_parts(cuda, parts, grid, 1.0 / (double)by, y);
}

template <class Loss>
static Status mean_loss_gradient(const OpCall *call, CudaDevice *cuda, float factor) {
    Pair pair = pair_of(call, 1);
    const float *grad = call_in(call, 0);
    float *out = call_out(call, 0);
    if (pair.n == 0) return STATUS_OK;
    unsigned grid = cuda_grid((pair.n + 3) / 4);
    return CUDA_LAUNCH(loss_gradient<Loss>, grid, CUDA_BLOCK, 0, pair, grad, factor,
                       call->params.value[1], out, is_wide(out));
}

static int64_t elements(const OpCall *call) { return call->in[0]->numel; }

CUDA_OP(mse) { return mean_loss<SquaredError>(call, cuda, elements(call)); }
CUDA_OP(mse_backward) {
    return mean_loss_gradient<SquaredError>(call, cuda, 2.0f * call->params.value[0]);
}
CUDA_OP(l1) { return mean_loss<AbsoluteError>(call, cuda, elements(call)); }
CUDA_OP(l1_backward) {
    return mean_loss_gradient<AbsoluteError>(call, cuda, call->params.value[0]);
}
CUDA_OP(huber) { return mean_loss<Huber>(call, cuda, elements(call)); }
CUDA_OP(huber_backward) { return mean_loss_gradient<Huber>(call, cuda, call->params.value[0]); }
CUDA_OP(binary_cross_entropy_with_logits) {
    return mean_loss<BinaryCrossEntropy>(call, cuda, elements(call));
}
CUDA_OP(binary_cross_entropy_with_logits_backward) {
    return mean_loss_gradient<BinaryCrossEntropy>(call, cuda, 1.0f);
}
CUDA_OP(kl_divergence) { return mean_loss<Divergence>(call, cuda, call->in[0]->shape.dims[0]); }
