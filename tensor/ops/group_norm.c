// group_norm.c -- y = (x - mean) rstd weight + bias of x (n, channels, ...): mean and rstd = 1 /
// sqrt(variance + epsilon) of each group of channels of each sample (Wu, He 2018). A group of one
// channel is an instance norm (Ulyanov, Vedaldi, Lempitsky 2016).
// params: count = groups, value[0] = epsilon, shape = shape of a group, computed by infer
#include "tensor/ops/group_norm.h"

#include <math.h>

Tensor *tensor_group_norm(Tensor *x, int64_t groups, Tensor *weight, Tensor *bias, float epsilon) {
    OpParams params = {.value = {epsilon}, .count = groups};
    return OP_RUN(op_group_norm, &params, x, weight, bias);
}

Tensor *tensor_instance_norm(Tensor *x, Tensor *weight, Tensor *bias, float epsilon) {
    int64_t channels = 1, spatial = 1;
    char text[SHAPE_TEXT];
    for (int i = 2; x && i < x->shape.ndim; i++) spatial *= x->shape.dims[i];
    if (x && spatial == 1) { // or no such dimensions
        error_set(STATUS_SHAPE,
                  "instance_norm of %s: a channel of a sample is one number. HINT: x is "
                  "(n, channels, ...), with two numbers or more behind the channels",
                  shape_text(x->shape, text));
        return NULL;
    }
    if (x && x->shape.dims[1] > 0) channels = x->shape.dims[1];
    return tensor_group_norm(x, channels, weight, bias, epsilon);
}

// ---- shapes ------------------------------------------------------------------------------------
static Status check_groups(const OpCall *call) {
    const Tensor *x = call->in[NORM_X];
    int64_t groups = call->params.count;
    if (x->shape.ndim < 2)
        return op_error(call, STATUS_SHAPE,
                        "needs x (n, channels, ...). HINT: tensor_reshape one sample to "
                        "(1, channels, ...)");
    if (groups < 1)
        return op_error(call, STATUS_INVALID_ARGUMENT, "%lld groups. HINT: 1, or more",
                        (long long)groups);
    if (x->shape.dims[1] % groups)
        return op_error(call, STATUS_SHAPE,
                        "%lld groups do not divide %lld channels. HINT: x is (n, channels, ...)",
                        (long long)groups, (long long)x->shape.dims[1]);
    if (x->numel == groups)
        return op_error(call, STATUS_SHAPE,
                        "each group is one number. HINT: fewer groups, or a larger x");
    return norm_check_epsilon(call);
}

static Status group_norm_infer(OpCall *call) {
    if (check_groups(call)) return error_status();
    const Tensor *x = call->in[NORM_X];
    Shape *group = &call->params.shape;
    int64_t groups = call->params.count, channels = x->shape.dims[1];
    for (int i = NORM_WEIGHT; i <= NORM_BIAS; i++)
        if (call->in[i] && !shape_equal(call->in[i]->shape, SHAPE(channels)))
            return op_error(call, STATUS_SHAPE, "the %s is not (%lld,). HINT: one for each channel",
                            i == NORM_WEIGHT ? "weight" : "bias", (long long)channels);
    *group = (Shape){.ndim = x->shape.ndim - 1, .dims = {channels / groups}};
    for (int i = 1; i < group->ndim; i++) group->dims[i] = x->shape.dims[i + 1];
    Shape rows = SHAPE(x->shape.dims[0], groups);
    Status status = op_output_like(call, NORM_Y, x);
    if (!status) status = op_output(call, NORM_MEAN, DTYPE_FLOAT32, rows);
    return status ? status : op_output(call, NORM_RSTD, DTYPE_FLOAT32, rows);
}

// ---- the kernel --------------------------------------------------------------------------------
static OpWork group_norm_work(const OpCall *call) {
    int64_t n = groups_of(call->in[NORM_X], &call->params).n;
    return (OpWork){.items = call->out[NORM_MEAN]->numel, .cost = (double)(n ? n : 1)};
}

KERNEL static Status group_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Groups g = groups_of(call->in[NORM_X], &call->params);
    double epsilon = (double)call->params.value[0];
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, NORM_X) + r * g.n;
        float *y = call_out(call, NORM_Y) + r * g.n;
        Moments m = norm_moments(x, g.n, epsilon);
        float rstd = (float)(1.0 / sqrt(m.variance + epsilon));
        call_out(call, NORM_MEAN)[r] = m.about + m.rest;
        call_out(call, NORM_RSTD)[r] = rstd;
        const float *weights =
            call->in[NORM_WEIGHT] ? call_in(call, NORM_WEIGHT) + first_channel(&g, r) : NULL;
        const float *biases =
            call->in[NORM_BIAS] ? call_in(call, NORM_BIAS) + first_channel(&g, r) : NULL;
        if (g.spatial == 1 || (!weights && !biases)) { // a row as in a layer norm
            norm_write(x, y, g.n, m, rstd, weights, biases);
            continue;
        }
        for (int64_t k = 0; k < g.width; k++) {
            float weight = weights ? weights[k] : 1.0f, bias = biases ? biases[k] : 0.0f;
            for (int64_t j = k * g.spatial; j < (k + 1) * g.spatial; j++)
                y[j] = ((x[j] - m.about) - m.rest) * rstd * weight + bias;
        }
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
// dbias, if dweight is not wanted: dy, summed over each channel and then over the samples.
static Status bias_backward(Tensor **slot, Tensor *grad, const OpParams *params) {
    Groups g = groups_of(grad, params);
    OpParams over_samples = {.dim = 0};
    Tensor *planes = tensor_reshape(grad, SHAPE(g.samples, g.channels, g.spatial));
    return OP_INTO(slot, op_sum, &over_samples, tensor_sum(planes, -1, false));
}

static Status group_norm_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Status status = norm_run_backward(saved, grad_out[NORM_Y], grad_in, &op_group_norm_backward,
                                      &op_group_norm_backward_weight);
    if (status || !norm_wants_bias_alone(saved)) return status;
    return bias_backward(&grad_in[NORM_BIAS], grad_out[NORM_Y], &saved->params);
}

// Counts for each group of n elements as layer_norm.c for a row.
const Op op_group_norm = {
    .id = OP_group_norm,
    .name = "group_norm",
    .kernel = group_norm_cpu,
    .n_inputs = 3,
    .optional = SAVE_IN(NORM_WEIGHT) | SAVE_IN(NORM_BIAS),
    .infer = group_norm_infer,
    .work = group_norm_work,
    .backward = group_norm_backward,
    .saves = norm_saves,
    .story = STORY(.formula = "y = (x - mean) rstd", .out = "y", .in = {"x", "weight", "bias"},
                   .elementwise = {PER_BLOCK, .each = 5, .more = 1},
                   .transcendental = {PER_BLOCK, .more = 1}, .extra = "mean and rstd of a group",
                   .extra_elements = {PER_BLOCK, .more = 2}, .keeps = KEEP_X | KEEP_EXTRA,
                   .kind = KIND_NORM, .vary = norm_vary)};
