// batch_norm.cu -- batch norm in training and in evaluation: the formulas of
// tensor/ops/batch_norm.c. Sums up each channel, finishes its statistics, then makes one pass over
// all elements.
#include "cuda/batch_norm.cuh"

struct Affine { // y = (x - mean) scale + shift of a channel; mean = about + rest
    float about, rest, scale, shift;
};

struct Norm {
    Batch batch;
    const float *x, *weight, *bias;    // weight and bias (channels) may be NULL
    float *y, *mean, *rstd;            // evaluation reads the last two
    float *running_mean, *running_var; // (channels); both may be NULL
    int64_t *batches;                  // may be NULL
    float epsilon, momentum;
    double *parts;  // (chunks, 2, channels): means, and sums of squared distances from them
    Affine *affine; // (channels)
};

__global__ static void batch_statistics(Norm norm) {
    __shared__ double shared[2 * CUDA_BLOCK];
    const Batch &of = norm.batch;
    for (int64_t b = blockIdx.x; b < of.groups * of.cut.chunks; b += gridDim.x) {
        Share share = share_of(of, b);
        double sum = 0.0, count = 0.0, squares = 0.0, none = 0.0;
        for (int64_t e = share.begin; e < share.end; e += share.step) {
            sum += (double)norm.x[place(of, share.channel, e)];
            count += 1.0;
        }
        channel_sums(of.side, sum, count, shared);
        double mean = sum / count;
        Moments m = {(float)mean, (float)(mean - (double)(float)mean), 0.0};
        for (int64_t e = share.begin; e < share.end; e += share.step) {
            double d = (double)centred(norm.x[place(of, share.channel, e)], m);
            squares += d * d;
        }
        channel_sums(of.side, squares, none, shared);
        if ((int)threadIdx.x >= of.side || share.channel >= of.channels) continue;
        norm.parts[2 * share.chunk * of.channels + share.channel] = mean;
        norm.parts[(2 * share.chunk + 1) * of.channels + share.channel] = squares;
    }
}

static __device__ inline Affine affine_of(const Norm &norm, int64_t c, float about, float rest,
                                          float rstd) {
    return {about, rest, norm.weight ? rstd * norm.weight[c] : rstd,
            norm.bias ? norm.bias[c] : 0.0f};
}

// Combines chunks by the distances of their means from the common mean.
static __device__ inline void moments_of_parts(const Norm &norm, int64_t c, double *mean,
                                               double *variance) {
    const Batch &of = norm.batch;
    double sum = 0.0, squares = 0.0;
    for (int round = 0; round < 2; round++) {
        for (int64_t chunk = 0; chunk < of.cut.chunks; chunk++) {
            int64_t left = of.n - chunk * of.cut.length;
            double count = (double)(left < of.cut.length ? left : of.cut.length);
            double own = norm.parts[2 * chunk * of.channels + c], d = own - *mean;
            if (round == 0)
                sum += own * count;
            else
                squares += norm.parts[(2 * chunk + 1) * of.channels + c] + d * d * count;
        }
        if (round == 0) *mean = sum / (double)of.n;
    }
    *variance = squares / (double)of.n;
}

// Computes mean, rstd, the running statistics and affine (channels) from parts.
__global__ static void batch_finish(Norm norm) {
    for (int64_t c = GLOBAL_INDEX; c < norm.batch.channels; c += GRID_STRIDE) {
        double mean = NAN, variance = NAN, n = (double)norm.batch.n;
        if (norm.batch.n > 0) moments_of_parts(norm, c, &mean, &variance);
        float about = (float)mean, rstd = (float)(1.0 / sqrt(variance + (double)norm.epsilon));
        float rest = isinf(about) ? 0.0f : (float)(mean - (double)about);
        norm.mean[c] = about;
        norm.rstd[c] = rstd;
        norm.affine[c] = affine_of(norm, c, about, rest, rstd);
        if (!norm.running_mean || norm.batch.n == 0) continue;
        double momentum = math_batch_momentum(norm.momentum, norm.batches ? *norm.batches + 1 : 1);
        double unbiased = math_unbiased(variance, n, 1.0);
        norm.running_mean[c] = math_follow(norm.running_mean[c], mean, momentum);
        norm.running_var[c] = math_follow(norm.running_var[c], unbiased, momentum);
    }
}

__global__ static void batch_count(int64_t *batches) {
    if (GLOBAL_INDEX == 0) *batches += 1;
}

// Computes affine (channels) from given statistics: `rstd` holds variances.
__global__ static void batch_given(Norm norm) {
    for (int64_t c = GLOBAL_INDEX; c < norm.batch.channels; c += GRID_STRIDE) {
        float rstd = (float)(1.0 / sqrt((double)norm.rstd[c] + (double)norm.epsilon));
        norm.affine[c] = affine_of(norm, c, norm.mean[c], 0.0f, rstd);
    }
}

__global__ static void batch_apply(Norm norm, int64_t numel) {
    for (int64_t i = GLOBAL_INDEX; i < numel; i += GRID_STRIDE) {
        Affine a = norm.affine[channel_at(norm.batch, i)];
        norm.y[i] = ((norm.x[i] - a.about) - a.rest) * a.scale + a.shift;
    }
}

// Gets scratch for the parts and for affine; false with an error pending.
static bool norm_scratch(Norm *norm, CudaDevice *cuda) {
    const Batch &of = norm->batch;
    size_t parts = 2 * (size_t)(of.cut.chunks * of.channels) * sizeof(double);
    norm->parts = (double *)cuda_scratch(cuda, parts + (size_t)of.channels * sizeof(Affine));
    norm->affine = (Affine *)(norm->parts + 2 * of.cut.chunks * of.channels);
    return norm->parts != NULL;
}

CUDA_OP(batch_norm) {
    Norm norm = {batch_of(call->in[0]),
                 call_in(call, 0),
                 input_or_null(call, 1),
                 input_or_null(call, 2),
                 call_out(call, 0),
                 call_out(call, 1),
                 call_out(call, 2),
                 (float *)input_or_null(call, 3),
                 (float *)input_or_null(call, 4),
                 call->in[5] ? cuda_indices(call->in[5]) : NULL,
                 call->params.value[0],
                 call->params.value[1],
                 NULL,
                 NULL};
    Batch &of = norm.batch;
    int64_t numel = call_numel(call);
    Status status = STATUS_OK;
    if (of.channels > 0) {
        if (!norm_scratch(&norm, cuda)) return cuda->host->error_status();
        if (numel > 0) status = CUDA_LAUNCH(batch_statistics, batch_grid(of), CUDA_BLOCK, 0, norm);
        if (!status)
            status = CUDA_LAUNCH(batch_finish, cuda_grid(of.channels), CUDA_BLOCK, 0, norm);
    }
    if (!status && norm.batches) status = CUDA_LAUNCH(batch_count, 1, CUDA_WARP, 0, norm.batches);
    if (status || numel == 0) return status;
    return CUDA_LAUNCH(batch_apply, cuda_grid(numel), CUDA_BLOCK, 0, norm, numel);
}

CUDA_OP(batch_norm_eval) {
    Norm norm = {batch_of(call->in[0]),
                 call_in(call, 0),
                 input_or_null(call, 1),
                 input_or_null(call, 2),
                 call_out(call, 0),
                 call_in(call, 3),
                 call_in(call, 4),
                 NULL,
                 NULL,
                 NULL,
                 call->params.value[0],
                 0.0f,
                 NULL,
                 NULL};
    int64_t numel = call_numel(call);
    if (numel == 0) return STATUS_OK;
    if (!norm_scratch(&norm, cuda)) return cuda->host->error_status();
    Status status = CUDA_LAUNCH(batch_given, cuda_grid(norm.batch.channels), CUDA_BLOCK, 0, norm);
    if (status) return status;
    return CUDA_LAUNCH(batch_apply, cuda_grid(numel), CUDA_BLOCK, 0, norm, numel);
}
