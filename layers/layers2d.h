// layers2d.h -- layers on images (batch, channels, height, width). Layers in general: layer.h;
// models made of them: models/models.h; convolution and pool ops: tensor/ops.h.
//
//     Conv2dOptions options = conv2d_defaults();
//     options.padding_top = options.padding_bottom = 1;
//     options.padding_left = options.padding_right = 1;
//     Layer *conv = conv2d_new(3, 64, 3, 3, options, true);   // (n, 3, h, w) -> (n, 64, h, w)
#ifndef LAYERS_LAYERS2D_H
#define LAYERS_LAYERS2D_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// weight (out, in / groups, kernel h, kernel w), bias (out): uniform in +-1/sqrt(in / groups *
// kernel h * kernel w), as PyTorch's nn.Conv2d. NULL with an error pending where a size is below 1
// or the groups do not divide the channels; strides and padding are checked when it runs.
Layer *conv2d_new(int64_t in_channels, int64_t out_channels, int64_t kernel_h, int64_t kernel_w,
                  Conv2dOptions options, bool bias);
// Takes x (n, features, height, width); otherwise as batch_norm1d_new.
Layer *batch_norm2d_new(int64_t features, BatchNormOptions options);
// weight (in, out / groups, kernel h, kernel w), bias (out): uniform in +-1/sqrt(out / groups *
// kernel h * kernel w), as PyTorch's nn.ConvTranspose2d, which takes the second size as the fan.
Layer *conv_transpose2d_new(int64_t in_channels, int64_t out_channels, int64_t kernel_h,
                            int64_t kernel_w, ConvTranspose2dOptions options, bool bias);
Layer *max_pool2d_new(Pool2dOptions options);
Layer *avg_pool2d_new(Pool2dOptions options);
Layer *adaptive_avg_pool2d_new(int64_t out_h, int64_t out_w);
// As instance_norm1d_new, for planes: x (n, features, h, w).
Layer *instance_norm2d_new(int64_t features, float epsilon, bool affine);

// Pads the sides of an image; prints as PyTorch's ConstantPad2d (ZeroPad2d for 0), ReflectionPad2d,
// ReplicationPad2d or CircularPad2d. Negative sides of a constant padding crop.
Layer *pad2d_new(int64_t left, int64_t right, int64_t top, int64_t bottom, PadMode mode,
                 float value);
// PyTorch's nn.Upsample, by size or by scale.
Layer *upsample_new(ResizeOptions options);
Layer *pixel_shuffle_new(int64_t factor);
Layer *pixel_unshuffle_new(int64_t factor);

// Set one padding on all four sides.
Conv2dOptions conv2d_padded(Conv2dOptions options, int64_t padding);
Pool2dOptions pool2d_padded(Pool2dOptions options, int64_t padding);

RIDGEPOINT_API_END

#endif
