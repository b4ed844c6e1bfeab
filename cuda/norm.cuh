// norm.cuh -- internal to cuda/: mean and variance of a row, as in tensor/ops/layer_norm.h, for
// norms and variances. A team adds up the sums, in double.
#ifndef CUDA_NORM_CUH
#define CUDA_NORM_CUH

#include "cuda/reduce.cuh"

struct Moments { // the mean is about + rest
    float about, rest;
    double variance;
};

static __device__ inline float centred(float x, Moments m) { return (x - m.about) - m.rest; }

// Sum of this lane's elements of the tile minus the mean, or of their squares.
static __device__ inline double tile_sum(const Tile &tile, Team team, int left, Moments m,
                                         bool squares) {
    double sum = 0.0;
    for (int i = 0; i < TILE && tile_has(team, i, left); i += 4) {
        float d[4];
        for (int k = 0; k < 4; k++) {
            d[k] = tile_place(team, i + k) < left ? centred(tile.at[i + k], m) : 0.0f;
        }
        if (squares) // a float cannot hold squares of numbers near 1e30
            for (int k = 0; k < 4; k++) sum += (double)d[k] * (double)d[k];
        else
            sum += add_four(d[0], d[1], d[2], d[3]);
    }
    return sum;
}

// Moments of a row of n elements; `length` is n, or 0 for a team without a row. `tile` keeps the
// row if it fits, else its last tile.
static __device__ inline Moments moments_of(const float *x, int64_t n, int64_t length, Team team,
                                            Tile &tile, double *shared) {
    bool held = n <= tile_span(team);
    Moments m = {0.0f, 0.0f, 0.0};
    for (int squares = 0; squares < 2; squares++) {
        double sum = 0.0;
        for (int64_t from = 0; from < n; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held || !squares) tile_load(tile, x + from, left, team, 0.0f);
            sum += tile_sum(tile, team, left, m, squares != 0);
        }
        double mean = team_sum(team, sum, shared) / (double)n;
        if (squares)
            m.variance = mean;
        else
            m = {(float)mean, (float)(mean - (double)(float)mean), 0.0};
    }
    return m;
}

// The moments about 0 instead of the mean.
static __device__ inline Moments moments_about_zero(const float *x, int64_t n, int64_t length,
                                                    Team team, Tile &tile, double *shared) {
    Moments m = {0.0f, 0.0f, 0.0};
    double sum = 0.0;
    for (int64_t from = 0; from < length; from += tile_span(team)) {
        int left = tile_left(team, from, length);
        tile_load(tile, x + from, left, team, 0.0f);
        sum += tile_sum(tile, team, left, m, true);
    }
    m.variance = team_sum(team, sum, shared) / (double)n;
    return m;
}

#endif
