// 4_training.c -- a training loop: PyTorch's five lines, in C.
#include <stdio.h>

#include <ridgepoint/ridgepoint.h>

int main(void) {
    Dataset digits;
    digits_generate(6400, 1, &digits); // 6,400 drawn images of digits; 1 is the random seed
    Loader *loader = loader_new(&digits, (LoaderOptions){.batch = 64, .shuffle = true});
    Layer *model = mlp_new((int64_t[]){784, 128, 10}, 3, mlp_defaults());
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(OPTIMIZER_ADAM));

    Batch batch;
    loader_start_epoch(loader);
    while (loader_next(loader, &batch)) {
        Scope *scope = scope_open(); // the tensors that ops return live until scope_close
        // The five lines:
        optimizer_zero_grad(optimizer);
        Tensor *logits = layer_forward(model, batch.images);
        Tensor *loss = loss_cross_entropy(logits, batch.labels);
        autograd_backward(loss);
        optimizer_step(optimizer);

        printf("loss %.3f\n", tensor_item(loss));
        scope_close(scope);
    }
    // After an error no op runs any more, and the first message is kept: one check is enough.
    int failed = error_pending();
    if (failed) printf("%s\n", error_message());

    optimizer_free(optimizer);
    layer_free(model);
    loader_free(loader);
    dataset_free(&digits);
    context_release_thread();
    return failed;
}
