// max.cu -- the largest or the smallest element of each row, its place, and its gradient.
#include "cuda/reduce.cuh"

template <typename T> struct Extreme {
    T value;
    int64_t place; // index in its row
};

// NaN wins; the first of equals wins; the sign of a zero is as on the CPU.
template <bool smallest>
static __device__ inline Extreme<float> better(Extreme<float> a, Extreme<float> b) {
    bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    uint32_t bits = math_to_bits(a.value), others = math_to_bits(b.value);
    if (a.value == b.value) a.value = math_from_bits(smallest ? bits | others : bits & others);
    if (a.value == b.value || (a_nan && b_nan)) {
        a.place = a.place < b.place ? a.place : b.place;
        return a;
    }
    return a_nan || (smallest ? a.value < b.value : a.value > b.value) ? a : b;
}
template <bool smallest>
static __device__ inline Extreme<int64_t> better(Extreme<int64_t> a, Extreme<int64_t> b) {
    if (a.value == b.value) return a.place < b.place ? a : b;
    return (smallest ? a.value < b.value : a.value > b.value) ? a : b;
}
template <bool smallest> struct BetterOfPlaces {
    template <typename T> __device__ T operator()(T a, T b) const { return better<smallest>(a, b); }
};
template <bool smallest> static __device__ inline Extreme<float> worst(const float *) {
    return {smallest ? INFINITY : -INFINITY, INT64_MAX};
}
template <bool smallest> static __device__ inline Extreme<int64_t> worst(const int64_t *) {
    return {smallest ? INT64_MAX : INT64_MIN, INT64_MAX};
}
template <typename T> static __device__ inline Extreme<T> shuffle(Extreme<T> a, int mask) {
    return {shuffle(a.value, mask), shuffle(a.place, mask)};
}

// This lane's extreme in x (n), whose first element is at place `begin` of its row.
template <bool smallest, typename T>
static __device__ inline Extreme<T> extreme_apart(const T *x, int64_t begin, int64_t n, Team team) {
    Extreme<T> best = worst<smallest>(x);
    int64_t i = team.lane, by = team.lanes;
    for (; i + 3 * by < n; i += 4 * by) {
        T four[4] = {x[i], x[i + by], x[i + 2 * by], x[i + 3 * by]}; // the loads overlap
        for (int k = 0; k < 4; k++)
            best = better<smallest>(best, Extreme<T>{four[k], begin + i + k * by});
    }
    for (; i < n; i += by) best = better<smallest>(best, Extreme<T>{x[i], begin + i});
    return best;
}

struct ExtremeShape {
    int64_t rows, n;
    Cut cut; // chunks of n
    int lanes;
};
template <typename T> struct ExtremeData {
    const T *x; // NULL: reads parts
    const Extreme<T> *parts;
    Extreme<T> *found; // NULL: writes y and where
    T *y;              // may be NULL
    int64_t *where;
};

// found (rows, chunks), or y and where (rows), from x or parts (rows, n)
template <bool smallest, typename T>
__global__ static void extreme_rows(ExtremeData<T> data, ExtremeShape shape) {
    __shared__ Extreme<T> shared[REDUCE_WARPS];
    Team team = team_of(shape.lanes, false);
    int64_t count = shape.rows * shape.cut.chunks;
    for (int64_t base = team.begin; base < count; base += team.step) {
        int64_t i = base + team.index;
        Chunk chunk = chunk_of(shape.cut, i, shape.n);
        int64_t n = i < count ? chunk.n : 0, from = chunk.row * shape.n + chunk.begin;
        Extreme<T> best = worst<smallest>(data.x);
        if (data.x)
            best = extreme_apart<smallest>(data.x + from, chunk.begin, n, team);
        else
            for (int64_t k = team.lane; k < n; k += team.lanes)
                best = better<smallest>(best, data.parts[from + k]);
        best = team_reduce(team, best, shared, BetterOfPlaces<smallest>());
        if (i >= count || team.lane != 0) continue;
        if (data.found) {
            data.found[i] = best;
        } else {
            if (data.y) data.y[i] = best.value;
            data.where[i] = best.place;
        }
    }
}

// `where` is the last output; the values, if any, are the first of two.
template <bool smallest, typename T>
static Status extreme_of(const OpCall *call, CudaDevice *cuda) {
    const T *x = (const T *)(void *)tensor_raw(call->in[0]);
    T *y = call->n_out > 1 ? (T *)(void *)tensor_raw(call->out[0]) : NULL;
    int64_t *where = cuda_indices(call->out[call->n_out - 1]);
    Rows rows = rows_of(call->in[0], x);
    if (rows.count == 0) return STATUS_OK;
    ExtremeShape shape = {rows.count, rows.n, cut_of(rows.n, rows.count, REDUCE_PARTS), rows.lanes};
    ExtremeData<T> data = {x, NULL, NULL, y, where};
    if (shape.cut.chunks > 1) {
        int64_t parts = shape.rows * shape.cut.chunks;
        data.found = (Extreme<T> *)cuda_scratch(cuda, (size_t)parts * sizeof(Extreme<T>));
        if (!data.found) return cuda->host->error_status();
        unsigned grid = team_grid(parts, shape.lanes, CUDA_MOST_BLOCKS);
        Status status = CUDA_LAUNCH((extreme_rows<smallest, T>), grid, CUDA_BLOCK, 0, data, shape);
        if (status) return status;
        data = {NULL, data.found, NULL, y, where};
        int64_t chunks = shape.cut.chunks;
        shape = {rows.count, chunks, {1, chunks}, team_lanes(chunks)};
    }
    unsigned grid = team_grid(shape.rows, shape.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH((extreme_rows<smallest, T>), grid, CUDA_BLOCK, 0, data, shape);
}

template <bool smallest> static Status extreme(const OpCall *call, CudaDevice *cuda) {
    return call->in[0]->dtype == DTYPE_INT64 ? extreme_of<smallest, int64_t>(call, cuda)
                                             : extreme_of<smallest, float>(call, cuda);
}

CUDA_OP(max) { return extreme<false>(call, cuda); }
CUDA_OP(argmax) { return extreme<false>(call, cuda); }
CUDA_OP(min) { return extreme<true>(call, cuda); }
CUDA_OP(argmin) { return extreme<true>(call, cuda); }

// out (rows, n) = grad (rows) at place where (rows), else 0; a team writes one tile of a row
__global__ static void max_gradient(const float *grad, const int64_t *where, float *out,
                                    Rows rows) {
    Team team = team_of(rows.lanes, rows.wide);
    int64_t tiles = row_tiles(rows), count = rows.count * tiles;
    for (int64_t i = team.begin + team.index; i < count; i += team.step) {
        int64_t row = tiles == 1 ? i : i / tiles, from = (i - row * tiles) * tile_span(team);
        int64_t place = where[row] - from;
        float g = grad[row];
        Tile tile;
        for (int k = 0; k < TILE; k++) tile.at[k] = tile_place(team, k) == place ? g : 0.0f;
        tile_store(tile, out + row * rows.n + from, tile_left(team, from, rows.n), team);
    }
}

CUDA_OP(max_backward) {
    const float *grad = call_in(call, 0);
    const int64_t *where = cuda_indices(call->in[1]);
    float *out = call_out(call, 0);
    Rows rows = rows_of(call->out[0], out);
    if (rows.count == 0) return STATUS_OK;
    unsigned grid = team_grid(rows.count * row_tiles(rows), rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(max_gradient, grid, CUDA_BLOCK, 0, grad, where, out, rows);
}
