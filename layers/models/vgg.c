// vgg.c -- VGG-16: 3 x 3 convolutions in five blocks, each of which halves the image
#include "layers/models/images.h"

Layer *vgg16_new(int64_t classes) {
    static const struct {
        int64_t channels;
        int convolutions;
    } blocks[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
    Layer *features = sequential_new();
    int64_t in = 3;
    for (int b = 0; b < 5; b++) {
        for (int i = 0; i < blocks[b].convolutions; i++, in = blocks[b].channels)
            images_add_conv_relu(features, in, blocks[b].channels, 3, 1, 1);
        images_add(features, max_pool2d_new(pool2d_defaults(2)));
    }
    Layer *average = adaptive_avg_pool2d_new(7, 7);
    return images_model_new(features, average, images_classifier_new(512 * 49, classes, true));
}
