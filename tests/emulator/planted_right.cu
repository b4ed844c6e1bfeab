// planted_right.cu -- correct kernels of the kinds that the device uses: their values are compared
// with plain loops.
#include "tests/emulator/planted.h"

enum { ALL_LANES = 0xffffffff, TILE = 32, ROWS = 8, MANY = 1024 };

// out (blocks) = the sum of each block's part of in (n): a tree in shared memory.
__global__ static void sum_by_tree(const double *in, double *out, int n) {
    __shared__ double part[MANY];
    int t = int(threadIdx.x), i = int(blockIdx.x) * MANY + t;
    part[t] = i < n ? in[i] : 0.0;
    __syncthreads();
    for (int step = MANY / 2; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// out () = the sum of in (n), by one block: shuffles within warps, then shared memory between them.
__global__ static void sum_by_shuffles(const double *in, double *out, int n) {
    __shared__ double part[THREADS / WARP];
    int t = int(threadIdx.x);
    double sum = 0.0;
    for (int i = t; i < n; i += THREADS) sum += in[i];
    for (int delta = WARP / 2; delta > 0; delta /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, unsigned(delta));
    if (t % WARP == 0) part[t / WARP] = sum;
    __syncthreads();
    if (t == 0) *out = part[0] + part[1] + part[2] + part[3];
}

// Runs both kernels, one after the other. between (blocks)
void right_sum(const double *in, double *between, double *out, int n) {
    unsigned blocks = unsigned(n + MANY - 1) / MANY;
    if (n > 0) LAUNCH(sum_by_tree, blocks, MANY, 0, nullptr, in, between, n);
    LAUNCH(sum_by_shuffles, 1, THREADS, 0, nullptr, between, out, int(blocks));
    cudaDeviceSynchronize();
}

// out (columns, rows) = in (rows, columns), through tiles; the odd width avoids bank conflicts.
template <class T>
__global__ static void transpose(const T *in, T *out, unsigned rows, unsigned columns) {
    __shared__ T tile[TILE][TILE + 1];
    unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    for (unsigned k = 0; k < TILE; k += ROWS)
        if (row + k < rows && column < columns)
            tile[threadIdx.y + k][threadIdx.x] = in[(row + k) * columns + column];
    __syncthreads();
    row = blockIdx.y * TILE + threadIdx.x;
    column = blockIdx.x * TILE + threadIdx.y;
    for (unsigned k = 0; k < TILE; k += ROWS)
        if (row < rows && column + k < columns)
            out[(column + k) * rows + row] = tile[threadIdx.x][threadIdx.y + k];
}

void right_transpose(const uint32_t *in, uint32_t *out, unsigned rows, unsigned columns) {
    dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), block(TILE, ROWS);
    if (rows && columns)
        LAUNCH(transpose<uint32_t>, grid, block, 0, nullptr, in, out, rows, columns);
    cudaDeviceSynchronize();
}

// out (n) = running sums of in (n), each element included, by one block, THREADS at a time.
__global__ static void prefix_sum(const int *in, int *out, int n) {
    __shared__ int of_warp[THREADS / WARP];
    int t = int(threadIdx.x), lane = t % WARP, before = 0;
    for (int begin = 0; begin < n; begin += THREADS) {
        int sum = begin + t < n ? in[begin + t] : 0;
        for (int delta = 1; delta < WARP; delta *= 2) {
            int left = __shfl_up_sync(ALL_LANES, sum, unsigned(delta));
            sum += lane >= delta ? left : 0;
        }
        if (lane == WARP - 1) of_warp[t / WARP] = sum;
        __syncthreads();
        for (int warp = 0; warp < t / WARP; warp++) sum += of_warp[warp];
        if (begin + t < n) out[begin + t] = before + sum;
        for (int warp = 0; warp < THREADS / WARP; warp++) before += of_warp[warp];
        __syncthreads();
    }
}

void right_prefix_sum(const int *in, int *out, int n) {
    LAUNCH(prefix_sum, 1, THREADS, 0, nullptr, in, out, n);
    cudaDeviceSynchronize();
}

// y (n) = 2 x (n) + y (n); no thread waits for another.
__global__ static void elementwise(const float *x, float *y, int n) {
    int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] += 2.0f * x[i];
}

void right_elementwise(const float *x, float *y, int n) {
    if (n > 0) LAUNCH(elementwise, unsigned(n + 255) / 256, 256, 0, nullptr, x, y, n);
    cudaDeviceSynchronize();
}

// The results of each warp intrinsic, one row of a warp each. out (15, 32)
__global__ static void intrinsics(int64_t *out) {
    int lane = int(threadIdx.x);
    const unsigned some = 0x00ff00ffu;
    long long mine = (1LL << 40) + lane;
    unsigned row = 0;
    auto put = [&](long long value) { out[WARP * row++ + unsigned(lane)] = value; };
    put(__shfl_sync(ALL_LANES, mine, 5) - (1LL << 40));
    put(__shfl_sync(ALL_LANES, lane, lane + 1, 8));
    put(__shfl_up_sync(ALL_LANES, lane, 3));
    put(__shfl_up_sync(ALL_LANES, lane, 3, 8));
    put(__shfl_down_sync(ALL_LANES, unsigned(lane), 3));
    put(__shfl_down_sync(ALL_LANES, double(lane), 3, 8) == double(lane % 8 < 5 ? lane + 3 : lane));
    put(__shfl_xor_sync(ALL_LANES, lane, 5));
    put(__shfl_xor_sync(ALL_LANES, lane, 12, 8)); // earlier segments work, later ones do not
    put(__ballot_sync(ALL_LANES, lane % 3 == 0));
    put(__any_sync(ALL_LANES, lane == 31) * 2 + __any_sync(ALL_LANES, 0));
    put(__all_sync(ALL_LANES, lane < 32) * 2 + __all_sync(ALL_LANES, lane < 31));
    bool inside = (some >> lane & 1) != 0;
    put(inside ? __ballot_sync(some, lane & 1) : __ballot_sync(~some, !(lane & 1)));
    __syncwarp();
    put(inside ? __all_sync(some, 1) : -1);
    put(__popc(some >> lane) + __clz(lane) + __ffs(lane));
    put(min(lane, 7) + max(lane, 20));
}

void right_intrinsics(int64_t *out) {
    LAUNCH(intrinsics, 1, WARP, 0, nullptr, out);
    cudaDeviceSynchronize();
}

// Many threads update the same five numbers. out (5), all zero
__global__ static void atomics(unsigned *out) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x, old = out[4], expected;
    atomicAdd(&out[0], 2u);
    atomicMax(&out[1], i * 7u % 1000u);
    atomicMin(reinterpret_cast<int *>(&out[2]), -int(i));
    atomicOr(&out[3], 1u << i % 20u);
    do {
        expected = old;
        old = atomicCAS(&out[4], expected, expected + 3u);
    } while (old != expected);
}

void right_atomics(unsigned *out) {
    LAUNCH(atomics, 10, THREADS, 0, nullptr, out);
    cudaDeviceSynchronize();
}

// The turn of each thread: before and after its warp met, and after its block met. out (3, n)
__global__ static void tickets(int *out, int *next, int n) {
    int i = int(blockIdx.x * THREADS + threadIdx.x);
    out[i] = atomicAdd(next, 1);
    __syncwarp();
    out[n + i] = atomicAdd(next, 1);
    __syncthreads();
    out[2 * n + i] = atomicAdd(next, 1);
}

void right_tickets(int *out, int blocks) {
    int next = 0;
    LAUNCH(tickets, unsigned(blocks), THREADS, 0, nullptr, out, &next, blocks * THREADS);
    cudaDeviceSynchronize();
}
