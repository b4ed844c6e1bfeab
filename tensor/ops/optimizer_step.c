// optimizer_step.c -- shape rules of optimizer steps, and the walk over all parameters at once.
#include "tensor/ops/optimizer_step.h"

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

typedef struct StepJob {
    const OpCall *call;
    int period;
    StepTask task;
} StepJob;

// Each thread takes the same share of every parameter: the rows that it also computes in the
// products of forward and backward (gemm.c), so that they stay in its core's cache.
enum { SLICES = 1024 };

static void run_range(void *argument, int64_t begin, int64_t end) {
    const StepJob *job = argument;
    for (int i = 1; i < job->call->n_in; i += job->period) {
        int64_t n = job->call->in[i]->numel, whole = n / SLICES, rest = n % SLICES;
        int64_t from = whole * begin + rest * begin / SLICES; // n begin / SLICES, without overflow
        int64_t to = whole * end + rest * end / SLICES;
        if (from < to) job->task(job->call, job->call->in + i, from, to);
    }
}

void step_run(const OpCall *call, int period, StepTask task) {
    StepJob job = {call, period, task};
    OpWork work = {.items = SLICES, .cost = (double)step_numel(call, period) / SLICES};
    cpu_parallel(work, run_range, &job);
}
