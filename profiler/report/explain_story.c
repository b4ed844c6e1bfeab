// explain_story.c -- what each op computes, what its operands are called, and the rules by which
// its counts follow from shapes. Words, for people: costs are the ops' own (tensor/ops/), and a
// rule that does not come to the op's count is not shown. An op without a line here is told by its
// shapes and counts alone.
#include <stdio.h>
#include <string.h>

#include "profiler/report/explain_parts.h"

#define OUT(n)                                                                                     \
    { PER_OUTPUT, n, 0, 0 }
#define IN(n)                                                                                      \
    { PER_INPUT, n, 0, 0 }
#define ROW(n, more, input)                                                                        \
    { PER_ROW, n, more, input }
#define BLOCK(n, more)                                                                             \
    { PER_BLOCK, n, more, 0 }
#define SUM                                                                                        \
    { PER_SUM, 0, 0, 0 }

#define COMPUTES(text, result, ...) .does = text, .out = result, .in = {__VA_ARGS__}

static const OpStory stories[OP_COUNT] = {
    [OP_contiguous] = {COMPUTES("y = x, laid out densely", "y", "x")},
    [OP_slice_backward] = {COMPUTES("dx = dy where the slice was, else 0", "dx", "dy")},
    [OP_concat] = {COMPUTES("y = the inputs side by side", "y", "a", "b", "c")},
    [OP_gather] = {COMPUTES("y = x at the index", "y", "x", "index")},
    [OP_gather_backward] = {COMPUTES("dx = the sum of dy at each index", "dx", "dy", "index"),
                            .elementwise = IN(1)},
    [OP_fill] = {COMPUTES("x = a constant", NULL, "x")},
    [OP_accumulate] = {COMPUTES("y = x + more", "y", "x", "more"), .elementwise = OUT(1)},
    [OP_add] = {COMPUTES("y = a + b", "y", "a", "b"), .elementwise = OUT(1)},
    [OP_sub] = {COMPUTES("y = a - b", "y", "a", "b"), .elementwise = OUT(1)},
    [OP_mul] = {COMPUTES("y = a b", "y", "a", "b"), .elementwise = OUT(1)},
    [OP_div] = {COMPUTES("y = a / b", "y", "a", "b"), .elementwise = OUT(1)},
    [OP_maximum] = {COMPUTES("y = max(a, b)", "y", "a", "b"), .elementwise = OUT(1)},
    [OP_maximum_backward] = {COMPUTES("da = dy where a > b, half of it where both are equal", "da",
                                      "dy", "a", "b"),
                             .elementwise = OUT(3)},
    [OP_add_scalar] = {COMPUTES("y = x + a number", "y", "x"), .elementwise = OUT(1)},
    [OP_mul_scalar] = {COMPUTES("y = x times a number", "y", "x"), .elementwise = OUT(1)},
    [OP_neg] = {COMPUTES("y = -x: a sign is no arithmetic", "y", "x")},
    [OP_abs] = {COMPUTES("y = |x|", "y", "x"), .elementwise = OUT(1)},
    [OP_abs_backward] = {COMPUTES("dx = dy with the sign of x", "dx", "dy", "x"),
                         .elementwise = OUT(2)},
    [OP_pow] = {COMPUTES("y = x^p", "y", "x"), .transcendental = OUT(1)},
    [OP_pow_backward] = {COMPUTES("dx = dy p x^(p - 1)", "dx", "dy", "x"), .elementwise = OUT(2),
                         .transcendental = OUT(1)},
    [OP_clamp] = {COMPUTES("y = x between two bounds", "y", "x"), .elementwise = OUT(2)},
    [OP_clamp_backward] = {COMPUTES("dx = dy between the bounds, else 0", "dx", "dy", "x"),
                           .elementwise = OUT(2)},
    [OP_exp] = {COMPUTES("y = e^x", "y", "x"), .transcendental = OUT(1)},
    [OP_log] = {COMPUTES("y = log(x)", "y", "x"), .transcendental = OUT(1)},
    [OP_sqrt] = {COMPUTES("y = sqrt(x)", "y", "x"), .transcendental = OUT(1)},
    [OP_relu] = {COMPUTES("y = max(x, 0)", "y", "x"), .elementwise = OUT(1), .keeps = KEEP_Y},
    [OP_relu_backward] = {COMPUTES("dx = dy where y > 0, else 0", "dx", "dy", "y"),
                          .elementwise = OUT(1)},
    [OP_leaky_relu] = {COMPUTES("y = x where x > 0, else slope x", "y", "x"), .elementwise = OUT(2),
                       .keeps = KEEP_X},
    [OP_leaky_relu_backward] = {COMPUTES("dx = dy where x > 0, else slope dy", "dx", "dy", "x"),
                                .elementwise = OUT(2)},
    [OP_sigmoid] = {COMPUTES("y = 1 / (1 + e^-x)", "y", "x"), .elementwise = OUT(2),
                    .transcendental = OUT(1), .keeps = KEEP_Y},
    [OP_sigmoid_backward] = {COMPUTES("dx = dy y (1 - y)", "dx", "dy", "y"), .elementwise = OUT(3)},
    [OP_silu] = {COMPUTES("y = x (1 / (1 + e^-x))", "y", "x"), .elementwise = OUT(3),
                 .transcendental = OUT(1), .keeps = KEEP_X},
    [OP_silu_backward] = {COMPUTES("dx = dy s (1 + x (1 - s)), s the sigmoid of x", "dx", "dy",
                                   "x"),
                          .elementwise = OUT(7), .transcendental = OUT(1)},
    [OP_tanh] = {COMPUTES("y = tanh(x)", "y", "x"), .transcendental = OUT(1), .keeps = KEEP_Y},
    [OP_tanh_backward] = {COMPUTES("dx = dy (1 - y y)", "dx", "dy", "y"), .elementwise = OUT(3)},
    [OP_gelu] = {COMPUTES("y = 0.5 x (1 + erf(x c)), c the root of 1/2", "y", "x"),
                 .elementwise = OUT(4), .transcendental = OUT(1), .keeps = KEEP_X},
    [OP_gelu_backward] = {COMPUTES("dx = dy (0.5 (1 + erf(x c)) + x k e^(-0.5 x x))", "dx", "dy",
                                   "x"),
                          .elementwise = OUT(9), .transcendental = OUT(2)},
    [OP_matmul] = {COMPUTES("y = a . b", "y", "a", "b"), .products = derive_matmul},
    [OP_linear] = {COMPUTES("y = x . weight^T", "y", "x", "weight", "bias"),
                   .products = derive_linear},
    [OP_conv2d] = {COMPUTES("y = the window of x under each output, times the weight", "y", "x",
                            "weight", "bias"),
                   .products = derive_convolution},
    [OP_conv2d_backward_input] = {COMPUTES("dx = dy times the weight, added up where its taps read",
                                           "dx", "dy", "weight"),
                                  .products = derive_convolution},
    [OP_conv2d_backward_weight] = {COMPUTES("dweight = dy times what the taps read of x, summed "
                                            "over images and places",
                                            "dweight", "dy", "x"),
                                   .products = derive_convolution},
    [OP_conv2d_backward_bias] = {COMPUTES("dbias = dy, summed over images and places", "dbias",
                                          "dy"),
                                 .elementwise = SUM},
    [OP_max_pool2d] = {COMPUTES("y = the largest under each window of x", "y", "x"),
                       .keeps = KEEP_EXTRA},
    [OP_max_pool2d_backward] = {COMPUTES("dx = dy where the largest was, added up, else 0", "dx",
                                         "dy", "where"),
                                .elementwise = IN(1)},
    [OP_avg_pool2d] = {COMPUTES("y = the mean under each window of x", "y", "x")},
    [OP_avg_pool2d_backward] = {COMPUTES("dx = each dy's share, added up under its window", "dx",
                                         "dy")},
    [OP_adaptive_avg_pool2d] = {COMPUTES("y = the mean of each region of x", "y", "x"),
                                .elementwise = {PER_REGION, 0, 0, 0}},
    [OP_adaptive_avg_pool2d_backward] = {COMPUTES("dx = each dy's share, added up in its region",
                                                  "dx", "dy"),
                                         .elementwise = {PER_REGION, 0, 1, 0}},
    [OP_sum] = {COMPUTES("y = the sum over one dimension of x, or all", "y", "x"),
                .elementwise = SUM},
    [OP_sum_to] = {COMPUTES("dx = dy, summed where x was broadcast", "dx", "dy"),
                   .elementwise = SUM},
    [OP_max] = {COMPUTES("y = the largest along the last dimension of x", "y", "x"),
                .elementwise = SUM, .extra = "where", .extra_bytes = OUT(8)},
    [OP_max_backward] = {COMPUTES("dx = dy where the largest was, else 0", "dx", "dy", "where")},
    [OP_argmax] = {COMPUTES("y = where the largest is", "y", "x"), .elementwise = SUM},
    [OP_softmax] = {COMPUTES("y = e^(x - max) / sum", "y", "x"), .elementwise = ROW(4, -2, 0),
                    .transcendental = ROW(1, 0, 0)},
    [OP_softmax_backward] = {COMPUTES("dx = y (dy - sum(dy y))", "dx", "dy", "y"),
                             .elementwise = ROW(4, -1, 0)},
    [OP_log_softmax] = {COMPUTES("y = x - max - log(sum)", "y", "x"), .elementwise = ROW(4, -2, 0),
                        .transcendental = ROW(1, 1, 0)},
    [OP_log_softmax_backward] = {COMPUTES("dx = dy - e^y sum(dy)", "dx", "dy", "y"),
                                 .elementwise = ROW(3, -1, 0), .transcendental = ROW(1, 0, 0)},
    [OP_layer_norm] = {COMPUTES("y = (x - mean) rstd, rstd = 1 / sqrt(variance + epsilon)", "y",
                                "x", "weight", "bias"),
                       .elementwise = BLOCK(5, 1), .transcendental = BLOCK(0, 1),
                       .extra = "mean and rstd of a row", .extra_bytes = BLOCK(0, 8),
                       .keeps = KEEP_X | KEEP_EXTRA},
    [OP_layer_norm_backward] = {COMPUTES("dx = rstd (g - mean(g) - z mean(g z)), g = dy, z = "
                                         "(x - mean) rstd",
                                         "dx", "dy", "x", "weight", "mean", "rstd"),
                                .elementwise = OUT(9)},
    [OP_layer_norm_backward_weight] = {COMPUTES(
                                           "dweight = dy (x - mean) rstd, summed over the rows",
                                           "dweight", "dy", "x", "mean", "rstd"),
                                       .elementwise = {PER_COLUMN, 4, -1, 1}},
    [OP_embedding] = {COMPUTES("y = the row of the table at each index", "y", "index",
                               "rows of the table"),
                      .picks_rows = true},
    [OP_embedding_backward] = {COMPUTES("dtable = the sum of dy at each index", "dtable", "dy",
                                        "index"),
                               .elementwise = IN(1)},
    [OP_cross_entropy] = {COMPUTES("y = mean of log(sum of e^(x - max)) - (x[label] - max)", "y",
                                   "x", "labels"),
                          .elementwise = ROW(3, 1, 0), .transcendental = ROW(1, 1, 0),
                          .extra = "max and sum of a row", .extra_bytes = ROW(0, 8, 0),
                          .keeps = KEEP_X | KEEP_EXTRA},
    [OP_cross_entropy_backward] = {COMPUTES("dx = (softmax(x) - one-hot(label)) dy / rows", "dx",
                                            "dy", "x", "labels", "max and sum of a row"),
                                   .elementwise = ROW(2, 2, 1), .transcendental = ROW(1, 0, 1)},
    [OP_mse] = {COMPUTES("y = mean of (x - target)^2", "y", "x", "target"), .elementwise = IN(3)},
    [OP_mse_backward] = {COMPUTES("dx = (x - target) 2 dy / n", "dx", "dy", "x", "target"),
                         .elementwise = OUT(2)},
    [OP_binary_cross_entropy_with_logits] =
        {COMPUTES("y = mean of max(x, 0) - x target + log(1 + e^-|x|)", "y", "x", "target"),
         .elementwise = IN(7), .transcendental = IN(2)},
    [OP_binary_cross_entropy_with_logits_backward] = {COMPUTES("dx = (sigmoid(x) - target) dy / n",
                                                               "dx", "dy", "x", "target"),
                                                      .elementwise = OUT(4),
                                                      .transcendental = OUT(1)},
    [OP_dropout] = {COMPUTES("y = x / (1 - p) where the mask says so, else 0", "y", "x"),
                    .elementwise = OUT(2), .extra = "mask", .extra_bytes = OUT(1),
                    .keeps = KEEP_EXTRA},
    [OP_dropout_backward] = {COMPUTES("dx = dy / (1 - p) where the mask says so, else 0", "dx",
                                      "dy", "mask"),
                             .elementwise = OUT(1)},
    [OP_clip_norm] = {COMPUTES("g = g times what brings the norm of all down to the limit", "norm",
                               "g"),
                      .elementwise = {PER_PARAMETER, 3, 2, 0}},
    [OP_sgd_step] = {COMPUTES("p = p - lr g", NULL, "lr", "p", "g"),
                     .elementwise = {PER_PARAMETER, 2, 0, 0}},
    [OP_adamw_step] =
        {COMPUTES("m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; p = p - a m / (s sqrt(v) + e), "
                  "a and s by lr and t",
                  NULL, "lr and t", "p", "g", "m", "v"),
         .elementwise = {PER_PARAMETER, 12, 0, 0}, .transcendental = {PER_PARAMETER, 1, 0, 0}},
};

// ---- what depends on an op's parameters ------------------------------------------------------
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
    if (bias) story->bias = (Rule)OUT(1);
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
    story->extra_bytes = (Rule)OUT(4);
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
    if (has_bias) story->bias = (Rule)OUT(1);
    snprintf(story->does, sizeof(story->does), "y = x . weight^T%s", bias);
    if (!activation) return;
    OpStory of = stories[activation->forward];
    if (activation->forward == OP_gelu) vary_gelu(profile, op, &of);
    story->elementwise = of.elementwise;
    story->transcendental = of.transcendental;
    snprintf(story->does, sizeof(story->does), "z = x . weight^T%s, y = %s(z)", bias,
             activation_name((Activation)op->record.params.flags));
    bool keeps_z = activation->kept[0] == 'z';
    story->keeps |= keeps_z ? KEEP_EXTRA : KEEP_Y;
    if (!keeps_z || profile->kind == PROFILE_INFERENCE) return;
    story->extra = "z";
    story->extra_bytes = (Rule)OUT(4);
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

OpStory explain_story(const Profile *profile, const ProfileOp *op) {
    int id = op->record.op->id;
    if (id < 0 || id >= OP_COUNT) return (OpStory){0};
    OpStory story = stories[id];
    if (vary[id]) vary[id](profile, op, &story);
    tell_fused(profile, op, &story);
    return story;
}
