// reduce.cuh -- internal to cuda/: what the row by row kernels share: teams of threads that reduce
// a row together, and the tile of a row that a team holds in registers. Every sum is a tree that
// depends on shapes alone, so no result depends on which block or warp came first.
#ifndef CUDA_REDUCE_CUH
#define CUDA_REDUCE_CUH

#include "cuda/cuda.h"
#include "tensor/math.h"

enum {
    REDUCE_WARPS = CUDA_BLOCK / CUDA_WARP,
    REDUCE_PARTS = 2048, // of one sum, at most: they fill the largest GPU, and one block adds them
    TILE = 8,            // elements of a row that one thread holds: two loads of four
};

// y = factor * the sum of n <= REDUCE_PARTS parts; in reduce.cu.
Status reduce_parts(CudaDevice *cuda, const double *parts, int64_t n, double factor, float *y);

// ---- rows ---------------------------------------------------------------------------------------
// `count` rows of n elements, and the team that works on each: so many neighbours that each holds a
// tile's share, 1, 2, 4 ... up to the block. So short rows share a warp, and long ones get more.
// wide: every row starts on 16 bytes, in all tensors.
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

// The rows of a tensor: its last dimension. `data` is the first tensor with these rows; the others
// are added with `rows.wide = rows.wide && is_wide(other)`.
static inline Rows rows_of(const Tensor *t, const void *data) {
    Rows rows = {};
    rows.n = t->shape.ndim ? t->shape.dims[t->shape.ndim - 1] : 1;
    rows.count = rows.n ? t->numel / rows.n : 0;
    rows.lanes = team_lanes(rows.n);
    rows.wide = rows.n % 4 == 0 && is_wide(data);
    return rows;
}

// Tiles in a row, where teams work on tiles and not on rows.
static inline __host__ __device__ int64_t row_tiles(Rows rows) {
    int64_t span = (int64_t)TILE * rows.lanes;
    return (rows.n + span - 1) / span;
}

// Enough blocks for so many teams, but no more than `most`: the kernels' loops take the rest.
static inline unsigned team_grid(int64_t teams, int lanes, int64_t most) {
    int64_t per_block = CUDA_BLOCK / lanes, blocks = (teams + per_block - 1) / per_block;
    return cuda_blocks(blocks < most ? blocks : most);
}

// ---- long rows ----------------------------------------------------------------------------------
// A row of n in `chunks` pieces of `length`, the last of what is left. Cut where the rows alone, at
// a team or block each, would leave the GPU idle, but never into pieces of less than `least`; nor
// into more pieces than `least`, so that the launch that puts them together need not cut again.
// It depends on the shape alone, never on the GPU, and so does the order of a sum.
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

// Four neighbours in a sum: added in float, and what they come to is added in double from there on.
// So a sum of any length is good to a few units in the last place of its largest four, and doubles,
// which are slow on some GPUs, are added for every fourth element only.
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
// The part of a row that a team holds at once, TILE * lanes elements in fours. A thread's four lie
// side by side when the rows are wide (one load), and a lane apart otherwise, so that a warp's
// loads lie side by side either way.
struct Tile {
    float at[TILE] = {}; // not every compiler sees that a row that fits was loaded before
};

static __device__ inline int tile_span(Team team) { return TILE * team.lanes; }

// Elements from `from` on of a row of `length`, at most a tile of them; none beyond the end.
static __device__ inline int tile_left(Team team, int64_t from, int64_t length) {
    int64_t left = length - from;
    return left > tile_span(team) ? tile_span(team) : left > 0 ? (int)left : 0;
}

// Where in the tile the element at[i] of this thread lies.
static __device__ inline int tile_place(Team team, int i) {
    int four = i / 4 * 4 * team.lanes, k = i % 4;
    return four + (team.wide ? 4 * team.lane + k : k * team.lanes + team.lane);
}

// Does the team have any of the elements of the four that begins with at[i], in a row of which
// `left` elements are left? The same for the whole team, so what it skips costs no time.
static __device__ inline bool tile_has(Team team, int i, int left) { return i * team.lanes < left; }

// The next elements of a row, of which `left` are left, and `fill` behind its end.
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

// Of a row x of n elements; `length` is n, or 0 for a team without a row. Rows longer than a tile
// are read once, too: a larger maximum scales down the sum so far. Leaves in `tile` the last tile:
// x, or where `exponentials` is set e^(x - maximum).
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
        // A beginning of nothing but -inf, as masks make it, has no maximum yet to subtract.
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
