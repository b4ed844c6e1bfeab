// images.h -- internal to layers/models/: what the models on images are put together with.
#ifndef LAYERS_MODELS_IMAGES_H
#define LAYERS_MODELS_IMAGES_H

#include "layers/layers2d.h"

// (n, c, h, w) -> (n, c h w), a view.
Layer *to_rows_new(void);
// layer_add_child; after a failure it frees the child, and an error is pending.
void images_add_named(Layer *sequential, const char *name, Layer *child);
void images_add(Layer *sequential, Layer *child); // called by its place: "0", "1" ...
// The model, or NULL after a failure, and then it is freed.
Layer *images_finish(Layer *model);
// images_add of a convolution with the same padding on all sides, and of its ReLU.
void images_add_conv_relu(Layer *sequential, int64_t in, int64_t out, int64_t kernel,
                          int64_t stride, int64_t padding);
// model.features, model.avgpool, flatten, model.classifier; owns its parts, also on failure.
Layer *images_model_new(Layer *features, Layer *pool, Layer *classifier);
// dropout, linear, ReLU, and again, then linear: the end of AlexNet, and, with `relu_first`, of VGG
Layer *images_classifier_new(int64_t in, int64_t classes, bool relu_first);

#endif
