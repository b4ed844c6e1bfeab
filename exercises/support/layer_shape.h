// layer_shape.h -- what shape comes out of a layer: for exercises whose lesson is another one.
#ifndef EXERCISES_SUPPORT_LAYER_SHAPE_H
#define EXERCISES_SUPPORT_LAYER_SHAPE_H

#include "layers/layer.h"

// Stores in *out the shape of the layer's output for an input of shape `in` (float32), found by
// running the layer on the meta device: shapes are inferred, nothing is computed and no data
// allocated. The layer has to have been made on the meta device, too, as every model that an
// exercise is called with. STATUS_SHAPE: the input does not fit; *out is then as it was.
Status layer_output_shape(const Layer *layer, Shape in, Shape *out);

#endif
