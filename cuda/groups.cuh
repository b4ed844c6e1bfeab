// groups.cuh -- many tensors in one launch: a table of pointers, passed as a kernel argument.
// Not here: the work on them (update.cu).
#ifndef CUDA_GROUPS_CUH
#define CUDA_GROUPS_CUH

#include "cuda/cuda.h"

enum { MOST_GROUPS = 64 }; // keeps four tensors per group below the 4 KB of a kernel's arguments

// Groups of PERIOD tensors of one shape (a parameter, its gradient, ...), cut into chunks; a block
// does one chunk. Chunks start at multiples of 4 elements, so float4 depends only on the pointers.
template <int PERIOD> struct Groups {
    float *data[MOST_GROUPS][PERIOD];
    int64_t numel[MOST_GROUPS];
    int64_t chunk;             // elements
    unsigned end[MOST_GROUPS]; // number of chunks of this group and all before
    int count;
};

// Fills the table with inputs from `next` on; returns the first input that did not fit.
template <int PERIOD>
static int groups_take(const OpCall *call, int next, int64_t chunk, Groups<PERIOD> *groups) {
    unsigned chunks = 0;
    int n = 0;
    for (; next < call->n_in && n < MOST_GROUPS; next += PERIOD) {
        int64_t numel = call->in[next]->numel;
        if (numel == 0) continue;
        for (int k = 0; k < PERIOD; k++) groups->data[n][k] = call_in(call, next + k);
        groups->numel[n] = numel;
        chunks += (unsigned)((numel + chunk - 1) / chunk);
        groups->end[n++] = chunks;
    }
    groups->chunk = chunk;
    groups->count = n;
    return next;
}

template <int PERIOD> static unsigned groups_chunks(const Groups<PERIOD> *groups) {
    return groups->count ? groups->end[groups->count - 1] : 0;
}

// Elements [begin, end) of a group; float4 covers those before `wide_end`.
struct Chunk {
    int group;
    int64_t begin, wide_end, end;
};

// The chunk of this block.
template <int PERIOD> static __device__ inline Chunk groups_chunk(const Groups<PERIOD> &groups) {
    int low = 0, high = groups.count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (blockIdx.x < groups.end[middle])
            high = middle;
        else
            low = middle + 1;
    }
    int64_t skipped = low > 0 ? groups.end[low - 1] : 0;
    int64_t begin = ((int64_t)blockIdx.x - skipped) * groups.chunk, end = begin + groups.chunk;
    if (end > groups.numel[low]) end = groups.numel[low];
    uintptr_t address = 0;
    for (int k = 0; k < PERIOD; k++) address |= (uintptr_t)groups.data[low][k];
    bool aligned = address % sizeof(float4) == 0;
    return {low, begin, aligned ? end - (end - begin) % 4 : begin, end};
}

#endif
