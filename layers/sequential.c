// sequential.c -- runs its children one after the other
#include "layers/layer.h"

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = in[0];
    for (int i = 0; i < self->n_children && x; i++) {
        Tensor *y = layer_forward(self->children[i], x);
        if (y != x && x != in[0]) tensor_release(x); // what backward needs, the tape keeps
        x = y;
    }
    return x;
}

static const LayerType sequential_type = {.name = "Sequential",
                                          .size = sizeof(Layer),
                                          .forward = forward};

Layer *sequential_new(void) { return layer_new(&sequential_type); }
