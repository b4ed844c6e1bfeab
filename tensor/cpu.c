// cpu.c -- the CPU's device table: runs the kernels of descriptors, split over the context's
// threads where it pays.
#include <string.h>

#include "tensor/context.h"
#include "tensor/gemm.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/op.h"
#include "tensor/pool.h"

// Cheaper work is as fast on one thread as on two: a pass over that many elements takes ten
// microseconds, and handing half of it to a spinning thread takes as long as doing that half. No
// thread gets less than GRAIN.
enum { SPLIT_COST = 1 << 15, GRAIN_COST = 1 << 10 };

bool cpu_pays(double cost) { return cost >= SPLIT_COST; }
static bool pays(OpWork work) { return cpu_pays((double)work.items * work.cost); }

static Pool *pool_of(Context *context) {
    if (context->threads < 2 || context->pool) return context->pool;
    context->pool = pool_new(blas_reserve(context->threads)); // fewer if memory for all is lacking
    if (!context->pool) error_clear(); // out of memory: this thread does the work alone
    return context->pool;
}

// Smallest number of adjacent items that makes a range worthwhile.
static int64_t grain_of(OpWork work) {
    int64_t grain = work.cost < GRAIN_COST ? (int64_t)(GRAIN_COST / work.cost) : 1;
    if (work.together < 2) return grain;
    return (grain + work.together - 1) / work.together * work.together;
}

int64_t cpu_handoffs(OpWork work) {
    if (work.items == 0 || !pays(work)) return 0;
    return pool_ranges(context_current()->threads, work.items, grain_of(work)) - 1;
}

int64_t op_handoffs(const OpCall *call) {
    if (!GIVEN(call)) return 0;
    const Op *op = call->op;
    if (op->handoffs) return op->handoffs(call);
    if (op->row) return cpu_handoffs((OpWork){.items = call_numel(call), .cost = 1.0});
    return op->work ? cpu_handoffs(op->work(call)) : 0;
}

void cpu_parallel(OpWork work, PoolTask task, void *argument) {
    if (work.items == 0) return;
    if (!pays(work)) {
        task(argument, 0, work.items);
        return;
    }
    pool_run(pool_of(context_current()), work.items, grain_of(work), task, argument);
}

typedef struct KernelJob {
    CpuKernel kernel;
    const OpCall *call;
} KernelJob;

static void run_range(void *argument, int64_t begin, int64_t end) {
    const KernelJob *job = argument;
    job->kernel(job->call, begin, end); // kernels of many items cannot fail
}

// Runs an op that has `row` and needs no other kernel.
static Status run_row(const OpCall *call, int64_t begin, int64_t end) {
    call->op->row(call_in(call, 0) + begin, call_out(call, 0) + begin, end - begin, &call->params);
    return STATUS_OK;
}

static inline Status run_items(const OpCall *call, CpuKernel kernel, OpWork work) {
    if (work.items == 0) return STATUS_OK;
    if (!pays(work)) return kernel(call, 0, work.items);
    cpu_parallel(work, run_range, &(KernelJob){kernel, call});
    return STATUS_OK;
}

static Status cpu_run(Device *self, const OpCall *call) {
    (void)self;
    const Op *op = call->op;
    bool whole = op->whole && call->in[0]->dtype == DTYPE_INT64;
    CpuKernel kernel = whole ? op->whole : op->row ? run_row : op->kernel;
    if (!kernel)
        return op_error(call, STATUS_NOT_IMPLEMENTED,
                        "has no kernel on cpu. HINT: Op.kernel or Op.row");
    Status status = op->check ? op->check(call) : STATUS_OK;
    if (status) return status;
    if (op->row) return run_items(call, kernel, (OpWork){.items = call_numel(call), .cost = 1.0});
    return op->work ? run_items(call, kernel, op->work(call)) : kernel(call, 0, 1);
}

static void *cpu_allocate(Device *self, size_t bytes) {
    (void)self;
    return memory_new_data(bytes);
}

static void cpu_release(Device *self, void *data, size_t bytes) {
    (void)self, (void)bytes;
    memory_free_data(data);
}

static int64_t cpu_workspace(Device *self, const OpCall *call) {
    (void)self;
    return call->op->workspace ? call->op->workspace(call) : 0;
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
    return (Device *)&cpu; // never modified
}
