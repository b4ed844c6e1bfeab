// topk.cu -- the k largest or smallest elements of each row: a team of threads searches k times for
// the next element after the previous one, so it suits small k.
#include "cuda/reduce.cuh"
#include "tensor/ops/topk.h"

template <typename T> struct Candidate {
    T value;
    int64_t place; // index in its row; INT64_MAX: none
};

template <typename T> static __device__ inline Candidate<T> shuffle(Candidate<T> a, int mask) {
    return {shuffle(a.value, mask), shuffle(a.place, mask)};
}

static __device__ inline bool is_first(Candidate<float> a, Candidate<float> b, bool smallest) {
    return math_comes_before(a.value, a.place, b.value, b.place, smallest);
}
static __device__ inline bool is_first(Candidate<int64_t> a, Candidate<int64_t> b, bool smallest) {
    return math_whole_comes_before(a.value, a.place, b.value, b.place, smallest);
}
template <typename T>
static __device__ inline bool comes_before(Candidate<T> a, Candidate<T> b, bool smallest) {
    if (a.place == INT64_MAX || b.place == INT64_MAX) return a.place < b.place;
    return is_first(a, b, smallest);
}

struct FirstOfTwo {
    bool smallest;
    template <typename T> __device__ Candidate<T> operator()(Candidate<T> a, Candidate<T> b) const {
        return comes_before(a, b, smallest) ? a : b;
    }
};

// y and where (rows, k) from x (rows, n)
template <typename T>
__global__ static void topk_rows(const T *x, T *y, int64_t *where, Rows rows, int64_t k,
                                 bool smallest) {
    __shared__ Candidate<T> shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, false);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, n = row < rows.count ? rows.n : 0;
        Candidate<T> last = {0, INT64_MAX};
        for (int64_t j = 0; j < k; j++) {
            Candidate<T> best = {0, INT64_MAX};
            for (int64_t i = team.lane; i < n; i += team.lanes) {
                Candidate<T> next = {x[row * rows.n + i], i};
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

template <typename T> static Status topk(const OpCall *call, CudaDevice *cuda) {
    const T *x = (const T *)(void *)tensor_raw(call->in[0]);
    T *y = (T *)(void *)tensor_raw(call->out[0]);
    Rows rows = rows_of(call->in[0], x);
    int64_t k = call->params.count;
    if (rows.count == 0 || k == 0) return STATUS_OK;
    int64_t *where = cuda_indices(call->out[1]);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(topk_rows<T>, grid, CUDA_BLOCK, 0, x, y, where, rows, k,
                       call->params.flags != 0);
}

CUDA_OP(topk) {
    return call->in[0]->dtype == DTYPE_INT64 ? topk<int64_t>(call, cuda) : topk<float>(call, cuda);
}
