// parts.h -- internal to layers/models/: what published networks share: a convolution with its norm
// and activation, blocks and pools that several of them have, torchvision's initial values, and the
// search for a variant. The networks themselves: models.h.
#ifndef LAYERS_MODELS_PARTS_H
#define LAYERS_MODELS_PARTS_H

#include "layers/layers2d.h"

// ---- convolutions ------------------------------------------------------------------------------
// Without bias, padded by half the kernel: at a stride of 1 the image keeps its size.
Layer *conv_padded_new(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups);

typedef struct ConvNorm { // a convolution without bias, batch norm, activation
    int64_t in, out;
    int64_t kernel; // its height, and its width where kernel_w is 0
    int64_t kernel_w;
    int64_t stride, groups;  // 0: 1
    bool valid;              // no padding; else by half the kernel
    const Op *activation;    // NULL: none
    float epsilon, momentum; // of the norm; 0: PyTorch's, 1e-5 and 0.1
} ConvNorm;
void append_conv_norm(Layer *sequential, ConvNorm part); // layers of its own, by their places
Layer *conv_norm_new(ConvNorm part);                     // "0", "1", "2"
Layer *basic_conv_new(ConvNorm part); // "conv", "bn", "relu": Inception's, with its epsilon, 1e-3

// `in` channels widened to `hidden`, convolved channel by channel, and narrowed to `out`: child
// "block"; plus x where the shape stays (MobileNetV3's, EfficientNet's).
typedef struct InvertedResidual {
    int64_t in, hidden, out, kernel, stride;
    bool fused;       // widened by the k x k convolution, over all channels, itself
    int64_t squeezed; // channels inside squeeze and excitation; 0: there is none
    const Op *activation, *squeeze_activation, *gate;
    float epsilon, momentum; // as in ConvNorm
    float drop;              // how likely training skips the branch (stochastic depth)
} InvertedResidual;
Layer *inverted_residual_new(InvertedResidual part);

Layer *max_pool_new(int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode);
// "avgpool" of whole planes, and "flatten": (n, c, h, w) -> (n, c).
void add_average(Layer *model);
// The same as "mean", where torchvision calls that function instead of a pool.
void add_mean(Layer *model);

// To the next multiple, and at most a tenth less than asked for.
int64_t rounded_to(double channels, int64_t multiple);

// ---- initial values, as torchvision's ----------------------------------------------------------
typedef struct InitRule {
    float gain; // deviation of the weights; 0: they stay as their layer was made
    enum { BY_NOTHING, BY_FAN_IN, BY_FAN_OUT } fan; // that the gain is divided by the root of
    bool uniform;                                   // in +-sqrt(3) deviations; else normal
} InitRule;
typedef struct InitRules {
    InitRule conv, linear;
    bool zero_bias; // of both
} InitRules;
#define GAIN_RELU 1.41421356f                      // sqrt(2), by a root of the fan: He et al. 2015
void init_by_rules(Layer *model, InitRules rules); // nothing while an error is pending
Layer *model_finished(Layer *model, InitRules rules); // and then as layer_finished

// ---- variants ----------------------------------------------------------------------------------
// The row of this name in a table whose rows begin with theirs, a const char *. NULL with an error
// pending that says which there are; `who` begins it.
const void *variant_of(const char *who, const char *name, const void *table, size_t rows,
                       size_t row_size);
#define VARIANT_OF(who, name, table)                                                               \
    variant_of(who, name, table, sizeof(table) / sizeof((table)[0]), sizeof((table)[0]))

#endif
