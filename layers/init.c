// init.c -- initialisers; the random numbers are the context's (tensor_fill_uniform, _normal).
#include "layers/init.h"

#include <math.h>

#include "layers/parts.h"
#include "tensor/given.h"
#include "tensor/handle.h"

Status init_fans(const Tensor *weight, Fans *fans) {
    if (!GIVEN(fans)) return STATUS_INVALID_ARGUMENT;
    if (!weight) return error_set(STATUS_INVALID_ARGUMENT, "init: no weight");
    if (weight->shape.ndim < 2)
        return error_set(STATUS_SHAPE,
                         "init: a %d-d tensor has no fan-in. HINT: weights are "
                         "(out, in, ...)",
                         weight->shape.ndim);
    int64_t rest = 1;
    for (int i = 2; i < weight->shape.ndim; i++) rest *= weight->shape.dims[i];
    *fans = (Fans){.in = weight->shape.dims[1] * rest, .out = weight->shape.dims[0] * rest};
    return STATUS_OK;
}

Tensor *init_parameter_new(Shape shape, float bound) {
    Tensor *t = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    return tensor_filled(t, tensor_fill_uniform(t, -bound, bound));
}

Tensor *layer_filled_new(Shape shape, float value) {
    Tensor *t = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    return tensor_filled(t, tensor_fill(t, value));
}

Tensor *layer_normal_new(Shape shape, float deviation) {
    Tensor *t = tensor_new_as(shape, DTYPE_FLOAT32, MEM_PARAMETER);
    return tensor_filled(t, tensor_fill_normal(t, 0.0f, deviation));
}

Layer *layer_finished_with(Layer *self, Shape weight, int64_t bias) {
    double fan_in = 1.0;
    for (int i = 1; i < weight.ndim; i++) fan_in *= (double)weight.dims[i];
    float bound = fan_in > 0.0 ? (float)(1.0 / sqrt(fan_in)) : 0.0f;
    layer_add_parameter(self, "weight", init_parameter_new(weight, bound));
    if (bias >= 0) layer_add_parameter(self, "bias", init_parameter_new(SHAPE(bias), bound));
    return layer_finished(self);
}

Layer *layer_finished_product(Layer *self, Shape weight, bool bias) {
    return layer_finished_with(self, weight, bias ? weight.dims[0] : -1);
}

static Status uniform(Tensor *weight, double bound) {
    return tensor_fill_uniform(weight, (float)-bound, (float)bound);
}

static double kaiming_gain(float slope) {
    return sqrt(2.0 / (1.0 + (double)slope * (double)slope));
}

Status init_kaiming_uniform(Tensor *weight, float slope) {
    Fans fans = {0};
    Status status = init_fans(weight, &fans);
    if (status) return status;
    return uniform(weight, kaiming_gain(slope) * sqrt(3.0 / (double)fans.in));
}

Status init_kaiming_normal(Tensor *weight, float slope) {
    Fans fans = {0};
    Status status = init_fans(weight, &fans);
    if (status) return status;
    return tensor_fill_normal(weight, 0.0f, (float)(kaiming_gain(slope) / sqrt((double)fans.in)));
}

Status init_xavier_uniform(Tensor *weight, float gain) {
    Fans fans = {0};
    Status status = init_fans(weight, &fans);
    if (status) return status;
    return uniform(weight, (double)gain * sqrt(6.0 / (double)(fans.in + fans.out)));
}

Status init_xavier_normal(Tensor *weight, float gain) {
    Fans fans = {0};
    Status status = init_fans(weight, &fans);
    if (status) return status;
    double deviation = (double)gain * sqrt(2.0 / (double)(fans.in + fans.out));
    return tensor_fill_normal(weight, 0.0f, (float)deviation);
}
