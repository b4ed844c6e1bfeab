// op_cases.c -- the table: families of calls, each run over one of the lists of op_shapes*.h.
#include "tests/ops/op_cases.h"

#include <math.h>

#include "tests/ops/op_shapes.h"
#include "tests/ops/op_shapes_image.h"
#include "tests/ops/op_shapes_network.h"

typedef struct Family {
    const char *op;
    const char *const *inputs; // one case each, NULL at the end
    OpValues values;           // for inputs that name none
    OpArguments arguments;
    bool differentiable;
    double absolute, relative;
} Family;

// The activation fused into a product, and alone through its descriptor.
#define EACH_ACTIVATION(of)                                                                        \
    {"linear", layers, VALUES_ANY, {.activation = &op_##of}, true, 1e-4, 1e-5}, {                  \
        "activation", line, VALUES_AWAY, {.activation = &op_##of}, true, 2e-6, 2e-6                \
    }
// The activation with fewer inputs, and also in numbers far from 0.
#define NEW_ACTIVATION(of)                                                                         \
    {"linear", few_layers, VALUES_ANY, {.activation = &op_##of}, true, 1e-4, 1e-5},                \
        {"activation", few_lines, VALUES_ANY, {.activation = &op_##of}, true, 2e-6, 2e-6}, {       \
        "activation", few, VALUES_DISTINCT, {.activation = &op_##of}, true, 2e-6, 4e-6             \
    }
#define EACH_POWER(exponent, inputs, values)                                                       \
    { "pow", inputs, values, {.value = exponent}, true, 1e-6, 1e-6 }
#define EACH_DIM(op, inputs, values, differentiable, absolute)                                     \
    {op, inputs, values, {.dim = 0}, differentiable, absolute, 2e-6},                              \
        {op, inputs, values, {.dim = 1}, differentiable, absolute, 2e-6}, {                        \
        op, inputs, values, {.dim = -1}, differentiable, absolute, 2e-6                            \
    }
#define EACH_REDUCTION(op, inputs, values, differentiable, of_all)                                 \
    EACH_DIM(op, inputs, values, differentiable, 1e-5),                                            \
        {op, inputs, values, {.dim = -2, .flag = true}, differentiable, 1e-5, 2e-6},               \
        {op, inputs, values, {.dim = DIM_ALL}, differentiable, of_all, 2e-6}, {                    \
        op, inputs, values, {.dim = DIM_ALL, .flag = true}, differentiable, of_all, 2e-6           \
    }

#define OVER(op, inputs, keep, of_all, count, ...)                                                 \
    {                                                                                              \
        op, inputs, VALUES_ANY, {.flag = keep, .dims = {__VA_ARGS__}, .n_dims = count}, true,      \
            of_all, 2e-6                                                                           \
    }
// One dim; two neighbours, and two that are not; all three; none, which means all.
#define EACH_OVER(op, inputs, of_all)                                                              \
    OVER(op, inputs, false, 1e-5, 1, 1), OVER(op, inputs, false, of_all, 2, -1, 1),                \
        OVER(op, inputs, true, of_all, 2, 0, -1), OVER(op, inputs, true, of_all, 2, 1, 0),         \
        OVER(op, inputs, false, of_all, 3, 2, 0, -2), OVER(op, inputs, true, of_all, 0, 0)

// Distinct values: two equal numbers alone would put a root at its kink.
#define EACH_SPREAD(op, inputs, correction)                                                        \
    {op, inputs, VALUES_DISTINCT, {.dim = 1, .value = correction}, true, 2e-6, 4e-6},              \
        {op,   inputs, VALUES_DISTINCT, {.dim = 0, .flag = true, .value = correction}, true,       \
         2e-6, 4e-6},                                                                              \
    {                                                                                              \
        op, inputs, VALUES_DISTINCT, {.dim = DIM_ALL, .value = correction}, true, 2e-6, 4e-6       \
    }

// Options in the order of Conv2dOptions and Pool2dOptions.
#define CONVOLUTION(inputs, ...)                                                                   \
    { "conv2d", inputs, VALUES_ANY, {.conv = {__VA_ARGS__}}, true, 1e-4, 1e-5 }
#define TRANSPOSED(inputs, over_h, over_w, ...)                                                    \
    {                                                                                              \
        "conv_transpose2d", inputs, VALUES_ANY,                                                    \
            {.conv = {__VA_ARGS__}, .output = {over_h, over_w}}, true, 1e-4, 1e-5                  \
    }
// The pads of four dimensions: before each, after each.
#define PADDED(inputs, values, constant, differentiable, mode, b0, b1, b2, b3, a0, a1, a2, a3)     \
    {                                                                                              \
        "pad", inputs, values,                                                                     \
            {.value = constant,                                                                    \
             .before = {b0, b1, b2, b3},                                                           \
             .after = {a0, a1, a2, a3},                                                            \
             .pad_mode = mode},                                                                    \
            differentiable, differentiable ? 1e-5 : 0, differentiable ? 1e-6 : 0                   \
    }
#define PAD(inputs, ...) PADDED(inputs, VALUES_ANY, -1.5f, true, __VA_ARGS__)
#define PAD_WHOLE(inputs, ...) PADDED(inputs, VALUES_WHOLE, -7.0f, false, __VA_ARGS__)
#define FLIP(inputs, count, ...)                                                                   \
    { "flip", inputs, VALUES_ANY, {.dims = {__VA_ARGS__}, .n_dims = count}, true, 0, 0 }
// Options in the order of ResizeOptions.
#define RESIZE(inputs, ...)                                                                        \
    { "resize", inputs, VALUES_ANY, {.resize = {__VA_ARGS__}}, true, 2e-5, 1e-5 }
// Resizes to sizes, in whole and in fractional steps, and by scales.
#define EACH_RESIZE(mode, coordinates, rounding)                                                   \
    RESIZE(resized, 6, 10, 0, 0, mode, coordinates, rounding),                                     \
        RESIZE(resized, 0, 0, 2, 2.5, mode, coordinates, rounding),                                \
        RESIZE(resized, 1, 3, 0, 0, mode, coordinates, rounding)
#define POOL(op, inputs, values, absolute, ...)                                                    \
    { op, inputs, values, {.pool = {__VA_ARGS__}}, true, absolute, 1e-6 }
// 2 x 2; overlapping with padding; padding left out; a stride longer than the kernel; ceil mode
#define EACH_POOL(op, values, absolute)                                                            \
    POOL(op, pooled, values, absolute, 2, 2, 0, 0, 0, 0, 0, 0, 1, 1, false, false),                \
        POOL(op, pooled, values, absolute, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, false, false),            \
        POOL(op, pooled, values, absolute, 2, 3, 2, 1, 0, 1, 1, 1, 1, 1, false, true),             \
        POOL(op, pooled, values, absolute, 1, 2, 2, 3, 0, 0, 0, 1, 1, 1, false, false),            \
        POOL(op, pooled, values, absolute, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, true, false)

// Plain, weighted, smoothed; one label ignored, and all labels ignored
#define EACH_LABEL_LOSS(op)                                                                        \
    {op, weighed, VALUES_ANY, {.dim = -1}, true, 2e-6, 2e-6},                                      \
        {op, weighed, VALUES_ANY, {.dim = -1, .flag = true}, true, 2e-6, 2e-6},                    \
        {op, weighed, VALUES_ANY, {.dim = -1, .value = 0.25f}, true, 2e-6, 2e-6},                  \
        {op, weighed_partly, VALUES_ANY, {.dim = 0}, true, 2e-6, 2e-6}, {                          \
        op, weighed_partly, VALUES_ANY, {.dim = 0, .flag = true, .value = 0.1f}, true, 2e-6, 2e-6  \
    }

// x and a bias; equal numbers
#define EACH_BIASED(op)                                                                            \
    {op, biased_batches, VALUES_ANY, {.flag = true, .value = 0.5f}, true, 2e-5, 1e-5}, {           \
        op, equal_batches, VALUES_DISTINCT, {.dim = 1, .flag = true, .value = 0.5f}, true, 2e-5,   \
            1e-5                                                                                   \
    }
#define ATTENTION(inputs, with, scaled, p)                                                         \
    { "attention", inputs, VALUES_ANY, {.dim = with, .flag = scaled, .value = p}, true, 2e-5, 2e-5 }

#define WHOLES(op)                                                                                 \
    { op, wholes, VALUES_WHOLE, {0}, false, 0, 0 }
#define TOPK(inputs, values, k, of, smallest, differentiable)                                      \
    { "topk", inputs, values, {.dim = of, .flag = smallest, .output = {k}}, differentiable, 0, 0 }

static const Family families[] = {
    {"contiguous", strided, VALUES_ANY, {0}, true, 0, 0},
    {"detach", one, VALUES_ANY, {0}, false, 0, 0},
    {"flatten", one, VALUES_ANY, {0}, true, 0, 0},
    {"permute", one, VALUES_ANY, {0}, true, 0, 1e-6},
    {"expand", one, VALUES_ANY, {0}, true, 0, 1e-6},
    {"transpose", cube, VALUES_ANY, {0}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 0}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 1, .flag = true}, true, 0, 0},
    {"slice", cube, VALUES_ANY, {.dim = 2, .flag = true}, true, 0, 0},
    {"slice_from_end", tall, VALUES_ANY, {.dim = 0}, true, 0, 0},
    {"slice_from_end", tall, VALUES_ANY, {.dim = -2, .flag = true}, true, 0, 0},
    {"slices", cube, VALUES_ANY, {.dim = 0}, true, 0, 1e-6},
    {"slices", cube, VALUES_ANY, {.dim = 1}, true, 0, 1e-6},
    {"slices", cube, VALUES_ANY, {.dim = 2}, true, 0, 1e-6},
    {"add", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"sub", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"mul", pair, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"div", pair, VALUES_AWAY, {0}, true, 1e-4, 1e-6},
    {"maximum", pair, VALUES_DISTINCT, {0}, true, 1e-4, 1e-6}, // with some equal pairs
    WHOLES("add"),
    WHOLES("sub"),
    WHOLES("mul"),
    WHOLES("div"),
    WHOLES("maximum"),
    WHOLES("minimum"),
    WHOLES("fmod"),
    WHOLES("remainder"),
    WHOLES("less"),
    WHOLES("less_equal"),
    WHOLES("equal"),
    WHOLES("not_equal"),
    {"neg", whole, VALUES_WHOLE, {0}, false, 0, 0},
    {"abs", whole, VALUES_WHOLE, {0}, false, 0, 0},
    {"less", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"less_equal", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"equal", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"not_equal", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"greater", few_pairs, VALUES_DISTINCT, {0}, false, 0, 0},
    {"greater_equal", few_pairs, VALUES_DISTINCT, {0}, false, 0, 0},
    {"where", chosen, VALUES_ANY, {0}, true, 1e-4, 1e-6},
    {"where", chosen, VALUES_WHOLE, {0}, false, 0, 0},
    {"where_numbers", conditions, VALUES_ANY, {.value = -3.0f}, false, 0, 0},
    {"masked_fill", masked, VALUES_ANY, {.value = -3.0f}, true, 1e-4, 1e-6},
    {"masked_fill", masked, VALUES_WHOLE, {.value = -3.0f}, false, 0, 0},
    {"triangle", matrices, VALUES_ANY, {.dim = 0}, true, 0, 0},
    {"triangle", matrices, VALUES_ANY, {.dim = -2}, true, 0, 0},
    {"triangle", matrices, VALUES_ANY, {.dim = 0, .flag = true}, true, 0, 0},
    {"triangle", matrices, VALUES_ANY, {.dim = 2, .flag = true}, true, 0, 0},
    {"triangle", matrices, VALUES_WHOLE, {.dim = -1}, false, 0, 0},
    {"triangle", matrices, VALUES_WHOLE, {.dim = 1, .flag = true}, false, 0, 0},
    {"masked_softmax", attended, VALUES_ANY, {.dim = 1}, true, 1e-6, 2e-6},
    {"add_scalar", one, VALUES_ANY, {.value = 0.75f}, true, 0, 1e-6},
    {"sub_scalar", one, VALUES_ANY, {.value = 0.3f}, true, 1e-7, 1e-6},
    {"mul_scalar", one, VALUES_ANY, {.value = -1.5f}, true, 0, 1e-6},
    {"div_scalar", one, VALUES_ANY, {.value = 3.0f}, true, 0, 1e-6},
    {"neg", one, VALUES_ANY, {0}, true, 0, 0},
    {"abs", one, VALUES_AWAY, {0}, true, 0, 0},
    EACH_POWER(2.0f, one, VALUES_ANY),
    EACH_POWER(3.0f, line, VALUES_ANY),
    EACH_POWER(1.0f, line, VALUES_ANY),
    EACH_POWER(0.0f, line, VALUES_ANY),
    EACH_POWER(-1.0f, line, VALUES_AWAY),
    EACH_POWER(0.5f, line, VALUES_POSITIVE),
    EACH_POWER(-1.5f, one, VALUES_POSITIVE),
    {"clamp", one, VALUES_ANY, {.value = -0.5f}, true, 0, 0},
    {"exp", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"log", one, VALUES_POSITIVE, {0}, true, 1e-6, 1e-6},
    {"sqrt", one, VALUES_POSITIVE, {0}, true, 1e-6, 1e-6},
    {"erf", one, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"sin", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"cos", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"sin", few, VALUES_DISTINCT, {0}, true, 1e-6, 1e-6},
    {"reciprocal", one, VALUES_AWAY, {0}, true, 1e-5, 1e-6},
    {"rsqrt", one, VALUES_POSITIVE, {0}, true, 1e-6, 2e-6},
    {"sign", one, VALUES_ANY, {0}, false, 0, 0},
    {"sign", whole, VALUES_WHOLE, {0}, false, 0, 0},
    {"floor", one, VALUES_ANY, {0}, false, 0, 0},
    {"ceil", one, VALUES_ANY, {0}, false, 0, 0},
    {"round", one, VALUES_ANY, {0}, false, 0, 0},
    {"round", few, VALUES_DISTINCT, {0}, false, 0, 0},
    {"logical_not", conditions, VALUES_ANY, {0}, false, 0, 0},
    {"isnan", conditions, VALUES_ANY, {0}, false, 0, 0},
    {"minimum", pair, VALUES_DISTINCT, {0}, true, 1e-4, 1e-6},
    {"fmod", few_pairs, VALUES_POSITIVE, {0}, false, 1e-6, 1e-6},
    {"fmod", pair, VALUES_AWAY, {0}, false, 1e-6, 1e-6},
    {"remainder", pair, VALUES_AWAY, {0}, false, 1e-6, 1e-6},
    {"pow_tensor", pair, VALUES_POSITIVE, {0}, true, 1e-3, 4e-6},
    {"logical_and", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"logical_or", pair, VALUES_DISTINCT, {0}, false, 0, 0},
    {"relu", one, VALUES_AWAY, {0}, true, 0, 1e-6},
    {"leaky_relu", one, VALUES_AWAY, {.value = 0.01f}, true, 0, 1e-6},
    {"leaky_relu", line, VALUES_AWAY, {.value = -2.0f}, true, 0, 1e-6},
    {"silu", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"sigmoid", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"tanh", one, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"gelu", one, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"gelu_tanh", one, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"relu6", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"hardsigmoid", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"hardswish", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"selu", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"softsign", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"mish", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"log_sigmoid", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"tanhshrink", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"quick_gelu", strided, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    {"hardtanh", strided, VALUES_ANY, {.value = -0.7f}, true, 2e-6, 2e-6},
    {"elu", strided, VALUES_ANY, {.value = 0.6f}, true, 2e-6, 2e-6},
    {"elu", strided, VALUES_ANY, {.value = -1.5f}, true, 2e-6, 2e-6},
    {"celu", strided, VALUES_ANY, {.value = 0.4f}, true, 2e-6, 2e-6},
    {"celu", strided, VALUES_ANY, {.value = -2.0f}, true, 2e-6, 2e-6},
    {"softplus", strided, VALUES_ANY, {.value = 0.75f}, true, 2e-6, 2e-6},
    {"softplus", strided, VALUES_ANY, {.value = -2.0f}, true, 2e-6, 2e-6},
    {"softshrink", strided, VALUES_ANY, {.value = 0.3f}, true, 2e-6, 2e-6},
    {"hardshrink", strided, VALUES_ANY, {.value = 0.3f}, true, 2e-6, 2e-6},
    {"threshold", strided, VALUES_ANY, {.value = 0.2f}, true, 2e-6, 2e-6},
    {"softplus", strided, VALUES_ANY, {.value = 1.5f, .flag = true}, true, 2e-6, 2e-6},
    {"prelu", channelled, VALUES_AWAY, {0}, true, 1e-4, 2e-6},
    EACH_DIM("glu", gated, VALUES_ANY, true, 2e-6),
    {"matmul", products, VALUES_ANY, {0}, true, 1e-4, 1e-5},
    {"linear", layers, VALUES_ANY, {.activation = NULL}, true, 1e-4, 1e-5},
    EACH_ACTIVATION(relu),
    EACH_ACTIVATION(leaky_relu),
    EACH_ACTIVATION(sigmoid),
    EACH_ACTIVATION(silu),
    EACH_ACTIVATION(tanh),
    EACH_ACTIVATION(gelu),
    EACH_ACTIVATION(gelu_tanh),
    NEW_ACTIVATION(relu6),
    NEW_ACTIVATION(hardsigmoid),
    NEW_ACTIVATION(hardswish),
    NEW_ACTIVATION(selu),
    NEW_ACTIVATION(softsign),
    NEW_ACTIVATION(mish),
    NEW_ACTIVATION(log_sigmoid),
    NEW_ACTIVATION(tanhshrink),
    NEW_ACTIVATION(quick_gelu),
    NEW_ACTIVATION(hardtanh),
    NEW_ACTIVATION(elu),
    NEW_ACTIVATION(celu),
    NEW_ACTIVATION(softplus),
    NEW_ACTIVATION(softshrink),
    NEW_ACTIVATION(hardshrink),
    NEW_ACTIVATION(threshold),
    CONVOLUTION(convolved, 1, 1, 0, 0, 0, 0, 1, 1, 1),
    CONVOLUTION(convolved, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    CONVOLUTION(convolved_widely, 2, 3, 1, 2, 0, 1, 2, 1, 1),
    CONVOLUTION(convolved_widely, 3, 1, 0, 3, 4, 1, 1, 2, 1),
    CONVOLUTION(convolved_in_groups, 1, 2, 1, 1, 1, 1, 1, 1, 2),
    CONVOLUTION(convolved_in_groups, 1, 1, 0, 0, 0, 0, 1, 1, 2),
    CONVOLUTION(convolved_apart, 1, 1, 0, 0, 0, 0, 1, 1, 3),
    CONVOLUTION(convolved_apart, 2, 1, 1, 0, 1, 2, 1, 2, 3),
    CONVOLUTION(convolved_apart, 1, 3, 2, 2, 2, 2, 2, 1, 3),
    CONVOLUTION(convolved_far_apart, 1, 1, 0, 0, 0, 0, 1, 600, 3), // larger than a band
    TRANSPOSED(transposed, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1),
    TRANSPOSED(transposed, 1, 0, 2, 3, 1, 0, 0, 1, 1, 2, 1),
    TRANSPOSED(transposed, 0, 2, 1, 2, 0, 1, 0, 0, 2, 3, 1), // reaches beyond the last window
    TRANSPOSED(transposed_plain, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1),
    TRANSPOSED(transposed_plain, 1, 2, 1, 1, 0, 0, 0, 0, 2, 3, 1), // has unreached rows
    TRANSPOSED(transposed_in_groups, 0, 1, 1, 2, 1, 0, 0, 1, 1, 1, 2),
    TRANSPOSED(transposed_apart, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 3),
    TRANSPOSED(transposed_apart, 1, 1, 2, 2, 1, 1, 0, 1, 1, 1, 3),
    {"conv1d", sequences, VALUES_ANY, {.conv = {1, 2, 0, 0, 1, 2, 1, 1, 1}}, true, 1e-4, 1e-5},
    {"conv_transpose1d",
     sequences_back,
     VALUES_ANY,
     {.conv = {1, 3, 0, 0, 1, 0, 1, 2, 1}, .output = {0, 2}},
     true,
     1e-4,
     1e-5},
    {"max_pool1d",
     pooled_sequences,
     VALUES_DISTINCT,
     {.pool = {.kernel_w = 3, .padding_left = 1, .dilation_w = 1}},
     true,
     0,
     0},
    {"avg_pool1d",
     pooled_sequences,
     VALUES_ANY,
     {.pool =
          {.kernel_w = 3, .stride_w = 2, .padding_right = 1, .dilation_w = 1, .exclude_pad = true}},
     true,
     1e-6,
     1e-6},
    {"adaptive_avg_pool1d", pooled_sequences, VALUES_ANY, {.output = {1, 3}}, true, 1e-6, 1e-6},
    PAD(padded_any, PAD_CONSTANT, 1, 0, 2, 3, 0, 2, 0, 1),
    PAD(padded_images, PAD_CONSTANT, 0, 0, -1, 1, 0, 0, 1, -2),
    PAD(padded_images, PAD_CONSTANT, 0, 1, -2, 0, 0, -1, -1, -3),
    PAD(padded_images, PAD_REFLECT, 0, 0, 1, 2, 0, 0, 2, 3),
    PAD(padded_images, PAD_REFLECT, 0, 0, 2, 0, 0, 0, 0, 1),
    PAD(padded_lines, PAD_REFLECT, 3, 0, 0, 0, 2, 0, 0, 0),
    PAD(padded_images, PAD_REPLICATE, 0, 0, 1, 5, 0, 0, 2, 0),
    PAD(padded_whole, PAD_REPLICATE, 1, 2, 0, 3, 0, 1, 7, 0),
    PAD(padded_whole, PAD_CIRCULAR, 1, 1, 0, 5, 2, 0, 4, 3),
    PAD(padded_lines, PAD_CIRCULAR, 9, 0, 0, 0, 11, 0, 0, 0),
    PAD_WHOLE(padded_any, PAD_CONSTANT, 1, 0, 2, 3, 0, 2, 0, 1),
    PAD_WHOLE(padded_images, PAD_CONSTANT, 0, 1, -2, 0, 0, -1, -1, -3),
    PAD_WHOLE(padded_images, PAD_REFLECT, 0, 0, 1, 2, 0, 0, 2, 3),
    PAD_WHOLE(padded_whole, PAD_REPLICATE, 1, 2, 0, 3, 0, 1, 7, 0),
    PAD_WHOLE(padded_whole, PAD_CIRCULAR, 1, 1, 0, 5, 2, 0, 4, 3),
    EACH_RESIZE(RESIZE_NEAREST, RESIZE_ASYMMETRIC, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_NEAREST, RESIZE_HALF_PIXEL, RESIZE_ROUND_PREFER_CEIL),
    EACH_RESIZE(RESIZE_NEAREST, RESIZE_HALF_PIXEL, RESIZE_ROUND_PREFER_FLOOR),
    EACH_RESIZE(RESIZE_NEAREST, RESIZE_ALIGN_CORNERS, RESIZE_CEIL),
    EACH_RESIZE(RESIZE_LINEAR, RESIZE_HALF_PIXEL, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_LINEAR, RESIZE_ALIGN_CORNERS, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_LINEAR, RESIZE_ASYMMETRIC, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_LINEAR, RESIZE_PYTORCH_HALF_PIXEL, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_CUBIC, RESIZE_HALF_PIXEL, RESIZE_FLOOR),
    EACH_RESIZE(RESIZE_CUBIC, RESIZE_ALIGN_CORNERS, RESIZE_FLOOR),
    RESIZE(resized_long, 1, 300, 0, 0, RESIZE_LINEAR, RESIZE_HALF_PIXEL, RESIZE_FLOOR),
    RESIZE(resized_long, 3, 2, 0, 0, RESIZE_LINEAR, RESIZE_ALIGN_CORNERS, RESIZE_FLOOR),
    RESIZE(resized_sequences, 0, 0, 0, 1.5, RESIZE_LINEAR, RESIZE_HALF_PIXEL, RESIZE_FLOOR),
    FLIP(flipped, 1, 0),
    FLIP(flipped, 1, -1),
    FLIP(flipped, 2, 1, 0),
    FLIP(flipped, 0, 0),
    FLIP(cube, 3, 0, -1, 1),
    FLIP(cube, 1, 1),
    {"flip", numbered_rows, VALUES_ANY, {.dims = {1}, .n_dims = 1}, false, 0, 0},
    {"pixel_shuffle", shuffled, VALUES_ANY, {.output = {2}}, true, 0, 0},
    {"pixel_unshuffle", unshuffled, VALUES_ANY, {.output = {3}}, true, 0, 0},
    {"depth_to_space", shuffled, VALUES_ANY, {.output = {2}}, true, 0, 0},
    EACH_POOL("max_pool2d", VALUES_DISTINCT, 0.0),
    POOL("max_pool2d", pooled_widely, VALUES_DISTINCT, 0.0, 2, 2, 1, 2, 1, 1, 1, 1, 3, 2, false,
         false),
    POOL("max_pool2d", pooled_widely, VALUES_DISTINCT, 0.0, 3, 2, 2, 1, 1, 1, 0, 1, 1, 3, true,
         false),
    EACH_POOL("avg_pool2d", VALUES_ANY, 1e-6),
    POOL("avg_pool2d", pooled, VALUES_ANY, 1e-6, 3, 2, 2, 3, 1, 1, 1, 0, 1, 1, true, true),
    {"adaptive_avg_pool2d", shared_out, VALUES_ANY, {.output = {1, 1}}, true, 1e-6, 1e-6},
    {"adaptive_avg_pool2d", shared_out, VALUES_ANY, {.output = {3, 2}}, true, 1e-6, 1e-6},
    {"adaptive_avg_pool2d", shared_out, VALUES_ANY, {.output = {7, 5}}, true, 1e-6, 1e-6},
    EACH_REDUCTION("sum", cube, VALUES_ANY, true, 5e-4),
    EACH_REDUCTION("sum", hollow_cube, VALUES_ANY, true, 5e-4),
    EACH_REDUCTION("sum", cube, VALUES_WHOLE, false, 0),
    {"sum", hollow_cube, VALUES_WHOLE, {.dim = 1}, false, 0, 0},
    {"sum", line, VALUES_ANY, {.dim = DIM_ALL}, true, 1e-4, 2e-6},
    EACH_REDUCTION("mean", cube, VALUES_ANY, true, 1e-6),
    EACH_REDUCTION("mean", hollow_cube, VALUES_ANY, true, 1e-6),
    {"mean", line, VALUES_ANY, {.dim = DIM_ALL}, true, 1e-4, 2e-6},
    EACH_OVER("sum_dims", cube, 5e-4),
    {"sum_dims", cube, VALUES_WHOLE, {.dims = {1}, .n_dims = 1}, false, 0, 0},
    {"sum_dims", cube, VALUES_WHOLE, {.dims = {2, 0}, .n_dims = 2, .flag = true}, false, 0, 0},
    {"sum_dims", hollow_cube, VALUES_WHOLE, {.dims = {1, 2}, .n_dims = 2}, false, 0, 0},
    {"sum_dims", line, VALUES_WHOLE, {0}, false, 0, 0},
    EACH_OVER("sum_dims", hollow_cube, 0),
    OVER("sum_dims", line, false, 5e-4, 0, 0),
    EACH_OVER("mean_dims", cube, 2e-5),
    EACH_OVER("mean_dims", hollow_cube, 0),
    EACH_REDUCTION("max", cube, VALUES_DISTINCT, true, 0),
    EACH_REDUCTION("max", cube, VALUES_WHOLE, false, 0),
    {"max", line, VALUES_DISTINCT, {.dim = DIM_ALL}, true, 0, 0},
    EACH_REDUCTION("argmax", cube, VALUES_DISTINCT, false, 0),
    EACH_REDUCTION("argmax", cube, VALUES_WHOLE, false, 0),
    {"argmax", line, VALUES_DISTINCT, {.dim = DIM_ALL}, false, 0, 0},
    EACH_REDUCTION("min", cube, VALUES_DISTINCT, true, 0),
    EACH_REDUCTION("min", cube, VALUES_WHOLE, false, 0),
    {"min", line, VALUES_DISTINCT, {.dim = DIM_ALL}, true, 0, 0},
    EACH_REDUCTION("argmin", cube, VALUES_DISTINCT, false, 0),
    EACH_REDUCTION("argmin", cube, VALUES_WHOLE, false, 0),
    {"argmin", line, VALUES_DISTINCT, {.dim = DIM_ALL}, false, 0, 0},
    TOPK(ranked, VALUES_DISTINCT, 1, -1, false, true),
    TOPK(ranked, VALUES_DISTINCT, 5, -1, false, true),
    TOPK(ranked, VALUES_DISTINCT, 4, 1, true, true),
    TOPK(ranked, VALUES_DISTINCT, 0, -1, true, true),
    TOPK(ranked, VALUES_WHOLE, 5, -1, false, false),
    TOPK(ranked, VALUES_WHOLE, 4, 1, true, false),
    TOPK(ranked_equals, VALUES_DISTINCT, 9, -1, false, false),
    TOPK(ranked_equals, VALUES_DISTINCT, 4, 0, true, false),
    EACH_SPREAD("var", cube, 0.0f),
    EACH_SPREAD("var", hollow_cube, 0.0f),
    EACH_SPREAD("var", rows_long, 1.0f),
    EACH_SPREAD("std", cube, -1.0f),
    EACH_SPREAD("std", rows_long, 0.5f),
    EACH_DIM("cumsum", cube, VALUES_ANY, true, 1e-5),
    EACH_DIM("cumsum", hollow_cube, VALUES_ANY, true, 0),
    EACH_DIM("cumsum", cube, VALUES_WHOLE, false, 0),
    {"cumsum", rows_long, VALUES_ANY, {.dim = -1}, true, 5e-4, 2e-6},
    EACH_DIM("softmax", cube, VALUES_ANY, true, 1e-6),
    EACH_DIM("softmax", hollow_cube, VALUES_ANY, true, 0),
    EACH_DIM("log_softmax", cube, VALUES_ANY, true, 2e-6),
    EACH_DIM("log_softmax", hollow_cube, VALUES_ANY, true, 0),
    {"layer_norm", normed, VALUES_ANY, {.dim = 1, .value = 1e-5f}, true, 2e-5, 1e-5},
    {"layer_norm",
     normed_once,
     VALUES_ANY,
     {.dim = 1, .flag = true, .value = 0.5f},
     true,
     2e-5,
     1e-5},
    {"layer_norm", normed_blocks, VALUES_ANY, {.dim = 2, .value = 1e-3f}, true, 2e-5, 1e-5},
    {"rms_norm", scaled, VALUES_ANY, {.dim = 1, .value = 1e-5f}, true, 2e-5, 1e-5},
    {"rms_norm", scaled_blocks, VALUES_ANY, {.dim = 2, .value = 0.25f}, true, 2e-5, 1e-5},
    {"group_norm", grouped, VALUES_ANY, {.dim = 1, .value = 1e-5f}, true, 2e-5, 1e-5},
    {"group_norm", grouped_evenly, VALUES_ANY, {.dim = 2, .value = 1e-3f}, true, 2e-5, 1e-5},
    {"group_norm", grouped_by_three, VALUES_ANY, {.dim = 3, .value = 0.5f}, true, 2e-5, 1e-5},
    {"group_norm", shifted, VALUES_ANY, {.dim = 3, .flag = true, .value = 0.5f}, true, 2e-5, 1e-5},
    {"instance_norm", instances, VALUES_ANY, {.value = 1e-5f}, true, 2e-5, 1e-5},
    {"batch_norm", batches, VALUES_ANY, {.dim = 2, .value = 1e-3f}, true, 2e-5, 1e-5},
    {"batch_norm", few_batches, VALUES_DISTINCT, {.dim = 0, .value = 0.5f}, true, 2e-5, 1e-5},
    {"batch_norm", few_batches, VALUES_DISTINCT, {.dim = 1, .value = 0.5f}, true, 2e-5, 1e-5},
    {"batch_norm", few_batches, VALUES_DISTINCT, {.dim = 3, .value = 0.5f}, true, 2e-5, 1e-5},
    EACH_BIASED("batch_norm"),
    {"batch_norm_eval", batches, VALUES_ANY, {.value = 1e-3f}, true, 5e-5, 1e-5},
    EACH_BIASED("batch_norm_eval"),
    {"batch_norm_statistics", batches_in_turn, VALUES_ANY, {.value = 0.1f}, false, 2e-6, 2e-6},
    {"batch_norm_statistics", batches_in_turn, VALUES_ANY, {.value = NAN}, false, 2e-6, 2e-6},
    {"embedding", embedded, VALUES_ANY, {0}, true, 4e-5, 1e-6},
    {"embedding", embedded, VALUES_WHOLE, {0}, false, 0, 0},
    {"embedding", embedded_from_end, VALUES_ANY, {.flag = true}, true, 4e-5, 1e-6},
    {"embedding", embedded_from_end, VALUES_WHOLE, {.flag = true}, false, 0, 0},
    {"cross_entropy", classified, VALUES_ANY, {0}, true, 2e-6, 2e-6},
    EACH_LABEL_LOSS("nll"),
    EACH_LABEL_LOSS("cross_entropy_with"),
    {"mse", alike, VALUES_ANY, {0}, true, 1e-6, 1e-5},
    {"l1", apart, VALUES_ANY, {0}, true, 1e-6, 1e-5},
    {"huber", apart, VALUES_ANY, {.value = 1.3f}, true, 1e-6, 1e-5},
    {"smooth_l1", apart, VALUES_ANY, {.value = 0.7f}, true, 1e-6, 1e-5},
    {"kl_divergence", divergent, VALUES_ANY, {0}, true, 1e-5, 1e-5},
    {"binary_cross_entropy", alike, VALUES_ANY, {0}, true, 1e-6, 1e-5},
    {"cast", line, VALUES_ANY, {0}, false, 0, 0},
    {"cast", numbered, VALUES_ANY, {0}, false, 0, 0},
    {"wrap", whole, VALUES_WHOLE, {.dim = 8}, false, 0, 0},
    {"wrap", whole, VALUES_WHOLE, {.dim = 3, .flag = true}, false, 0, 0},
    {"wrap", whole, VALUES_WHOLE, {.dim = 32, .flag = true}, false, 0, 0},
    {"wrap", whole, VALUES_WHOLE, {.dim = 64, .flag = true}, false, 0, 0},
    {"one_hot", numbered, VALUES_ANY, {.dim = 0}, false, 0, 0},
    {"one_hot", numbered, VALUES_ANY, {.dim = 3}, false, 0, 0},
    {"one_hot", numbered_from_end, VALUES_ANY, {.dim = 0, .flag = true}, false, 0, 0},
    {"one_hot", numbered_from_end, VALUES_ANY, {.dim = 3, .flag = true}, false, 0, 0},
    {"concat", rows_joined, VALUES_ANY, {.dim = 0}, true, 0, 1e-6},
    {"concat", columns_joined, VALUES_ANY, {.dim = -1}, true, 0, 1e-6},
    {"concat", middles_joined, VALUES_ANY, {.dim = 1}, true, 0, 1e-6},
    EACH_DIM("stack", stacked, VALUES_ANY, true, 0),
    {"stack", scalars, VALUES_ANY, {.dim = -1}, true, 0, 0},
    EACH_DIM("gather", gathered, VALUES_ANY, true, 1e-6),
    EACH_DIM("gather", gathered, VALUES_WHOLE, false, 0),
    {"gather", gathered_from_end, VALUES_ANY, {.dim = 0, .flag = true}, true, 1e-4, 2e-6},
    {"gather", gathered_from_end, VALUES_ANY, {.dim = 1, .flag = true}, true, 1e-4, 2e-6},
    {"gather", gathered_from_end, VALUES_ANY, {.dim = -1, .flag = true}, true, 1e-4, 2e-6},
    {"gather", gathered_from_end, VALUES_WHOLE, {.dim = 1, .flag = true}, false, 0, 0},
    {"gather", gathered_often, VALUES_ANY, {.dim = 0}, true, 1e-4, 2e-6},
    {"dropout", one, VALUES_ANY, {.value = 0.0f}, true, 0, 1e-6},
    {"dropout", one, VALUES_ANY, {.value = 0.3f}, true, 0, 1e-6},
    {"dropout", one, VALUES_ANY, {.value = 1.0f}, true, 0, 1e-6},
    {"dropout_blocks", blocks, VALUES_ANY, {.dim = 1, .value = 0.5f}, true, 0, 1e-6},
    {"dropout_blocks", blocks, VALUES_ANY, {.dim = 2, .value = 0.3f}, true, 0, 1e-6},
    {"lstm", lstm_passes, VALUES_ANY, {.dim = 0}, true, 1e-5, 1e-5},
    {"lstm", lstm_passes, VALUES_ANY, {.dim = 1, .flag = true}, true, 1e-5, 1e-5},
    {"lstm", lstm_passes, VALUES_ANY, {.dim = 2}, true, 1e-5, 1e-5},
    {"gru", gru_passes, VALUES_ANY, {.flag = false}, true, 1e-5, 1e-5},
    {"gru", gru_passes, VALUES_ANY, {.flag = true}, true, 1e-5, 1e-5},
    // The gradients grow from step to step, and their rounding errors with them.
    {"rnn", rnn_passes, VALUES_ANY, {.flag = false}, true, 5e-5, 5e-5},
    {"rnn", rnn_passes, VALUES_ANY, {.flag = true}, true, 5e-5, 5e-5},
    {"rnn", rnn_passes, VALUES_ANY, {.dim = 1, .flag = true}, true, 5e-5, 5e-5},
    ATTENTION(attended_small, 0, false, 0.0f),
    ATTENTION(attended_small, ATTEND_CAUSAL, true, 0.0f),
    ATTENTION(attended_small, ATTEND_ROWS, false, 0.0f),
    ATTENTION(attended_small, ATTEND_KEYS | ATTEND_CAUSAL, false, 0.3f),
    ATTENTION(attended_widely, 0, false, 0.0f),
    ATTENTION(attended_widely, ATTEND_CAUSAL, false, 0.0f),
    ATTENTION(attended_widely, ATTEND_BATCH, true, 0.0f),
    ATTENTION(attended_widely, ATTEND_ROWS | ATTEND_CAUSAL, false, 0.25f),
    ATTENTION(attended_widely, ATTEND_KEYS, false, 1.0f),
    ATTENTION(attended_long, 0, false, 0.0f),
    ATTENTION(attended_long, ATTEND_KEYS, true, 0.25f),
    {"rotary", turned, VALUES_ANY, {0}, true, 1e-6, 1e-6},
    {"fill", line, VALUES_ANY, {.value = 2.5f}, false, 0, 0},
    {"assign", written, VALUES_ANY, {0}, false, 0, 0},
    {"accumulate", into, VALUES_ANY, {0}, false, 0, 1e-6},
    {"sgd_step", sgd_plain, VALUES_ANY, {0}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_plain, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_momentum, VALUES_ANY, {.value = 0.9f}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_momentum, VALUES_ANY, {.value = 0.9f, .decay = 0.01f}, false, 1e-6, 1e-6},
    {"sgd_step", sgd_momentum, VALUES_ANY, {.value = 0.9f, .flag = true}, false, 1e-6, 1e-6},
    {"sgd_step",
     sgd_momentum,
     VALUES_ANY,
     {.value = 0.9f, .decay = 0.01f, .flag = true},
     false,
     1e-6,
     1e-6},
    {"clip_norm", gradients, VALUES_ANY, {.value = 0.75f}, false, 1e-6, 1e-5},
    {"clip_norm", gradients, VALUES_ANY, {.value = 1e6f}, false, 1e-6, 1e-5},
    {"adam_step", adam, VALUES_ANY, {0}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.flag = true}, false, 1e-6, 2e-6},
    {"adam_step", adam, VALUES_ANY, {.decay = 0.01f, .flag = true}, false, 1e-6, 2e-6},
    {"rmsprop_step", rmsprop, VALUES_ANY, {0}, false, 1e-6, 2e-6},
    {"rmsprop_step", rmsprop, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 2e-6},
    {"lion_step", sgd_momentum, VALUES_ANY, {0}, false, 1e-6, 1e-6},
    {"lion_step", sgd_momentum, VALUES_ANY, {.decay = 0.01f}, false, 1e-6, 1e-6},
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

int op_case_count(void) {
    int count = 0;
    for (int f = 0; f < FAMILY_COUNT; f++) {
        for (const char *const *inputs = families[f].inputs; *inputs != NULL; inputs++) count++;
    }
    return count;
}

// A seed from the case's name alone, so that adding a case changes no other one's values (FNV-1a).
static uint64_t seed_of(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

OpCase op_case_at(int index) {
    const Family *family = families;
    const char *const *inputs = family->inputs;
    for (int i = 0; i < index; i++) {
        if (*++inputs == NULL) inputs = (++family)->inputs;
    }
    OpCase self = op_case_of(family->op, *inputs, family->arguments);
    for (int i = 0; i < self.n_in; i++) {
        if (self.in[i].values == VALUES_ANY) self.in[i].values = family->values;
    }
    self.differentiable = family->differentiable;
    self.absolute = family->absolute;
    self.relative = family->relative;
    self.seed = seed_of(self.name);
    return self;
}
