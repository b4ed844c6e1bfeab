// planted_memory.cu -- memory that does not exist, is not written yet, or is another block's; and
// launches that no GPU accepts.
#include "tests/emulator/planted.h"

// out = 2 in. Broken: one thread too many passes the test.
template <bool BROKEN> __global__ static void out_of_bounds(const float *in, float *out, int n) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (i < n || (BROKEN && i == n)) out[i] = 2.0f * in[i < n ? i : 0];
}
PLANTED(out_of_bounds)

// Broken: the last thread reads past the end of the tile.
template <bool BROKEN> __global__ static void out_of_tile(const float *in, float *out, int n) {
    __shared__ float tile[THREADS];
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    const float *next = tile + t + 1;
    tile[t] = in[i < n ? i : 0];
    __syncthreads();
    if (i < n && (BROKEN || t + 1 < THREADS)) out[i] = *next;
}
PLANTED(out_of_tile)

// Broken: reads past the end of the thread's own array, after the thread has waited.
template <bool BROKEN> __global__ static void out_of_array(const float *in, float *out, int n) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    float mine[4];
    for (float &value : mine) value = i < n ? in[i] : 0.0f;
    const float *next = mine + i % 4;
    __syncthreads();
    if (i < n && (BROKEN || i % 4 < 3)) out[i] = next[1];
}
PLANTED(out_of_array)

// out = the sum of in over each block. Broken: past the input's end the tile is not written.
template <bool BROKEN> __global__ static void uninitialised(const float *in, float *out, int n) {
    __shared__ float tile[THREADS];
    int t = int(threadIdx.x), i = int(blockIdx.x) * THREADS + t;
    if (i < n)
        tile[t] = in[i];
    else if (!BROKEN)
        tile[t] = 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < THREADS; k++) sum += tile[k];
    if (i < n) out[i] = sum;
}
PLANTED(uninitialised)

// out = 1. Broken: nobody sets the variable, so a compiler might take it for a constant zero.
template <bool BROKEN> __global__ static void never_written(const float *, float *out, int n) {
    __shared__ float one;
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (!BROKEN && threadIdx.x == 0) one = 1.0f;
    __syncthreads();
    if (i < n) out[i] = one;
}
PLANTED(never_written)

// out = 1. Broken: adds to the value left by the block before.
template <bool BROKEN> __global__ static void left_over(const float *, float *out, int n) {
    __shared__ float sum;
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    if (threadIdx.x == 0 && (!BROKEN || blockIdx.x == 0)) sum = 0.0f;
    if (threadIdx.x == 0) sum += 1.0f;
    __syncthreads();
    if (i < n) out[i] = sum;
}
PLANTED(left_over)

// out = the block's number. Broken: the blocks count, as if they ran one after another.
template <bool BROKEN> __global__ static void order_of_blocks(const float *, float *out, int n) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    float before = BROKEN && i >= THREADS ? out[i - THREADS] : float(blockIdx.x) - 1.0f;
    if (i < n) out[i] = i < THREADS ? 0.0f : before + 1.0f;
}
PLANTED(order_of_blocks)

// ---- launches ----------------------------------------------------------------------------------
__global__ static void nothing(float *) {}

void planted_launch(dim3 grid, dim3 block, size_t shared) {
    LAUNCH(nothing, grid, block, shared, nullptr, nullptr);
}

// out (n) = in (n) through a tile of COUNT floats.
template <int COUNT> __global__ static void big_tile(const float *in, float *out, int n) {
    __shared__ float tile[COUNT];
    for (int i = int(threadIdx.x); i < COUNT; i += THREADS) tile[i] = in[i % n];
    __syncthreads();
    for (int i = int(threadIdx.x); i < n; i += THREADS) out[i] = tile[i];
}

// Broken: one float more than the 48 kB that a block may have.
void planted_big_tile(bool broken, const float *in, float *out, int n) {
    if (broken)
        LAUNCH(big_tile<48 * 256 + 1>, 1, THREADS, 0, nullptr, in, out, n);
    else
        LAUNCH(big_tile<48 * 256>, 1, THREADS, 0, nullptr, in, out, n);
    cudaDeviceSynchronize();
}
