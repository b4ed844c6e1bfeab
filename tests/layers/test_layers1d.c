// test_layers1d.c -- layers on sequences, transposed convolutions, image resizing: initial values,
// attributes, results and costs, refusals.
#include <math.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/layers1d.h"
#include "layers/layers2d.h"
#include "layers/recurrent.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

static ConvTranspose2dOptions doubled(void) {
    ConvTranspose2dOptions options = conv_transpose2d_defaults();
    options.conv = conv2d_padded(options.conv, 1);
    options.conv.stride_h = options.conv.stride_w = 2;
    options.output_padding_w = 1;
    return options;
}

static Conv1dOptions dilated(void) {
    Conv1dOptions options = conv1d_defaults();
    options.stride = 2;
    options.padding_left = options.padding_right = 1;
    options.dilation = 3;
    options.groups = 2;
    return options;
}

static Pool1dOptions overlapping(void) {
    Pool1dOptions options = pool1d_defaults(3);
    options.stride = 2;
    options.padding_left = options.padding_right = 1;
    return options;
}

static Layer *make(int i) {
    ConvTranspose1dOptions back = {dilated(), 1};
    switch (i) {
    case 0:
        return conv1d_new(4, 6, 3, dilated(), true);
    case 1:
        return conv_transpose1d_new(4, 6, 3, back, false);
    case 2:
        return conv_transpose2d_new(4, 6, 3, 2, doubled(), true);
    case 3:
        return max_pool1d_new(overlapping());
    case 4:
        return avg_pool1d_new(overlapping());
    case 5:
        return adaptive_avg_pool1d_new(5);
    case 6:
        return pad2d_new(1, 2, 3, 4, PAD_CONSTANT, 0.0f);
    case 7:
        return pad2d_new(1, -2, 3, 4, PAD_CONSTANT, 3.5f);
    case 8:
        return pad2d_new(1, 2, 3, 4, PAD_REFLECT, 0.0f);
    case 9:
        return pad2d_new(1, 2, 3, 4, PAD_REPLICATE, 0.0f);
    case 10:
        return upsample_new((ResizeOptions){.scale_h = 2.0, .scale_w = 2.0});
    case 11:
        return upsample_new((ResizeOptions){4, 6, 0, 0, RESIZE_LINEAR, RESIZE_ALIGN_CORNERS, 0});
    case 12:
        return pixel_shuffle_new(2);
    default:
        return pixel_unshuffle_new(1);
    }
}
enum { LAYERS = 14 };

// Texts as PyTorch 2.15 prints them.
static const char *const printed[LAYERS] = {
    "Conv1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(3,), groups=2)\n",
    "ConvTranspose1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(3,), "
    "output_padding=(1,), groups=2, bias=False)\n",
    "ConvTranspose2d(4, 6, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), "
    "output_padding=(0, 1))\n",
    "MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)\n",
    "AvgPool1d(kernel_size=(3,), stride=(2,), padding=(1,))\n",
    "AdaptiveAvgPool1d(output_size=5)\n",
    "ZeroPad2d((1, 2, 3, 4))\n",
    "ConstantPad2d(padding=(1, -2, 3, 4), value=3.5)\n",
    "ReflectionPad2d((1, 2, 3, 4))\n",
    "ReplicationPad2d((1, 2, 3, 4))\n",
    "Upsample(scale_factor=2.0, mode='nearest')\n",
    "Upsample(size=(4, 6), mode='bilinear')\n",
    "PixelShuffle(upscale_factor=2)\n",
    "PixelUnshuffle(downscale_factor=1)\n",
};

START_TEST(they_print_as_pytorchs) {
    char text[400] = "";
    Layer *layer = make(_i);
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(layer_print(layer, file), STATUS_OK);
    fclose(file);
    ck_assert_str_eq(text, printed[_i]);
    layer_free(layer);
}
END_TEST

START_TEST(attributes_are_told) {
    char text[512];
    static const char *const told[LAYERS] = {
        "in_channels=4, out_channels=6, kernel=3, stride=2, padding_left=1, padding_right=1, "
        "dilation=3, groups=2, bias=true",
        "in_channels=4, out_channels=6, kernel=3, stride=2, padding_left=1, padding_right=1, "
        "dilation=3, groups=2, output_padding=1, bias=false",
        "in_channels=4, out_channels=6, kernel_h=3, kernel_w=2, stride_h=2, stride_w=2, "
        "padding_top=1, padding_bottom=1, padding_left=1, padding_right=1, dilation_h=1, "
        "dilation_w=1, groups=1, output_padding_h=0, output_padding_w=1, bias=true",
        "kernel=3, stride=2, padding_left=1, padding_right=1, dilation=1, ceil_mode=false",
        "kernel=3, stride=2, padding_left=1, padding_right=1, ceil_mode=false, "
        "exclude_pad=false",
        "output_size=5",
        "left=1, right=2, top=3, bottom=4",
        "left=1, right=-2, top=3, bottom=4, value=3.5",
        "left=1, right=2, top=3, bottom=4",
        "left=1, right=2, top=3, bottom=4",
        "out_h=0, out_w=0, scale_h=2, scale_w=2, align_corners=false",
        "out_h=4, out_w=6, scale_h=0, scale_w=0, align_corners=true",
        "upscale_factor=2",
        "downscale_factor=1"};
    Layer *layer = make(_i);
    ck_assert_str_eq(layer_attributes_text(layer, text, sizeof text), told[_i]);
    layer_free(layer);
}
END_TEST

// Uniform in +-1/sqrt(second size x kernel).
static void check_start(Layer *layer, Shape weight, int64_t bias) {
    double fan_in = 1.0, squares = 0.0;
    for (int i = 1; i < weight.ndim; i++) fan_in *= (double)weight.dims[i];
    float bound = (float)(1.0 / sqrt(fan_in)), largest = 0.0f;
    ck_assert_int_eq(layer->n_parameters, bias > 0 ? 2 : 1);
    ck_assert_str_eq(layer->parameters[0].name, "weight");
    Tensor *w = layer->parameters[0].tensor;
    ck_assert(shape_equal(tensor_shape(w), weight));
    for (int64_t i = 0; i < w->numel; i++) {
        float value = tensor_data(w)[i];
        largest = fabsf(value) > largest ? fabsf(value) : largest;
        squares += (double)value * (double)value;
    }
    ck_assert_msg(largest <= bound && largest > 0.98f * bound, "%g, bound %g", (double)largest,
                  (double)bound);
    double deviation = sqrt(squares / (double)w->numel) * sqrt(3.0) / (double)bound;
    ck_assert_msg(fabs(deviation - 1.0) < 0.03, "%g", deviation);
    if (bias > 0) {
        Tensor *b = layer->parameters[1].tensor;
        ck_assert_str_eq(layer->parameters[1].name, "bias");
        ck_assert(shape_equal(tensor_shape(b), SHAPE(bias)));
        for (int64_t i = 0; i < bias; i++) ck_assert(fabsf(tensor_data(b)[i]) <= bound);
    }
    layer_free(layer);
}

START_TEST(weights_begin_as_pytorchs) {
    Conv1dOptions grouped = conv1d_defaults();
    ConvTranspose1dOptions back = conv_transpose1d_defaults();
    ConvTranspose2dOptions wide = conv_transpose2d_defaults();
    grouped.groups = back.conv.groups = wide.conv.groups = 2;
    check_start(conv1d_new(64, 32, 5, grouped, true), SHAPE(32, 32, 5), 32);
    check_start(conv_transpose1d_new(32, 64, 5, back, true), SHAPE(32, 32, 5), 64);
    check_start(conv_transpose2d_new(32, 64, 3, 5, wide, true), SHAPE(32, 32, 3, 5), 64);
    check_start(conv_transpose2d_new(32, 64, 3, 5, wide, false), SHAPE(32, 32, 3, 5), 0);
}
END_TEST

// Shapes are PyTorch's, and a dry run counts exactly what a real one does.
START_TEST(they_run_and_cost_what_a_dry_run_says) {
    const Shape in[2] = {SHAPE(2, 4, 19), SHAPE(2, 4, 5, 7)};
    const Shape out[LAYERS] = {SHAPE(2, 6, 8),      SHAPE(2, 6, 42),     SHAPE(2, 6, 9, 13),
                               SHAPE(2, 4, 10),     SHAPE(2, 4, 10),     SHAPE(2, 4, 5),
                               SHAPE(2, 4, 12, 10), SHAPE(2, 4, 12, 6),  SHAPE(2, 4, 12, 10),
                               SHAPE(2, 4, 12, 10), SHAPE(2, 4, 10, 14), SHAPE(2, 4, 4, 6),
                               SHAPE(2, 1, 10, 14), SHAPE(2, 4, 5, 7)};
    Layer *layer = make(_i);
    Tensor *x = tensor_uniform_new(in[_i == 2 || _i > 5], -1.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *y = layer_forward(layer, x);
    ck_assert_msg(y != NULL, "%s", error_message());
    char ours[SHAPE_TEXT];
    ck_assert_msg(shape_equal(tensor_shape(y), out[_i]), "%s", shape_text(tensor_shape(y), ours));
    if (_i == 2) { // n ci h w (co / g) kh kw
        LayerCost cost;
        ck_assert_int_eq(layer_cost(layer, &x, 1, &cost), STATUS_OK);
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].macs, 2 * 4 * 5 * 7 * 6 * 3 * 2);
        ck_assert_uint_eq(cost.phase[PHASE_FORWARD].bias_flops, 2 * 6 * 9 * 13);
    }
    ck_assert_ptr_null(layer_forward_many(layer, (Tensor *[]){x, x}, 2));
    expect_error(STATUS_INVALID_ARGUMENT, "takes one input, got 2");
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(what_makes_no_layer_is_refused) {
    ConvTranspose2dOptions wide = conv_transpose2d_defaults();
    ck_assert_ptr_null(conv1d_new(0, 6, 3, conv1d_defaults(), true));
    expect_error(STATUS_INVALID_ARGUMENT, "Conv1d: 0 -> 6 channels");
    ck_assert_ptr_null(conv1d_new(3, 6, 3, dilated(), true));
    expect_error(STATUS_INVALID_ARGUMENT, "2 groups do not divide 3");
    ck_assert_ptr_null(conv_transpose1d_new(3, 6, 0, conv_transpose1d_defaults(), true));
    expect_error(STATUS_INVALID_ARGUMENT, "ConvTranspose1d: 3 -> 6 channels, kernel 1 x 0");
    wide.conv.groups = 4;
    ck_assert_ptr_null(conv_transpose2d_new(4, 6, 3, 3, wide, true));
    expect_error(STATUS_INVALID_ARGUMENT, "ConvTranspose2d: 4 groups do not divide 4 and 6");
    wide.conv.groups = 0;
    ck_assert_ptr_null(conv_transpose2d_new(4, 6, 3, 3, wide, true));
    expect_error(STATUS_INVALID_ARGUMENT, "0 groups");
    ck_assert_ptr_null(max_pool1d_new(pool1d_defaults(0)));
    expect_error(STATUS_INVALID_ARGUMENT, "MaxPool1d: a kernel of 0");
    ck_assert_ptr_null(avg_pool1d_new(pool1d_defaults(-1)));
    expect_error(STATUS_INVALID_ARGUMENT, "AvgPool1d");
    ck_assert_ptr_null(adaptive_avg_pool1d_new(0));
    expect_error(STATUS_INVALID_ARGUMENT, "an output of 0");
    ck_assert_ptr_null(pad2d_new(1, 1, 1, 1, (PadMode)4, 0.0f));
    expect_error(STATUS_INVALID_ARGUMENT, "mode 4");
    ck_assert_ptr_null(upsample_new((ResizeOptions){.out_h = 4}));
    expect_error(STATUS_INVALID_ARGUMENT, "size 4 x 0");
    ck_assert_ptr_null(upsample_new((ResizeOptions){.scale_h = 2.0}));
    expect_error(STATUS_INVALID_ARGUMENT, "HINT: a size or a scale");
    ck_assert_ptr_null(pixel_shuffle_new(0));
    expect_error(STATUS_INVALID_ARGUMENT, "PixelShuffle: a factor of 0");
    ck_assert_ptr_null(pixel_unshuffle_new(0));
    expect_error(STATUS_INVALID_ARGUMENT, "PixelUnshuffle");
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(any_request_may_fail) {
    int failures = 0;
    for (uint64_t n = 1; n < 100; n++, failures++) {
        memory_fail_at(n);
        Layer *layer = make(_i);
        memory_fail_at(0);
        layer_free(layer);
        if (layer) break;
        expect_error(STATUS_OUT_OF_MEMORY, "");
        ck_assert_int_eq(expect_live_bytes(), 0);
    }
    expect_no_error();
    ck_assert_int_gt(failures, 0);
}
END_TEST

// A recurrent layer drops between the layers of its stack, and not after the last one.
START_TEST(dropout_is_between_layers_only) {
    RecurrentOptions drops = recurrent_defaults();
    drops.dropout = 1.0f;
    drops.layers = 1 + _i;
    Layer *layer = lstm_new(2, 3, drops);
    Tensor *x = tensor_uniform_new(SHAPE(4, 2, 2), -1.0f, 1.0f);
    Scope *scope = scope_open();
    Tensor *dropped = layer_forward(layer, x);
    layer_train(layer, false);
    Tensor *kept = layer_forward(layer, x);
    float a[24], b[24];
    tensor_read_floats(dropped, a);
    tensor_read_floats(kept, b);
    expect_no_error();
    ck_assert((memcmp(a, b, sizeof a) == 0) == (_i == 0) && a[0] != 0.0f);
    scope_close(scope);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {they_print_as_pytorchs, LAYERS},    {attributes_are_told, LAYERS},
        {weights_begin_as_pytorchs, 0},      {they_run_and_cost_what_a_dry_run_says, LAYERS},
        {what_makes_no_layer_is_refused, 0}, {any_request_may_fail, LAYERS},
        {dropout_is_between_layers_only, 2}, {NULL, 0},
    };
    return harness_main("layers1d", tests);
}
