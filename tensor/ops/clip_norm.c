// clip_norm.c -- scales gradients in place so that their common Euclidean norm is at most
// params.value[0]; outputs: the norm before scaling (), and its partial sums
#include "tensor/ops/reduce.h"

enum { CHUNK = 1 << 14 }; // elements per partial sum: constant, to be independent of threads

Tensor *tensor_clip_norm(Tensor *const tensors[], int n_tensors, float max_norm) {
    OpCall call = {.op = &op_clip_norm,
                   .in = (Tensor **)tensors,
                   .n_in = n_tensors,
                   .params = {.value = {max_norm}}};
    return op_dispatch(&call) ? NULL : call.out[0];
}

static int64_t chunks_of(const Tensor *t) { return (t->numel + CHUNK - 1) / CHUNK; }

static Status infer(OpCall *call) {
    if (!(call->params.value[0] > 0.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT, "the largest norm is %g. HINT: above 0",
                        (double)call->params.value[0]);
    int64_t chunks = 0;
    for (int i = 0; i < call->n_in; i++) chunks += chunks_of(call->in[i]);
    Status status = op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
    return status ? status : op_output(call, 1, DTYPE_FLOAT32, SHAPE(chunks));
}

static int64_t total_numel(const OpCall *call) {
    int64_t total = 0;
    for (int i = 0; i < call->n_in; i++) total += call->in[i]->numel;
    return total;
}

// n squares, n - 1 adds, a root; an add, a division and a comparison for the factor; n products
static OpCost cost(const OpCall *call) {
    OpCost c = op_cost_traffic(call);
    uint64_t n = (uint64_t)total_numel(call);
    c.elementwise_flops = n > 0 ? 3 * n + 2 : 3;
    c.transcendental_flops = 1;
    return c;
}

typedef struct Chunk {
    float *data;
    int64_t n;
} Chunk;

static Chunk chunk_at(const OpCall *call, int64_t index) {
    int i = 0;
    while (index >= chunks_of(call->in[i])) index -= chunks_of(call->in[i++]);
    int64_t rest = call->in[i]->numel - index * CHUNK;
    return (Chunk){call_in(call, i) + index * CHUNK, rest < CHUNK ? rest : CHUNK};
}

typedef struct Job {
    const OpCall *call;
    float factor;
} Job;

KERNEL static void sum_chunks(void *argument, int64_t begin, int64_t end) {
    const OpCall *call = ((const Job *)argument)->call;
    for (int64_t i = begin; i < end; i++) {
        Chunk chunk = chunk_at(call, i);
        call_out(call, 1)[i] = reduce_dot(chunk.data, chunk.data, chunk.n);
    }
}

KERNEL static void scale_chunks(void *argument, int64_t begin, int64_t end) {
    const Job *job = argument;
    float factor = job->factor;
    for (int64_t i = begin; i < end; i++) {
        Chunk chunk = chunk_at(job->call, i);
        for (int64_t j = 0; j < chunk.n; j++) chunk.data[j] *= factor;
    }
}

static OpWork work_of(const OpCall *call) {
    int64_t chunks = call->out[1]->numel;
    return (OpWork){.items = chunks,
                    .cost = (double)total_numel(call) / (double)(chunks ? chunks : 1)};
}

static int64_t clip_norm_handoffs(const OpCall *call) { return 2 * cpu_handoffs(work_of(call)); }

static Status clip_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    int64_t chunks = call->out[1]->numel;
    Job job = {.call = call};
    OpWork work = work_of(call);
    cpu_parallel(work, sum_chunks, &job);
    double total = 0.0;
    for (int64_t i = 0; i < chunks; i++) total += (double)call_out(call, 1)[i];
    float norm = math_sqrt((float)total), factor = call->params.value[0] / (norm + 1e-6f);
    *call_out(call, 0) = norm;
    job.factor = factor < 1.0f ? factor : factor != factor ? factor : 1.0f; // NaN stays visible
    cpu_parallel(work, scale_chunks, &job);
    return STATUS_OK;
}

const Op op_clip_norm = {
    .id = OP_clip_norm,
    .name = "clip_norm",
    .kernel = clip_norm_cpu,
    .handoffs = clip_norm_handoffs,
    .least_inputs = 1,
    .infer = infer,
    .cost = COUNTED(cost),
    .mutates = mutates_all,
    .story =
        STORY(.formula = "g = g times what brings the norm of all down to the limit", .out = "norm",
              .in = {"g"}, .elementwise = {PER_PARAMETER, .each = 3, .more = 2})};
