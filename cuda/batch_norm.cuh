// batch_norm.cuh -- internal to cuda/: the channels of a batch, and their sums over blocks: a block
// takes a chunk of one wide channel, or of some narrow ones; later one thread per channel combines
// its chunks. Chunks depend on the shape alone, and are added in order.
#ifndef CUDA_BATCH_NORM_CUH
#define CUDA_BATCH_NORM_CUH

#include "cuda/norm.cuh"

struct Batch {
    int64_t samples, channels, plane, n; // n: elements of a channel
    int side;                            // number of adjacent channels in a block, so that a warp
                                         // reads adjacent elements
    int64_t groups;                      // number of groups of `side` channels
    Cut cut;                             // chunks of the n elements
};

static inline Batch batch_of(const Tensor *x) {
    Batch batch = {};
    batch.samples = x->shape.dims[0];
    batch.channels = x->shape.dims[1];
    batch.plane = 1;
    for (int i = 2; i < x->shape.ndim; i++) batch.plane *= x->shape.dims[i];
    batch.n = batch.samples * batch.plane;
    batch.side = 1;
    while (batch.side * batch.plane < CUDA_WARP && batch.side < CUDA_WARP) batch.side *= 2;
    batch.groups = (batch.channels + batch.side - 1) / batch.side;
    batch.cut = cut_of(batch.n, batch.groups, 32 * (CUDA_BLOCK / batch.side));
    return batch;
}

static inline unsigned batch_grid(Batch batch) {
    return cuda_blocks(batch.groups * batch.cut.chunks);
}

// Takes a fraction of the time for numbers of 32 bits, as nearly all are.
static __device__ inline int64_t quotient(int64_t a, int64_t b) {
    return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

// Index of element e of channel c.
static __device__ inline int64_t place(const Batch &of, int64_t c, int64_t e) {
    int64_t sample = quotient(e, of.plane);
    return (sample * of.channels + c) * of.plane + (e - sample * of.plane);
}
static __device__ inline int64_t channel_at(const Batch &of, int64_t i) {
    int64_t plane = quotient(i, of.plane);
    return plane - quotient(plane, of.channels) * of.channels;
}

struct Share { // a thread's part of a sum: every step-th element of [begin, end) of a channel
    int64_t channel, chunk, begin, end, step;
};

static __device__ inline Share share_of(const Batch &of, int64_t block) {
    int64_t chunk = block / of.groups, lane = threadIdx.x / of.side;
    int64_t channel = (block - chunk * of.groups) * of.side + threadIdx.x % of.side;
    int64_t begin = chunk * of.cut.length, end = begin + of.cut.length;
    if (end > of.n) end = of.n;
    if (channel >= of.channels) end = begin; // all threads must reach the barriers
    return {channel, chunk, begin + lane, end, CUDA_BLOCK / of.side};
}

// Sums a and b over the threads of each channel; every thread gets its channel's sums.
static __device__ inline void channel_sums(int side, double &a, double &b, double *shared) {
    int thread = (int)threadIdx.x;
    shared[thread] = a;
    shared[CUDA_BLOCK + thread] = b;
    for (int half = CUDA_BLOCK / 2; half >= side; half /= 2) {
        __syncthreads();
        if (thread >= half) continue;
        shared[thread] += shared[thread + half];
        shared[CUDA_BLOCK + thread] += shared[CUDA_BLOCK + thread + half];
    }
    __syncthreads();
    a = shared[thread % side];
    b = shared[CUDA_BLOCK + thread % side];
    __syncthreads(); // before the next sums are written
}

#endif
