// reduce.cuh -- internal to cuda/: shared by row by row kernels: teams of threads that reduce a row
// together, and the tile of a row that a team holds in registers. Every sum is a tree that depends
// on shapes alone, so the order in which blocks or warps run does not affect results.
#ifndef CUDA_REDUCE_CUH
#define CUDA_REDUCE_CUH

#include "cuda/cuda.h"
#include "tensor/math.h"

enum {
    REDUCE_WARPS = CUDA_BLOCK / CUDA_WARP,
    REDUCE_PARTS = 2048, // most parts of one sum: enough for the largest GPU; one block adds them
    TILE = 8,            // elements of a row that one thread holds: two loads of four
};

// y = factor * the sum of n <= REDUCE_PARTS parts; in reduce.cu.
Status reduce_parts(CudaDevice *cuda, const double *parts, int64_t n, double factor, float *y);

// ---- rows ---------------------------------------------------------------------------------------
// `count` rows of n elements. A team of 1, 2, 4 ... adjacent threads, up to the block, works on
// each row, each thread on its share of a tile. So short rows share a warp, and long ones get more
// threads. wide: every row is aligned to 16 bytes, in all tensors.
struct Rows {
    int64_t count, n;
    int lanes;
    bool wide;
};

static inline int team_lanes(int64_t n) {
    int lanes = 1;
    while (lanes < CUDA_BLOCK && TILE * lanes < n) lanes *= 2;
    return lanes;
}

// The rows of a tensor, along its last dimension. `data` is the first tensor with these rows; add
// each other with `rows.wide = rows.wide && is_wide(other)`.
static inline Rows rows_of(const Tensor *t, const void *data) {
    Rows rows = {};
    rows.n = t->shape.ndim ? t->shape.dims[t->shape.ndim - 1] : 1;
    rows.count = rows.n ? t->numel / rows.n : 0;
    rows.lanes = team_lanes(rows.n);
    rows.wide = rows.n % 4 == 0 && is_wide(data);
    return rows;
}

// Number of tiles in a row, for teams that work on tiles instead of rows.
static inline __host__ __device__ int64_t row_tiles(Rows rows) {
    int64_t span = (int64_t)TILE * rows.lanes;
    return (rows.n + span - 1) / span;
}

// Enough blocks for this many teams, but at most `most`: the kernels' loops take the rest.
static inline unsigned team_grid(int64_t teams, int lanes, int64_t most) {
    int64_t per_block = CUDA_BLOCK / lanes, blocks = (teams + per_block - 1) / per_block;
    return cuda_blocks(blocks < most ? blocks : most);
}

// ---- long rows ----------------------------------------------------------------------------------
// A row of n, cut into `chunks` pieces of `length`; the last one takes the rest. Rows are cut if a
// team or block per row would leave the GPU idle, but never into pieces shorter than `least`, nor
// into more than `least` pieces, so the launch that combines them need not cut again. The cut, and
// so the order of a sum, depends on the shape alone, never on the GPU.
struct Cut {
    int64_t chunks, length;
};

static inline Cut cut_of(int64_t n, int64_t teams, int64_t least) {
    int64_t chunks = n / least, most = REDUCE_PARTS / (teams < 1 ? 1 : teams);
    if (chunks > most) chunks = most;
    if (chunks > least) chunks = least;
    if (chunks <= 1) return {1, n};
    int64_t length = ((n + chunks - 1) / chunks + 3) / 4 * 4; // wide loads stay wide
    return {(n + length - 1) / length, length};
}

struct Chunk { // elements [begin, begin + n) of a row
    int64_t row, begin, n;
};

// The i-th of all chunks of all rows.
static __device__ inline Chunk chunk_of(Cut cut, int64_t i, int64_t n) {
    int64_t row = cut.chunks == 1 ? i : i / cut.chunks;
    int64_t begin = (i - row * cut.chunks) * cut.length, left = n - begin;
    return {row, begin, left < cut.length ? left : cut.length};
}

// ---- teams --------------------------------------------------------------------------------------
// This thread's place in its team, its team's among the teams of the block, and how the block
// walks:
//
//     Team team = team_of(rows.lanes, rows.wide);
//     for (int64_t base = team.begin; base < rows.count; base += team.step) {
//         int64_t row = base + team.index; // no row from rows.count on, and yet they must come
//                                          // along: a reduction takes every thread of the block
struct Team {
    int lanes, lane, index;
    bool wide;
    int64_t begin, step;
};

static __device__ inline Team team_of(int lanes, bool wide) {
    int64_t per_block = CUDA_BLOCK / lanes;
    int thread = (int)threadIdx.x;
    return {lanes, thread % lanes,         thread / lanes,
            wide,  blockIdx.x * per_block, gridDim.x * per_block};
}

static __device__ inline float shuffle(float value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
}
static __device__ inline double shuffle(double value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
}
static __device__ inline int64_t shuffle(int64_t value, int mask) {
    return (int64_t)__shfl_xor_sync(0xffffffffu, (long long)value, mask);
}
static __device__ inline uint64_t shuffle(uint64_t value, int mask) {
    return (uint64_t)__shfl_xor_sync(0xffffffffu, (unsigned long long)value, mask);
}

// Combines one value of each thread of a team; every thread gets the result. All threads of the
// block must call it; shared has a place for each of its warps and is free again at return.
template <class Value, class Combine>
static __device__ inline Value team_reduce(Team team, Value value, Value *shared, Combine combine) {
    int within = team.lanes < CUDA_WARP ? team.lanes : (int)CUDA_WARP;
    for (int mask = within / 2; mask > 0; mask /= 2) value = combine(value, shuffle(value, mask));
    if (team.lanes <= CUDA_WARP) return value;
    if (threadIdx.x % CUDA_WARP == 0) shared[threadIdx.x / CUDA_WARP] = value;
    __syncthreads();
    const Value *own = shared + team.index * team.lanes / CUDA_WARP;
    value = own[0];
    for (int warp = 1; warp < team.lanes / CUDA_WARP; warp++) value = combine(value, own[warp]);
    __syncthreads();
    return value;
}

struct Add {
    template <class Sum> __device__ Sum operator()(Sum a, Sum b) const { return a + b; }
};
struct Larger { // NaN wins
    __device__ float operator()(float a, float b) const { return math_max(a, b); }
};

template <class Sum> static __device__ inline Sum team_sum(Team team, Sum value, Sum *shared) {
    return team_reduce(team, value, shared, Add());
}
static __device__ inline double block_sum(double value, double *shared) {
    return team_sum(team_of(CUDA_BLOCK, false), value, shared);
}

// Sum of four adjacent elements: added in float; these sums are then added in double. So a sum of
// any length is accurate to a few units in the last place of its largest four, and needs only one
// addition in double, which is slow on some GPUs, for every four elements.
static __device__ inline double add_four(float a, float b, float c, float d) {
    return (double)((a + b) + (c + d));
}
static __device__ inline double add_four(double a, double b, double c, double d) {
    return (a + b) + (c + d);
}
static __device__ inline uint64_t add_four(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return a + b + c + d;
}

// ---- tiles --------------------------------------------------------------------------------------
// The part of a row that a team holds at once: TILE * lanes elements, in fours. A thread's four are
// adjacent if the rows are wide (one load), and a lane apart otherwise, so that a warp's loads are
// adjacent in both cases.
struct Tile {
    float at[TILE] = {}; // not every compiler sees that a row that fits is always loaded
};

static __device__ inline int tile_span(Team team) { return TILE * team.lanes; }

// Number of elements from `from` on in a row of `length`: at most a tile, 0 past the end.
static __device__ inline int tile_left(Team team, int64_t from, int64_t length) {
    int64_t left = length - from;
    return left > tile_span(team) ? tile_span(team) : left > 0 ? (int)left : 0;
}

// Position in the tile of this thread's element at[i].
static __device__ inline int tile_place(Team team, int i) {
    int four = i / 4 * 4 * team.lanes, k = i % 4;
    return four + (team.wide ? 4 * team.lane + k : k * team.lanes + team.lane);
}

// Whether the team has any element of the four that starts with at[i], if `left` elements of the
// row are left. Equal for the whole team, so skipping saves time.
static __device__ inline bool tile_has(Team team, int i, int left) { return i * team.lanes < left; }

// Loads the next elements of a row, of which `left` are left; `fill` past its end.
static __device__ inline void tile_load(Tile &tile, const float *x, int left, Team team,
                                        float fill) {
    for (int i = 0; i < TILE; i += 4) {
        if (team.wide && tile_place(team, i) < left) {
            float4 four = *(const float4 *)(x + tile_place(team, i));
            tile.at[i] = four.x, tile.at[i + 1] = four.y;
            tile.at[i + 2] = four.z, tile.at[i + 3] = four.w;
            continue;
        }
        for (int k = i; k < i + 4; k++)
            tile.at[k] = tile_place(team, k) < left ? x[tile_place(team, k)] : fill;
    }
}

static __device__ inline void tile_store(const Tile &tile, float *y, int left, Team team) {
    for (int i = 0; i < TILE; i += 4) {
        if (team.wide && tile_place(team, i) < left) {
            *(float4 *)(y + tile_place(team, i)) =
                make_float4(tile.at[i], tile.at[i + 1], tile.at[i + 2], tile.at[i + 3]);
            continue;
        }
        for (int k = i; k < i + 4; k++)
            if (tile_place(team, k) < left) y[tile_place(team, k)] = tile.at[k];
    }
}

// ---- softmax's two numbers ----------------------------------------------------------------------
struct RowStatistics {
    float largest, sum; // the maximum (NaN wins), and the sum of e^(x - maximum)
};

// Statistics of a row x of n elements; `length` is n, or 0 for a team without a row. Rows longer
// than a tile are read only once, too: a larger maximum scales the sum so far down. `tile` keeps
// the last tile: x, or, with `exponentials`, e^(x - maximum).
static __device__ inline RowStatistics row_statistics(Team team, const float *x, int64_t n,
                                                      int64_t length, bool exponentials, Tile &tile,
                                                      float *shared_largest, double *shared_sum) {
    float largest = -INFINITY;
    double sum = 0.0;
    for (int64_t from = 0; from < n; from += tile_span(team)) {
        int left = tile_left(team, from, length);
        tile_load(tile, x + from, left, team, -INFINITY);
        float most = tile.at[0], before = largest;
        for (int i = 0; i < TILE && tile_has(team, i, left); i += 4)
            for (int k = i; k < i + 4; k++) most = math_max(most, tile.at[k]);
        most = team_reduce(team, most, shared_largest, Larger());
        largest = math_max(most, before);
        if (largest != before) sum *= (double)math_exp_falling(before - largest);
        // If only -inf came so far, as masks cause, there is no maximum yet to subtract.
        float shift = largest == -INFINITY ? 0.0f : largest;
        for (int i = 0; i < TILE && tile_has(team, i, left); i += 4) {
            float e[4];
            for (int k = 0; k < 4; k++) e[k] = math_exp_falling(tile.at[i + k] - shift);
            sum += add_four(e[0], e[1], e[2], e[3]);
            for (int k = 0; k < 4 && exponentials; k++) tile.at[i + k] = e[k];
        }
    }
    sum = team_sum(team, sum, shared_sum);
    if (largest == -INFINITY) sum = NAN; // -inf - -inf
    return {largest, (float)sum};
}

#endif
