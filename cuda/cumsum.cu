// cumsum.cu -- running sums of rows, from the start or the end. A team handles a row, tile after
// tile, so one long row keeps only one block busy: correct, but not fast.
#include "cuda/reduce.cuh"

// Sum of `value` over all lanes before this one in the team; `all` gets that of the whole team.
// shared has a place for each thread of the block; all threads must call it.
template <typename Sum>
static __device__ inline Sum sum_before(Team team, Sum value, Sum *shared, Sum &all) {
    int thread = (int)threadIdx.x, last = thread - team.lane + team.lanes - 1;
    shared[thread] = value;
    __syncthreads();
    for (int reach = 1; reach < team.lanes; reach *= 2) { // shared: sum up to this lane
        Sum more = team.lane >= reach ? shared[thread - reach] : Sum{};
        __syncthreads();
        if (team.lane >= reach) shared[thread] += more;
        __syncthreads();
    }
    Sum before = team.lane > 0 ? shared[thread - 1] : Sum{};
    all = shared[last];
    __syncthreads();
    return before;
}

// y (rows, n): sums of x (rows, n) up to each element; a lane holds TILE adjacent elements.
// Adds floats in double, and int64 in uint64_t, which wraps around.
template <typename T, typename Sum>
__global__ static void cumsum_rows(const T *x, T *y, Rows rows, bool from_end) {
    __shared__ Sum shared[CUDA_BLOCK];
    Team team = team_of(rows.lanes, false);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        Sum total = 0; // sum of the previous tiles
        for (int64_t from = 0; from < rows.n; from += tile_span(team)) {
            int64_t begin = from + (int64_t)TILE * team.lane;
            Sum sum[TILE], own = 0;
            for (int k = 0; k < TILE; k++) {
                int64_t i = begin + k, at = from_end ? rows.n - 1 - i : i;
                if (i < length) own += (Sum)x[row * rows.n + at];
                sum[k] = own;
            }
            Sum all, before = sum_before(team, own, shared, all);
            for (int k = 0; k < TILE; k++) {
                int64_t i = begin + k, at = from_end ? rows.n - 1 - i : i;
                if (i < length) y[row * rows.n + at] = (T)(total + before + sum[k]);
            }
            total += all;
        }
    }
}

template <typename T, typename Sum> static Status cumsum(const OpCall *call, CudaDevice *cuda) {
    const T *x = (const T *)(void *)tensor_raw(call->in[0]);
    T *y = (T *)(void *)tensor_raw(call->out[0]);
    Rows rows = rows_of(call->in[0], x);
    if (rows.count == 0) return STATUS_OK;
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH((cumsum_rows<T, Sum>), grid, CUDA_BLOCK, 0, x, y, rows,
                       call->params.flags != 0);
}

CUDA_OP(cumsum) {
    return call->in[0]->dtype == DTYPE_INT64 ? cumsum<uint64_t, uint64_t>(call, cuda)
                                             : cumsum<float, double>(call, cuda);
}
