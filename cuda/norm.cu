// norm.cu -- layer norm and RMS norm of rows, and their gradients: an RMS norm is a layer norm with
// mean 0, and without a mean output. The gradient of x reads and writes each row once if a team can
// hold it (2,048 elements); longer rows are read again for each use. The gradients of weight and
// bias are sums down the columns, in two passes if there are many rows.
#include "cuda/norm_rows.cuh"

// The rows are x's last dimensions, of shape params.shape.
static Rows rows_along(const Tensor *x, const OpParams *params, const void *data) {
    Rows rows = {};
    rows.n = 1;
    for (int i = 0; i < params->shape.ndim; i++) rows.n *= params->shape.dims[i];
    rows.count = rows.n ? x->numel / rows.n : 0;
    rows.lanes = team_lanes(rows.n);
    rows.wide = rows.n % 4 == 0 && is_wide(data);
    return rows;
}

// ---- forward: the formula of tensor/ops/layer_norm.c --------------------------------------------
struct Norm {
    const float *x, *weight, *bias; // weight and bias (n) may be NULL
    float *y, *mean, *rstd;         // mean NULL: RMS norm
    float epsilon;
};

// y (rows, n) = (x (rows, n) - mean) rstd weight (n) + bias (n); mean and rstd (rows)
__global__ static void norm_rows(Norm norm, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        const float *x = norm.x + row * rows.n;
        Tile tile = {}, w = {}, b = {};
        Moments m = norm.mean ? moments_of(x, rows.n, length, team, tile, shared)
                              : moments_about_zero(x, rows.n, length, team, tile, shared);
        float rstd = (float)(1.0 / sqrt(m.variance + (double)norm.epsilon));
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(tile, x + from, left, team, 0.0f);
            if (norm.weight) tile_load(w, norm.weight + from, left, team, 0.0f);
            if (norm.bias) tile_load(b, norm.bias + from, left, team, 0.0f);
            for (int i = 0; i < TILE; i++) {
                float value = centred(tile.at[i], m) * rstd;
                if (norm.weight) value *= w.at[i];
                tile.at[i] = norm.bias ? value + b.at[i] : value;
            }
            tile_store(tile, norm.y + row * rows.n + from, left, team);
        }
        if (length == 0 || team.lane > 0) continue;
        if (norm.mean) norm.mean[row] = m.about;
        norm.rstd[row] = rstd;
    }
}

static Status norm_launch(const OpCall *call, CudaDevice *cuda, Norm norm) {
    Rows rows = rows_along(call->in[0], &call->params, norm.x);
    int64_t empty = rows.n == 0 ? call->out[1]->numel : 0;
    if (empty > 0)
        return CUDA_LAUNCH(norm_nothing, cuda_grid(empty), CUDA_BLOCK, 0, norm.mean, norm.rstd,
                           empty);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(norm.y) && is_wide(norm.weight) && is_wide(norm.bias);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(norm_rows, grid, CUDA_BLOCK, 0, norm, rows);
}

CUDA_OP(layer_norm) {
    return norm_launch(call, cuda,
                       {call_in(call, 0), input_or_null(call, 1), input_or_null(call, 2),
                        call_out(call, 0), call_out(call, 1), call_out(call, 2),
                        call->params.value[0]});
}
CUDA_OP(rms_norm) {
    return norm_launch(call, cuda,
                       {call_in(call, 0), input_or_null(call, 1), NULL, call_out(call, 0), NULL,
                        call_out(call, 1), call->params.value[0]});
}

// ---- the gradient of x: tensor/ops/layer_norm_backward.c ----------------------------------------
struct Gradient {
    const float *dy, *x, *weight, *mean, *rstd; // weight (n) may be NULL; so may mean (RMS norm)
    float *dx;
};

// g = dy weight and z = (x - mean) rstd of a tile; 0 past the row's end
static __device__ inline void gradient_load(const Gradient &of, int64_t row, int64_t from,
                                            Rows rows, int left, Team team, Tile &g, Tile &z) {
    Tile weight = {};
    tile_load(g, of.dy + row * rows.n + from, left, team, 0.0f);
    tile_load(z, of.x + row * rows.n + from, left, team, 0.0f);
    if (of.weight) tile_load(weight, of.weight + from, left, team, 0.0f);
    float mean = of.mean ? of.mean[row] : 0.0f;
    for (int i = 0; i < TILE; i++) {
        bool inside = tile_place(team, i) < left;
        if (of.weight) g.at[i] *= weight.at[i];
        z.at[i] = inside ? (z.at[i] - mean) * of.rstd[row] : 0.0f;
    }
}

static Status gradient_launch(const OpCall *call, CudaDevice *cuda, Gradient of) {
    Rows rows = rows_along(call->in[1], &call->params, of.dy);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(of.x) && is_wide(of.weight) && is_wide(of.dx);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(norm_gradient<Gradient>, grid, CUDA_BLOCK, 0, of, rows);
}

CUDA_OP(layer_norm_backward) {
    return gradient_launch(call, cuda,
                           {call_in(call, 0), call_in(call, 1), input_or_null(call, 2),
                            call_in(call, 3), call_in(call, 4), call_out(call, 0)});
}
CUDA_OP(rms_norm_backward) {
    return gradient_launch(call, cuda,
                           {call_in(call, 0), call_in(call, 1), input_or_null(call, 2), NULL,
                            call_in(call, 3), call_out(call, 0)});
}

// ---- the gradients of weight and bias -----------------------------------------------------------
// A block takes COLUMNS adjacent columns of one chunk of the rows, LANES threads per column, so a
// warp reads adjacent data. The shape alone determines the chunks, which are added in order.
enum { COLUMNS = CUDA_WARP, LANES = CUDA_BLOCK / COLUMNS, LEAST_ROWS = 32 * LANES };

struct WeightGradient {
    const float *dy, *x, *mean, *rstd; // mean may be NULL
    double *parts;                     // (chunks, 2, n); NULL for a single chunk
    float *dweight, *dbias;            // (n); dbias may be NULL
    int64_t n, rows;
    Cut cut; // chunks of the rows
};

static __device__ inline void weight_write(const WeightGradient &of, int64_t column, double weight,
                                           double bias) {
    of.dweight[column] = (float)weight;
    if (of.dbias) of.dbias[column] = (float)bias;
}

// parts (chunks, 2, n), or dweight and dbias (n) = sums of dy z and of dy (rows, n)
__global__ static void weight_columns(WeightGradient of) {
    __shared__ double weights[CUDA_BLOCK], biases[CUDA_BLOCK];
    int lane = (int)threadIdx.x / COLUMNS;
    int64_t groups = (of.n + COLUMNS - 1) / COLUMNS;
    for (int64_t b = blockIdx.x; b < groups * of.cut.chunks; b += gridDim.x) {
        int64_t chunk = b / groups, column = (b - chunk * groups) * COLUMNS + threadIdx.x % COLUMNS;
        int64_t begin = chunk * of.cut.length, end = begin + of.cut.length;
        if (end > of.rows) end = of.rows;
        double weight = 0.0, bias = 0.0;
        for (int64_t r = begin + lane; r < end && column < of.n; r += LANES) {
            float dy = of.dy[r * of.n + column], mean = of.mean ? of.mean[r] : 0.0f;
            weight += (double)(dy * ((of.x[r * of.n + column] - mean) * of.rstd[r]));
            bias += (double)dy;
        }
        weights[threadIdx.x] = weight;
        biases[threadIdx.x] = bias;
        for (int half = LANES / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane >= half) continue;
            weights[threadIdx.x] += weights[threadIdx.x + half * COLUMNS];
            biases[threadIdx.x] += biases[threadIdx.x + half * COLUMNS];
        }
        if (lane == 0 && column < of.n && of.parts) {
            of.parts[2 * chunk * of.n + column] = weights[threadIdx.x];
            of.parts[(2 * chunk + 1) * of.n + column] = biases[threadIdx.x];
        } else if (lane == 0 && column < of.n) {
            weight_write(of, column, weights[threadIdx.x], biases[threadIdx.x]);
        }
        __syncthreads(); // before the next iteration writes
    }
}

// dweight and dbias (n) from parts (chunks, 2, n), a thread per column
__global__ static void weight_finish(WeightGradient of) {
    for (int64_t j = GLOBAL_INDEX; j < of.n; j += GRID_STRIDE) {
        double weight = 0.0, bias = 0.0;
        for (int64_t chunk = 0; chunk < of.cut.chunks; chunk++) {
            weight += of.parts[2 * chunk * of.n + j];
            bias += of.parts[(2 * chunk + 1) * of.n + j];
        }
        weight_write(of, j, weight, bias);
    }
}

static Status weight_launch(const OpCall *call, CudaDevice *cuda, const float *mean,
                            const float *rstd) {
    Rows rows = rows_along(call->in[1], &call->params, call_in(call, 0));
    if (rows.n == 0) return STATUS_OK;
    int64_t groups = (rows.n + COLUMNS - 1) / COLUMNS;
    WeightGradient of = {call_in(call, 0),
                         call_in(call, 1),
                         mean,
                         rstd,
                         NULL,
                         call_out(call, 0),
                         call->n_out > 1 ? call_out(call, 1) : NULL,
                         rows.n,
                         rows.count,
                         cut_of(rows.count, groups, LEAST_ROWS)};
    bool cut = of.cut.chunks > 1;
    if (cut) {
        int64_t doubles = 2 * of.cut.chunks * rows.n;
        of.parts = (double *)cuda_scratch(cuda, (size_t)doubles * sizeof(double));
        if (!of.parts) return cuda->host->error_status();
    }
    int64_t blocks = groups * of.cut.chunks;
    unsigned grid = (unsigned)(blocks < CUDA_MOST_BLOCKS ? blocks : (int64_t)CUDA_MOST_BLOCKS);
    Status status = CUDA_LAUNCH(weight_columns, grid, CUDA_BLOCK, 0, of);
    if (status || !cut) return status;
    return CUDA_LAUNCH(weight_finish, cuda_grid(rows.n), CUDA_BLOCK, 0, of);
}

CUDA_OP(layer_norm_backward_weight) {
    return weight_launch(call, cuda, call_in(call, 2), call_in(call, 3));
}
CUDA_OP(rms_norm_backward_weight) { return weight_launch(call, cuda, NULL, call_in(call, 2)); }
