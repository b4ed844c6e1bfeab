// planted_warp.cu -- lanes of a warp that do not wait for each other, or wait in vain.
#include "tests/emulator/planted.h"

enum { ALL_LANES = 0xffffffff };

// out = in with neighbours exchanged. Broken: assumes that lanes of a warp run in step.
template <bool BROKEN> __global__ static void warp_not_in_step(const float *in, float *out, int) {
    __shared__ float tile[THREADS];
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    tile[t] = in[i];
    if (!BROKEN) __syncwarp();
    out[i] = tile[t ^ 1];
}
PLANTED(warp_not_in_step)

// The sum of a warp's values, in every lane.
__device__ static float sum_of_warp(float value) {
    for (int mask = WARP / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(ALL_LANES, value, mask);
    return value;
}

// out = the sum of in over each warp. Broken: the last lanes have ended when others ask for their
// values.
template <bool BROKEN> __global__ static void lane_has_exited(const float *in, float *out, int n) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (BROKEN && i >= n - 3) return;
    float sum = sum_of_warp(i < n ? in[i] : 0.0f);
    if (i < n) out[i] = sum;
}
PLANTED(lane_has_exited)

// Broken: some lanes wait at a barrier of the block, the others for these lanes.
template <bool BROKEN> __global__ static void lane_at_barrier(const float *in, float *out, int) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (BROKEN && i % WARP < 2) __syncthreads();
    float sum = sum_of_warp(in[i]);
    if (!BROKEN || i % WARP >= 2) __syncthreads();
    out[i] = sum;
}
PLANTED(lane_at_barrier)

// out = in of the last lane. Broken: half of the lanes take part, and ask one of the other half.
template <bool BROKEN> __global__ static void lane_not_named(const float *in, float *out, int) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    out[i] = in[i];
    if (BROKEN && i % WARP >= WARP / 2) return;
    out[i] = __shfl_sync(BROKEN ? 0x0000ffffu : ALL_LANES, in[i], WARP - 1);
}
PLANTED(lane_not_named)

// Broken: lanes call with a mask that does not include them.
template <bool BROKEN> __global__ static void lane_names_others(const float *in, float *out, int) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    int any = __any_sync(BROKEN ? 0x0000ffffu : ALL_LANES, in[i] > 1.0f);
    out[i] = float(any);
}
PLANTED(lane_names_others)

// Broken: two halves of a warp shuffle with all lanes, but at two places.
template <bool BROKEN> __global__ static void shuffle_in_branch(const float *in, float *out, int) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (BROKEN && i % WARP < WARP / 2)
        out[i] = __shfl_down_sync(ALL_LANES, in[i], 1);
    else
        out[i] = __shfl_down_sync(ALL_LANES, in[i], 1);
}
PLANTED(shuffle_in_branch)
