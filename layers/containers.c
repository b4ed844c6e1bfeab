// containers.c -- layers that run others: in order, around a sum, side by side. They have no
// parameters and no cost formula; their own work is ops.
#include "layers/containers.h"

#include <stdio.h>
#include <string.h>

#include "layers/parts.h"

Layer *layer_child(const Layer *self, int i) {
    return i < self->n_children ? self->children[i] : NULL;
}

Tensor *layer_run_child(const Layer *self, int i, Tensor *x) {
    return layer_forward(layer_child(self, i), x);
}

// ---- in order ----------------------------------------------------------------------------------
enum { ORDER_MOST = 8 };

Tensor *layer_run_in_order(Layer *self, Tensor *const in[], int n_in) {
    Tensor *given[ORDER_MOST];
    if (n_in < 1 || n_in > ORDER_MOST || !in || !in[0]) {
        error_set(STATUS_INVALID_ARGUMENT, "%s takes x, and at most %d more for each child, got %d",
                  self->type->name, ORDER_MOST - 1, n_in);
        return NULL;
    }
    memcpy(given, in, (size_t)n_in * sizeof(given[0]));
    for (int i = 0; i < self->n_children && given[0]; i++) {
        Tensor *x = given[0], *y = layer_forward_many(self->children[i], given, n_in);
        if (y != x && x != in[0]) tensor_release(x); // the tape keeps what backward needs
        given[0] = y;
    }
    return given[0];
}

static const LayerType sequential_type = {.name = "Sequential",
                                          .size = sizeof(Layer),
                                          .forward = layer_run_in_order};

Layer *sequential_new(void) { return layer_new(&sequential_type); }

static const LayerType module_list_type = {.name = "ModuleList",
                                           .size = sizeof(Layer),
                                           .n_inputs = LAYER_ANY_INPUTS,
                                           .forward = layer_run_in_order};

Layer *module_list_new(void) { return layer_new(&module_list_type); }

// ---- around a sum ------------------------------------------------------------------------------
static Tensor *run_residual(Layer *self, Tensor *const in[], int n_in) {
    Tensor *y = layer_run_in_order(self, in, n_in);
    return y ? tensor_add(in[0], y) : NULL;
}

static const LayerType residual_type = {.name = "Residual",
                                        .size = sizeof(Layer),
                                        .forward = run_residual};

Layer *residual_new(void) { return layer_new(&residual_type); }

// ---- side by side ------------------------------------------------------------------------------
typedef struct Concat {
    Layer layer;
    int64_t dim;
} Concat;

static const LayerAttribute concat_attributes[] = {
    {"dim", ATTRIBUTE_INTEGER, offsetof(Concat, dim)},
};

enum { CONCAT_MOST = 64 };

static Tensor *run_concat(Layer *self, Tensor *const in[], int n_in) {
    Tensor *parts[CONCAT_MOST];
    (void)n_in;
    if (self->n_children > CONCAT_MOST) {
        error_set(STATUS_INVALID_ARGUMENT, "Concat of %d children. HINT: at most %d",
                  self->n_children, CONCAT_MOST);
        return NULL;
    }
    for (int i = 0; i < self->n_children; i++) parts[i] = layer_forward(self->children[i], in[0]);
    return tensor_concat(parts, self->n_children, (int)((Concat *)self)->dim);
}

static const LayerType concat_type = {.name = "Concat",
                                      .size = sizeof(Concat),
                                      .attributes = concat_attributes,
                                      .n_attributes = 1,
                                      .forward = run_concat};

Layer *concat_new(int dim) {
    Concat *self = (Concat *)layer_new(&concat_type);
    if (!self) return NULL;
    self->dim = dim;
    return &self->layer;
}

Status layer_append(Layer *self, Layer *child) {
    char name[16];
    snprintf(name, sizeof(name), "%d", self ? self->n_children : 0);
    return layer_add_child(self, name, child);
}
