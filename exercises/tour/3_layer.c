// 3_layer.c -- a layer of your own: y = x + scale * relu(W x + b), with W, b and scale learned. A
// layer is composed of ops. Each op knows its cost, so the layer needs no formula for its own.
#include <ridgepoint/ridgepoint.h>

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in; // always 1 here: layer_forward has checked it
    Tensor *branch = layer_forward(self->children[0], in[0]); // relu(W x + b)
    return tensor_add(in[0], tensor_mul(branch, self->parameters[0].tensor));
}

static const LayerType scaled_type = {.name = "Scaled", .size = sizeof(Layer), .forward = forward};

static Layer *scaled_new(int64_t features) {
    Layer *self = layer_new(&scaled_type);
    if (!self) return NULL;
    layer_add_child(self, "fc", linear_new_fused(features, features, true, &op_relu));
    layer_add_parameter(self, "scale", tensor_full_new(SHAPE(features), 0.1f));
    if (!error_pending()) return self;
    layer_free(self);
    return NULL;
}

int main(void) {
    Layer *model = sequential_new();
    layer_append(model, scaled_new(64));
    layer_append(model, scaled_new(64));
    layer_append(model, linear_new(64, 10, true));
    Tensor *x = tensor_uniform_new(SHAPE(32, 64), -1.0f, 1.0f);
    LayerCost cost = {0};
    // Runs the model's own code, forward and backward, on tensors that have shapes but no data: no
    // kernel runs, and every op is counted.
    Status status = layer_cost(model, &x, 1, &cost);
    layer_print(model, stdout);
    printf("forward %llu multiply-adds, backward %llu; %lld bytes kept in between\n",
           (unsigned long long)cost.phase[PHASE_FORWARD].macs,
           (unsigned long long)(cost.phase[PHASE_BACKWARD_INPUT].macs +
                                cost.phase[PHASE_BACKWARD_WEIGHT].macs),
           (long long)cost.saved_bytes);
    if (status) printf("%s\n", error_message());
    tensor_free(x);
    layer_free(model);
    context_release_thread();
    return status || cost.phase[PHASE_FORWARD].macs != 32 * (2 * 64 * 64 + 64 * 10);
}
