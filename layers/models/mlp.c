// mlp.c -- multilayer perceptron: linear layers with an activation between them
#include <ctype.h>
#include <stdio.h>

#include "layers/parts.h"
#include "tensor/op.h"

MlpOptions mlp_defaults(void) { return (MlpOptions){.activation = &op_relu, .bias = true}; }

static void add(Layer *model, const char *stem, int number, Layer *child) {
    char name[48];
    snprintf(name, sizeof(name), "%s%d", stem, number);
    layer_add_child(model, name, child);
}

// Adds fc<i>, and except after the last its activation and dropout.
static void add_block(Layer *model, const int64_t *sizes, int i, bool last, MlpOptions o) {
    const Op *fused = o.fuse && !last ? o.activation : NULL;
    add(model, "fc", i + 1, linear_new_fused(sizes[i], sizes[i + 1], o.bias, fused));
    if (!last && !o.fuse && o.activation)
        add(model, o.activation->name, i + 1, activation_new(o.activation));
    if (!last && o.dropout != 0.0f) add(model, "drop", i + 1, dropout_new(o.dropout));
}

Layer *mlp_new(const int64_t *sizes, int n_sizes, MlpOptions options) {
    for (int i = 0; i < n_sizes; i++)
        if (!sizes || sizes[i] < 1) n_sizes = 0;
    if (n_sizes < 2) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "mlp_new: needs at least an input and an output size, each at least 1");
        return NULL;
    }
    Layer *model = sequential_new();
    for (int i = 0; i + 1 < n_sizes && !error_pending(); i++)
        add_block(model, sizes, i, i + 2 == n_sizes, options);
    return layer_finished(model);
}
