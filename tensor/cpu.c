// cpu.c -- the CPU's device table: kernels by op, split over the context's threads where it pays.
#include <string.h>

#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops/conv.h"

#define CPU_DECLARE(name) Status name##_cpu(const OpCall *call, int64_t begin, int64_t end);
#define CPU_NONE(name)
OP_LIST(CPU_DECLARE, CPU_NONE)

static const CpuKernel kernels[OP_COUNT] = {
#define CPU_ENTRY(name) [OP_##name] = name##_cpu,
    OP_LIST(CPU_ENTRY, CPU_NONE)
#undef CPU_ENTRY
};

// Below this many elements one thread is as fast as two: a pass over them takes a few microseconds,
// and so does handing half of it to a thread that spins.
enum { SPLIT_ELEMENTS = 1 << 15, GRAIN_ELEMENTS = 1 << 10 };

typedef struct KernelJob {
    CpuKernel kernel;
    const OpCall *call;
} KernelJob;

static void run_range(void *argument, int64_t begin, int64_t end) {
    const KernelJob *job = argument;
    job->kernel(job->call, begin, end); // kernels by element and by row cannot fail
}

static Pool *pool_of(Context *context) {
    if (context->threads < 2 || context->pool) return context->pool;
    context->pool = pool_new(context->threads);
    if (!context->pool) error_clear(); // out of memory: this thread does the work alone
    return context->pool;
}

// Runs a task over [0, n) on the context's threads; used by kernels that split themselves (matmul).
void cpu_parallel(int64_t n, int64_t grain, PoolTask task, void *argument) {
    Context *context = context_current();
    pool_run(pool_of(context), n, grain, task, argument);
}

static Status cpu_run(Device *self, const OpCall *call) {
    (void)self;
    const Op *op = call->op;
    CpuKernel kernel = kernels[op->id];
    if (!(op->flags & (OP_BY_ELEMENT | OP_BY_ROW))) return kernel(call, 0, 1);
    int64_t elements = call->in[0]->numel, items = call->out[0]->numel, grain = GRAIN_ELEMENTS;
    if (items > elements) elements = items;
    if (op->flags & OP_BY_ROW) {
        int64_t row = call->in[0]->ndim ? call->in[0]->shape[call->in[0]->ndim - 1] : 1;
        items = row ? call->in[0]->numel / row : 0;
        grain = row ? (GRAIN_ELEMENTS + row - 1) / row : 1;
    }
    if (elements < SPLIT_ELEMENTS) return kernel(call, 0, items);
    KernelJob job = {kernel, call};
    cpu_parallel(items, grain, run_range, &job);
    return STATUS_OK;
}

static void *cpu_allocate(Device *self, size_t bytes) {
    (void)self;
    return memory_new_data(bytes);
}

static void cpu_release(Device *self, void *data, size_t bytes) {
    (void)self, (void)bytes;
    memory_free_data(data);
}

static int64_t (*const workspaces[OP_COUNT])(const OpCall *call) = {
    // bytes
    [OP_conv2d] = conv_forward_workspace,
    [OP_conv2d_backward_input] = conv_backward_input_workspace,
    [OP_conv2d_backward_weight] = conv_backward_weight_workspace,
};

static int64_t cpu_workspace(Device *self, const OpCall *call) {
    (void)self;
    return workspaces[call->op->id] ? workspaces[call->op->id](call) : 0;
}

static Status copy(Device *self, void *to, const void *from, size_t bytes) {
    (void)self;
    if (bytes) memcpy(to, from, bytes);
    return STATUS_OK;
}

Device *device_cpu(void) {
    static const Device cpu = {.name = "cpu",
                               .has_data = true,
                               .on_host = true,
                               .allocate = cpu_allocate,
                               .release = cpu_release,
                               .run = cpu_run,
                               .workspace = cpu_workspace,
                               .from_host = copy,
                               .to_host = copy};
    return (Device *)&cpu; // never written to
}
