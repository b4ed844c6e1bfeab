// layer_shape.h -- the output shape of a layer, for exercises whose lesson is another one.
#ifndef EXERCISES_SUPPORT_LAYER_SHAPE_H
#define EXERCISES_SUPPORT_LAYER_SHAPE_H

#include "layers/layer.h"

// Stores in *out the shape of the layer's output for an input of shape `in` (float32), found by
// running the layer on the meta device, which infers shapes without computing anything or
// allocating data. The layer must be on the meta device, too, as is every model that an exercise
// gets. STATUS_SHAPE: the input does not fit; *out is then unchanged.
Status layer_output_shape(const Layer *layer, Shape in, Shape *out);

#endif
