// optimizer_pass.c -- shared by the steps of all optimizers: input checks, and the one pass over
// all parameters. The formulas are in optimizer_step.c and optimizer_simple.c.
#include "tensor/ops/optimizer_step.h"

#include "tensor/handle.h"

Status optimizer_step_infer(OpCall *call, int period, int64_t state_size) {
    if (call->in[0]->numel != state_size || (call->n_in - 1) % period != 0)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "takes a state of %lld numbers, then groups of %d tensors. HINT: see ops.h",
                        (long long)state_size, period);
    for (int i = 1; i < call->n_in; i += period)
        for (int k = 1; k < period; k++)
            if (!same_shape(&call->in[i + k]->shape, &call->in[i]->shape))
                return op_error(call, STATUS_SHAPE,
                                "tensor %d of group %d has another shape than its parameter. HINT: "
                                "one shape a group",
                                k, (i - 1) / period);
    return STATUS_OK;
}

typedef struct StepJob {
    const OpCall *call;
    int period;
    OptimizerTask task;
} StepJob;

// Each thread takes the same share of every parameter: the rows that it also computes in the
// products of forward and backward (gemm.c), so they stay in its core's cache.
enum { SLICES = 1024 };

static void run_slices(void *argument, int64_t begin, int64_t end) {
    const StepJob *job = argument;
    for (int i = 1; i < job->call->n_in; i += job->period) {
        int64_t n = job->call->in[i]->numel, whole = n / SLICES, rest = n % SLICES;
        int64_t from = whole * begin + rest * begin / SLICES; // n begin / SLICES, without overflow
        int64_t to = whole * end + rest * end / SLICES;
        if (from < to) job->task(job->call, job->call->in + i, from, to);
    }
}

static OpWork work_of(const OpCall *call, int period) {
    int64_t numel = 0; // of all parameters
    for (int i = 1; i < call->n_in; i += period) numel += call->in[i]->numel;
    return (OpWork){.items = SLICES, .cost = (double)numel / SLICES};
}

int64_t optimizer_step_handoffs(const OpCall *call, int period) {
    return cpu_handoffs(work_of(call, period));
}

void optimizer_step_run(const OpCall *call, int period, OptimizerTask task) {
    StepJob job = {call, period, task};
    cpu_parallel(work_of(call, period), run_slices, &job);
}
