// update.cu -- the end of a training step, over many parameters at once: SGD, Adam, RMSprop, Lion,
// and clipping by the common norm. Values that change per step are read on the device, so that a
// step can be captured as a CUDA graph and replayed.
#include "cuda/groups.cuh"
#include "tensor/math.h"

// ---- one pass over all groups -------------------------------------------------------------------
// x[0] to x[PERIOD - 1] hold four elements each: the rule is applied to each of the four.
template <typename Rule> static __device__ inline void apply_four(const Rule &rule, float4 *x) {
    for (int lane = 0; lane < 4; lane++) {
        float one[Rule::PERIOD];
        for (int k = 0; k < Rule::PERIOD; k++) one[k] = (&x[k].x)[lane];
        rule.apply(one);
        for (int k = 0; k < Rule::PERIOD; k++) (&x[k].x)[lane] = one[k];
    }
}

// Updates data (n), for each tensor of each group. A Rule updates x[0], x[1], ..., one element of
// each tensor of a group; it does not change READ_ONLY. begin() fetches values shared by all
// elements, and returns false if nothing changes.
template <typename Rule>
__global__ static void update(const Groups<Rule::PERIOD> groups, Rule rule) {
    if (!rule.begin()) return;
    Chunk chunk = groups_chunk(groups);
    float *data[Rule::PERIOD];
    for (int k = 0; k < Rule::PERIOD; k++) data[k] = groups.data[chunk.group][k];
    for (int64_t i = chunk.begin + 4 * threadIdx.x; i < chunk.wide_end; i += 4 * CUDA_BLOCK) {
        float4 x[Rule::PERIOD];
        for (int k = 0; k < Rule::PERIOD; k++) x[k] = *(const float4 *)(data[k] + i);
        apply_four(rule, x);
        for (int k = 0; k < Rule::PERIOD; k++)
            if (k != Rule::READ_ONLY) *(float4 *)(data[k] + i) = x[k];
    }
    for (int64_t i = chunk.wide_end + threadIdx.x; i < chunk.end; i += CUDA_BLOCK) {
        float x[Rule::PERIOD];
        for (int k = 0; k < Rule::PERIOD; k++) x[k] = data[k][i];
        rule.apply(x);
        for (int k = 0; k < Rule::PERIOD; k++)
            if (k != Rule::READ_ONLY) data[k][i] = x[k];
    }
}

// The groups start at in[first].
template <typename Rule>
static Status update_all(const OpCall *call, CudaDevice *cuda, int first, int64_t chunk,
                         Rule rule) {
    Status status = STATUS_OK;
    while (first < call->n_in && !status) {
        Groups<Rule::PERIOD> groups;
        first = groups_take(call, first, chunk, &groups);
        unsigned blocks = groups_chunks(&groups);
        if (blocks) status = CUDA_LAUNCH(update<Rule>, blocks, CUDA_BLOCK, 0, groups, rule);
    }
    return status;
}

enum { STEP_CHUNK = 2048 }; // elements per block

// ---- SGD: the formulas of tensor/ops/optimizer_step.c -------------------------------------------
struct Sgd { // x = {p, g}
    enum { PERIOD = 2, READ_ONLY = 1 };
    const float *state; // {learning rate}
    float decay, rate;
    __device__ bool begin() { return rate = *state, true; }
    __device__ void apply(float x[]) const { x[0] -= rate * math_decayed(x[1], decay, x[0]); }
};

struct Momentum { // x = {p, g, velocity}
    enum { PERIOD = 3, READ_ONLY = 1 };
    const float *state; // {learning rate}
    float decay, momentum;
    bool nesterov;
    float rate;
    __device__ bool begin() { return rate = *state, true; }
    __device__ void apply(float x[]) const {
        float grad = math_decayed(x[1], decay, x[0]), velocity = momentum * x[2] + grad;
        x[2] = velocity;
        x[0] -= rate * (nesterov ? grad + momentum * velocity : velocity);
    }
};

CUDA_OP(sgd_step) {
    enum { SGD_NESTEROV = 1 };
    const float *state = call_in(call, 0), *value = call->params.value; // {momentum, decay}
    bool nesterov = (call->params.flags & SGD_NESTEROV) != 0;
    if (value[0] == 0.0f) return update_all(call, cuda, 1, STEP_CHUNK, Sgd{state, value[1], 0.0f});
    return update_all(call, cuda, 1, STEP_CHUNK,
                      Momentum{state, value[1], value[0], nesterov, 0.0f});
}

// ---- Adam and AdamW: the formulas of tensor/ops/optimizer_step.c --------------------------------
struct AdamRates { // constants of a step
    float keep, decay, b1, b2, step, root_scale, epsilon;
};

// state (2) = {learning rate, t}: counts the step, and computes its rates, in one thread. It is a
// separate kernel, because all blocks of the update read its results.
__global__ static void adam_begin(float *state, AdamRates *rates, float b1, float b2, float epsilon,
                                  float decay, bool decoupled) {
    float rate = state[0], t = state[1] + 1.0f;
    state[1] = t;
    double correction1 = 1.0 - pow((double)b1, (double)t);
    double correction2 = 1.0 - pow((double)b2, (double)t);
    rates->keep = decoupled ? 1.0f - rate * decay : 1.0f;
    rates->decay = decoupled ? 0.0f : decay;
    rates->b1 = b1;
    rates->b2 = b2;
    rates->step = (float)((double)rate / correction1);
    rates->root_scale = (float)(1.0 / sqrt(correction2));
    rates->epsilon = epsilon;
}

struct Adam { // x = {p, g, m, v}
    enum { PERIOD = 4, READ_ONLY = 1 };
    const AdamRates *rates;
    AdamRates r;
    __device__ bool begin() { return r = *rates, true; }
    __device__ void apply(float x[]) const {
        float rest1 = 1.0f - r.b1, rest2 = 1.0f - r.b2;
        float grad = math_decayed(x[1], r.decay, x[0]);
        float mean = r.b1 * x[2] + rest1 * grad;
        float square = r.b2 * x[3] + rest2 * grad * grad;
        x[2] = mean;
        x[3] = square;
        x[0] = r.keep * x[0] - r.step * mean / (math_sqrt(square) * r.root_scale + r.epsilon);
    }
};

CUDA_OP(adamw_step) {
    enum { ADAM_DECOUPLED = 1 };
    const float *value = call->params.value; // {b1, b2, epsilon, decay}
    bool decoupled = (call->params.flags & ADAM_DECOUPLED) != 0;
    AdamRates *rates = (AdamRates *)cuda_scratch(cuda, sizeof(AdamRates));
    if (!rates) return cuda->host->error_status();
    Status status = CUDA_LAUNCH(adam_begin, 1, 1, 0, call_in(call, 0), rates, value[0], value[1],
                                value[2], value[3], decoupled);
    return status ? status : update_all(call, cuda, 1, STEP_CHUNK, Adam{rates, {}});
}

// ---- RMSprop and Lion: the formulas of tensor/ops/optimizer_simple.c ---------------------------
struct Rmsprop { // x = {p, g, v}
    enum { PERIOD = 3, READ_ONLY = 1 };
    const float *state; // {learning rate}
    float smoothing, epsilon, decay, rate;
    __device__ bool begin() { return rate = *state, true; }
    __device__ void apply(float x[]) const {
        float grad = math_decayed(x[1], decay, x[0]);
        float square = smoothing * x[2] + (1.0f - smoothing) * grad * grad;
        x[2] = square;
        x[0] -= rate * (grad / (math_sqrt(square) + epsilon));
    }
};

CUDA_OP(rmsprop_step) {
    const float *value = call->params.value; // {smoothing, epsilon, decay}
    return update_all(call, cuda, 1, STEP_CHUNK,
                      Rmsprop{call_in(call, 0), value[0], value[1], value[2], 0.0f});
}

struct Lion { // x = {p, g, m}
    enum { PERIOD = 3, READ_ONLY = 1 };
    const float *state; // {learning rate}
    float b1, b2, decay, rate;
    __device__ bool begin() { return rate = *state, true; }
    __device__ void apply(float x[]) const {
        float direction = math_sign(b1 * x[2] + (1.0f - b1) * x[1]);
        x[0] = (1.0f - rate * decay) * x[0] - rate * direction;
        x[2] = b2 * x[2] + (1.0f - b2) * x[1];
    }
};

CUDA_OP(lion_step) {
    const float *value = call->params.value; // {b1, b2, decay}
    return update_all(call, cuda, 1, STEP_CHUNK,
                      Lion{call_in(call, 0), value[0], value[1], value[2], 0.0f});
}

// ---- clipping by the norm: tensor/ops/clip_norm.c -----------------------------------------------
enum { NORM_CHUNK = 1 << 14 }; // elements per partial sum, equal to that of the op's infer

// Adds up the block's values, one per thread; thread 0 gets the sum.
template <typename T> static __device__ inline T block_sum(T value) {
    __shared__ T part[CUDA_BLOCK];
    part[threadIdx.x] = value;
    for (unsigned half = CUDA_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return part[threadIdx.x];
}

// partial (chunks) = the sum of squares of each chunk
__global__ static void norm_partial(const Groups<1> groups, float *partial) {
    Chunk chunk = groups_chunk(groups);
    const float *x = groups.data[chunk.group][0];
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int64_t i = chunk.begin + 4 * threadIdx.x; i < chunk.wide_end; i += 4 * CUDA_BLOCK) {
        float4 v = *(const float4 *)(x + i);
        sum.x += v.x * v.x;
        sum.y += v.y * v.y;
        sum.z += v.z * v.z;
        sum.w += v.w * v.w;
    }
    for (int64_t i = chunk.wide_end + threadIdx.x; i < chunk.end; i += CUDA_BLOCK)
        sum.x += x[i] * x[i];
    float total = block_sum((sum.x + sum.y) + (sum.z + sum.w));
    if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

// norm () = sqrt(sum of partial (chunks)), and the factor that scales it to `most`; one block, in
// double, as on the CPU.
__global__ static void norm_finish(const float *partial, int64_t chunks, float most, float *norm,
                                   float *factor) {
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < chunks; i += CUDA_BLOCK) sum += (double)partial[i];
    double total = block_sum(sum);
    if (threadIdx.x > 0) return;
    *norm = math_sqrt((float)total);
    float f = most / (*norm + 1e-6f);
    *factor = f < 1.0f ? f : f != f ? f : 1.0f; // NaN stays visible
}

struct Scale { // x = {gradient}
    enum { PERIOD = 1, READ_ONLY = -1 };
    const float *from;
    float factor;
    __device__ bool begin() { return factor = *from, factor != 1.0f; } // 1: leaves gradients alone
    __device__ void apply(float x[]) const { x[0] *= factor; }
};

CUDA_OP(clip_norm) {
    float *partial = call_out(call, 1), *factor = (float *)cuda_scratch(cuda, sizeof(float));
    if (!factor) return cuda->host->error_status();
    Status status = STATUS_OK;
    int64_t chunks = 0;
    for (int next = 0; next < call->n_in && !status;) {
        Groups<1> groups;
        next = groups_take(call, next, NORM_CHUNK, &groups);
        unsigned blocks = groups_chunks(&groups);
        if (blocks)
            status = CUDA_LAUNCH(norm_partial, blocks, CUDA_BLOCK, 0, groups, partial + chunks);
        chunks += blocks;
    }
    if (!status)
        status = CUDA_LAUNCH(norm_finish, 1, CUDA_BLOCK, 0, partial, chunks, call->params.value[0],
                             call_out(call, 0), factor);
    return status ? status : update_all(call, cuda, 0, STEP_CHUNK, Scale{factor, 0.0f});
}
