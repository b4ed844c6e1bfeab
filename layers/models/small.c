// small.c -- small networks for small images, to be trained locally: a plain CNN, and residual
// blocks in the style of He et al. 2016. They are not published, so there are no trained weights.
#include "layers/containers.h"
#include "layers/models/models.h"
#include "layers/models/parts.h"
#include "layers/parts.h"
#include "tensor/op.h"

// Adds a 3 x 3 convolution, which with stride 1 keeps the size; batch norm, and optionally ReLU.
static void add_conv_norm(Layer *parent, int64_t in, int64_t out, int64_t stride, bool relu) {
    append_conv_norm(parent, (ConvNorm){.in = in,
                                        .out = out,
                                        .kernel = 3,
                                        .stride = stride,
                                        .activation = relu ? &op_relu : NULL});
}

Layer *mnist_cnn_new(int64_t classes) {
    Layer *features = sequential_new(), *classifier = sequential_new(), *model = sequential_new();
    add_conv_norm(features, 1, 16, 1, true); // (n, 16, 28, 28)
    layer_append(features, max_pool2d_new(pool2d_defaults(2)));
    add_conv_norm(features, 16, 32, 1, true); // (n, 32, 14, 14)
    layer_append(features, max_pool2d_new(pool2d_defaults(2)));
    layer_append(classifier, linear_new(32 * 7 * 7, 128, true));
    layer_append(classifier, relu_new());
    layer_append(classifier, dropout_new(0.5f));
    layer_append(classifier, linear_new(128, classes, true));
    layer_add_child(model, "features", features);
    layer_add_child(model, "flatten", flatten_new(1, -1));
    layer_add_child(model, "classifier", classifier);
    return layer_finished(model);
}

// A ReLU of x plus two convolutions of x.
static Layer *block_new(int64_t channels) {
    Layer *self = sequential_new(), *body = residual_new();
    add_conv_norm(body, channels, channels, 1, true);
    add_conv_norm(body, channels, channels, 1, false);
    layer_append(self, body);
    layer_append(self, relu_new());
    return self;
}

Layer *mnist_resnet_new(int64_t classes) {
    Layer *model = sequential_new();
    int64_t in = 1;
    for (int64_t stage = 0; stage < 3; stage++) { // (n, 16, 28, 28), (n, 32, 14, 14), (n, 64, 7, 7)
        static const char *const names[] = {"stage1", "stage2", "stage3"};
        Layer *blocks = sequential_new();
        int64_t channels = (int64_t)16 << stage;
        add_conv_norm(blocks, in, channels, stage > 0 ? 2 : 1, true);
        layer_append(blocks, block_new(channels));
        layer_add_child(model, names[stage], blocks);
        in = channels;
    }
    add_average(model);
    layer_add_child(model, "fc", linear_new(in, classes, true));
    return layer_finished(model);
}
