// norm_rows.cuh -- internal to cuda/: kernels shared by norms of rows and of groups: a group of a
// sample is a row, too. norm.cu and group_norm.cu define how weights are found.
#ifndef CUDA_NORM_ROWS_CUH
#define CUDA_NORM_ROWS_CUH

#include "cuda/norm.cuh"

// mean and rstd (rows) of empty rows
__global__ static void norm_nothing(float *mean, float *rstd, int64_t rows) {
    for (int64_t i = GLOBAL_INDEX; i < rows; i += GRID_STRIDE) {
        if (mean) mean[i] = NAN;
        rstd[i] = NAN;
    }
}

// ---- the gradient of x -------------------------------------------------------------------------
// dx (rows, n) = rstd (g - mean(g) - z mean(g z)). Of describes the rows, with mean (NULL: 0), rstd
// and dx; gradient_load loads a tile of their g and z; z is 0 past the end.
template <class Of> __global__ static void norm_gradient(Of of, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Tile g = {}, z = {};
        double sum = 0.0, product = 0.0;
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            gradient_load(of, row, from, rows, left, team, g, z);
            for (int i = 0; i < TILE && tile_has(team, i, left); i += 4) {
                sum += add_four(g.at[i], g.at[i + 1], g.at[i + 2], g.at[i + 3]);
                product += add_four(g.at[i] * z.at[i], g.at[i + 1] * z.at[i + 1],
                                    g.at[i + 2] * z.at[i + 2], g.at[i + 3] * z.at[i + 3]);
            }
        }
        float mean_g = of.mean ? (float)(team_sum(team, sum, shared) / (double)rows.n) : 0.0f;
        float mean_gz = (float)(team_sum(team, product, shared) / (double)rows.n);
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) gradient_load(of, row, from, rows, left, team, g, z);
            for (int i = 0; i < TILE; i++)
                g.at[i] = (g.at[i] - mean_g - z.at[i] * mean_gz) * of.rstd[row];
            tile_store(g, of.dx + row * rows.n + from, left, team);
        }
    }
}

#endif
