// classic.c -- networks that are chains: LeNet-5, torchvision's single-tower AlexNet, and VGG.
// After a failure, the layer_add_child that would have taken a part frees it.
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/op.h"

// Adds a convolution with equal padding on all sides, an optional batch norm, and a ReLU.
static void add_conv_relu(Layer *sequential, int64_t in, int64_t out, int64_t kernel,
                          int64_t stride, int64_t padding, bool batch_norm) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), padding);
    options.stride_h = options.stride_w = stride;
    layer_append(sequential, conv2d_new(in, out, kernel, kernel, options, true));
    if (batch_norm) layer_append(sequential, batch_norm2d_new(out, batch_norm_defaults()));
    layer_append(sequential, relu_new());
}

// Twice dropout, linear, ReLU, then linear: the end of AlexNet and, with `relu_first`, of VGG.
static Layer *classifier_new(int64_t in, int64_t classes, bool relu_first) {
    enum { HIDDEN = 4096 };
    Layer *self = sequential_new();
    for (int i = 0; i < 2; i++) {
        if (!relu_first) layer_append(self, dropout_new(0.5f));
        layer_append(self, linear_new(i ? HIDDEN : in, HIDDEN, true));
        layer_append(self, relu_new());
        if (relu_first) layer_append(self, dropout_new(0.5f));
    }
    layer_append(self, linear_new(HIDDEN, classes, true));
    return self;
}

static Layer *model_new(Layer *features, Layer *pool, Layer *classifier) {
    Layer *model = sequential_new();
    layer_add_child(model, "features", features);
    layer_add_child(model, "avgpool", pool);
    layer_add_child(model, "flatten", flatten_new(1, -1));
    layer_add_child(model, "classifier", classifier);
    return layer_finished(model);
}

// Two convolutions, each with tanh and an average pool, and three linear layers.
Layer *lenet5_new(int64_t classes) {
    Layer *model = sequential_new();
    layer_add_child(model, "conv1", conv2d_new(1, 6, 5, 5, conv2d_defaults(), true));
    layer_add_child(model, "tanh1", activation_new(&op_tanh)); // (n, 6, 28, 28)
    layer_add_child(model, "pool1", avg_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "conv2", conv2d_new(6, 16, 5, 5, conv2d_defaults(), true));
    layer_add_child(model, "tanh2", activation_new(&op_tanh)); // (n, 16, 10, 10)
    layer_add_child(model, "pool2", avg_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "flatten", flatten_new(1, -1)); // (n, 400)
    layer_add_child(model, "fc1", linear_new(400, 120, true));
    layer_add_child(model, "tanh3", activation_new(&op_tanh));
    layer_add_child(model, "fc2", linear_new(120, 84, true));
    layer_add_child(model, "tanh4", activation_new(&op_tanh));
    layer_add_child(model, "fc3", linear_new(84, classes, true));
    return layer_finished(model);
}

Layer *alexnet_new(int64_t classes) {
    Layer *features = sequential_new();
    add_conv_relu(features, 3, 64, 11, 4, 2, false); // (n, 64, 55, 55) of (n, 3, 224, 224)
    layer_append(features, max_pool_new(3, 2, 0, false));
    add_conv_relu(features, 64, 192, 5, 1, 2, false); // (n, 192, 27, 27)
    layer_append(features, max_pool_new(3, 2, 0, false));
    add_conv_relu(features, 192, 384, 3, 1, 1, false); // (n, 384, 13, 13)
    add_conv_relu(features, 384, 256, 3, 1, 1, false);
    add_conv_relu(features, 256, 256, 3, 1, 1, false);
    layer_append(features, max_pool_new(3, 2, 0, false)); // (n, 256, 6, 6)
    Layer *average = adaptive_avg_pool2d_new(6, 6);
    return model_new(features, average, classifier_new(256 * 36, classes, false));
}

// Five blocks of 3 x 3 convolutions, each of which halves the image.
Layer *vgg_new(int depth, bool batch_norm, int64_t classes) {
    static const struct {
        int depth, convolutions[5];
    } forms[] = {
        {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
    int form = 0;
    while (form < 4 && forms[form].depth != depth) form++;
    if (form == 4) {
        error_set(STATUS_INVALID_ARGUMENT, "vgg_new: %d layers. HINT: 11, 13, 16 or 19", depth);
        return NULL;
    }
    Layer *features = sequential_new();
    int64_t in = 3;
    for (int b = 0; b < 5; b++) {
        int64_t out = b < 3 ? (int64_t)64 << b : 512;
        for (int i = 0; i < forms[form].convolutions[b]; i++, in = out)
            add_conv_relu(features, in, out, 3, 1, 1, batch_norm);
        layer_append(features, max_pool2d_new(pool2d_defaults(2)));
    }
    Layer *average = adaptive_avg_pool2d_new(7, 7);
    InitRules rules = {.conv = {.gain = GAIN_RELU, .fan = BY_FAN_OUT},
                       .linear = {.gain = 0.01f},
                       .zero_bias = true};
    return model_finished(model_new(features, average, classifier_new(512 * 49, classes, true)),
                          rules);
}
