// attention.cu -- attention and its gradients, tile by tile: a block has some rows of queries, or
// of keys, and one part of the output columns, and walks over the tiles of the other in order. So
// no sum depends on the order of blocks. Each kernel computes the scores again.
#include "cuda/reduce.cuh"

extern "C" {
#include "tensor/ops/attention.h"
}

// A tile is SIDE queries by SIDE keys; thread (lane, warp) has column `lane` of rows warp, warp +
// WARPS ..., so a warp has whole rows. A block writes PART columns.
enum { SIDE = 32, WARPS = CUDA_BLOCK / SIDE, OWN = SIDE / WARPS, PART = 64, SPREAD = PART / SIDE };

struct Tiles {
    float left[SIDE][SIDE + 1], right[SIDE][SIDE + 1], score[SIDE][SIDE + 1], wide[SIDE][PART];
};

struct Place { // position of a tile
    int64_t matrix, query, key;
};

// product (own rows) += left (rows, width) . right (rows, width)^T, for the rows of a tile
static __device__ void add_products(Tiles &tiles, const float *left, int64_t left_step,
                                    int64_t left_rows, const float *right, int64_t right_step,
                                    int64_t right_rows, int64_t width, float product[OWN]) {
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    for (int64_t from = 0; from < width; from += SIDE) {
        bool inside = from + lane < width;
        for (int i = 0; i < OWN; i++) {
            int row = warp + i * WARPS;
            const float *a = left + row * left_step + from, *b = right + row * right_step + from;
            tiles.left[row][lane] = inside && row < left_rows ? a[lane] : 0.0f;
            tiles.right[row][lane] = inside && row < right_rows ? b[lane] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < OWN; i++)
            for (int c = 0; c < SIDE; c++)
                product[i] += tiles.left[warp + i * WARPS][c] * tiles.right[lane][c];
        __syncthreads();
    }
}

// The scores of the own rows: -infinity outside, and where a query does not see a key.
static __device__ void own_scores(const Attention &a, Place at, Tiles &tiles, float score[OWN]) {
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    const float *q = attention_matrix(&a.q, at.matrix) + at.query * a.q.row;
    const float *k = attention_matrix(&a.k, at.matrix / a.group) + at.key * a.k.row;
    for (int i = 0; i < OWN; i++) score[i] = 0.0f;
    add_products(tiles, q, a.q.row, a.s - at.query, k, a.k.row, a.t - at.key, a.d, score);
    for (int i = 0; i < OWN; i++) {
        int64_t row = at.query + warp + i * WARPS, key = at.key + lane;
        bool seen = row < a.s && key < attention_visible(&a, row);
        float x = score[i] * a.scale;
        if (seen && a.mask.data)
            x += attention_matrix(&a.mask, at.matrix)[row * a.mask.row + key * a.mask.column];
        score[i] = seen ? x : -INFINITY;
    }
}

// Dropout's factor for a probability.
static __device__ float own_factor(const Attention &a, Place at, int i) {
    int64_t row = at.query + threadIdx.x / SIDE + i * WARPS, key = at.key + threadIdx.x % SIDE;
    if (a.p == 0.0f || row >= a.s || key >= a.t) return 1.0f;
    int64_t index = attention_draw(&a, at.matrix, row) + key;
    uint32_t words[4];
    philox_block(a.offset + (uint64_t)index / 4, a.seed, words);
    return philox_uniform(words[index % 4]) >= a.p ? a.kept : 0.0f;
}

// wide (rows, PART) = part of a matrix: rows from `from` on, columns from `column` on; 0 outside
static __device__ void load_wide(Tiles &tiles, const float *from, int64_t step, int64_t rows,
                                 int64_t column, int64_t columns) {
    for (int i = (int)threadIdx.x; i < SIDE * PART; i += CUDA_BLOCK) {
        int row = i / PART, own = i % PART;
        bool inside = row < rows && column + own < columns;
        tiles.wide[row][own] = inside ? from[row * step + column + own] : 0.0f;
    }
}

// sum (own rows, SPREAD) += score . wide, or score^T . wide
static __device__ void add_wide(const Tiles &tiles, bool transposed, float sum[OWN][SPREAD]) {
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    for (int i = 0; i < OWN; i++)
        for (int c = 0; c < SIDE; c++) {
            int own = warp + i * WARPS;
            float factor = transposed ? tiles.score[c][own] : tiles.score[own][c];
            for (int j = 0; j < SPREAD; j++) sum[i][j] += factor * tiles.wide[c][lane + j * SIDE];
        }
}

// Stores own rows, from `first` on, of a matrix (rows, columns), each times its factor.
static __device__ void store_wide(float *to, int64_t first, int64_t rows, int64_t column,
                                  int64_t columns, const float factor[OWN],
                                  float sum[OWN][SPREAD]) {
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < SPREAD; j++) {
            int64_t row = first + warp + i * WARPS, at = column + lane + j * SIDE;
            if (row < rows && at < columns) to[row * columns + at] = sum[i][j] * factor[i];
        }
}

static __device__ float warp_largest(float value) {
    for (int mask = SIDE / 2; mask > 0; mask /= 2) value = math_max(value, shuffle(value, mask));
    return value;
}
static __device__ float warp_sum(float value) {
    for (int mask = SIDE / 2; mask > 0; mask /= 2) value += shuffle(value, mask);
    return value;
}

static int64_t parts_of(int64_t length, int64_t part) { return (length + part - 1) / part; }

// ---- forward --------------------------------------------------------------------------------
struct Grid { // number of items: matrices x tiles x parts
    int64_t tiles, parts, items;
};
static Grid grid_of(int64_t matrices, int64_t rows, int64_t columns) {
    Grid grid = {parts_of(rows, SIDE), parts_of(columns, PART), 0};
    if (grid.parts == 0) grid.parts = 1; // the logsumexp needs a part
    grid.items = matrices * grid.tiles * grid.parts;
    return grid;
}

// Computes y (..., s, e) and logsumexp (..., s). A larger maximum rescales the own rows' sum so
// far, and y.
__global__ static void attention_rows(Attention a, Grid grid, float *y, float *logsumexp) {
    __shared__ Tiles tiles;
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    for (int64_t item = blockIdx.x; item < grid.items; item += gridDim.x) {
        int64_t part = item % grid.parts, tile = item / grid.parts % grid.tiles;
        Place at = {item / grid.parts / grid.tiles, tile * SIDE, 0};
        int64_t last = at.query + SIDE < a.s ? at.query + SIDE : a.s;
        const float *v = attention_matrix(&a.v, at.matrix / a.group);
        float largest[OWN], sum[OWN] = {}, out[OWN][SPREAD] = {}, score[OWN];
        for (int i = 0; i < OWN; i++) largest[i] = -INFINITY;
        for (; at.key < attention_visible(&a, last - 1); at.key += SIDE) {
            own_scores(a, at, tiles, score);
            for (int i = 0; i < OWN; i++) {
                float larger = math_max(largest[i], warp_largest(score[i]));
                float shift = attention_shift(larger);
                float p = math_exp_falling(score[i] - shift);
                float correction = math_exp_falling(largest[i] - shift);
                largest[i] = larger;
                sum[i] = sum[i] * correction + warp_sum(p);
                for (int j = 0; j < SPREAD; j++) out[i][j] *= correction;
                tiles.score[warp + i * WARPS][lane] = p * own_factor(a, at, i);
            }
            load_wide(tiles, v + at.key * a.v.row, a.v.row, a.t - at.key, part * PART, a.e);
            __syncthreads();
            add_wide(tiles, false, out);
            __syncthreads();
        }
        float scale[OWN];
        for (int i = 0; i < OWN; i++) {
            int64_t row = at.query + warp + i * WARPS;
            scale[i] = sum[i] == 0.0f ? 0.0f : 1.0f / sum[i];
            if (part == 0 && lane == 0 && row < a.s)
                logsumexp[at.matrix * a.s + row] = largest[i] + math_log(sum[i]);
        }
        store_wide(y + at.matrix * a.s * a.e, at.query, a.s, part * PART, a.e, scale, out);
    }
}

CUDA_OP(attention) {
    Attention a = attention_of(call, 0, 3);
    Grid grid = grid_of(a.matrices, a.s, a.e);
    if (grid.items == 0) return STATUS_OK;
    return CUDA_LAUNCH(attention_rows, cuda_blocks(grid.items), CUDA_BLOCK, 0, a, grid,
                       call_out(call, 0), call_out(call, 1));
}

// ---- backward: the formulas of tensor/ops/attention_backward.c ------------------------------
struct Saved {
    AttentionMatrices dy;
    const float *logsumexp, *sums; // (..., s); sums: of dy y over a row, set if dS is needed
};

// sums (..., s) = the sum of dy y over e, a warp per row
__global__ static void attention_sums(Attention a, AttentionMatrices dy, const float *y,
                                      float *sums) {
    int64_t rows = a.matrices * a.s, lane = threadIdx.x % SIDE;
    for (int64_t r = GLOBAL_INDEX / SIDE; r < rows; r += GRID_STRIDE / SIDE) {
        const float *g = attention_matrix(&dy, r / a.s) + r % a.s * dy.row;
        float sum = 0.0f;
        for (int64_t j = lane; j < a.e; j += SIDE) sum += g[j] * y[r * a.e + j];
        sum = warp_sum(sum);
        if (lane == 0) sums[r] = sum;
    }
}

// Replaces the tile's scores by the factors in the gradient: P with dropout, or dS.
static __device__ void load_slopes(const Attention &a, const Saved &saved, Place at, bool deep,
                                   Tiles &tiles) {
    int lane = (int)threadIdx.x % SIDE, warp = (int)threadIdx.x / SIDE;
    float p[OWN], ds[OWN] = {};
    own_scores(a, at, tiles, p);
    if (deep) {
        const float *dy = attention_matrix(&saved.dy, at.matrix) + at.query * saved.dy.row;
        const float *v = attention_matrix(&a.v, at.matrix / a.group) + at.key * a.v.row;
        add_products(tiles, dy, saved.dy.row, a.s - at.query, v, a.v.row, a.t - at.key, a.e, ds);
    }
    for (int i = 0; i < OWN; i++) {
        int64_t row = at.query + warp + i * WARPS, index = at.matrix * a.s + row;
        bool inside = row < a.s && at.key + lane < a.t;
        float slope = 0.0f, factor = own_factor(a, at, i);
        if (inside) {
            slope = math_exp_falling(p[i] - attention_shift(saved.logsumexp[index]));
            slope *= deep ? (ds[i] * factor - saved.sums[index]) * a.scale : factor;
        }
        tiles.score[warp + i * WARPS][lane] = slope;
    }
}

// dq (..., s, d) = dS . k
__global__ static void attention_dq(Attention a, Grid grid, Saved saved, float *dq) {
    __shared__ Tiles tiles;
    const float ones[OWN] = {1.0f, 1.0f, 1.0f, 1.0f};
    for (int64_t item = blockIdx.x; item < grid.items; item += gridDim.x) {
        int64_t part = item % grid.parts, tile = item / grid.parts % grid.tiles;
        Place at = {item / grid.parts / grid.tiles, tile * SIDE, 0};
        int64_t last = at.query + SIDE < a.s ? at.query + SIDE : a.s;
        const float *k = attention_matrix(&a.k, at.matrix / a.group);
        float sum[OWN][SPREAD] = {};
        for (; at.key < attention_visible(&a, last - 1); at.key += SIDE) {
            load_slopes(a, saved, at, true, tiles);
            load_wide(tiles, k + at.key * a.k.row, a.k.row, a.t - at.key, part * PART, a.d);
            __syncthreads();
            add_wide(tiles, false, sum);
            __syncthreads();
        }
        store_wide(dq + at.matrix * a.s * a.d, at.query, a.s, part * PART, a.d, ones, sum);
    }
}

// dk (..., t, d) = dS^T . q, over all queries that share the keys; or, if not deep, dv (..., t, e)
// = P^T . dy
__global__ static void attention_dkv(Attention a, Grid grid, Saved saved, bool deep, float *out) {
    __shared__ Tiles tiles;
    const float ones[OWN] = {1.0f, 1.0f, 1.0f, 1.0f};
    const AttentionMatrices &other = deep ? a.q : saved.dy;
    int64_t width = deep ? a.d : a.e;
    for (int64_t item = blockIdx.x; item < grid.items; item += gridDim.x) {
        int64_t part = item % grid.parts, tile = item / grid.parts % grid.tiles;
        int64_t shared = item / grid.parts / grid.tiles, key = tile * SIDE;
        int64_t first = a.causal ? key / SIDE * SIDE : 0; // earlier queries see none of these keys
        float sum[OWN][SPREAD] = {};
        for (int64_t i = 0; i < a.group; i++)
            for (int64_t query = first; query < a.s; query += SIDE) {
                Place at = {shared * a.group + i, query, key};
                const float *from = attention_matrix(&other, at.matrix) + query * other.row;
                load_slopes(a, saved, at, deep, tiles);
                load_wide(tiles, from, other.row, a.s - query, part * PART, width);
                __syncthreads();
                add_wide(tiles, true, sum);
                __syncthreads();
            }
        store_wide(out + shared * a.t * width, key, a.t, part * PART, width, ones, sum);
    }
}

CUDA_OP(attention_backward) {
    Attention a = attention_of(call, 1, 6);
    Saved saved = {attention_matrices(call->in[0]), call_in(call, 5), NULL};
    unsigned flags = call->params.flags;
    int64_t rows = a.matrices * a.s, n = 0;
    Status status = STATUS_OK;
    if (call->in[4] && rows > 0) {
        float *sums = (float *)cuda_scratch(cuda, (size_t)rows * sizeof(float));
        if (!sums) return STATUS_OUT_OF_MEMORY;
        saved.sums = sums;
        status = CUDA_LAUNCH(attention_sums, cuda_grid(rows * SIDE), CUDA_BLOCK, 0, a, saved.dy,
                             call_in(call, 4), sums);
    }
    for (int i = 0; i < 3 && !status; i++) {
        if (!(flags & (unsigned)(ATTENTION_DQ << i))) continue;
        float *out = call_out(call, n++);
        Grid grid =
            i == 0 ? grid_of(a.matrices, a.s, a.d) : grid_of(a.shared, a.t, i == 1 ? a.d : a.e);
        unsigned blocks = cuda_blocks(grid.items);
        if (grid.items == 0) continue;
        if (i == 0)
            status = CUDA_LAUNCH(attention_dq, blocks, CUDA_BLOCK, 0, a, grid, saved, out);
        else
            status = CUDA_LAUNCH(attention_dkv, blocks, CUDA_BLOCK, 0, a, grid, saved, i == 1, out);
    }
    return status;
}
