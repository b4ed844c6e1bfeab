// gather.cu -- picks one element of a table per element of an index, along one dimension; and its
// backward. An index out of range picks 0, and is a finding (cuda.h): its place is in the index,
// row by row; for gather_backward, along the dimension.
#include "cuda/cuda.h"
#include "tensor/math.h"

// Walks the index (size...), together with the picked tensor and the table.
struct IndexWalk {
    int64_t size[TENSOR_MAX_DIMS], index_stride[TENSOR_MAX_DIMS], picked_stride[TENSOR_MAX_DIMS];
    int64_t table_stride[TENSOR_MAX_DIMS]; // 0 along the indexed dimension
    int64_t rows, row_stride;              // size and stride of the table along that dimension
    int ndim;
    bool is_signed; // negative indices count from the end
};

static IndexWalk walk_plan(const Tensor *index, const Tensor *picked, const Tensor *table, int dim,
                           bool is_signed) {
    IndexWalk walk = {};
    walk.is_signed = is_signed;
    walk.ndim = index->shape.ndim;
    walk.rows = table->shape.dims[dim];
    for (int d = 0; d < index->shape.ndim; d++) {
        walk.size[d] = index->shape.dims[d];
        walk.index_stride[d] = index->stride[d];
        walk.picked_stride[d] = picked->stride[d];
        walk.table_stride[d] = table->stride[d];
    }
    walk.row_stride = walk.table_stride[dim];
    walk.table_stride[dim] = 0;
    return walk;
}

// ---- gather -------------------------------------------------------------------------------------
// picked (size...) = table [index (size...)]; picked is dense
template <typename T>
__global__ static void gather(const T *table, const int64_t *index, T *picked, const IndexWalk walk,
                              int64_t n, unsigned long long *findings) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t rest = i, at_index = 0, at_table = 0;
        for (int d = walk.ndim - 1; d >= 0; d--) {
            int64_t c = d > 0 ? rest % walk.size[d] : rest;
            if (d > 0) rest /= walk.size[d];
            at_index += c * walk.index_stride[d];
            at_table += c * walk.table_stride[d];
        }
        int64_t row = math_place(index[at_index], walk.rows, walk.is_signed);
        bool inside = row >= 0 && row < walk.rows;
        if (!inside)
            cuda_note_finding(findings, OP_gather, sizeof(T) == sizeof(float4) ? 4 * i : i);
        picked[i] = inside ? table[at_table + row * walk.row_stride] : T{};
    }
}

// Whether whole rows are picked, as by an embedding, so that four floats move at a time.
static bool takes_rows(const IndexWalk *walk, const float *table, const float *picked) {
    int last = walk->ndim - 1;
    int64_t odd = walk->size[last] | walk->row_stride;
    for (int d = 0; d < last; d++) odd |= walk->table_stride[d];
    return walk->index_stride[last] == 0 && walk->table_stride[last] == 1 && odd % 4 == 0 &&
           ((uintptr_t)table | (uintptr_t)picked) % sizeof(float4) == 0;
}

CUDA_OP(gather) {
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    const int64_t *index = cuda_indices(call->in[1]);
    const float *table = call_in(call, 0);
    float *picked = call_out(call, 0);
    IndexWalk walk = walk_plan(call->in[1], call->out[0], call->in[0], call->params.dim,
                               call->params.flags != 0);
    if (call->in[0]->dtype == DTYPE_INT64)
        return CUDA_LAUNCH(gather<int64_t>, cuda_grid(n), CUDA_BLOCK, 0, cuda_indices(call->in[0]),
                           index, cuda_indices(call->out[0]), walk, n, cuda->findings);
    if (!takes_rows(&walk, table, picked))
        return CUDA_LAUNCH(gather<float>, cuda_grid(n), CUDA_BLOCK, 0, table, index, picked, walk,
                           n, cuda->findings);
    walk.size[walk.ndim - 1] /= 4;
    walk.row_stride /= 4;
    for (int d = 0; d < walk.ndim - 1; d++) walk.table_stride[d] /= 4;
    return CUDA_LAUNCH(gather<float4>, cuda_grid(n / 4), CUDA_BLOCK, 0, (const float4 *)table,
                       index, (float4 *)picked, walk, n / 4, cuda->findings);
}

// ---- gather_backward: table [index (size...)] += picked (size...), from zeros or a sum ---------
// A lane is a position in all dimensions but the indexed one. Different lanes add to different
// elements of the table, so a thread walks one lane in order, and equal indices always add up as on
// the CPU. A long lane has several threads: all read the whole lane, and each adds to its own part
// of the table's rows. Reading an index is cheap compared with an addition that waits for memory,
// and __restrict__ lets the reads run ahead of such additions.
enum { MOST_PARTS = 64, INDICES_PER_PART = 32 };

// walk.size is 1 along the indexed dimension, where the index has `length` elements.
__global__ static void gather_backward(const float *__restrict__ picked,
                                       const int64_t *__restrict__ index, float *table,
                                       const IndexWalk walk, int64_t length, int64_t index_step,
                                       int64_t picked_step, int64_t lanes, int64_t parts,
                                       unsigned long long *findings) {
    for (int64_t i = GLOBAL_INDEX; i < lanes * parts; i += GRID_STRIDE) {
        int64_t rest = i % lanes, part = i / lanes, at_index = 0, at_picked = 0, at_table = 0;
        for (int d = walk.ndim - 1; d >= 0; d--) {
            int64_t c = rest % walk.size[d];
            rest /= walk.size[d];
            at_index += c * walk.index_stride[d];
            at_picked += c * walk.picked_stride[d];
            at_table += c * walk.table_stride[d];
        }
        int64_t begin = walk.rows * part / parts, end = walk.rows * (part + 1) / parts;
        for (int64_t k = 0; k < length; k++) {
            int64_t row = math_place(index[at_index + k * index_step], walk.rows, walk.is_signed);
            if (row >= begin && row < end)
                table[at_table + row * walk.row_stride] += picked[at_picked + k * picked_step];
            else if (row < 0 || row >= walk.rows)
                cuda_note_finding(findings, OP_gather_backward, k);
        }
    }
}

CUDA_OP(gather_backward) {
    const Tensor *picked = call->in[0], *index = call->in[1], *table = call->out[0];
    int dim = call->params.dim;
    Status status = call->adds ? STATUS_OK : cuda_clear(cuda, table);
    if (status || index->numel == 0) return status;
    IndexWalk walk = walk_plan(index, picked, table, dim, call->params.flags != 0);
    int64_t length = index->shape.dims[dim], lanes = index->numel / length;
    int64_t parts = length / INDICES_PER_PART;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts > walk.rows) parts = walk.rows;
    if (parts < 1) parts = 1;
    walk.size[dim] = 1;
    return CUDA_LAUNCH(gather_backward, cuda_grid(lanes * parts), CUDA_BLOCK, 0, call_in(call, 0),
                       cuda_indices(index), call_out(call, 0), walk, length, index->stride[dim],
                       picked->stride[dim], lanes, parts, cuda->findings);
}
