// group_norm.cu -- group norm, and its gradients: the formulas of tensor/ops/group_norm.c. A team
// handles a group of one sample, which is contiguous, as norm.cu's teams handle rows. The gradients
// of weight and bias are sums of each channel of each sample, and then over the samples.
#include "cuda/norm_rows.cuh"

// A row is a group: `width` channels of `spatial` elements.
struct Groups {
    int64_t count, width, spatial;
};

static Groups groups_of(const Tensor *x, const OpParams *params) {
    Groups groups = {params->count, x->shape.dims[1] / params->count, 1};
    for (int i = 2; i < x->shape.ndim; i++) groups.spatial *= x->shape.dims[i];
    return groups;
}

static Rows rows_in(const Tensor *x, Groups groups, const void *data) {
    Rows rows = {};
    rows.n = groups.width * groups.spatial;
    rows.count = rows.n ? x->numel / rows.n : 0;
    rows.lanes = team_lanes(rows.n);
    rows.wide = rows.n % 4 == 0 && is_wide(data);
    return rows;
}

// The channel of x at an element of a row. Divides in 32 bits if possible, which is much faster.
static __device__ inline int64_t channel_at(Groups groups, int64_t row, int64_t element) {
    int64_t within = (element | groups.spatial) >> 32
                         ? element / groups.spatial
                         : (int64_t)((uint32_t)element / (uint32_t)groups.spatial);
    return row % groups.count * groups.width + within;
}

// Weight or bias for at[i] of a tile of a row; `none` if values are absent or past the end.
static __device__ inline float channel_value(const float *values, float none, Groups groups,
                                             int64_t row, int64_t from, int place, int left) {
    return values && place < left ? values[channel_at(groups, row, from + place)] : none;
}

// ---- forward -----------------------------------------------------------------------------------
struct GroupNorm {
    const float *x, *weight, *bias; // weight and bias (channels) may be NULL
    float *y, *mean, *rstd;
    float epsilon;
    Groups groups;
};

// y = (x - mean) rstd weight + bias; rows are groups; mean and rstd (rows)
__global__ static void group_rows(GroupNorm norm, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    bool held = rows.n <= tile_span(team);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        const float *x = norm.x + row * rows.n;
        Tile tile = {};
        Moments m = moments_of(x, rows.n, length, team, tile, shared);
        float rstd = (float)(1.0 / sqrt(m.variance + (double)norm.epsilon));
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            if (!held) tile_load(tile, x + from, left, team, 0.0f);
            for (int i = 0; i < TILE; i++) {
                int place = tile_place(team, i);
                float w = channel_value(norm.weight, 1.0f, norm.groups, row, from, place, left);
                float b = channel_value(norm.bias, 0.0f, norm.groups, row, from, place, left);
                tile.at[i] = centred(tile.at[i], m) * rstd * w + b;
            }
            tile_store(tile, norm.y + row * rows.n + from, left, team);
        }
        if (length == 0 || team.lane > 0) continue;
        norm.mean[row] = m.about;
        norm.rstd[row] = rstd;
    }
}

CUDA_OP(group_norm) {
    GroupNorm norm = {call_in(call, 0),       input_or_null(call, 1),
                      input_or_null(call, 2), call_out(call, 0),
                      call_out(call, 1),      call_out(call, 2),
                      call->params.value[0],  groups_of(call->in[0], &call->params)};
    Rows rows = rows_in(call->in[0], norm.groups, norm.x);
    int64_t empty = rows.n == 0 ? call->out[1]->numel : 0;
    if (empty > 0)
        return CUDA_LAUNCH(norm_nothing, cuda_grid(empty), CUDA_BLOCK, 0, norm.mean, norm.rstd,
                           empty);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(norm.y);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(group_rows, grid, CUDA_BLOCK, 0, norm, rows);
}

// ---- the gradient of x -------------------------------------------------------------------------
struct GroupGradient {
    const float *dy, *x, *weight, *mean, *rstd; // weight (channels) may be NULL
    float *dx;
    Groups groups;
};

// g = dy weight and z = (x - mean) rstd of a tile; 0 past the row's end
static __device__ inline void gradient_load(const GroupGradient &of, int64_t row, int64_t from,
                                            Rows rows, int left, Team team, Tile &g, Tile &z) {
    tile_load(g, of.dy + row * rows.n + from, left, team, 0.0f);
    tile_load(z, of.x + row * rows.n + from, left, team, 0.0f);
    for (int i = 0; i < TILE; i++) {
        int place = tile_place(team, i);
        g.at[i] *= channel_value(of.weight, 1.0f, of.groups, row, from, place, left);
        z.at[i] = place < left ? (z.at[i] - of.mean[row]) * of.rstd[row] : 0.0f;
    }
}

CUDA_OP(group_norm_backward) {
    GroupGradient of = {call_in(call, 0),
                        call_in(call, 1),
                        input_or_null(call, 2),
                        call_in(call, 3),
                        call_in(call, 4),
                        call_out(call, 0),
                        groups_of(call->in[1], &call->params)};
    Rows rows = rows_in(call->in[1], of.groups, of.dy);
    if (rows.count == 0) return STATUS_OK;
    rows.wide = rows.wide && is_wide(of.x) && is_wide(of.dx);
    unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
    return CUDA_LAUNCH(norm_gradient<GroupGradient>, grid, CUDA_BLOCK, 0, of, rows);
}

// ---- the gradients of weight and bias ----------------------------------------------------------
struct WeightGradient {
    const float *dy, *x, *mean, *rstd;
    double *parts;          // (2, samples, channels): sums of dy z, and of dy
    float *dweight, *dbias; // (channels); dbias may be NULL
    int64_t samples, channels;
    Groups groups;
};

// parts of rows, which are the channels of samples: a team per row
__global__ static void channel_sums(WeightGradient of, Rows rows) {
    __shared__ double shared[REDUCE_WARPS];
    Team team = team_of(rows.lanes, rows.wide);
    for (int64_t base = team.begin; base < rows.count; base += team.step) {
        int64_t row = base + team.index, length = row < rows.count ? rows.n : 0;
        int64_t group = row / of.groups.width; // counted over all samples
        float mean = length ? of.mean[group] : 0.0f, rstd = length ? of.rstd[group] : 0.0f;
        double weight = 0.0, bias = 0.0;
        for (int64_t from = 0; from < length; from += tile_span(team)) {
            int left = tile_left(team, from, length);
            Tile dy, x;
            tile_load(dy, of.dy + row * rows.n + from, left, team, 0.0f);
            tile_load(x, of.x + row * rows.n + from, left, team, mean); // z is 0 past the end
            for (int i = 0; i < TILE && tile_has(team, i, left); i += 4) {
                float product[4];
                for (int k = 0; k < 4; k++)
                    product[k] = dy.at[i + k] * ((x.at[i + k] - mean) * rstd);
                weight += add_four(product[0], product[1], product[2], product[3]);
                bias += add_four(dy.at[i], dy.at[i + 1], dy.at[i + 2], dy.at[i + 3]);
            }
        }
        weight = team_sum(team, weight, shared);
        bias = team_sum(team, bias, shared);
        if (length == 0 || team.lane > 0) continue;
        of.parts[row] = weight;
        of.parts[rows.count + row] = bias;
    }
}

// A block takes COLUMNS adjacent channels, with LANES threads each, so a warp reads adjacent data.
enum { COLUMNS = CUDA_WARP, LANES = CUDA_BLOCK / COLUMNS };

// dweight and dbias (channels) = the sums of parts (2, samples, channels) over the samples
__global__ static void sample_sums(WeightGradient of) {
    __shared__ double weights[CUDA_BLOCK], biases[CUDA_BLOCK];
    int lane = (int)threadIdx.x / COLUMNS;
    const double *bias = of.parts + of.samples * of.channels;
    for (int64_t b = blockIdx.x; b * COLUMNS < of.channels; b += gridDim.x) {
        int64_t c = b * COLUMNS + threadIdx.x % COLUMNS;
        weights[threadIdx.x] = biases[threadIdx.x] = 0.0;
        for (int64_t s = lane; s < of.samples && c < of.channels; s += LANES) {
            weights[threadIdx.x] += of.parts[s * of.channels + c];
            biases[threadIdx.x] += bias[s * of.channels + c];
        }
        for (int half = LANES / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane >= half) continue;
            weights[threadIdx.x] += weights[threadIdx.x + half * COLUMNS];
            biases[threadIdx.x] += biases[threadIdx.x + half * COLUMNS];
        }
        if (lane == 0 && c < of.channels) {
            of.dweight[c] = (float)weights[threadIdx.x];
            if (of.dbias) of.dbias[c] = (float)biases[threadIdx.x];
        }
        __syncthreads(); // before the next iteration writes
    }
}

CUDA_OP(group_norm_backward_weight) {
    const Tensor *x = call->in[1];
    WeightGradient of = {call_in(call, 0),
                         call_in(call, 1),
                         call_in(call, 2),
                         call_in(call, 3),
                         NULL,
                         call_out(call, 0),
                         call->n_out > 1 ? call_out(call, 1) : NULL,
                         x->shape.dims[0],
                         x->shape.dims[1],
                         groups_of(x, &call->params)};
    Groups channel = {of.channels, 1, of.groups.spatial}; // one row per channel
    Rows rows = rows_in(x, channel, of.dy);
    if (of.channels == 0) return STATUS_OK;
    if (rows.count == 0) of.samples = 0; // all sums are empty
    rows.wide = rows.wide && is_wide(of.x);
    if (rows.count > 0) {
        of.parts = (double *)cuda_scratch(cuda, (size_t)(2 * rows.count) * sizeof(double));
        if (!of.parts) return cuda->host->error_status();
        unsigned grid = team_grid(rows.count, rows.lanes, CUDA_MOST_BLOCKS);
        Status status = CUDA_LAUNCH(channel_sums, grid, CUDA_BLOCK, 0, of, rows);
        if (status) return status;
    }
    return CUDA_LAUNCH(sample_sums, cuda_blocks((of.channels + COLUMNS - 1) / COLUMNS), CUDA_BLOCK,
                       0, of);
}
