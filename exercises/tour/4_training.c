// 4_training.c -- a training loop: PyTorch's five lines, in C.
#include <stdio.h>

#include <ridgepoint/ridgepoint.h>

int main(void) {
    Dataset digits;
    digits_generate(6400, 1, &digits);
    Loader *loader = loader_new(&digits, (LoaderOptions){.batch = 64, .shuffle = true, .scale = 1});
    Layer *model = mlp_new((int64_t[]){784, 128, 10}, 3, mlp_defaults());
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));

    Batch batch;
    loader_start_epoch(loader);
    while (loader_next(loader, &batch)) {
        Scope *scope = scope_open(); // what ops return lives until the scope closes
        optimizer_zero_grad(optimizer);
        Tensor *logits = layer_forward(model, batch.images);
        Tensor *loss = loss_cross_entropy(logits, batch.labels);
        autograd_backward(loss);
        optimizer_step(optimizer);
        printf("loss %.3f\n", tensor_item(loss));
        scope_close(scope);
    }
    int failed = error_pending();
    if (failed) printf("%s\n", error_message()); // the first thing that went wrong

    optimizer_free(optimizer);
    layer_free(model);
    loader_free(loader);
    dataset_free(&digits);
    context_release_thread();
    return failed;
}
