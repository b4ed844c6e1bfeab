// optimizer_simple.c -- RMSprop and Lion: optimizers that keep one tensor per parameter.
// optimizer_step.h has the parts shared with the others.
#include "tensor/handle.h"
#include "tensor/ops/optimizer_step.h"

enum { PERIOD = 3 }; // p, g, the optimizer's tensor

static int64_t simple_handoffs(const OpCall *call) { return optimizer_step_handoffs(call, PERIOD); }

static Status simple_infer(OpCall *call) { return optimizer_step_infer(call, PERIOD, 1); }

static bool simple_mutates(const OpCall *call, int input) { // all of each group except the gradient
    (void)call;
    return input > 0 && (input - 1) % PERIOD != 1;
}

// ---- rmsprop_step: as torch.optim.RMSprop, neither centered nor with momentum ------------------
//   g += decay p;  v = a v + (1 - a) g g;  p -= lr g / (sqrt(v) + epsilon)
// params: value = {a, epsilon, decay}
// inputs: state {lr}, then p, g, v of each parameter
Status tensor_rmsprop_step(Tensor *const inputs[], int n_groups, RmspropParams params) {
    OpCall call = {.op = &op_rmsprop_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * PERIOD,
                   .params = {.value = {params.smoothing, params.epsilon, params.weight_decay}}};
    return op_dispatch(&call);
}

KERNEL static void rmsprop_update(const OpCall *call, Tensor *const group[], int64_t begin,
                                  int64_t end) {
    float *restrict p = tensor_floats(group[0]), *restrict v = tensor_floats(group[2]);
    const float *restrict g = tensor_floats(group[1]);
    float lr = *call_in(call, 0), a = call->params.value[0], rest = 1.0f - a;
    float epsilon = call->params.value[1], decay = call->params.value[2];
    for (int64_t i = begin; i < end; i++) {
        float grad = math_decayed(g[i], decay, p[i]);
        float square = a * v[i] + rest * grad * grad;
        v[i] = square;
        p[i] -= lr * (grad / (math_sqrt(square) + epsilon));
    }
}

static Status rmsprop_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    optimizer_step_run(call, PERIOD, rmsprop_update);
    return STATUS_OK;
}

#define RMSPROP_STEP "v = a v + (1 - a) g g; p = p - lr g / (sqrt(v) + e)"
static void rmsprop_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->value[2] == 0.0f) return; // no weight decay
    story->elementwise.each += 2;
    story->formula = "g = g + decay p; " RMSPROP_STEP;
}

// v 4, denominator 1 and a square root, update 3; decay 2
const Op op_rmsprop_step = {.id = OP_rmsprop_step,
                            .name = "rmsprop_step",
                            .kernel = rmsprop_step_cpu,
                            .handoffs = simple_handoffs,
                            .least_inputs = 1,
                            .infer = simple_infer,
                            .mutates = simple_mutates,
                            .story = STORY(.formula = RMSPROP_STEP, .in = {"lr", "p", "g", "v"},
                                           .elementwise = {PER_PARAMETER, .each = 8, .input = 1},
                                           .transcendental = {PER_PARAMETER, .each = 1, .input = 1},
                                           .roots = {PER_PARAMETER, .each = 1, .input = 1},
                                           .divisions = {PER_PARAMETER, .each = 1, .input = 1},
                                           .vary = rmsprop_vary)};

// ---- lion_step: Chen et al. 2023, algorithm 2 --------------------------------------------------
//   c = b1 m + (1 - b1) g;  p = (1 - lr decay) p - lr sign(c);  m = b2 m + (1 - b2) g
// params: value = {b1, b2, decay}
// inputs: state {lr}, then p, g, m of each parameter
Status tensor_lion_step(Tensor *const inputs[], int n_groups, LionParams params) {
    OpCall call = {.op = &op_lion_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * PERIOD,
                   .params = {.value = {params.beta1, params.beta2, params.weight_decay}}};
    return op_dispatch(&call);
}

KERNEL static void lion_update(const OpCall *call, Tensor *const group[], int64_t begin,
                               int64_t end) {
    float *restrict p = tensor_floats(group[0]), *restrict m = tensor_floats(group[2]);
    const float *restrict g = tensor_floats(group[1]);
    float lr = *call_in(call, 0), b1 = call->params.value[0], b2 = call->params.value[1];
    float rest1 = 1.0f - b1, rest2 = 1.0f - b2, keep = 1.0f - lr * call->params.value[2];
    for (int64_t i = begin; i < end; i++) {
        float direction = math_sign(b1 * m[i] + rest1 * g[i]);
        p[i] = keep * p[i] - lr * direction;
        m[i] = b2 * m[i] + rest2 * g[i];
    }
}

static Status lion_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    optimizer_step_run(call, PERIOD, lion_update);
    return STATUS_OK;
}

#define LION_STEP "p - lr sign(b1 m + (1 - b1) g); m = b2 m + (1 - b2) g"
static void lion_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (params->value[2] == 0.0f) return; // no weight decay
    story->elementwise.each += 1;
    story->formula = "p = keep " LION_STEP;
}

// direction 3 and its sign 1, update 2, m 3; decay 1
const Op op_lion_step = {.id = OP_lion_step,
                         .name = "lion_step",
                         .kernel = lion_step_cpu,
                         .handoffs = simple_handoffs,
                         .least_inputs = 1,
                         .infer = simple_infer,
                         .mutates = simple_mutates,
                         .story = STORY(.formula = "p = " LION_STEP, .in = {"lr", "p", "g", "m"},
                                        .elementwise = {PER_PARAMETER, .each = 9, .input = 1},
                                        .vary = lion_vary)};
