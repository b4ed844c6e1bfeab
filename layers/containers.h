// containers.h -- layers that run others, beside Sequential, and the blocks of modern networks.
// Layers in general: layer.h.
//
//     Layer *body = residual_new();                               // x + conv(relu(x))
//     layer_append(body, relu_new());
//     layer_append(body, conv2d_new(8, 8, 3, 3, conv2d_padded(conv2d_defaults(), 1), true));
#ifndef LAYERS_CONTAINERS_H
#define LAYERS_CONTAINERS_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// Runs its children in order, as Sequential does, and gives all inputs after x to each of them: the
// mask of a stack of transformer layers, say. Named after PyTorch's container for such stacks.
Layer *module_list_new(void);
Layer *residual_new(void);  // x + the output of its children in order; without any: x + x
Layer *concat_new(int dim); // runs every child on x, joins the results along dim

// Multiplies x by a learned factor per channel (Touvron et al. 2021): parameter `gamma` (channels),
// initially `value`. The channels are x's last dimension, or have `spatial` more after them: 2 for
// (n, c, h, w).
Layer *layer_scale_new(int64_t channels, int spatial, float value);

Layer *dropout2d_new(float p); // drops whole channels of x (n, c, ...)
// In training each sample's x becomes 0 with probability p, and else x / (1 - p). At the end of a
// residual's branch it skips the branch (Huang et al. 2016; torchvision's mode "row").
Layer *stochastic_depth_new(float p);

// Multiplies x (n, c, h, w) by a factor per channel and image: gate(fc2(activation(fc1(mean of a
// plane)))). fc1 and fc2 are 1 x 1 convolutions to `squeezed` channels and back (Hu et al. 2018;
// torchvision's names: fc1, activation, fc2, scale_activation). A gate is &op_sigmoid, say.
Layer *squeeze_excitation_new(int64_t channels, int64_t squeezed, const Op *activation,
                              const Op *gate);

RIDGEPOINT_API_END

#endif
