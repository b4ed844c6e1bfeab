// model_line.h -- the models of the exercises: what the cases say a student's function is called
// with. The language is layers/files/model_text.h's, with three layers that no exercise's table has
// a line for:
//
//     Mystery(3)          x times a learned factor per feature
//     LinearGated(4,3)    (weight x + bias) * (gate x), as in Dauphin et al. 2017
//     Scaled(ReLU)        what its layers make of x, times a learned factor
#ifndef EXERCISES_SUPPORT_MODEL_LINE_H
#define EXERCISES_SUPPORT_MODEL_LINE_H

#include "layers/layer.h"

// As model_text_read; STATUS_INVALID_ARGUMENT, too, where the device has values, and the parameters
// would take more than a gibibyte.
Layer *model_from_line(const char *text, Shape *input);

#endif
