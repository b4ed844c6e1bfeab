// reduce.cu -- sums over any dimensions. Long sums are cut into parts, which stay in double and are
// added by the next launch. Not here: the largest element (max.cu), softmax, losses.
#include "cuda/reduce.cuh"

extern "C" {
#include "tensor/ops.h"
}

// ---- one step of a sum: (outer, n, inner) to (outer, chunks, inner) -----------------------------
struct Fold {
    int64_t outer, n, inner;
    Cut cut;   // chunks of n
    int lanes; // threads per row, or, if inner > 1, per column
};

static Fold fold_of(int64_t outer, int64_t n, int64_t inner) {
    if (inner == 1) return {outer, n, 1, cut_of(n, outer, REDUCE_PARTS), team_lanes(n)};
    // A block is a rectangle: adjacent columns, because they are adjacent in memory, and per column
    // enough threads for each to have a few rows.
    int least_columns = 1, lanes = 1;
    while (least_columns < CUDA_WARP && least_columns < inner) least_columns *= 2;
    while (lanes * least_columns < CUDA_BLOCK && 4 * lanes < n) lanes *= 2;
    int64_t columns = CUDA_BLOCK / lanes, blocks = (outer * inner + columns - 1) / columns;
    return {outer, n, inner, cut_of(n, blocks, 64 * lanes), lanes};
}

// Sources and destinations of a fold: numbers in the first and last step, parts between. Floats
// have parts of double; int64 uses uint64_t throughout, which wraps around.
template <class T, class Sum> struct FoldData {
    const T *x; // NULL: reads parts
    const Sum *parts;
    T *y; // = factor * sum; NULL: writes sums
    Sum *sums;
    double factor; // 1 for int64
};

static __device__ inline float finished(double sum, double factor) { return (float)(factor * sum); }
static __device__ inline uint64_t finished(uint64_t sum, double) { return sum; }

template <class T, class Sum>
static __device__ inline void fold_write(const FoldData<T, Sum> &data, int64_t i, Sum sum) {
    if (data.y)
        data.y[i] = finished(sum, data.factor);
    else
        data.sums[i] = sum;
}

// The sum of x[i * step] for i = first, first + by, ... below end.
template <class Sum, class Value>
static __device__ inline Sum add_apart(const Value *x, int64_t first, int64_t end, int64_t by,
                                       int64_t step) {
    Sum total = 0;
    int64_t i = first;
    for (; i + 3 * by < end; i += 4 * by)
        total += add_four(x[i * step], x[(i + by) * step], x[(i + 2 * by) * step],
                          x[(i + 3 * by) * step]);
    for (; i < end; i += by) total += (Sum)x[i * step];
    return total;
}

// The sum of a whole row aligned to 16 bytes, n a multiple of 4: adds this lane's fours.
static __device__ inline double add_wide(const float *x, int64_t n, Team team) {
    double total = 0.0;
    for (int64_t i = 4 * team.lane; i < n; i += 4 * team.lanes) {
        float4 four = *(const float4 *)(x + i);
        total += add_four(four.x, four.y, four.z, four.w);
    }
    return total;
}
static __device__ inline uint64_t add_wide(const uint64_t *x, int64_t n, Team team) {
    return add_apart<uint64_t>(x, team.lane, n, team.lanes, 1);
}

// sums (outer, chunks) of x (outer, n); a team per chunk of a row
template <class T, class Sum>
__global__ static void fold_rows(FoldData<T, Sum> data, Fold fold, bool wide) {
    __shared__ Sum shared[REDUCE_WARPS];
    Team team = team_of(fold.lanes, wide);
    int64_t count = fold.outer * fold.cut.chunks;
    for (int64_t base = team.begin; base < count; base += team.step) {
        int64_t i = base + team.index;
        Chunk chunk = chunk_of(fold.cut, i, fold.n);
        int64_t n = i < count ? chunk.n : 0, from = chunk.row * fold.n + chunk.begin;
        Sum total = !data.x ? add_apart<Sum>(data.parts + from, team.lane, n, team.lanes, 1)
                    : wide  ? add_wide(data.x + from, n, team)
                            : add_apart<Sum>(data.x + from, team.lane, n, team.lanes, 1);
        total = team_sum(team, total, shared);
        if (i < count && team.lane == 0) fold_write(data, i, total);
    }
}

// sums (outer, chunks, inner) of x (outer, n, inner); a block handles some columns of one chunk,
// with fold.lanes threads each; adjacent threads read adjacent columns
template <class T, class Sum>
__global__ static void fold_columns(FoldData<T, Sum> data, Fold fold) {
    __shared__ Sum part[CUDA_BLOCK];
    int columns = CUDA_BLOCK / fold.lanes, lane = (int)threadIdx.x / columns;
    int64_t outputs = fold.outer * fold.inner, groups = (outputs + columns - 1) / columns;
    for (int64_t b = blockIdx.x; b < groups * fold.cut.chunks; b += gridDim.x) {
        int64_t chunk = b / groups, column = (b - chunk * groups) * columns + threadIdx.x % columns;
        int64_t row = column / fold.inner, place = column - row * fold.inner;
        int64_t begin = chunk * fold.cut.length, end = begin + fold.cut.length;
        if (end > fold.n) end = fold.n;
        if (column >= outputs) end = begin;
        int64_t from = row * fold.n * fold.inner + place;
        Sum total =
            data.x ? add_apart<Sum>(data.x + from, begin + lane, end, fold.lanes, fold.inner)
                   : add_apart<Sum>(data.parts + from, begin + lane, end, fold.lanes, fold.inner);
        part[threadIdx.x] = total;
        for (int half = fold.lanes / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane < half) part[threadIdx.x] += part[threadIdx.x + half * columns];
        }
        if (column < outputs && lane == 0)
            fold_write(data, (row * fold.cut.chunks + chunk) * fold.inner + place,
                       part[threadIdx.x]);
        __syncthreads(); // before the next iteration writes
    }
}

template <class T, class Sum>
static Status fold_launch(CudaDevice *cuda, FoldData<T, Sum> data, Fold fold) {
    if (fold.inner == 1) {
        bool wide = data.x && is_wide(data.x) && fold.n % 4 == 0;
        unsigned grid = team_grid(fold.outer * fold.cut.chunks, fold.lanes, CUDA_MOST_BLOCKS);
        return CUDA_LAUNCH((fold_rows<T, Sum>), grid, CUDA_BLOCK, 0, data, fold, wide);
    }
    int64_t columns = CUDA_BLOCK / fold.lanes;
    int64_t blocks = (fold.outer * fold.inner + columns - 1) / columns * fold.cut.chunks;
    return CUDA_LAUNCH((fold_columns<T, Sum>), cuda_blocks(blocks), CUDA_BLOCK, 0, data, fold);
}

Status reduce_parts(CudaDevice *cuda, const double *parts, int64_t n, double factor, float *y) {
    FoldData<float, double> data = {NULL, parts, y, NULL, factor};
    Fold fold = {1, n, 1, {1, n}, CUDA_BLOCK};
    return fold_launch(cuda, data, fold);
}

// ---- sums over any dimensions -------------------------------------------------------------------
// x's dimensions, the outermost first, without those of size 1; adjacent ones that are both summed
// over, or both kept, are merged.
struct Axes {
    int count;
    bool summed[TENSOR_MAX_DIMS];
    int64_t size[TENSOR_MAX_DIMS];
};

static void axes_add(Axes *axes, int64_t size, bool summed) {
    if (size == 1) return;
    bool joins = axes->count > 0 && axes->summed[axes->count - 1] == summed;
    if (!joins) {
        axes->summed[axes->count] = summed;
        axes->size[axes->count++] = 1;
    }
    axes->size[axes->count - 1] *= size;
}

// The steps that sum x, one dimension each, the largest first, so that little is left. An empty
// sum, or one over no dimension, also takes a step.
enum { MOST_STEPS = TENSOR_MAX_DIMS + 2 };
static int plan(Axes axes, int64_t numel, int64_t outputs, Fold steps[MOST_STEPS]) {
    int count = 0;
    if (numel == 0) steps[count++] = fold_of(outputs, 0, 1);
    while (numel > 0 && count < MOST_STEPS) {
        int64_t outer = 1, n = 1, inner = 1;
        int widest = -1;
        for (int i = 0; i < axes.count; i++)
            if (axes.summed[i] && axes.size[i] > n) n = axes.size[widest = i];
        if (widest < 0 && count > 0) break;
        for (int i = 0; i < axes.count; i++)
            if (i != widest) *(i < widest ? &outer : &inner) *= axes.size[i];
        steps[count] = fold_of(outer, n, inner);
        if (widest >= 0) axes.size[widest] = steps[count].cut.chunks;
        count++;
    }
    return count;
}

// out = factor * the sum of x over the summed axes. Steps write to two halves of the scratch memory
// in turn; the first half is at least as large as any later one.
template <class T, class Sum>
static Status sum_axes_of(const OpCall *call, CudaDevice *cuda, Axes axes, double factor) {
    if (call_numel(call) == 0) return STATUS_OK;
    Fold steps[MOST_STEPS];
    int count = plan(axes, call->in[0]->numel, call_numel(call), steps);
    int64_t half = steps[0].outer * steps[0].cut.chunks * steps[0].inner;
    Sum *scratch = NULL;
    if (count > 1) {
        int64_t parts = count > 2 ? 2 * half : half;
        scratch = (Sum *)cuda_scratch(cuda, (size_t)parts * sizeof(Sum));
        if (!scratch) return cuda->host->error_status();
    }
    Status status = STATUS_OK;
    for (int i = 0; i < count && !status; i++) {
        FoldData<T, Sum> data = {};
        data.factor = factor;
        if (i == 0)
            data.x = (const T *)(void *)tensor_raw(call->in[0]);
        else
            data.parts = scratch + (i % 2 ? 0 : half);
        if (i == count - 1)
            data.y = (T *)(void *)tensor_raw(call->out[0]);
        else
            data.sums = scratch + (i % 2 ? half : 0);
        status = fold_launch(cuda, data, steps[i]);
    }
    return status;
}

static Status sum_axes(const OpCall *call, CudaDevice *cuda, Axes axes, double factor) {
    return call->in[0]->dtype == DTYPE_INT64
               ? sum_axes_of<uint64_t, uint64_t>(call, cuda, axes, factor)
               : sum_axes_of<float, double>(call, cuda, axes, factor);
}

CUDA_OP(sum) {
    enum { SUM_MEAN = 1 };
    const Tensor *x = call->in[0];
    Axes axes = {};
    int64_t n = 1;
    for (int i = 0; i < x->shape.ndim; i++) {
        bool summed = call->params.dim == DIM_ALL || call->params.dim == i;
        axes_add(&axes, x->shape.dims[i], summed);
        if (summed) n *= x->shape.dims[i];
    }
    return sum_axes(call, cuda, axes, call->params.flags & SUM_MEAN ? 1.0 / (double)n : 1.0);
}

CUDA_OP(sum_to) {
    const Tensor *x = call->in[0], *out = call->out[0];
    int missing = x->shape.ndim - out->shape.ndim;
    Axes axes = {};
    for (int i = 0; i < x->shape.ndim; i++)
        axes_add(&axes, x->shape.dims[i], i < missing || out->shape.dims[i - missing] == 1);
    return sum_axes(call, cuda, axes, 1.0);
}
