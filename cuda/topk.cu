// topk.cu -- the k largest or smallest of each row: a team of threads looks k times for the first
// one behind the one that it found before, so it is made for few of many.
#include "cuda/reduce.cuh"
#include "tensor/ops/topk.h"

struct Candidate {
    float value;
    int64_t place; // in its row; INT64_MAX: none
};

static __device__ inline Candidate shuffle(Candidate a, int mask) {
    return {__shfl_xor_sync(0xffffffffu, a.value, mask),
            (int64_t)__shfl_xor_sync(0xffffffffu, (long long)a.place, mask)};
}

static __device__ inline bool comes_before(Candidate a, Candidate b, bool smallest) {
    if (a.place == INT64_MAX || b.place == INT64_MAX) return a.place < b.place;
    return math_comes_before(a.value, a.place, b.value, b.place, smallest);
}

struct FirstOfTwo {
    bool smallest;
    __device__ Candidate operator()(Candidate a, Candidate b) const {
        return comes_before(a, b, smallest) ? a : b;
    }
};

// y and where (rows, k) of x (rows, n)
__global__ static void topk_rows(const float *x, float *y, int64_t *where, Rows rows, int64_t k,
                                 bool smallest) {
    __shared__ Candidate shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, false);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, n = row < rows.count ? rows.n : 0;
        Candidate last = {0.0f, INT64_MAX};
        for (int64_t j = 0; j < k; j++) {
            Candidate best = {0.0f, INT64_MAX};
            for (int64_t i = team.lane; i < n; i += team.lanes) {
                Candidate next = {x[row * rows.n + i], i};
                if ((j == 0 || comes_before(last, next, smallest)) &&
                    comes_before(next, best, smallest))
                    best = next;
            }
            best = team_reduce(team, best, shared, FirstOfTwo{smallest});
            last = best;
            if (row >= rows.count || team.lane != 0) continue;
            y[row * k + j] = best.value;
            where[row * k + j] = best.place;
        }
    }
}

CUDA_OP(topk) {
    const float *x = call_in(call, 0);
    Rows rows = rows_of(call->in[0], x);
    int64_t k = call->params.count;
    if (rows.count == 0 || k == 0) return STATUS_OK;
    int64_t *where = cuda_indices(call->out[1]);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(topk_rows, grid, CUDA_BLOCK, 0, x, call_out(call, 0), where, rows, k,
                       call->params.flags != 0);
}
