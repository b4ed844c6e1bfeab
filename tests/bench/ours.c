// ours.c -- the workloads on the engine.
#include "tests/bench/ours.h"

#include <stdio.h>
#include <stdlib.h>

#include "layers/train/fit.h"
#include "tests/bench/measure.h"

void ours_check(void) {
    if (!error_pending()) return;
    fprintf(stderr, "bench: %s\n", error_message());
    exit(1);
}

// ---- a perceptron ------------------------------------------------------------------------------
void ours_net_new(OursNet *net, const int64_t *sizes, int n_sizes, int64_t batch,
                  OptimizerConfig config) {
    context_seed(1);
    int64_t classes = sizes[n_sizes - 1], *labels = measure_memory((size_t)batch * sizeof(int64_t));
    for (int64_t i = 0; i < batch; i++) labels[i] = i % classes;
    net->model = mlp_new(sizes, n_sizes, mlp_defaults());
    net->optimizer = optimizer_new(net->model, config);
    net->x = tensor_uniform_new(SHAPE(batch, sizes[0]), 0.0f, 1.0f);
    net->labels = tensor_from_labels_new(SHAPE(batch), labels);
    free(labels);
    ours_check();
}

void ours_net_free(OursNet *net) {
    optimizer_free(net->optimizer);
    layer_free(net->model);
    tensor_free(net->x);
    tensor_free(net->labels);
}

void ours_net_forward(void *argument, int64_t times) {
    OursNet *net = argument;
    no_grad_begin();
    for (int64_t i = 0; i < times; i++) {
        Scope *scope = scope_open();
        layer_forward(net->model, net->x);
        scope_close(scope);
    }
    no_grad_end();
}

void ours_net_step(void *argument, int64_t times) {
    OursNet *net = argument;
    for (int64_t i = 0; i < times; i++)
        train_step(net->model, net->optimizer, net->x, net->labels, &net->loss);
}

// ---- single ops --------------------------------------------------------------------------------
void ours_op_new(OursOp *op, Shape shape, bool two) {
    op->a = tensor_uniform_new(shape, -2.0f, 2.0f);
    op->b = two ? tensor_uniform_new(shape, -2.0f, 2.0f) : NULL;
    op->row = SHAPE(shape.dims[shape.ndim - 1]);
    op->weight = tensor_uniform_new(op->row, 0.5f, 1.5f);
    op->bias = tensor_uniform_new(op->row, -0.5f, 0.5f);
    ours_check();
}

void ours_op_free(OursOp *op) {
    tensor_free(op->a);
    tensor_free(op->b);
    tensor_free(op->weight);
    tensor_free(op->bias);
}

#define OURS_OP(name, expression)                                                                  \
    void ours_##name(void *argument, int64_t times) {                                              \
        OursOp *op = argument;                                                                     \
        Scope *scope = scope_open();                                                               \
        for (int64_t i = 0; i < times; i++) tensor_release(expression);                            \
        scope_close(scope);                                                                        \
    }
OURS_OP(add, tensor_add(op->a, op->b))
OURS_OP(relu, tensor_relu(op->a))
OURS_OP(gelu, tensor_gelu(op->a))
OURS_OP(exp, tensor_exp(op->a))
OURS_OP(softmax, tensor_softmax(op->a, 1))
OURS_OP(layer_norm, tensor_layer_norm(op->a, op->row, op->weight, op->bias, 1e-5f))

// ---- dispatch ----------------------------------------------------------------------------------
static Tensor *chain(Tensor *x) {
    for (int i = 0; i < OURS_CHAIN; i++) x = tensor_relu(x);
    return x;
}

void ours_chain(void *argument, int64_t times) {
    OursOp *op = argument;
    no_grad_begin();
    for (int64_t i = 0; i < times; i++) {
        Scope *scope = scope_open();
        chain(op->a);
        scope_close(scope);
    }
    no_grad_end();
}

void ours_chain_backward(void *argument, int64_t times) {
    OursOp *op = argument;
    tensor_requires_grad(op->a, true);
    for (int64_t i = 0; i < times; i++) {
        Scope *scope = scope_open();
        tensor_zero_grad(op->a);
        autograd_backward(chain(op->a));
        scope_close(scope);
    }
}
