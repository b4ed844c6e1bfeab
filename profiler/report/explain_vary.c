// explain_vary.c -- what an op's story owes to its parameters and to its layer: which norm, which
// optimizer, what a product's backward is a gradient of. The stories themselves: explain_story.c.
#include <stdio.h>
#include <string.h>

#include "profiler/report/explain_parts.h"

typedef void (*Vary)(const Profile *profile, const ProfileOp *op, OpStory *story);

static void say(OpStory *story, const char *text) {
    snprintf(story->does, sizeof(story->does), "%s", text);
}

static void vary_gelu(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    if (op->record.params.flags != ACTIVATION_GELU_TANH) return;
    say(story, "y = 0.5 x (1 + tanh(k (x + a x^3)))");
    story->elementwise.each = 8;
}

static void vary_gelu_backward(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    if (op->record.params.flags != ACTIVATION_GELU_TANH) return;
    say(story, "dx = dy (0.5 (1 + t) + 0.5 x (1 - t t) k (1 + 3a x x)), t the tanh in y");
    story->elementwise.each = 17;
    story->transcendental.each = 1;
}

static void vary_layer_norm(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    bool weight = op->record.in[1].ndim >= 0, bias = op->record.in[2].ndim >= 0;
    story->elementwise.each += weight;
    if (bias) story->bias = (Rule){PER_OUTPUT, 1, 0, 0};
    snprintf(story->does, sizeof(story->does),
             "y = (x - mean) rstd%s%s, rstd = 1 / sqrt(variance + epsilon)",
             weight ? " weight" : "", bias ? " + bias" : "");
}

static void vary_layer_norm_backward(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    if (op->record.in[2].ndim < 0) return; // no weight
    story->elementwise.each++;
    say(story, "dx = rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd");
}

static void vary_layer_norm_weight(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    if (op->record.params.flags == 0) return; // no dbias
    story->elementwise = (Rule){PER_COLUMN, 5, -2, 1};
    story->extra = "dbias";
    story->extra_bytes = (Rule){PER_OUTPUT, 4, 0, 0};
    say(story, "dweight = dy (x - mean) rstd and dbias = dy, each summed over the rows");
}

static void vary_sgd(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    const OpParams *params = &op->record.params;
    bool momentum = params->value[0] != 0.0f, nesterov = params->flags != 0;
    bool decay = params->value[1] != 0.0f;
    story->elementwise.each += decay ? 2 : 0;
    if (momentum) story->elementwise.each += nesterov ? 4 : 2;
    if (momentum) story->in[3] = "v";
    snprintf(story->does, sizeof(story->does), "%s%sp = p - lr %s",
             decay ? "g = g + decay p; " : "", momentum ? "v = momentum v + g; " : "",
             !momentum  ? "g"
             : nesterov ? "(g + momentum v)"
                        : "v");
}

static void vary_adam(const Profile *profile, const ProfileOp *op, OpStory *story) {
    (void)profile;
    if (op->record.params.value[3] == 0.0f) return; // no weight decay
    bool decoupled = op->record.params.flags != 0;
    story->elementwise.each += decoupled ? 1 : 2;
    snprintf(story->does, sizeof(story->does),
             "%sm = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; p = %sp - a m / (s sqrt(v) + e), "
             "a and s by lr and t",
             decoupled ? "" : "g = g + decay p; ", decoupled ? "keep " : "");
}

// ---- linear, and what its backward runs, told by the names of its forward --------------------
// With an activation fused in, z is what goes into it.
typedef struct Fused {
    int forward, backward;
    const char *kept; // backward reads it
} Fused;

static const Fused fused[ACTIVATION_COUNT] = {
    [ACTIVATION_RELU] = {OP_relu, OP_relu_backward, "y"},
    [ACTIVATION_SIGMOID] = {OP_sigmoid, OP_sigmoid_backward, "y"},
    [ACTIVATION_TANH] = {OP_tanh, OP_tanh_backward, "y"},
    [ACTIVATION_GELU] = {OP_gelu, OP_gelu_backward, "z"},
    [ACTIVATION_GELU_TANH] = {OP_gelu, OP_gelu_backward, "z"},
};

static const Fused *fused_in(const OpRecord *linear) {
    uint32_t activation = linear ? linear->params.flags : ACTIVATION_NONE;
    bool some = activation < ACTIVATION_COUNT && activation != ACTIVATION_NONE;
    return some ? &fused[activation] : NULL;
}

const OpRecord *explain_first(const Profile *profile, int layer, int op) {
    for (int64_t i = 0; i < profile->n_ops; i++)
        if (profile->ops[i].layer == layer && profile->ops[i].record.op->id == op)
            return &profile->ops[i].record;
    return NULL;
}

static void vary_linear(const Profile *profile, const ProfileOp *op, OpStory *story) {
    const Fused *activation = fused_in(&op->record);
    bool has_bias = op->record.in[2].ndim >= 0;
    const char *bias = has_bias ? " + bias" : "";
    story->keeps = KEEP_X;
    if (has_bias) story->bias = (Rule){PER_OUTPUT, 1, 0, 0};
    snprintf(story->does, sizeof(story->does), "y = x . weight^T%s", bias);
    if (!activation) return;
    OpStory of = explain_stories[activation->forward];
    if (activation->forward == OP_gelu) vary_gelu(profile, op, &of);
    story->elementwise = of.elementwise;
    story->transcendental = of.transcendental;
    snprintf(story->does, sizeof(story->does), "z = x . weight^T%s, y = %s(z)", bias,
             activation_name((Activation)op->record.params.flags));
    bool keeps_z = activation->kept[0] == 'z';
    story->keeps |= keeps_z ? KEEP_EXTRA : KEEP_Y;
    if (!keeps_z || profile->kind == PROFILE_INFERENCE) return;
    story->extra = "z";
    story->extra_bytes = (Rule){PER_OUTPUT, 4, 0, 0};
}

// Its backward begins with the activation's.
static void tell_fused(const Profile *profile, const ProfileOp *op, OpStory *story) {
    const OpRecord *linear = explain_first(profile, op->layer, OP_linear);
    const Fused *activation = fused_in(linear);
    if (!activation || activation->backward != op->record.op->id) return;
    const char *name = activation_name((Activation)linear->params.flags);
    snprintf(story->does, sizeof(story->does), "dz = dy times the slope of %s, known from %s", name,
             activation->kept);
    story->out = "dz";
    story->in[1] = activation->kept;
}

static void vary_matmul(const Profile *profile, const ProfileOp *op, OpStory *story) {
    const OpRecord *linear = explain_first(profile, op->layer, OP_linear), *record = &op->record;
    const char *gradient = fused_in(linear) ? "dz" : "dy";
    if (!linear) return;
    bool of_weight =
        record->phase == PHASE_BACKWARD_WEIGHT && shape_equal(record->out, linear->in[1]);
    bool of_input =
        record->phase == PHASE_BACKWARD_INPUT && shape_equal(record->in[1], linear->in[1]);
    if (!of_weight && !of_input) return;
    snprintf(story->does, sizeof(story->does),
             of_weight ? "dweight = %s^T . x" : "dx = %s . weight", gradient);
    story->out = of_weight ? "dweight" : "dx";
    story->in[0] = gradient;
    story->in[1] = of_weight ? "x" : "weight";
}

static void vary_sum(const Profile *profile, const ProfileOp *op, OpStory *story) {
    const OpRecord *linear = explain_first(profile, op->layer, OP_linear);
    const char *gradient = fused_in(linear) ? "dz" : "dy";
    if (!linear || op->record.phase != PHASE_BACKWARD_WEIGHT ||
        !shape_equal(op->record.out, linear->in[2]))
        return;
    snprintf(story->does, sizeof(story->does), "dbias = %s, summed over its rows", gradient);
    story->out = "dbias";
    story->in[0] = gradient;
}

static const Vary vary[OP_COUNT] = {
    [OP_gelu] = vary_gelu,
    [OP_gelu_backward] = vary_gelu_backward,
    [OP_linear] = vary_linear,
    [OP_matmul] = vary_matmul,
    [OP_sum] = vary_sum,
    [OP_sgd_step] = vary_sgd,
    [OP_adamw_step] = vary_adam,
    [OP_layer_norm] = vary_layer_norm,
    [OP_layer_norm_backward] = vary_layer_norm_backward,
    [OP_layer_norm_backward_weight] = vary_layer_norm_weight,
    [OP_conv2d] = explain_convolution,
    [OP_max_pool2d] = explain_max_pool,
    [OP_avg_pool2d] = explain_avg_pool,
    [OP_avg_pool2d_backward] = explain_avg_pool,
};

void explain_vary(const Profile *profile, const ProfileOp *op, OpStory *story) {
    Vary rule = vary[op->record.op->id];
    if (rule) rule(profile, op, story);
    tell_fused(profile, op, story);
}
