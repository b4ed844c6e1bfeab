// op_random.c -- ONNX's random numbers, from the context's generator, and stochastic depth, which
// uses them in training.
#include <string.h>

#include "layers/files/onnx/import.h"
#include "tensor/ops.h"

// The shape comes from an input, of which nothing else counts, or from an attribute.
static Status build_random(Import *import, const Node *node, Step *step) {
    RandomParams *random = &step->params.random;
    bool normal = strncmp(node->op_type, "RandomNormal", 12) == 0;
    random->first = attribute_float(node, normal ? "mean" : "low", 0.0f);
    random->second = attribute_float(node, normal ? "scale" : "high", 1.0f);
    random->normal = normal;
    step->type = (int)attribute_int(node, "dtype", ONNX_FLOAT);
    if (strstr(node->op_type, "Like")) {
        const Value *like = node_input(import, node, 0);
        random->shape = like->shape;
    } else {
        int n = attribute_ints(node, "shape", random->shape.dims, TENSOR_MAX_DIMS);
        if (n < 0 || n > TENSOR_MAX_DIMS)
            return import_error(import, STATUS_FORMAT, "its shape has %d dimensions", n);
        random->shape.ndim = n;
    }
    return step_input(import, step, import_constant(import, ONNX_FLOAT, SHAPE_SCALAR));
}

static Status run_random(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)training, (void)in;
    const RandomParams *random = &step->params.random;
    Tensor *numbers = random->normal
                          ? tensor_normal_new(random->shape, random->first, random->second)
                          : tensor_uniform_new(random->shape, random->first, random->second);
    out[0] = tensor_reshape(numbers, random->shape); // a view, which keeps them
    tensor_free(numbers);
    return error_status();
}

// 1 with the probability that the input gives, else 0.
static Status run_bernoulli(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    (void)step, (void)training;
    Tensor *numbers = tensor_uniform_new(in[0]->shape, 0.0f, 1.0f);
    out[0] = tensor_less(numbers, onnx_as_float(in[0]));
    tensor_free(numbers);
    return error_status();
}

// ---- stochastic depth: join.c makes it of a product with noise ----------------------------------
// count: leading dimensions with one decision per index; value: the fraction kept, and the factor
// of what is kept.
static Status run_depth(const Step *step, bool training, Tensor *const in[], Tensor *out[]) {
    float keep = step->params.plain.value[0], factor = keep * step->params.plain.value[1];
    Tensor *y = in[0];
    if (training) y = tensor_dropout_blocks(y, step->params.plain.count, 1.0f - keep);
    out[0] = training && factor != 1.0f ? tensor_mul_scalar(y, factor) : y;
    return error_status();
}

const Operator onnx_stochastic_depth = {.name = "StochasticDepth",
                                        .run = run_depth,
                                        .module = "StochasticDepth"};

#define RANDOM(text)                                                                               \
    { .name = text, .build = build_random, .run = run_random, .whole = WHOLE_MOVED }
const Operator onnx_random[] = {
    RANDOM("RandomNormal"),
    RANDOM("RandomNormalLike"),
    RANDOM("RandomUniform"),
    RANDOM("RandomUniformLike"),
    {.name = "Bernoulli", .build = step_build_one, .run = run_bernoulli},
    {.name = NULL},
};
