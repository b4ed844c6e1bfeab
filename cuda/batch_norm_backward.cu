// batch_norm_backward.cu -- the gradients of a batch norm: the formulas of
// tensor/ops/batch_norm_backward.c. Two sums of each channel, and one more pass if dx is wanted.
#include "cuda/batch_norm.cuh"

struct Slope { // dx = (dy - first - (x - mean) second) scale, per channel
    float first, mean, second, scale;
};

struct Gradient {
    Batch batch;
    const float *dy, *x, *weight, *mean, *spread; // all but dy may be NULL if not needed
    float *dx, *dweight, *dbias;                  // NULL: not wanted
    float epsilon;
    bool training;
    double *parts; // (chunks, 2, channels): sums of dy, and of dy z
    Slope *slope;  // (channels)
};

static __device__ inline float rstd_of(const Gradient &of, int64_t c) {
    if (!of.spread) return 0.0f; // only dbias is wanted
    if (of.training) return of.spread[c];
    return (float)(1.0 / sqrt((double)of.spread[c] + (double)of.epsilon));
}

__global__ static void gradient_sums(Gradient of) {
    __shared__ double shared[2 * CUDA_BLOCK];
    const Batch &batch = of.batch;
    for (int64_t b = blockIdx.x; b < batch.groups * batch.cut.chunks; b += gridDim.x) {
        Share share = share_of(batch, b);
        bool some = share.channel < batch.channels;
        float mean = some && of.x ? of.mean[share.channel] : 0.0f;
        float rstd = some ? rstd_of(of, share.channel) : 0.0f;
        double bias = 0.0, weight = 0.0;
        for (int64_t e = share.begin; e < share.end; e += share.step) {
            int64_t i = place(batch, share.channel, e);
            float dy = of.dy[i];
            bias += (double)dy;
            if (of.x) weight += (double)(dy * ((of.x[i] - mean) * rstd));
        }
        channel_sums(batch.side, bias, weight, shared);
        if ((int)threadIdx.x >= batch.side || !some) continue;
        of.parts[2 * share.chunk * batch.channels + share.channel] = bias;
        of.parts[(2 * share.chunk + 1) * batch.channels + share.channel] = weight;
    }
}

// Computes dweight, dbias and slope (channels) from parts.
__global__ static void gradient_finish(Gradient of, int64_t chunks) {
    const Batch &batch = of.batch;
    for (int64_t c = GLOBAL_INDEX; c < batch.channels; c += GRID_STRIDE) {
        double bias = 0.0, weight = 0.0, n = (double)batch.n;
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            bias += of.parts[2 * chunk * batch.channels + c];
            weight += of.parts[(2 * chunk + 1) * batch.channels + c];
        }
        if (of.dweight) of.dweight[c] = (float)weight;
        if (of.dbias) of.dbias[c] = (float)bias;
        float rstd = rstd_of(of, c), scale = of.weight ? rstd * of.weight[c] : rstd;
        of.slope[c] = {0.0f, 0.0f, 0.0f, scale};
        if (of.training && of.x)
            of.slope[c] = {(float)(bias / n), of.mean[c], (float)(weight / n) * rstd, scale};
    }
}

__global__ static void gradient_apply(Gradient of, int64_t numel) {
    for (int64_t i = GLOBAL_INDEX; i < numel; i += GRID_STRIDE) {
        Slope k = of.slope[channel_at(of.batch, i)];
        float rest = of.dy[i];
        if (of.training) rest = rest - k.first - (of.x[i] - k.mean) * k.second;
        of.dx[i] = rest * k.scale;
    }
}

// Inputs and wanted outputs are as in tensor/ops/batch_norm_backward.c.
static Status run_gradients(const OpCall *call, CudaDevice *cuda, bool training) {
    float *wanted[3] = {};
    for (int i = 0, next = 0; i < 3; i++)
        if (call->params.flags >> i & 1) wanted[i] = call_out(call, next++);
    Gradient of = {batch_of(call->in[0]),
                   call_in(call, 0),
                   input_or_null(call, 1),
                   input_or_null(call, 2),
                   input_or_null(call, 3),
                   input_or_null(call, 4),
                   wanted[0],
                   wanted[1],
                   wanted[2],
                   call->params.value[0],
                   training,
                   NULL,
                   NULL};
    Batch &batch = of.batch;
    int64_t numel = call->in[0]->numel;
    if (batch.channels == 0) return STATUS_OK;
    int64_t parts = 2 * batch.cut.chunks * batch.channels;
    of.parts = (double *)cuda_scratch(cuda, (size_t)parts * sizeof(double) +
                                                (size_t)batch.channels * sizeof(Slope));
    if (!of.parts) return cuda->host->error_status();
    of.slope = (Slope *)(of.parts + parts);
    bool sums = numel > 0 && (training || of.dweight || of.dbias);
    Status status = STATUS_OK;
    if (sums) status = CUDA_LAUNCH(gradient_sums, batch_grid(batch), CUDA_BLOCK, 0, of);
    if (!status)
        status = CUDA_LAUNCH(gradient_finish, cuda_grid(batch.channels), CUDA_BLOCK, 0, of,
                             sums ? batch.cut.chunks : 0);
    if (status || !of.dx || numel == 0) return status;
    return CUDA_LAUNCH(gradient_apply, cuda_grid(numel), CUDA_BLOCK, 0, of, numel);
}

CUDA_OP(batch_norm_backward) { return run_gradients(call, cuda, true); }
CUDA_OP(batch_norm_eval_backward) { return run_gradients(call, cuda, false); }
