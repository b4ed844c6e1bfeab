#include <ridgepoint/ridgepoint.h>

int main(void) {
    Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
    Tensor *x = tensor_uniform_new(SHAPE(64, 784), 0.0f, 1.0f);
    profiler_quick(model, x, stdout);                     // forward and backward, layer by layer
    if (error_pending()) printf("%s\n", error_message()); // the first thing that went wrong
    tensor_free(x);
    layer_free(model);
    context_release_thread();
}
