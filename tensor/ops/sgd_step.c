// sgd_step.c -- stochastic gradient descent over all parameters in one pass, as torch.optim.SGD:
//   g += weight_decay p;  v = momentum v + g;  p -= lr v      (without momentum: p -= lr g)
//   Nesterov:                                  p -= lr (g + momentum v)
// params: value = {momentum, weight decay}, flags: SGD_NESTEROV
// inputs: state {lr}, then p, g (, v) of each parameter
#include "tensor/ops/optimizer_step.h"

enum { SGD_NESTEROV = 1 };

Status tensor_sgd_step(Tensor *const inputs[], int n_groups, SgdParams params) {
    OpCall call = {.op = &op_sgd_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * (params.momentum != 0.0f ? 3 : 2),
                   .params = {.value = {params.momentum, params.weight_decay},
                              .flags = params.nesterov ? SGD_NESTEROV : 0}};
    return op_dispatch(&call);
}

static int period_of(const OpCall *call) { return call->params.value[0] != 0.0f ? 3 : 2; }

static Status infer(OpCall *call) { return step_infer(call, period_of(call), 1); }

static bool mutates(const OpCall *call, int input) { // of each group all but the gradient
    return input > 0 && (input - 1) % period_of(call) != 1;
}

// 2 per element; 2 more for decay, for momentum, and for Nesterov's step
static OpCost cost(const OpCall *call) {
    OpCost c = op_cost_traffic(call);
    uint64_t n = (uint64_t)step_numel(call, period_of(call)), per_element = 2;
    if (call->params.value[0] != 0.0f) per_element += call->params.flags & SGD_NESTEROV ? 4 : 2;
    if (call->params.value[1] != 0.0f) per_element += 2;
    c.elementwise_flops = per_element * n;
    return c;
}

KERNEL static void plain(const OpCall *call, Tensor *const group[], int64_t begin, int64_t end) {
    float *p = step_data(group[0]);
    const float *g = step_data(group[1]);
    float lr = *call_in(call, 0), decay = call->params.value[1];
    if (decay == 0.0f)
        for (int64_t i = begin; i < end; i++) p[i] -= lr * g[i];
    else
        for (int64_t i = begin; i < end; i++) p[i] -= lr * (g[i] + decay * p[i]);
}

KERNEL static void with_momentum(const OpCall *call, Tensor *const group[], int64_t begin,
                                 int64_t end) {
    float *p = step_data(group[0]), *v = step_data(group[2]);
    const float *g = step_data(group[1]);
    float lr = *call_in(call, 0), momentum = call->params.value[0], decay = call->params.value[1];
    for (int64_t i = begin; i < end; i++) {
        float velocity = momentum * v[i] + (g[i] + decay * p[i]);
        v[i] = velocity;
        p[i] -= lr * velocity;
    }
}

KERNEL static void with_nesterov(const OpCall *call, Tensor *const group[], int64_t begin,
                                 int64_t end) {
    float *p = step_data(group[0]), *v = step_data(group[2]);
    const float *g = step_data(group[1]);
    float lr = *call_in(call, 0), momentum = call->params.value[0], decay = call->params.value[1];
    for (int64_t i = begin; i < end; i++) {
        float grad = g[i] + decay * p[i], velocity = momentum * v[i] + grad;
        v[i] = velocity;
        p[i] -= lr * (grad + momentum * velocity);
    }
}

Status sgd_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    StepTask task = call->params.flags & SGD_NESTEROV ? with_nesterov : with_momentum;
    step_run(call, period_of(call), period_of(call) == 3 ? task : plain);
    return STATUS_OK;
}

const Op op_sgd_step = {.id = OP_sgd_step,
                        .name = "sgd_step",
                        .min_inputs = 1,
                        .dtypes = dtypes_float,
                        .n_dtypes = 1,
                        .infer = infer,
                        .cost = COUNTED(cost),
                        .mutates = mutates};
