// optimizer_step.c -- SGD, Adam and AdamW: one pass over the elements of all parameters of a step.
// Optimizers with one tensor per parameter and no variants are in optimizer_simple.c.
#include <math.h>

#include "tensor/handle.h"
#include "tensor/ops/optimizer_step.h"

// ---- sgd_step: as torch.optim.SGD ---------------------------------------------------------------
//   g += weight_decay p;  v = momentum v + g;  p -= lr v      (without momentum: p -= lr g)
//   Nesterov:                                  p -= lr (g + momentum v)
// params: value = {momentum, weight decay}, flags: SGD_NESTEROV
// inputs: state {lr}, then p, g (, v) of each parameter
enum { SGD_NESTEROV = 1 };

Status tensor_sgd_step(Tensor *const inputs[], int n_groups, SgdParams params) {
    OpCall call = {.op = &op_sgd_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * (params.momentum != 0.0f ? 3 : 2),
                   .params = {.value = {params.momentum, params.weight_decay},
                              .flags = params.nesterov ? SGD_NESTEROV : 0}};
    return op_dispatch(&call);
}

static int sgd_period(const OpCall *call) { return call->params.value[0] != 0.0f ? 3 : 2; }

static Status sgd_infer(OpCall *call) { return optimizer_step_infer(call, sgd_period(call), 1); }

static bool sgd_mutates(const OpCall *call, int input) { // all of each group except the gradient
    return input > 0 && (sgd_period(call) == 3 ? (input - 1) % 3 : (input - 1) % 2) != 1;
}

KERNEL static void plain(const OpCall *call, Tensor *const group[], int64_t begin, int64_t end) {
    float *p = tensor_floats(group[0]);
    const float *g = tensor_floats(group[1]);
    float lr = *call_in(call, 0), decay = call->params.value[1];
    for (int64_t i = begin; i < end; i++) p[i] -= lr * math_decayed(g[i], decay, p[i]);
}

MATH_INLINE void momentum_range(const OpCall *call, Tensor *const group[], int64_t begin,
                                int64_t end, bool nesterov) {
    float *p = tensor_floats(group[0]), *v = tensor_floats(group[2]);
    const float *g = tensor_floats(group[1]);
    float lr = *call_in(call, 0), momentum = call->params.value[0], decay = call->params.value[1];
    for (int64_t i = begin; i < end; i++) {
        float grad = math_decayed(g[i], decay, p[i]), velocity = momentum * v[i] + grad;
        v[i] = velocity;
        p[i] -= lr * (nesterov ? grad + momentum * velocity : velocity);
    }
}

KERNEL static void with_momentum(const OpCall *call, Tensor *const group[], int64_t begin,
                                 int64_t end) {
    if (call->params.flags & SGD_NESTEROV) // a constant for two plain inlined loops
        momentum_range(call, group, begin, end, true);
    else
        momentum_range(call, group, begin, end, false);
}

static Status sgd_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    optimizer_step_run(call, sgd_period(call), sgd_period(call) == 3 ? with_momentum : plain);
    return STATUS_OK;
}

static int64_t sgd_handoffs(const OpCall *call) {
    return optimizer_step_handoffs(call, sgd_period(call));
}

static void sgd_vary(OpStory *story, const OpParams *params, unsigned given) {
    static const char *const formulas[][3] = {
        {"p = p - lr g", "v = momentum v + g; p = p - lr v",
         "v = momentum v + g; p = p - lr (g + momentum v)"},
        {"g = g + decay p; p = p - lr g", "g = g + decay p; v = momentum v + g; p = p - lr v",
         "g = g + decay p; v = momentum v + g; p = p - lr (g + momentum v)"}};
    bool decay = params->value[1] != 0.0f, momentum = params->value[0] != 0.0f;
    int form = !momentum ? 0 : params->flags & SGD_NESTEROV ? 2 : 1;
    (void)given;
    story->formula = formulas[decay][form];
    story->elementwise.each += (decay ? 2 : 0) + 2 * form;
    if (momentum) story->in[3] = "v";
}

// 2 per element; 2 more for decay, for momentum, and for Nesterov's step
const Op op_sgd_step = {.id = OP_sgd_step,
                        .name = "sgd_step",
                        .kernel = sgd_step_cpu,
                        .handoffs = sgd_handoffs,
                        .least_inputs = 1,
                        .infer = sgd_infer,
                        .mutates = sgd_mutates,
                        .story = STORY(.formula = "p = p - lr g", .in = {"lr", "p", "g"},
                                       .elementwise = {PER_PARAMETER, .each = 2, .input = 1},
                                       .vary = sgd_vary)};

// ---- adamw_step: Adam and AdamW, as torch.optim ------------------------------------------------
//   t += 1;  g += decay p (Adam)  or  p *= 1 - lr decay (AdamW)
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g
//   p -= (lr / (1 - b1^t)) m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
// params: value = {b1, b2, epsilon, decay}, flags: ADAM_DECOUPLED
// inputs: state {lr, t}, then p, g, m, v of each parameter
enum { ADAM_DECOUPLED = 1, ADAM_PERIOD = 4 };

Status tensor_adam_step(Tensor *const inputs[], int n_groups, AdamParams params) {
    OpCall call = {.op = &op_adamw_step,
                   .in = (Tensor **)inputs,
                   .n_in = 1 + n_groups * ADAM_PERIOD,
                   .params = {.value = {params.beta1, params.beta2, params.epsilon,
                                        params.weight_decay},
                              .flags = params.decoupled ? ADAM_DECOUPLED : 0}};
    return op_dispatch(&call);
}

static int64_t adam_handoffs(const OpCall *call) {
    return optimizer_step_handoffs(call, ADAM_PERIOD);
}

static Status adam_infer(OpCall *call) { return optimizer_step_infer(call, ADAM_PERIOD, 2); }

// The state (t), and all of each group except the gradient.
static bool adam_mutates(const OpCall *call, int input) {
    (void)call;
    return input == 0 || (input - 1) % ADAM_PERIOD != 1;
}

typedef struct Rates { // constants of a step
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

KERNEL static void adam_update(const OpCall *call, Tensor *const group[], int64_t begin,
                               int64_t end) {
    Rates r = rates_of(call);
    float *restrict p = tensor_floats(group[0]), *restrict m = tensor_floats(group[2]);
    float *restrict v = tensor_floats(group[3]);
    const float *restrict g = tensor_floats(group[1]);
    float rest1 = 1.0f - r.b1, rest2 = 1.0f - r.b2;
    for (int64_t i = begin; i < end; i++) {
        float grad = math_decayed(g[i], r.decay, p[i]);
        float mean = r.b1 * m[i] + rest1 * grad;
        float square = r.b2 * v[i] + rest2 * grad * grad;
        m[i] = mean;
        v[i] = square;
        p[i] = r.keep * p[i] - r.step * mean / (math_sqrt(square) * r.root_scale + r.epsilon);
    }
}

static Status adamw_step_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    call_in(call, 0)[1] += 1.0f; // t is in the state, so that a captured step can be replayed
    optimizer_step_run(call, ADAM_PERIOD, adam_update);
    return STATUS_OK;
}

#define ADAM_MOMENTS "m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; "
#define ADAM_STEP "p - a m / (s sqrt(v) + e), a and s by lr and t"
static void adam_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool decoupled = params->flags & ADAM_DECOUPLED;
    (void)given;
    if (params->value[3] == 0.0f) return; // no weight decay
    story->elementwise.each += decoupled ? 1 : 2;
    story->formula = decoupled ? ADAM_MOMENTS "p = keep " ADAM_STEP
                               : "g = g + decay p; " ADAM_MOMENTS "p = " ADAM_STEP;
}

// m 3, v 4, denominator 2 and a square root, update 3; decay 1 (AdamW) or 2 (Adam)
const Op op_adamw_step = {
    .id = OP_adamw_step,
    .name = "adamw_step",
    .kernel = adamw_step_cpu,
    .handoffs = adam_handoffs,
    .least_inputs = 1,
    .infer = adam_infer,
    .mutates = adam_mutates,
    .story = STORY(.formula = ADAM_MOMENTS "p = " ADAM_STEP, .in = {"lr and t", "p", "g", "m", "v"},
                   .elementwise = {PER_PARAMETER, .each = 12, .input = 1},
                   .transcendental = {PER_PARAMETER, .each = 1, .input = 1},
                   .roots = {PER_PARAMETER, .each = 1, .input = 1},
                   .divisions = {PER_PARAMETER, .each = 1, .input = 1}, .vary = adam_vary)};
