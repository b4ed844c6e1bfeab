// adamw_step.c -- Adam and AdamW over all parameters in one pass, as torch.optim:
//   t += 1;  g += decay p (Adam)  or  p *= 1 - lr decay (AdamW)
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g
//   p -= (lr / (1 - b1^t)) m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
// params: value = {b1, b2, epsilon, decay}, flags: ADAM_DECOUPLED
// inputs: state {lr, t}, then p, g, m, v of each parameter
#include <math.h>

#include "tensor/ops/optimizer_step.h"

enum { ADAM_DECOUPLED = 1, PERIOD = 4 };

Status tensor_adam_step(Tensor *const inputs[], int n_groups, AdamParams params) {
    OpCall call = {.op = &op_adamw_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * PERIOD,
                   .params = {.value = {params.beta1, params.beta2, params.epsilon,
                                        params.weight_decay},
                              .flags = params.decoupled ? ADAM_DECOUPLED : 0}};
    return op_dispatch(&call);
}

static Status infer(OpCall *call) { return step_infer(call, PERIOD, 2); }

// The state (t), and of each group all but the gradient.
static bool mutates(const OpCall *call, int input) {
    (void)call;
    return input == 0 || (input - 1) % PERIOD != 1;
}

// m 3, v 4, denominator 2 and a square root, update 3; decay 1 (AdamW) or 2 (Adam)
static OpCost cost(const OpCall *call) {
    OpCost c = op_cost_traffic(call);
    uint64_t n = (uint64_t)step_numel(call, PERIOD);
    uint64_t decay = call->params.flags & ADAM_DECOUPLED ? 1 : 2;
    c.elementwise_flops = n * (12 + (call->params.value[3] != 0.0f ? decay : 0));
    c.transcendental_flops = n;
    return c;
}

typedef struct Rates { // per step, the same for every element
    float keep, decay, b1, b2, step, root_scale, epsilon;
} Rates;

static Rates rates_of(const OpCall *call) {
    const float *state = call_in(call, 0), *value = call->params.value;
    float lr = state[0], t = state[1];
    bool decoupled = call->params.flags & ADAM_DECOUPLED;
    double correction1 = 1.0 - pow((double)value[0], (double)t);
    double correction2 = 1.0 - pow((double)value[1], (double)t);
    return (Rates){.keep = decoupled ? 1.0f - lr * value[3] : 1.0f,
                   .decay = decoupled ? 0.0f : value[3],
                   .b1 = value[0],
                   .b2 = value[1],
                   .step = (float)((double)lr / correction1),
                   .root_scale = (float)(1.0 / sqrt(correction2)),
                   .epsilon = value[2]};
}

KERNEL static void update(const OpCall *call, Tensor *const group[], int64_t begin, int64_t end) {
    Rates r = rates_of(call);
    float *restrict p = step_data(group[0]), *restrict m = step_data(group[2]);
    float *restrict v = step_data(group[3]);
    const float *restrict g = step_data(group[1]);
    float rest1 = 1.0f - r.b1, rest2 = 1.0f - r.b2;
    for (int64_t i = begin; i < end; i++) {
        float grad = g[i] + r.decay * p[i];
        float mean = r.b1 * m[i] + rest1 * grad;
        float square = r.b2 * v[i] + rest2 * grad * grad;
        m[i] = mean;
        v[i] = square;
        p[i] = r.keep * p[i] - r.step * mean / (math_sqrt(square) * r.root_scale + r.epsilon);
    }
}

Status adamw_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    call_in(call, 0)[1] += 1.0f; // t lives in the state, so that a captured step can be replayed
    step_run(call, PERIOD, update);
    return STATUS_OK;
}

const Op op_adamw_step = {.id = OP_adamw_step,
                          .name = "adamw_step",
                          .min_inputs = 1,
                          .dtypes = dtypes_float,
                          .n_dtypes = 1,
                          .infer = infer,
                          .cost = COUNTED(cost),
                          .mutates = mutates};
