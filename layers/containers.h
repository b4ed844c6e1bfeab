// containers.h -- layers that run others beside a sequential, and the blocks that modern networks
// are made of. What every layer is: layer.h.
//
//     Layer *body = residual_new();                               // x + conv(relu(x))
//     layer_append(body, relu_new());
//     layer_append(body, conv2d_new(8, 8, 3, 3, conv2d_padded(conv2d_defaults(), 1), true));
#ifndef LAYERS_CONTAINERS_H
#define LAYERS_CONTAINERS_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// Its children in order, as a sequential; but all that comes after x goes to each of them: the mask
// of a stack of transformer layers, say. Named as the PyTorch container that such stacks are kept
// in.
Layer *module_list_new(void);
Layer *residual_new(void);  // x + what a sequential of its children gives; none: x + x
Layer *concat_new(int dim); // every child on x, and their results side by side along dim

// x times what is learned per channel (Touvron et al. 2021): parameter `gamma` (channels), `value`
// at first. The channels are x's last dimension, or stand before `spatial` more: 2 for (n, c, h,
// w).
Layer *layer_scale_new(int64_t channels, int spatial, float value);

Layer *dropout2d_new(float p); // dropout of whole channels, of x (n, c, ...)
// In training each sample's x is 0 with probability p, and else x / (1 - p): put at the end of a
// residual's branch it skips that (Huang et al. 2016; torchvision's mode "row").
Layer *stochastic_depth_new(float p);

// x (n, c, h, w) times a factor per channel and image: gate(fc2(activation(fc1(mean of a plane)))),
// fc1 and fc2 being 1 x 1 convolutions to `squeezed` channels and back (Hu et al. 2018;
// torchvision's names: fc1, activation, fc2, scale_activation). Gate: &op_sigmoid, say.
Layer *squeeze_excitation_new(int64_t channels, int64_t squeezed, const Op *activation,
                              const Op *gate);

RIDGEPOINT_API_END

#endif
