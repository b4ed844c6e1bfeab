// models.h -- published networks, one family a file, with torchvision's names for their parts, so
// that its weights load. Layers in general: layers/layer.h.
//
//     Layer *model = resnet_new(resnet_defaults()); // ResNet-18: (n, 3, 224, 224) -> (n, 1000)
#ifndef LAYERS_MODELS_MODELS_H
#define LAYERS_MODELS_MODELS_H

#include "layers/layers2d.h"

RIDGEPOINT_API_BEGIN

// LeCun et al. 1998, with every map of C3 connected to all of S2, tanh, average pools, and a final
// linear layer: x (n, 1, 32, 32) -> (n, classes); 61,706 parameters with 10 classes.
Layer *lenet5_new(int64_t classes);

// Two small networks for images like MNIST's, which a laptop trains in a minute: x (n, 1, 28, 28)
// -> (n, classes). One has two convolutions and two linear layers, the other three residual stages.
Layer *mnist_cnn_new(int64_t classes);
Layer *mnist_resnet_new(int64_t classes);

// Krizhevsky 2014: the single-tower form. x (n, 3, 224, 224), or larger, -> (n, classes).
Layer *alexnet_new(int64_t classes);

// Simonyan and Zisserman 2015, with 11, 13, 16 or 19 layers with weights (configurations A, B, D,
// E), with or without a batch norm after each convolution. x (n, 3, 224, 224), or larger.
Layer *vgg_new(int depth, bool batch_norm, int64_t classes);

typedef struct ResNetOptions {
    int blocks[4];           // per stage: 2, 2, 2, 2; deep ones have 3, 4, 6, 3 and more
    bool bottleneck;         // blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions, not two 3 x 3
    int64_t groups;          // groups of a bottleneck's 3 x 3: 1; 32 in a ResNeXt
    int64_t width_per_group; // its channels in the stage with 64: 64; 128 in a wide one
    int64_t classes;
} ResNetOptions;
ResNetOptions resnet_defaults(void); // ResNet-18 with 1,000 classes
Layer *resnet_new(ResNetOptions options);

// A name below is the part of torchvision's name after the family's ("efficientnet_b0": "b0"); for
// an unknown one the message lists all (STATUS_INVALID_ARGUMENT). Images are (n, 3, 224, 224)
// unless stated otherwise, and may have any size that leaves a pixel after every stride.

// Sandler et al. 2018, as torchvision's mobilenet_v2: channels times `width`, a multiple of 8.
Layer *mobilenet_v2_new(float width, int64_t classes);
// Howard et al. 2019: "small", "large".
Layer *mobilenet_v3_new(const char *size, int64_t classes);
// Tan et al. 2019, the form B1: "0_5", "0_75", "1_0", "1_3".
Layer *mnasnet_new(const char *width, int64_t classes);
// Ma et al. 2018: "x0_5", "x1_0", "x1_5", "x2_0".
Layer *shufflenet_v2_new(const char *width, int64_t classes);
// Iandola et al. 2016: "1_0", "1_1".
Layer *squeezenet_new(const char *version, int64_t classes);
// Huang et al. 2017: 121, 161, 169 or 201 layers with weights.
Layer *densenet_new(int depth, int64_t classes);
// Szegedy et al. 2015 and 2016, without the auxiliary classifiers of training. Images are not
// rescaled; torchvision's trained weights expect them between -1 and 1 (transform_input). v3 takes
// 299 x 299, at least 75 x 75.
Layer *googlenet_new(int64_t classes);
Layer *inception_v3_new(int64_t classes);
// Tan and Le 2019 and 2021: "b0" to "b7", for images of 224, 240, 288, 300, 380, 456, 528, 600;
// "v2_s" (384), "v2_m", "v2_l" (480).
Layer *efficientnet_new(const char *name, int64_t classes);
// Radosavovic et al. 2020: "y_400mf", "y_800mf", "y_1_6gf", "y_3_2gf", "y_8gf", "y_16gf", "y_32gf",
// "y_128gf"; "x_..." with all but the last.
Layer *regnet_new(const char *name, int64_t classes);
// Liu et al. 2022: "tiny", "small", "base", "large".
Layer *convnext_new(const char *size, int64_t classes);

RIDGEPOINT_API_END

#endif
