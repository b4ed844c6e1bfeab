// embedding.cu -- picks rows of a table, and sums their gradients; uses no atomics on values, so
// equal indices always add up in the order of the index, as on the CPU. An index out of range picks
// zeros, adds nothing, and is a finding (cuda.h).
#include "cuda/cuda.h"
#include "tensor/math.h"

// ---- forward ------------------------------------------------------------------------------------
// y (n, d) = table (count, d) at index (n); d in units of T, one thread each
template <class T>
__global__ static void embedding(const T *table, const int64_t *index, T *y, int64_t count,
                                 int64_t n, int64_t d, bool is_signed,
                                 unsigned long long *findings) {
    for (int64_t i = GLOBAL_INDEX; i < n * d; i += GRID_STRIDE) {
        int64_t place = i / d, row = math_place(index[place], count, is_signed);
        bool inside = row >= 0 && row < count;
        if (!inside) cuda_note_finding(findings, OP_embedding, place);
        y[i] = inside ? table[row * d + (i - place * d)] : T{};
    }
}

CUDA_OP(embedding) {
    const int64_t *index = cuda_indices(call->in[0]);
    const float *table = call_in(call, 1);
    float *y = call_out(call, 0);
    int64_t count = call->in[1]->shape.dims[0], d = call->in[1]->shape.dims[1],
            n = call->in[0]->numel;
    bool is_signed = call->params.flags != 0;
    if (n * d == 0) return STATUS_OK;
    if (call->in[1]->dtype == DTYPE_INT64)
        return CUDA_LAUNCH(embedding<int64_t>, cuda_grid(n * d), CUDA_BLOCK, 0,
                           cuda_indices(call->in[1]), index, cuda_indices(call->out[0]), count, n,
                           d, is_signed, cuda->findings);
    if (d % 4 == 0 && is_wide(table) && is_wide(y))
        return CUDA_LAUNCH(embedding<float4>, cuda_grid(n * d / 4), CUDA_BLOCK, 0,
                           (const float4 *)table, index, (float4 *)y, count, n, d / 4, is_signed,
                           cuda->findings);
    return CUDA_LAUNCH(embedding<float>, cuda_grid(n * d), CUDA_BLOCK, 0, table, index, y, count, n,
                       d, is_signed, cuda->findings);
}

// ---- backward -----------------------------------------------------------------------------------
// A block handles COLUMNS columns of a part of the table's rows, and walks the whole index, a piece
// at a time: each thread checks one index; those in the block's part are collected in shared memory
// in order; then each thread adds its column of them. So each gradient is added once, and each
// index is read once per block: the cost does not grow with the table, and depends on the indices
// only through their distribution over the parts.
enum { COLUMNS = CUDA_BLOCK, MOST_PARTS = 64, INDICES_PER_PART = 32 };

struct Piece { // the piece's indices in the block's part, in order
    int rows;
    int before[CUDA_BLOCK / CUDA_WARP]; // number found by the warps before
    int64_t row[CUDA_BLOCK], place[CUDA_BLOCK];
};

// Collects the indices that the block's threads found; row < 0: none. All threads must call it.
static __device__ inline void piece_gather(Piece *piece, int64_t row, int64_t place) {
    unsigned found = __ballot_sync(0xffffffffu, row >= 0);
    unsigned lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    if (lane == 0) piece->before[warp] = __popc(found);
    __syncthreads();
    int at = __popc(found & ((1u << lane) - 1));
    for (unsigned w = 0; w < warp; w++) at += piece->before[w];
    if (row >= 0) piece->row[at] = row;
    if (row >= 0) piece->place[at] = place;
    if (threadIdx.x == CUDA_BLOCK - 1) piece->rows = at + (row >= 0 ? 1 : 0);
    __syncthreads();
}

// dtable (count, d) += dy (n, d) at index (n), except for row `padding`
__global__ static void embedding_backward(const float *dy, const int64_t *index, float *dtable,
                                          int64_t count, int64_t n, int64_t d, int64_t parts,
                                          int64_t padding, bool is_signed,
                                          unsigned long long *findings) {
    __shared__ Piece piece;
    int64_t groups = (d + COLUMNS - 1) / COLUMNS;
    for (int64_t b = blockIdx.x; b < groups * parts; b += gridDim.x) {
        int64_t part = b / groups, column = (b - part * groups) * COLUMNS + threadIdx.x;
        int64_t begin = count * part / parts, end = count * (part + 1) / parts;
        for (int64_t from = 0; from < n; from += CUDA_BLOCK) {
            int64_t place = from + threadIdx.x;
            int64_t row = place < n ? math_place(index[place], count, is_signed) : begin;
            if (row < 0 || row >= count) cuda_note_finding(findings, OP_embedding_backward, place);
            bool mine = place < n && row >= begin && row < end && row != padding;
            piece_gather(&piece, mine ? row : -1, place);
            for (int i = 0; i < piece.rows && column < d; i++)
                dtable[piece.row[i] * d + column] += dy[piece.place[i] * d + column];
            __syncthreads(); // before the next piece is collected
        }
    }
}

CUDA_OP(embedding_backward) {
    const Tensor *index = call->in[1], *table = call->out[0];
    int64_t count = table->shape.dims[0], d = table->shape.dims[1], n = index->numel;
    if (table->numel == 0) return STATUS_OK;
    Status status = call->adds ? STATUS_OK : cuda_clear(cuda, table);
    if (status || n == 0) return status;
    int64_t parts = n / INDICES_PER_PART, groups = (d + COLUMNS - 1) / COLUMNS;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts > count) parts = count;
    if (parts < 1) parts = 1;
    int64_t blocks = groups * parts;
    unsigned grid = (unsigned)(blocks < CUDA_MOST_BLOCKS ? blocks : (int64_t)CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(embedding_backward, grid, CUDA_BLOCK, 0, call_in(call, 0),
                       cuda_indices(index), call_out(call, 0), count, n, d, parts,
                       call->params.count - 1, call->params.flags != 0, cuda->findings);
}
