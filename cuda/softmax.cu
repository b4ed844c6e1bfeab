// softmax.cu -- softmax and log_softmax of rows, and their backwards: each row is read once and
// written once if a team can hold it (2,048 elements); longer rows are read twice.
#include "cuda/reduce.cuh"

// y (rows, n) = e^(x - maximum) / its sum, or the logarithm of it: x - maximum - log(sum)
template <bool logarithm> __global__ static void softmax_rows(const float *x, float *y, Rows rows) {
    __shared__ float shared_largest[REDUCE_WARPS];
    __shared__ double shared_sum[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        const float *from_row = x + row * rows.n;
        Tile tile;
        RowStatistics of = row_statistics(team, from_row, rows.n, length, !logarithm, tile,
                                          shared_largest, shared_sum);
        float scale = 1.0f / of.sum, shift = logarithm ? math_log(of.sum) : 0.0f;
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(tile, from_row + from, left, team, 0.0f);
            for (int k = 0; k < TILE && tile_has(team, k / 4 * 4, left); k++) {
                float value = tile.at[k];
                if (logarithm)
                    tile.at[k] = value - of.largest - shift;
                else
                    tile.at[k] = (held ? value : math_exp_falling(value - of.largest)) * scale;
            }
            tile_store(tile, y + row * rows.n + from, left, team);
        }
    }
}

template <bool logarithm> static Status softmax(const OpCall *call, CudaDevice *cuda) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    Rows rows = rows_of(call->in[0], x);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(y);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(softmax_rows<logarithm>, grid, CUDA_BLOCK, 0, x, y, rows);
}

CUDA_OP(softmax) { return softmax<false>(call, cuda); }
CUDA_OP(log_softmax) { return softmax<true>(call, cuda); }

// ---- backward -----------------------------------------------------------------------------------

// dx (rows, n) = y (g - sum(g y)), g and y (rows, n)
__global__ static void softmax_gradient(const float *grad, const float *y, float *out, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Tile g = {}, p = {};
        double total = 0.0;
        for (int64_t from = 0; from < rows.n; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            tile_load(g, grad + row * rows.n + from, left, team, 0.0f);
            tile_load(p, y + row * rows.n + from, left, team, 0.0f);
            for (int i = 0; i < TILE && tile_has(team, i, left); i += 4)
                total += add_four(g.at[i] * p.at[i], g.at[i + 1] * p.at[i + 1],
                                  g.at[i + 2] * p.at[i + 2], g.at[i + 3] * p.at[i + 3]);
        }
        float dot = (float)team_sum(team, total, shared);
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(g, grad + row * rows.n + from, left, team, 0.0f);
            if (!held) tile_load(p, y + row * rows.n + from, left, team, 0.0f);
            for (int i = 0; i < TILE; i++) g.at[i] = p.at[i] * (g.at[i] - dot);
            tile_store(g, out + row * rows.n + from, left, team);
        }
    }
}

// dx (rows, n) = g - e^y sum(g), g and y (rows, n)
__global__ static void log_softmax_gradient(const float *grad, const float *y, float *out,
                                            Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Tile g, p;
        double total = 0.0;
        for (int64_t from = 0; from < rows.n; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            tile_load(g, grad + row * rows.n + from, left, team, 0.0f);
            for (int i = 0; i < TILE && tile_has(team, i, left); i += 4)
                total += add_four(g.at[i], g.at[i + 1], g.at[i + 2], g.at[i + 3]);
        }
        float sum = (float)team_sum(team, total, shared);
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(g, grad + row * rows.n + from, left, team, 0.0f);
            tile_load(p, y + row * rows.n + from, left, team, 0.0f);
            for (int i = 0; i < TILE && tile_has(team, i, left); i += 4)
                for (int k = i; k < i + 4; k++) g.at[k] -= math_exp_falling(p.at[k]) * sum;
            tile_store(g, out + row * rows.n + from, left, team);
        }
    }
}

CUDA_OP(softmax_backward) {
    const float *grad = call_in(call, 0), *y = call_in(call, 1);
    float *out = call_out(call, 0);
    Rows rows = rows_of(call->in[0], grad);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(y) && is_wide(out);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(softmax_gradient, grid, CUDA_BLOCK, 0, grad, y, out, rows);
}

CUDA_OP(log_softmax_backward) {
    const float *grad = call_in(call, 0), *y = call_in(call, 1);
    float *out = call_out(call, 0);
    Rows rows = rows_of(call->in[0], grad);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(y) && is_wide(out);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(log_softmax_gradient, grid, CUDA_BLOCK, 0, grad, y, out, rows);
}
