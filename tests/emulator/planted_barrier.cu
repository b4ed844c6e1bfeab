// planted_barrier.cu -- barriers of a block that are missing, or that not all threads reach.
#include "tests/emulator/planted.h"

// out = in, reversed within each block. Broken: reads what another thread may not have written.
template <bool BROKEN> __global__ static void read_after_write(const float *in, float *out, int) {
    __shared__ float tile[THREADS];
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    tile[t] = in[i];
    if (!BROKEN) __syncthreads();
    out[i] = tile[THREADS - 1 - t];
}
PLANTED(read_after_write)

// out = in, rotated by three warps within each block. Broken: overwrites values that another thread
// may still read.
template <bool BROKEN> __global__ static void write_after_read(const float *in, float *out, int) {
    __shared__ float tile[THREADS];
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    tile[t] = in[i];
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        float next = tile[(t + WARP) % THREADS];
        if (!BROKEN) __syncthreads();
        tile[t] = next;
        __syncthreads();
    }
    out[i] = tile[t];
}
PLANTED(write_after_read)

// The sum of a block's values, in every thread. values (THREADS) is shared.
__device__ static float sum_of_block(float *values, float mine) {
    values[threadIdx.x] = mine;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < THREADS; i++) sum += values[i];
    return sum;
}

// out = (in - mean) / sqrt(variance). Broken: the second sum reuses the tile too early.
template <bool BROKEN> __global__ static void tile_used_twice(const float *in, float *out, int) {
    __shared__ float tile[THREADS];
    int i = int(blockIdx.x) * THREADS + int(threadIdx.x);
    float away = in[i] - sum_of_block(tile, in[i]) / THREADS;
    if (!BROKEN) __syncthreads();
    out[i] = away * rsqrtf(sum_of_block(tile, away * away) / THREADS);
}
PLANTED(tile_used_twice)

// Broken: half of the threads end before a barrier at which the others wait.
template <bool BROKEN> __global__ static void barrier_after_exit(const float *in, float *out, int) {
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    if (BROKEN && t >= THREADS / 2) return;
    __syncthreads();
    out[i] = in[i];
}
PLANTED(barrier_after_exit)

// Broken: every thread waits, but at different barriers.
template <bool BROKEN> __global__ static void barrier_in_branch(const float *in, float *out, int) {
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    if (BROKEN && t % 2) {
        out[i] = in[i];
        __syncthreads();
    } else {
        __syncthreads();
        out[i] = in[i];
    }
}
PLANTED(barrier_in_branch)
