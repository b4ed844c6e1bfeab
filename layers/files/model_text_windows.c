// model_text_windows.c -- the layers of model texts that move a window over images or sequences, or
// resize them. The others: model_text_layers.c.
#include "layers/files/model_text_parts.h"
#include "layers/layers1d.h"
#include "layers/layers2d.h"

static int64_t whole(double value) { return (int64_t)value; }

// ---- convolutions ------------------------------------------------------------------------------
// Two-sided arguments come in this order, after the positional ones.
#define SIDES                                                                                      \
    "; kernel_h=kernel kernel_w=kernel stride_h=stride stride_w=stride padding_h=padding "         \
    "padding_w=padding padding_top=padding_h padding_bottom=padding_h padding_left=padding_w "     \
    "padding_right=padding_w "
#define DILATIONS "dilation_h=dilation dilation_w=dilation "
enum { KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, TOP = STRIDE_W + 3, BOTTOM, LEFT, RIGHT };
enum { DILATION_H = RIGHT + 1, DILATION_W, BEHIND_SIDES };

static Conv2dOptions conv2d_options(const double *side, double groups) {
    return (Conv2dOptions){.stride_h = whole(side[STRIDE_H]),
                           .stride_w = whole(side[STRIDE_W]),
                           .padding_top = whole(side[TOP]),
                           .padding_bottom = whole(side[BOTTOM]),
                           .padding_left = whole(side[LEFT]),
                           .padding_right = whole(side[RIGHT]),
                           .dilation_h = whole(side[DILATION_H]),
                           .dilation_w = whole(side[DILATION_W]),
                           .groups = whole(groups)};
}
static Layer *make_conv2d(const double *a) {
    const double *side = a + 8;
    return conv2d_new(whole(a[0]), whole(a[1]), whole(side[KERNEL_H]), whole(side[KERNEL_W]),
                      conv2d_options(side, a[6]), a[7] != 0.0);
}
static Layer *make_conv_transpose2d(const double *a) {
    const double *side = a + 9, *more = side + BEHIND_SIDES;
    ConvTranspose2dOptions options = {.conv = conv2d_options(side, a[6]),
                                      .output_padding_h = whole(more[0]),
                                      .output_padding_w = whole(more[1])};
    return conv_transpose2d_new(whole(a[0]), whole(a[1]), whole(side[KERNEL_H]),
                                whole(side[KERNEL_W]), options, a[7] != 0.0);
}
static Layer *make_conv1d(const double *a) {
    Conv1dOptions options = {.stride = whole(a[3]),
                             .padding_left = whole(a[8]),
                             .padding_right = whole(a[9]),
                             .dilation = whole(a[5]),
                             .groups = whole(a[6])};
    return conv1d_new(whole(a[0]), whole(a[1]), whole(a[2]), options, a[7] != 0.0);
}
static Layer *make_conv_transpose1d(const double *a) {
    ConvTranspose1dOptions options = {.conv = {.stride = whole(a[3]),
                                               .padding_left = whole(a[9]),
                                               .padding_right = whole(a[10]),
                                               .dilation = whole(a[8]),
                                               .groups = whole(a[6])},
                                      .output_padding = whole(a[5])};
    return conv_transpose1d_new(whole(a[0]), whole(a[1]), whole(a[2]), options, a[7] != 0.0);
}

// ---- pools -------------------------------------------------------------------------------------
static Pool2dOptions pool2d_options(const double *side) {
    return (Pool2dOptions){.kernel_h = whole(side[KERNEL_H]),
                           .kernel_w = whole(side[KERNEL_W]),
                           .stride_h = whole(side[STRIDE_H]),
                           .stride_w = whole(side[STRIDE_W]),
                           .padding_top = whole(side[TOP]),
                           .padding_bottom = whole(side[BOTTOM]),
                           .padding_left = whole(side[LEFT]),
                           .padding_right = whole(side[RIGHT]),
                           .dilation_h = 1,
                           .dilation_w = 1};
}
static Layer *make_max_pool2d(const double *a) {
    const double *side = a + 4;
    Pool2dOptions options = pool2d_options(side);
    options.dilation_h = whole(side[DILATION_H]);
    options.dilation_w = whole(side[DILATION_W]);
    options.ceil_mode = side[BEHIND_SIDES] != 0.0;
    return max_pool2d_new(options);
}
static Layer *make_avg_pool2d(const double *a) {
    const double *side = a + 3;
    Pool2dOptions options = pool2d_options(side);
    options.ceil_mode = side[RIGHT + 1] != 0.0;
    options.exclude_pad = side[RIGHT + 2] != 0.0;
    return avg_pool2d_new(options);
}
#define SIDES_1D "; padding_left=padding padding_right=padding ceil_mode=false "
static Pool1dOptions pool1d_options(const double *a, const double *side) {
    return (Pool1dOptions){.kernel = whole(a[0]),
                           .stride = whole(a[1]),
                           .padding_left = whole(side[0]),
                           .padding_right = whole(side[1]),
                           .dilation = 1,
                           .ceil_mode = side[2] != 0.0};
}
static Layer *make_max_pool1d(const double *a) {
    Pool1dOptions options = pool1d_options(a, a + 4);
    options.dilation = whole(a[3]);
    return max_pool1d_new(options);
}
static Layer *make_avg_pool1d(const double *a) {
    Pool1dOptions options = pool1d_options(a, a + 3);
    options.exclude_pad = a[6] != 0.0;
    return avg_pool1d_new(options);
}
static Layer *make_adaptive_pool1d(const double *a) { return adaptive_avg_pool1d_new(whole(a[0])); }
static Layer *make_adaptive_pool2d(const double *a) {
    return adaptive_avg_pool2d_new(whole(a[0]), whole(a[1]));
}

// ---- other sizes -------------------------------------------------------------------------------
#define PAD_SIDES "left=0 right=left top=left bottom=left "
static Layer *padding(const double *a, PadMode mode, double value) {
    return pad2d_new(whole(a[0]), whole(a[1]), whole(a[2]), whole(a[3]), mode, (float)value);
}
static Layer *make_zero_pad2d(const double *a) { return padding(a, PAD_CONSTANT, 0.0); }
static Layer *make_constant_pad2d(const double *a) { return padding(a, PAD_CONSTANT, a[4]); }
static Layer *make_reflection_pad2d(const double *a) { return padding(a, PAD_REFLECT, 0.0); }
static Layer *make_replication_pad2d(const double *a) { return padding(a, PAD_REPLICATE, 0.0); }
static Layer *make_circular_pad2d(const double *a) { return padding(a, PAD_CIRCULAR, 0.0); }

// As PyTorch: half pixels for interpolation, and its "nearest", which has none.
static Layer *make_upsample(const double *a) {
    ResizeOptions options = {.scale_h = a[3],
                             .scale_w = a[4],
                             .out_h = whole(a[5]),
                             .out_w = whole(a[6]),
                             .mode = (ResizeMode)a[1]};
    if (options.mode != RESIZE_NEAREST)
        options.coordinates = a[2] != 0.0 ? RESIZE_ALIGN_CORNERS : RESIZE_HALF_PIXEL;
    return upsample_new(options);
}
static Layer *make_pixel_shuffle(const double *a) { return pixel_shuffle_new(whole(a[0])); }
static Layer *make_pixel_unshuffle(const double *a) { return pixel_unshuffle_new(whole(a[0])); }

// ---- the table ---------------------------------------------------------------------------------
#define CONV "in_channels out_channels kernel=0 stride=1 padding=0 "
#define TRANSPOSE CONV "output_padding=0 groups=1 bias=true dilation=1"
#define POOL "kernel=0 stride=0 padding=0"

const ModelTextLayer model_text_windows[] = {
    {"Conv1d", CONV "dilation=1 groups=1 bias=true; padding_left=padding padding_right=padding",
     make_conv1d, false},
    {"Conv2d", CONV "dilation=1 groups=1 bias=true" SIDES DILATIONS, make_conv2d, false},
    {"ConvTranspose1d", TRANSPOSE "; padding_left=padding padding_right=padding",
     make_conv_transpose1d, false},
    {"ConvTranspose2d",
     TRANSPOSE SIDES DILATIONS "output_padding_h=output_padding output_padding_w=output_padding",
     make_conv_transpose2d, false},
    {"MaxPool1d", POOL " dilation=1" SIDES_1D, make_max_pool1d, false},
    {"MaxPool2d", POOL " dilation=1" SIDES DILATIONS "ceil_mode=false", make_max_pool2d, false},
    {"AvgPool1d", POOL SIDES_1D "exclude_pad=false", make_avg_pool1d, false},
    {"AvgPool2d", POOL SIDES "ceil_mode=false exclude_pad=false", make_avg_pool2d, false},
    {"AdaptiveAvgPool1d", "output_size", make_adaptive_pool1d, false},
    {"AdaptiveAvgPool2d", "out_h out_w", make_adaptive_pool2d, false},
    {"ZeroPad2d", PAD_SIDES, make_zero_pad2d, false},
    {"ConstantPad2d", PAD_SIDES "value=real", make_constant_pad2d, false},
    {"ReflectionPad2d", PAD_SIDES, make_reflection_pad2d, false},
    {"ReplicationPad2d", PAD_SIDES, make_replication_pad2d, false},
    {"CircularPad2d", PAD_SIDES, make_circular_pad2d, false},
    {"Upsample",
     "scale_factor=0.0 mode=nearest|bilinear|bicubic align_corners=false; scale_h=scale_factor "
     "scale_w=scale_factor out_h=0 out_w=out_h",
     make_upsample, false},
    {"PixelShuffle", "upscale_factor", make_pixel_shuffle, false},
    {"PixelUnshuffle", "downscale_factor", make_pixel_unshuffle, false},
    {.name = NULL},
};
