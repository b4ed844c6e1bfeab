// layers1d.h -- layers on sequences (batch, channels, length): they are those of layers2d.h on
// views of height 1, and cost the same. Layers in general: layer.h.
//
//     Conv1dOptions options = conv1d_defaults();
//     options.padding_left = options.padding_right = 1;
//     Layer *conv = conv1d_new(3, 64, 3, options, true);      // (n, 3, l) -> (n, 64, l)
#ifndef LAYERS_LAYERS1D_H
#define LAYERS_LAYERS1D_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// weight (out, in / groups, kernel), bias (out): uniform in +-1/sqrt(in / groups * kernel), as
// PyTorch's nn.Conv1d. NULL with an error pending where a size is below 1 or the groups do not
// divide the channels; strides and padding are checked when it runs.
Layer *conv1d_new(int64_t in_channels, int64_t out_channels, int64_t kernel, Conv1dOptions options,
                  bool bias);
// weight (in, out / groups, kernel), bias (out): uniform in +-1/sqrt(out / groups * kernel), as
// PyTorch's nn.ConvTranspose1d.
Layer *conv_transpose1d_new(int64_t in_channels, int64_t out_channels, int64_t kernel,
                            ConvTranspose1dOptions options, bool bias);
Layer *max_pool1d_new(Pool1dOptions options);
Layer *avg_pool1d_new(Pool1dOptions options);
Layer *adaptive_avg_pool1d_new(int64_t out_length);

RIDGEPOINT_API_END

#endif
