// optimizer_step.c -- shape rules of optimizer steps, and the walk over all parameters at once.
#include "tensor/ops/optimizer_step.h"

#include "tensor/memory.h"

int64_t step_numel(const OpCall *call, int period) {
    int64_t total = 0;
    for (int i = 1; i < call->n_in; i += period) total += call->in[i]->numel;
    return total;
}

Status step_infer(OpCall *call, int period, int64_t state_size) {
    if (call->in[0]->numel != state_size || (call->n_in - 1) % period != 0)
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "takes a state of %lld numbers, then groups of %d tensors",
                        (long long)state_size, period);
    for (int i = 1; i < call->n_in; i++) {
        const Tensor *parameter = call->in[i - (i - 1) % period];
        if (!tensor_same_shape(call->in[i], parameter))
            return op_error(call, STATUS_SHAPE,
                            "tensor %d of group %d has another shape than its "
                            "parameter",
                            (i - 1) % period, (i - 1) / period);
    }
    return STATUS_OK;
}

Status step_dispatch(const Op *op, Tensor *state, Tensor *const groups[], int n_tensors,
                     OpParams params) {
    enum { FEW = 1024 };
    Tensor *few[FEW], **in = few; // a step of 256 parameters and fewer asks for no memory
    if (n_tensors >= FEW) in = memory_new((size_t)(n_tensors + 1) * sizeof(Tensor *));
    if (!in) return STATUS_OUT_OF_MEMORY;
    in[0] = state;
    for (int i = 0; i < n_tensors; i++) in[i + 1] = groups[i];
    OpCall call = {.op = op, .in = in, .n_in = n_tensors + 1, .params = params};
    Status status = op_dispatch(&call);
    if (in != few) memory_free(in);
    return status;
}

typedef struct StepJob {
    const OpCall *call;
    int period;
    StepTask task;
} StepJob;

// Elements are numbered through all parameters; each range covers parts of some of them.
static void run_range(void *argument, int64_t begin, int64_t end) {
    const StepJob *job = argument;
    int64_t first = 0;
    for (int i = 1; i < job->call->n_in && first < end; i += job->period) {
        int64_t n = job->call->in[i]->numel;
        int64_t from = begin > first ? begin - first : 0, to = end - first < n ? end - first : n;
        if (from < to) job->task(job->call, job->call->in + i, from, to);
        first += n;
    }
}

void step_run(const OpCall *call, int period, StepTask task) {
    enum { SPLIT_FROM = 1 << 15, GRAIN = 1 << 12 };
    StepJob job = {call, period, task};
    int64_t n = step_numel(call, period);
    if (n < SPLIT_FROM)
        run_range(&job, 0, n);
    else
        cpu_parallel(n, GRAIN, run_range, &job);
}
