// parts.c -- parts that published networks share; see parts.h
#include "layers/models/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/containers.h"
#include "layers/init.h"
#include "layers/parts.h"
#include "tensor/op.h"

// ---- convolutions ------------------------------------------------------------------------------
static Layer *conv_of(ConvNorm part) {
    int64_t kernel_w = part.kernel_w ? part.kernel_w : part.kernel;
    Conv2dOptions options = conv2d_defaults();
    options.stride_h = options.stride_w = part.stride ? part.stride : 1;
    options.groups = part.groups ? part.groups : 1;
    if (!part.valid) {
        options.padding_top = options.padding_bottom = part.kernel / 2;
        options.padding_left = options.padding_right = kernel_w / 2;
    }
    return conv2d_new(part.in, part.out, part.kernel, kernel_w, options, false);
}

static Layer *norm_of(ConvNorm part) {
    BatchNormOptions options = batch_norm_defaults();
    if (part.epsilon > 0.0f) options.epsilon = part.epsilon;
    if (part.momentum > 0.0f) options.momentum = part.momentum;
    return batch_norm2d_new(part.out, options);
}

Layer *conv_padded_new(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups) {
    return conv_of(
        (ConvNorm){.in = in, .out = out, .kernel = kernel, .stride = stride, .groups = groups});
}

void append_conv_norm(Layer *sequential, ConvNorm part) {
    layer_append(sequential, conv_of(part));
    layer_append(sequential, norm_of(part));
    if (part.activation) layer_append(sequential, activation_new(part.activation));
}

Layer *conv_norm_new(ConvNorm part) {
    Layer *self = sequential_new();
    append_conv_norm(self, part);
    return self;
}

Layer *basic_conv_new(ConvNorm part) {
    Layer *self = sequential_new();
    part.epsilon = 1e-3f;
    layer_add_child(self, "conv", conv_of(part));
    layer_add_child(self, "bn", norm_of(part));
    layer_add_child(self, "relu", relu_new());
    return self;
}

// ---- blocks ------------------------------------------------------------------------------------
Layer *inverted_residual_new(InvertedResidual part) {
    bool stays = part.stride == 1 && part.in == part.out, widens = part.hidden != part.in;
    Layer *self = stays ? residual_new() : sequential_new(), *block = sequential_new();
    ConvNorm expand = {.in = part.in,
                       .out = part.hidden,
                       .kernel = 1,
                       .activation = part.activation,
                       .epsilon = part.epsilon,
                       .momentum = part.momentum};
    ConvNorm spatial = expand, project = expand;
    spatial.in = part.fused ? part.in : part.hidden;
    spatial.out = part.fused && !widens ? part.out : part.hidden;
    spatial.kernel = part.kernel;
    spatial.stride = part.stride;
    spatial.groups = part.fused ? 1 : part.hidden;
    project.in = part.hidden;
    project.out = part.out;
    project.activation = NULL;
    if (widens && !part.fused) layer_append(block, conv_norm_new(expand));
    layer_append(block, conv_norm_new(spatial));
    if (part.squeezed > 0)
        layer_append(block, squeeze_excitation_new(part.hidden, part.squeezed,
                                                   part.squeeze_activation, part.gate));
    if (widens || !part.fused) layer_append(block, conv_norm_new(project));
    layer_add_child(self, "block", block);
    if (stays && part.drop > 0.0f)
        layer_add_child(self, "stochastic_depth", stochastic_depth_new(part.drop));
    return self;
}

Layer *max_pool_new(int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode) {
    Pool2dOptions options = pool2d_padded(pool2d_defaults(kernel), padding);
    options.stride_h = options.stride_w = stride;
    options.ceil_mode = ceil_mode;
    return max_pool2d_new(options);
}

void add_average(Layer *model) {
    layer_add_child(model, "avgpool", adaptive_avg_pool2d_new(1, 1));
    layer_add_child(model, "flatten", flatten_new(1, -1));
}

static Tensor *run_mean(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return tensor_mean_dims(in[0], (int[]){2, 3}, 2, false);
}

static const LayerType mean_type = {.name = "Mean2d", .size = sizeof(Layer), .forward = run_mean};

void add_mean(Layer *model) { layer_add_child(model, "mean", layer_new(&mean_type)); }

int64_t rounded_to(double channels, int64_t multiple) {
    int64_t whole = (int64_t)(channels + (double)multiple / 2.0) / multiple * multiple;
    if (whole < multiple) whole = multiple;
    return (double)whole < 0.9 * channels ? whole + multiple : whole;
}

// ---- initial values ----------------------------------------------------------------------------
static void init_weight(Tensor *weight, InitRule rule) {
    Fans fans = {0};
    if (rule.gain == 0.0f || weight->numel == 0 || init_fans(weight, &fans)) return;
    int64_t fan = rule.fan == BY_FAN_IN ? fans.in : rule.fan == BY_FAN_OUT ? fans.out : 1;
    double deviation = (double)rule.gain / sqrt((double)fan);
    float bound = (float)(sqrt(3.0) * deviation);
    if (rule.uniform)
        tensor_fill_uniform(weight, -bound, bound);
    else
        tensor_fill_normal(weight, 0.0f, (float)deviation);
}

static void init_tree(Layer *layer, const InitRules *rules) {
    bool conv = strcmp(layer->type->name, "Conv2d") == 0;
    if (conv || strcmp(layer->type->name, "Linear") == 0) {
        init_weight(layer->parameters[0].tensor, conv ? rules->conv : rules->linear);
        if (rules->zero_bias && layer->n_parameters > 1)
            tensor_fill(layer->parameters[1].tensor, 0.0f);
    }
    for (int i = 0; i < layer->n_children; i++) init_tree(layer->children[i], rules);
}

void init_by_rules(Layer *model, InitRules rules) {
    if (error_pending()) return;
    no_grad_begin();
    init_tree(model, &rules);
    no_grad_end();
}

Layer *model_finished(Layer *model, InitRules rules) {
    init_by_rules(model, rules);
    return layer_finished(model);
}

// ---- variants ----------------------------------------------------------------------------------
const void *variant_of(const char *who, const char *name, const void *table, size_t rows,
                       size_t row_size) {
    char names[256] = "";
    for (size_t i = 0, used = 0; i < rows; i++) {
        const void *row = (const char *)table + i * row_size;
        const char *its = *(const char *const *)row;
        if (name && strcmp(its, name) == 0) return row;
        if (used < sizeof(names))
            used +=
                (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", its);
    }
    error_set(STATUS_INVALID_ARGUMENT, "%s: no variant \"%s\". HINT: there are %s", who,
              name ? name : "", names);
    return NULL;
}
