// var.cu -- the variance of each row, or its root, and their gradients: the formulas of
// tensor/ops/var.c. A row that fits a team is read once.
#include "cuda/norm.cuh"

struct Variance {
    const float *x, *y, *dy; // y only for a root's gradient
    float *out;
    double correction;
    bool root;
};

// out (rows) from x (rows, n)
__global__ static void var_rows(Variance of, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Tile tile = {};
        Moments m = moments_of(of.x + row * rows.n, rows.n, length, team, tile, shared);
        double y = math_unbiased(m.variance, (double)rows.n, of.correction);
        if (length > 0 && team.lane == 0) of.out[row] = (float)(of.root ? sqrt(y) : y);
    }
}

// out (n) = NaN, for empty rows
__global__ static void var_nothing(float *out, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) out[i] = NAN;
}

CUDA_OP(var) {
    Variance of = {};
    of.x = call_in(call, 0);
    of.out = call_out(call, 0);
    of.correction = (double)call->params.value[0];
    of.root = call->params.flags != 0;
    Rows rows = rows_of(call->in[0], of.x);
    int64_t empty = rows.n == 0 ? call_numel(call) : 0;
    if (empty > 0) return CUDA_LAUNCH(var_nothing, cuda_grid(empty), CUDA_BLOCK, 0, of.out, empty);
    if (rows.count == 0) return STATUS_OK;
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(var_rows, grid, CUDA_BLOCK, 0, of, rows);
}

// out (rows, n) = slope (x (rows, n) - mean); slope follows from dy (rows), and y (rows) for a root
__global__ static void var_gradient(Variance of, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        const float *x = of.x + row * rows.n;
        Tile tile = {};
        Moments m = moments_of(x, rows.n, length, team, tile, shared);
        if (length == 0) continue;
        if (m.rest != m.rest) m.rest = 0.0f; // the mean is infinite
        double n = (double)rows.n;
        float slope = of.y ? math_deviation_slope(of.dy[row], of.y[row], n, of.correction)
                           : math_variance_slope(of.dy[row], n, of.correction);
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(tile, x + from, left, team, 0.0f);
            for (int i = 0; i < TILE; i++) tile.at[i] = slope * centred(tile.at[i], m);
            tile_store(tile, of.out + row * rows.n + from, left, team);
        }
    }
}

CUDA_OP(var_backward) {
    Variance of = {};
    of.dy = call_in(call, 0);
    of.x = call_in(call, 1);
    of.y = call->in[2] ? call_in(call, 2) : NULL;
    of.out = call_out(call, 0);
    of.correction = (double)call->params.value[0];
    Rows rows = rows_of(call->in[1], of.x);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(of.out);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(var_gradient, grid, CUDA_BLOCK, 0, of, rows);
}
