// alexnet.c -- AlexNet, in the form of one tower that torchvision has
#include "layers/models/images.h"

Layer *alexnet_new(int64_t classes) {
    Pool2dOptions pool = pool2d_defaults(3);
    pool.stride_h = pool.stride_w = 2;
    Layer *features = sequential_new();
    images_add_conv_relu(features, 3, 64, 11, 4, 2); // (n, 64, 55, 55) of (n, 3, 224, 224)
    images_add(features, max_pool2d_new(pool));
    images_add_conv_relu(features, 64, 192, 5, 1, 2); // (n, 192, 27, 27)
    images_add(features, max_pool2d_new(pool));
    images_add_conv_relu(features, 192, 384, 3, 1, 1); // (n, 384, 13, 13)
    images_add_conv_relu(features, 384, 256, 3, 1, 1);
    images_add_conv_relu(features, 256, 256, 3, 1, 1);
    images_add(features, max_pool2d_new(pool)); // (n, 256, 6, 6)
    Layer *average = adaptive_avg_pool2d_new(6, 6);
    return images_model_new(features, average, images_classifier_new(256 * 36, classes, false));
}
