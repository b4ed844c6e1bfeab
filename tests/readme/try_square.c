// try_square.c -- uses the op that tensor/README.md adds: value, cost and gradient.
#include "autograd/autograd.h"

Tensor *tensor_square(Tensor *x);

static Tensor *square(Tensor *const inputs[], int n_inputs, void *user) {
    (void)n_inputs, (void)user;
    return tensor_square(inputs[0]);
}

static uint64_t counted; // elementwise FLOPs that dispatch saw

static void count(Observer *observer, const OpCall *call) {
    (void)observer;
    counted += op_cost(call).elementwise_flops;
}

int main(void) {
    Tensor *x = tensor_uniform_new(SHAPE(3, 17), -1.0f, 1.0f);
    Observer observer = {.op_end = count};
    Scope *scope = scope_open();
    observer_add(&observer);
    Tensor *y = tensor_square(x);
    observer_remove(&observer);
    bool right = y && tensor_data(y)[5] == tensor_data(x)[5] * tensor_data(x)[5] && counted == 51;
    scope_close(scope);
    if (autograd_gradcheck(square, NULL, &x, 1, gradcheck_defaults(), stderr)) right = false;
    tensor_free(x);
    context_release_thread();
    return right ? 0 : 1;
}
