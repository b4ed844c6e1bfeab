// parts.h -- internal to layers/models/: parts that published networks share: a convolution with
// norm and activation, common blocks and pools, torchvision's initial values, and the look-up of a
// variant. The networks themselves: models.h.
#ifndef LAYERS_MODELS_PARTS_H
#define LAYERS_MODELS_PARTS_H

#include "layers/layers2d.h"

// ---- convolutions ------------------------------------------------------------------------------
// A convolution without bias, padded by half the kernel: with stride 1 the image keeps its size.
Layer *conv_padded_new(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups);

typedef struct ConvNorm { // a convolution without bias, batch norm, activation
    int64_t in, out;
    int64_t kernel; // height, and also width if kernel_w is 0
    int64_t kernel_w;
    int64_t stride, groups;  // 0: 1
    bool valid;              // no padding; else by half the kernel
    const Op *activation;    // NULL: none
    float epsilon, momentum; // of the norm; 0: PyTorch's 1e-5 and 0.1
} ConvNorm;
void append_conv_norm(Layer *sequential, ConvNorm part); // adds its three layers, named by index
Layer *conv_norm_new(ConvNorm part);                     // "0", "1", "2"
Layer *basic_conv_new(ConvNorm part); // "conv", "bn", "relu": Inception's, with its epsilon, 1e-3

// Widens `in` channels to `hidden`, convolves channel by channel, and narrows to `out`, in the
// child "block"; adds x where the shape stays (MobileNetV3's, EfficientNet's).
typedef struct InvertedResidual {
    int64_t in, hidden, out, kernel, stride;
    bool fused;       // one k x k convolution over all channels widens and convolves
    int64_t squeezed; // channels inside squeeze and excitation; 0: no such part
    const Op *activation, *squeeze_activation, *gate;
    float epsilon, momentum; // as in ConvNorm
    float drop;              // probability of skipping the branch in training (stochastic depth)
} InvertedResidual;
Layer *inverted_residual_new(InvertedResidual part);

Layer *max_pool_new(int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode);
// Adds "avgpool" over whole planes and "flatten": (n, c, h, w) -> (n, c).
void add_average(Layer *model);
// As add_average, but one layer "mean", where torchvision calls that function in place of a pool.
void add_mean(Layer *model);

// Rounds to the nearest multiple, but not below nine tenths of the argument.
int64_t rounded_to(double channels, int64_t multiple);

// ---- initial values, as torchvision's ----------------------------------------------------------
typedef struct InitRule {
    float gain; // deviation of the weights; 0: they keep their layer's values
    enum { BY_NOTHING, BY_FAN_IN, BY_FAN_OUT } fan; // divide the gain by the root of this fan
    bool uniform;                                   // in +-sqrt(3) deviations; else normal
} InitRule;
typedef struct InitRules {
    InitRule conv, linear;
    bool zero_bias; // in both
} InitRules;
#define GAIN_RELU 1.41421356f // sqrt(2), over the root of the fan: He et al. 2015
void init_by_rules(Layer *model, InitRules rules);    // nothing while an error is pending
Layer *model_finished(Layer *model, InitRules rules); // init_by_rules, then layer_finished

// ---- variants ----------------------------------------------------------------------------------
// Finds the row of this name in a table whose rows begin with their name, a const char *. NULL with
// an error pending that lists all names; `who` begins it.
const void *variant_of(const char *who, const char *name, const void *table, size_t rows,
                       size_t row_size);
#define VARIANT_OF(who, name, table)                                                               \
    variant_of(who, name, table, sizeof(table) / sizeof((table)[0]), sizeof((table)[0]))

#endif
