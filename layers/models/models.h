// models.h -- published networks, one family a file, with the names that torchvision gives their
// parts, so that its weights load. What layers are: layers/layer.h.
//
//     ResNetOptions options = resnet_defaults();                   // ResNet-18
//     Layer *model = resnet_new(options);                          // x (n, 3, 224, 224) -> (n,
//     1000)
#ifndef LAYERS_MODELS_MODELS_H
#define LAYERS_MODELS_MODELS_H

#include "layers/layers2d.h"

RIDGEPOINT_API_BEGIN

// LeCun et al. 1998, with every map of C3 connected to all of S2, tanh, average pools, and a linear
// layer at the end: x (n, 1, 32, 32) -> (n, classes); 61,706 parameters where there are 10.
Layer *lenet5_new(int64_t classes);

// Two small ones for images like MNIST's, which a laptop trains in a minute: x (n, 1, 28, 28) ->
// (n, classes). Two convolutions and two linear layers; and three stages of residual blocks.
Layer *mnist_cnn_new(int64_t classes);
Layer *mnist_resnet_new(int64_t classes);

// Krizhevsky 2014: the form of one tower. x (n, 3, 224, 224), or larger, -> (n, classes).
Layer *alexnet_new(int64_t classes);

// Simonyan and Zisserman 2015, of 11, 13, 16 or 19 layers with weights (configurations A, B, D, E);
// with a batch norm behind each convolution, or without. x (n, 3, 224, 224), or larger.
Layer *vgg_new(int depth, bool batch_norm, int64_t classes);

typedef struct ResNetOptions {
    int blocks[4];           // in each stage: 2, 2, 2, 2; of the deep ones 3, 4, 6, 3 and more
    bool bottleneck;         // blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions, not of two 3 x 3
    int64_t groups;          // of a bottleneck's 3 x 3: 1, or of a ResNeXt 32
    int64_t width_per_group; // of its channels, where the stage has 64: 64; 128 of a wide one
    int64_t classes;
} ResNetOptions;
ResNetOptions resnet_defaults(void); // ResNet-18 of 1,000 classes
Layer *resnet_new(ResNetOptions options);

// Sandler et al. 2018, as torchvision's mobilenet_v2: channels times `width`, rounded to eights.
Layer *mobilenet_v2_new(float width, int64_t classes);

RIDGEPOINT_API_END

#endif
