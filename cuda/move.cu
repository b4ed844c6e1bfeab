// move.cu -- ops that only move values: dense copies of views, concatenation, the backward of a
// slice, triangles. gather.cu picks by index.
#include "cuda/cuda.h"

// ---- copying one box of elements between layouts ------------------------------------------------
// Sizes and strides go from the outermost dimension to the innermost, in elements.
struct Copy {
    const char *from;
    char *to;
    int64_t size[TENSOR_MAX_DIMS], from_stride[TENSOR_MAX_DIMS], to_stride[TENSOR_MAX_DIMS];
    int64_t numel;
    int ndim;
    unsigned first_block; // first of the blocks that copy_boxes gives it
};

static int64_t element_bytes(const Tensor *t) { return dtype_sizes[t->dtype]; }

// Copies x into `out`, from index `start` of dimension `dim` on. Merges adjacent dimensions that
// form one in both layouts: every dimension left costs a division per element.
static Copy copy_plan(const Tensor *x, const Tensor *out, int dim, int64_t start) {
    Copy copy = {tensor_raw(x), tensor_raw(out), {1}, {1}, {1}, x->numel, 0, 0};
    if (x->shape.ndim) copy.to += start * out->stride[dim] * element_bytes(x);
    int n = 0;
    for (int d = 0; d < x->shape.ndim; d++) {
        int64_t size = x->shape.dims[d], from = x->stride[d], to = out->stride[d];
        if (size == 1) continue;
        bool merges =
            n > 0 && copy.from_stride[n - 1] == from * size && copy.to_stride[n - 1] == to * size;
        n = merges ? n : n + 1;
        copy.size[n - 1] = merges ? copy.size[n - 1] * size : size;
        copy.from_stride[n - 1] = from;
        copy.to_stride[n - 1] = to;
    }
    copy.ndim = n ? n : 1;
    return copy;
}

// ---- copies that read in the order they write ---------------------------------------------------
enum { MOST_COPIES = 16, PER_THREAD = 4, COPIES_PER_BLOCK = CUDA_BLOCK * PER_THREAD };

struct Copies { // a kernel's argument: at most 4 KB
    Copy item[MOST_COPIES];
    int count;
};

// to (size...) = from (size...), for each box. A thread first loads all its elements, so that the
// loads overlap.
template <typename T> __global__ static void copy_boxes(const Copies copies) {
    int k = copies.count - 1;
    while (blockIdx.x < copies.item[k].first_block) k--;
    int64_t numel = copies.item[k].numel;
    int64_t first =
        (int64_t)(blockIdx.x - copies.item[k].first_block) * COPIES_PER_BLOCK + threadIdx.x;
    T value[PER_THREAD];
    int64_t to[PER_THREAD];
    for (int j = 0; j < PER_THREAD; j++) {
        int64_t rest = first + j * CUDA_BLOCK, from = 0;
        if (rest >= numel) break;
        to[j] = 0;
        for (int d = copies.item[k].ndim - 1; d > 0; d--) {
            int64_t index = rest % copies.item[k].size[d];
            rest /= copies.item[k].size[d];
            from += index * copies.item[k].from_stride[d];
            to[j] += index * copies.item[k].to_stride[d];
        }
        from += rest * copies.item[k].from_stride[0];
        to[j] += rest * copies.item[k].to_stride[0];
        value[j] = ((const T *)copies.item[k].from)[from];
    }
    for (int j = 0; j < PER_THREAD; j++)
        if (first + j * CUDA_BLOCK < numel) ((T *)copies.item[k].to)[to[j]] = value[j];
}

// Whether elements can be copied in pairs, as one of twice the size.
static bool is_even(const Copy *copy, int64_t bytes) {
    int last = copy->ndim - 1;
    int64_t odd = copy->size[last] % 2;
    for (int d = 0; d < last; d++) odd |= (copy->from_stride[d] | copy->to_stride[d]) % 2;
    return copy->from_stride[last] == 1 && copy->to_stride[last] == 1 && odd == 0 &&
           ((uintptr_t)copy->from | (uintptr_t)copy->to) % (2 * (uintptr_t)bytes) == 0;
}

static void widen(Copy *copy) {
    int last = copy->ndim - 1;
    copy->size[last] /= 2;
    copy->numel /= 2;
    for (int d = 0; d < last; d++) copy->from_stride[d] /= 2, copy->to_stride[d] /= 2;
}

// Copies in the widest elements, up to 16 bytes, that suit all boxes.
static Status copy_all(CudaDevice *cuda, Copies *copies, int64_t bytes) {
    for (bool even = true; bytes < 16; bytes *= 2) {
        for (int k = 0; k < copies->count; k++) even = even && is_even(&copies->item[k], bytes);
        if (!even) break;
        for (int k = 0; k < copies->count; k++) widen(&copies->item[k]);
    }
    unsigned blocks = 0;
    for (int k = 0; k < copies->count; k++) {
        copies->item[k].first_block = blocks;
        blocks += (unsigned)((copies->item[k].numel + COPIES_PER_BLOCK - 1) / COPIES_PER_BLOCK);
    }
    if (blocks == 0) return STATUS_OK;
    switch (bytes) {
    case 1:
        return CUDA_LAUNCH(copy_boxes<uint8_t>, blocks, CUDA_BLOCK, 0, *copies);
    case 2:
        return CUDA_LAUNCH(copy_boxes<uint16_t>, blocks, CUDA_BLOCK, 0, *copies);
    case 4:
        return CUDA_LAUNCH(copy_boxes<uint32_t>, blocks, CUDA_BLOCK, 0, *copies);
    case 8:
        return CUDA_LAUNCH(copy_boxes<uint2>, blocks, CUDA_BLOCK, 0, *copies);
    default:
        return CUDA_LAUNCH(copy_boxes<uint4>, blocks, CUDA_BLOCK, 0, *copies);
    }
}

// ---- copies that read along one dimension and write along another -------------------------------
enum { TILE = CUDA_WARP, TILE_STEP = CUDA_BLOCK / TILE };

__host__ __device__ static inline int64_t tiles_along(int64_t n) { return (n + TILE - 1) / TILE; }

// to (..., rows, ..., columns) = from; `from` is dense along rows, `to` along columns. A block
// transposes a tile of 32 x 32 in shared memory, so that both sides move whole rows of 32; the odd
// row length there spreads a column over all banks.
template <typename T> __global__ static void transpose_tiles(const Copy copy, int rows_dim) {
    __shared__ T tile[TILE * (TILE + 1)];
    int last = copy.ndim - 1, x = (int)threadIdx.x % TILE, y = (int)threadIdx.x / TILE;
    int64_t across = tiles_along(copy.size[last]), down = tiles_along(copy.size[rows_dim]);
    int64_t column = blockIdx.x % across * TILE, rest = blockIdx.x / across;
    int64_t row = rest % down * TILE;
    int64_t columns = copy.size[last] - column, rows = copy.size[rows_dim] - row; // left over
    int64_t from_step = copy.from_stride[last], to_step = copy.to_stride[rows_dim];
    const T *from = (const T *)copy.from + row + column * from_step;
    T *to = (T *)copy.to + row * to_step + column;
    rest /= down;
    for (int d = last - 1; d >= 0; d--) {
        if (d == rows_dim) continue;
        from += rest % copy.size[d] * copy.from_stride[d];
        to += rest % copy.size[d] * copy.to_stride[d];
        rest /= copy.size[d];
    }
    for (int k = y; k < TILE; k += TILE_STEP)
        if (x < rows && k < columns) tile[k * (TILE + 1) + x] = from[x + k * from_step];
    __syncthreads();
    for (int k = y; k < TILE; k += TILE_STEP)
        if (k < rows && x < columns) to[k * to_step + x] = tile[x * (TILE + 1) + k];
}

// The dimension along which `from` is dense, if `to` is dense along the last; -1 if there is none,
// or if tiles would be mostly empty.
static int transposed_dim(const Copy *copy) {
    enum { WORTH_A_TILE = 8 };
    int last = copy->ndim - 1;
    if (copy->to_stride[last] != 1 || copy->from_stride[last] == 1) return -1;
    for (int d = 0; d < last; d++)
        if (copy->from_stride[d] == 1)
            return copy->size[d] < WORTH_A_TILE || copy->size[last] < WORTH_A_TILE ? -1 : d;
    return -1;
}

static Status transpose(CudaDevice *cuda, const Copy *copy, int rows_dim, int64_t bytes) {
    int64_t rows = copy->size[rows_dim], columns = copy->size[copy->ndim - 1];
    int64_t batch = copy->numel / (rows * columns);
    unsigned blocks = (unsigned)(tiles_along(rows) * tiles_along(columns) * batch);
    switch (bytes) {
    case 1:
        return CUDA_LAUNCH(transpose_tiles<uint8_t>, blocks, CUDA_BLOCK, 0, *copy, rows_dim);
    case 4:
        return CUDA_LAUNCH(transpose_tiles<uint32_t>, blocks, CUDA_BLOCK, 0, *copy, rows_dim);
    default:
        return CUDA_LAUNCH(transpose_tiles<uint2>, blocks, CUDA_BLOCK, 0, *copy, rows_dim);
    }
}

// ---- contiguous and concat ----------------------------------------------------------------------
// Adds one to `copies`, which run when full; a copy that needs tiles runs by itself.
static Status copy_add(CudaDevice *cuda, Copies *copies, Copy copy, int64_t bytes) {
    if (copy.numel == 0) return STATUS_OK;
    int rows_dim = transposed_dim(&copy);
    if (rows_dim >= 0) return transpose(cuda, &copy, rows_dim, bytes);
    copies->item[copies->count++] = copy;
    if (copies->count < MOST_COPIES) return STATUS_OK;
    Status status = copy_all(cuda, copies, bytes);
    copies->count = 0;
    return status;
}

CUDA_OP(contiguous) {
    const Tensor *x = call->in[0];
    Copies copies = {};
    Status status = copy_add(cuda, &copies, copy_plan(x, call->out[0], 0, 0), element_bytes(x));
    return status ? status : copy_all(cuda, &copies, element_bytes(x));
}

CUDA_OP(assign) {
    const Tensor *into = call->in[0], *x = call->in[1];
    Copies copies = {};
    Status status = copy_add(cuda, &copies, copy_plan(x, into, 0, 0), element_bytes(x));
    return status ? status : copy_all(cuda, &copies, element_bytes(x));
}

CUDA_OP(concat) {
    int dim = call->params.dim;
    int64_t start = 0, bytes = element_bytes(call->out[0]);
    Copies copies = {};
    Status status = STATUS_OK;
    for (int i = 0; i < call->n_in && !status; i++) {
        const Tensor *x = call->in[i];
        status = copy_add(cuda, &copies, copy_plan(x, call->out[0], dim, start), bytes);
        start += x->shape.dims[dim];
    }
    return status ? status : copy_all(cuda, &copies, bytes);
}

// ---- slice_backward -----------------------------------------------------------------------------
struct Slice { // grad (outer, count, inner) inside y (outer, full, inner)
    int64_t count, full, inner, begin, step;
};

// y (outer, full, inner) = grad (outer, count, inner) at begin, begin + step, ...; 0 elsewhere
template <typename T>
__global__ static void slice_backward(const T *grad, T *y, const Slice slice, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t inner = i % slice.inner, rest = i / slice.inner;
        int64_t outer = rest / slice.full, past = rest % slice.full - slice.begin;
        int64_t index = past < 0 ? -1 : past / slice.step;
        bool inside = past >= 0 && index < slice.count && index * slice.step == past;
        y[i] = inside ? grad[(outer * slice.count + index) * slice.inner + inner] : T{};
    }
}

// sum (outer, full, inner) += grad (outer, count, inner) at begin, begin + step, ...
__global__ static void slice_add(const float *grad, float *sum, const Slice slice, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t inner = i % slice.inner, rest = i / slice.inner;
        int64_t outer = rest / slice.count, index = slice.begin + rest % slice.count * slice.step;
        sum[(outer * slice.full + index) * slice.inner + inner] += grad[i];
    }
}

static Status slice_write(CudaDevice *cuda, const float *grad, float *y, Slice slice, int64_t n) {
    if (slice.step == 1) // one run per `full`: merged with the inner dimensions
        slice = {slice.count * slice.inner, slice.full * slice.inner, 1, slice.begin * slice.inner,
                 1};
    bool wide = ((uintptr_t)grad | (uintptr_t)y) % sizeof(float4) == 0;
    if (wide && slice.inner % 4 == 0) {
        slice.inner /= 4;
    } else if (wide && slice.step == 1 && (slice.count | slice.full | slice.begin) % 4 == 0) {
        slice.count /= 4, slice.full /= 4, slice.begin /= 4;
    } else {
        return CUDA_LAUNCH(slice_backward<float>, cuda_grid(n), CUDA_BLOCK, 0, grad, y, slice, n);
    }
    return CUDA_LAUNCH(slice_backward<float4>, cuda_grid(n / 4), CUDA_BLOCK, 0,
                       (const float4 *)grad, (float4 *)y, slice, n / 4);
}

CUDA_OP(slice_backward) {
    const OpParams *p = &call->params;
    const Tensor *grad = call->in[0], *out = call->out[0];
    int64_t n = call->adds ? grad->numel : out->numel;
    if (n == 0) return STATUS_OK;
    Slice slice = {grad->shape.dims[p->dim], out->shape.dims[p->dim], 1, p->begin, p->step};
    for (int d = p->dim + 1; d < out->shape.ndim; d++) slice.inner *= out->shape.dims[d];
    if (!call->adds) return slice_write(cuda, call_in(call, 0), call_out(call, 0), slice, n);
    return CUDA_LAUNCH(slice_add, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call, 0),
                       slice, n);
}

// ---- triangle -----------------------------------------------------------------------------------
// y (matrices, rows, columns) = x on the diagonal and one side of it, else 0
template <typename T>
__global__ static void triangle(const T *x, T *y, int64_t rows, int64_t columns, int64_t diagonal,
                                bool upper, int64_t n) {
    for (int64_t i = GLOBAL_INDEX; i < n; i += GRID_STRIDE) {
        int64_t row = i / columns, past = i - row * columns - row % rows;
        bool kept = upper ? past >= diagonal : past <= diagonal;
        y[i] = kept ? x[i] : T{};
    }
}

template <typename T> static Status triangles(const OpCall *call, CudaDevice *cuda) {
    const Tensor *x = call->in[0], *out = call->out[0];
    int64_t n = call_numel(call);
    if (n == 0) return STATUS_OK;
    const int64_t *matrix = &out->shape.dims[out->shape.ndim - 2];
    return CUDA_LAUNCH(triangle<T>, cuda_grid(n), CUDA_BLOCK, 0, (const T *)(void *)tensor_raw(x),
                       (T *)(void *)tensor_raw(out), matrix[0], matrix[1], call->params.begin,
                       call->params.flags != 0, n);
}

CUDA_OP(triangle) {
    return call->in[0]->dtype == DTYPE_INT64 ? triangles<int64_t>(call, cuda)
                                             : triangles<float>(call, cuda);
}
