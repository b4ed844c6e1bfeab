// ex10_profile_backward_pass.c -- exercise 10, solved.
#include "exercises/ex10_profile_backward_pass.h"

#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- times -------------------------------------------------------------------------------------
static Status run_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                       BackwardProfile *profile) {
    optimizer_zero_grad(optimizer);
    double start = now();
    Tensor *output = layer_forward(model, x);
    profile->forward_seconds = now() - start;
    Tensor *loss = output ? loss_cross_entropy(output, labels) : NULL;
    if (!loss) return error_status();
    start = now(); // before backward
    Status status = autograd_backward(loss);
    profile->backward_seconds = now() - start;
    if (status) return status;
    start = now(); // before the optimizer
    status = optimizer_step(optimizer);
    profile->optimizer_seconds = now() - start;
    return status;
}

// ---- FLOPs -------------------------------------------------------------------------------------
typedef struct Walk {
    Shape shape; // shape of the next layer's input
    bool wanted; // a parameter before that layer wants a gradient
    BackwardProfile *profile;
} Walk;

static bool wants_gradient(const Parameter *parameter) {
    return (parameter->tensor->flags & TENSOR_LEAF_GRAD) != 0;
}

static Status count_product(Walk *walk, const Layer *layer) {
    int64_t flops;
    Status status = reference_count_flops(layer, walk->shape, &flops);
    if (status) return status;
    flops *= walk->shape.dims[0];
    walk->profile->forward_flops += flops;
    if (wants_gradient(&layer->parameters[0])) walk->profile->weight_gradient_flops += flops;
    if (walk->wanted) walk->profile->input_gradient_flops += flops;
    for (int i = 0; i < layer->n_parameters; i++)
        if (wants_gradient(&layer->parameters[i])) walk->wanted = true;
    return STATUS_OK;
}

static Status count(Walk *walk, const Layer *layer) {
    Status status = STATUS_OK;
    if (layer->n_parameters > 0) status = count_product(walk, layer);
    for (int i = 0; i < layer->n_children && !status; i++) status = count(walk, layer->children[i]);
    if (!status && layer->n_children == 0)
        status = layer_output_shape(layer, walk->shape, &walk->shape);
    return status;
}

// ---- the whole ---------------------------------------------------------------------------------
Status profile_backward_pass(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                             BackwardProfile *profile) {
    *profile = (BackwardProfile){0};
    Status status = run_step(model, optimizer, x, labels, profile); // warm-up: thrown away
    if (!status) status = run_step(model, optimizer, x, labels, profile);
    double forward = profile->forward_seconds, backward = profile->backward_seconds;
    double optimizing = profile->optimizer_seconds;
    profile->step_seconds = forward + backward + optimizing;
    profile->backward_ratio = backward / forward;
    profile->optimizer_share = optimizing / profile->step_seconds;
    Walk walk = {.shape = tensor_shape(x), .profile = profile};
    if (!status) status = count(&walk, model);
    profile->backward_flops = profile->weight_gradient_flops + profile->input_gradient_flops;
    return status;
}
