// planted.c -- the op, and the layer that calls it.
#include "tests/helpers/planted.h"

static const OpStory story = {
    .formula = "y = x", .out = "y", .in = {"x"}, .elementwise = {PER_INPUT, .each = 1}};
static Op planted = {.name = "planted", .n_inputs = 1, .infer = op_infer_same, .story = &story};

static Tensor *forward(Layer *self, Tensor *const in[], int n_in) {
    (void)self, (void)n_in;
    return OP_RUN(planted, NULL, in[0]);
}
static const LayerType planted_type = {.name = "Planted",
                                       .size = sizeof(Layer),
                                       .forward = forward};

Layer *planted_new(CpuKernel kernel) {
    planted.kernel = kernel;
    return layer_new(&planted_type);
}
