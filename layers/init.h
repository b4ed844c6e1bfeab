// init.h -- initial values of parameters, within PyTorch's bounds (torch.nn.init).
#ifndef LAYERS_INIT_H
#define LAYERS_INIT_H

#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

// The fans of a weight (out, in, ...), at least 2-d: in or out, times the product of the rest.
typedef struct Fans {
    int64_t in, out;
} Fans;
Status init_fans(const Tensor *weight, Fans *fans);

// A new parameter, uniform in +-bound; yours to free.
Tensor *init_parameter_new(Shape shape, float bound);
// He et al. 2015: uniform in +-gain sqrt(3 / fan_in), or normal with deviation gain / sqrt(fan_in);
// gain = sqrt(2 / (1 + slope^2)), the slope of the leaky ReLU that follows (0: ReLU).
Status init_kaiming_uniform(Tensor *weight, float slope);
Status init_kaiming_normal(Tensor *weight, float slope);
// Glorot and Bengio 2010: uniform in +-gain sqrt(6 / (in + out)), or normal with deviation
// gain sqrt(2 / (in + out)).
Status init_xavier_uniform(Tensor *weight, float gain);
Status init_xavier_normal(Tensor *weight, float gain);

RIDGEPOINT_API_END

#endif
