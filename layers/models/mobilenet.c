// mobilenet.c -- MobileNetV2 (Sandler et al. 2018) as torchvision has it, with its names
// ("features.1.conv.0.0"): inverted residuals of a wide depthwise convolution between narrow ends
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/parts.h"
#include "tensor/op.h"

// Convolution, batch norm and ReLU6, "0" to "2".
static Layer *conv_norm_relu6(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                              int64_t groups) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), kernel / 2);
    options.stride_h = options.stride_w = stride;
    options.groups = groups;
    Layer *self = sequential_new();
    layer_append(self, conv2d_new(in, out, kernel, kernel, options, false));
    layer_append(self, batch_norm2d_new(out, batch_norm_defaults()));
    layer_append(self, activation_new(&op_relu6));
    return self;
}

// x, widened, convolved channel by channel, and narrowed again; plus x where the shape stays.
static Layer *inverted_residual_new(int64_t in, int64_t out, int64_t stride, int64_t expansion) {
    int64_t hidden = in * expansion;
    Layer *self = stride == 1 && in == out ? residual_new() : sequential_new();
    Layer *conv = sequential_new();
    if (expansion != 1) layer_append(conv, conv_norm_relu6(in, hidden, 1, 1, 1));
    layer_append(conv, conv_norm_relu6(hidden, hidden, 3, stride, hidden));
    layer_append(conv, conv2d_new(hidden, out, 1, 1, conv2d_defaults(), false));
    layer_append(conv, batch_norm2d_new(out, batch_norm_defaults()));
    layer_add_child(self, "conv", conv);
    return self;
}

// To the next multiple of 8, and at most a tenth less than asked for.
static int64_t rounded(float channels) {
    int64_t eights = (int64_t)(channels + 4.0f) / 8 * 8;
    if (eights < 8) eights = 8;
    return (float)eights < 0.9f * channels ? eights + 8 : eights;
}

Layer *mobilenet_v2_new(float width, int64_t classes) {
    static const struct {
        int64_t expansion, channels;
        int blocks;
        int64_t stride; // of the first
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    if (!(width > 0.0f && width <= 64.0f)) {
        error_set(STATUS_INVALID_ARGUMENT, "mobilenet_v2_new: width %g. HINT: such as 1",
                  (double)width);
        return NULL;
    }
    int64_t in = rounded(32.0f * width), last = rounded(1280.0f * (width > 1.0f ? width : 1.0f));
    Layer *features = sequential_new(), *classifier = sequential_new(), *model = sequential_new();
    layer_append(features, conv_norm_relu6(3, in, 3, 2, 1));
    for (size_t s = 0; s < sizeof(stages) / sizeof(stages[0]); s++) {
        int64_t out = rounded((float)stages[s].channels * width);
        for (int i = 0; i < stages[s].blocks; i++, in = out)
            layer_append(features, inverted_residual_new(in, out, i == 0 ? stages[s].stride : 1,
                                                         stages[s].expansion));
    }
    layer_append(features, conv_norm_relu6(in, last, 1, 1, 1));
    layer_append(classifier, dropout_new(0.2f));
    layer_append(classifier, linear_new(last, classes, true));
    layer_add_child(model, "features", features);
    layer_add_child(model, "avgpool", adaptive_avg_pool2d_new(1, 1));
    layer_add_child(model, "flatten", flatten_new(1, -1));
    layer_add_child(model, "classifier", classifier);
    return layer_finished(model);
}
