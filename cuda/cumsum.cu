// cumsum.cu -- running sums of rows, from the begin or the end. A team takes a row, tile after
// tile, so one long row keeps one block busy and no more: right, and not yet fast there.
#include "cuda/reduce.cuh"

// The sum of `value` of all lanes before this one in the team, and in `all` of the whole team.
// shared has a place for each thread of the block; all threads must call it.
static __device__ inline double sum_before(Team team, double value, double *shared, double &all) {
    int thread = (int)threadIdx.x, last = thread - team.lane + team.lanes - 1;
    shared[thread] = value;
    __syncthreads();
    for (int reach = 1; reach < team.lanes; reach *= 2) { // shared: of this lane and some before it
        double more = team.lane >= reach ? shared[thread - reach] : 0.0;
        __syncthreads();
        if (team.lane >= reach) shared[thread] += more;
        __syncthreads();
    }
    double before = team.lane > 0 ? shared[thread - 1] : 0.0;
    all = shared[last];
    __syncthreads();
    return before;
}

// y (rows, n): sums of x (rows, n) up to each element; a lane holds TILE neighbours
__global__ static void cumsum_rows(const float *x, float *y, Rows rows, bool from_end) {
    __shared__ double shared[CUDA_BLOCK];
    Team team = team_of(rows.lanes, false);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        double total = 0.0; // of the tiles before
        for (int64_t from = 0; from < rows.n; from += tile_span(team)) {
            int64_t begin = from + (int64_t)TILE * team.lane;
            double sum[TILE], own = 0.0;
            for (int k = 0; k < TILE; k++) {
                int64_t i = begin + k, at = from_end ? rows.n - 1 - i : i;
                if (i < length) own += (double)x[row * rows.n + at];
                sum[k] = own;
            }
            double all, before = sum_before(team, own, shared, all);
            for (int k = 0; k < TILE; k++) {
                int64_t i = begin + k, at = from_end ? rows.n - 1 - i : i;
                if (i < length) y[row * rows.n + at] = (float)(total + before + sum[k]);
            }
            total += all;
        }
    }
}

CUDA_OP(cumsum) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    Rows rows = rows_of(call->in[0], x);
    if (rows.count == 0) return STATUS_OK;
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(cumsum_rows, grid, CUDA_BLOCK, 0, x, y, rows, call->params.flags != 0);
}
