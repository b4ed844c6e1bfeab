// model_line.h -- the texts of the models with which the cases call a student's function. The
// language is that of layers/files/model_text.h, with three more layers, which are in no
// exercise's table:
//
//     Mystery(3)          x times a learned factor per feature
//     LinearGated(4,3)    (weight x + bias) * (gate x), as in Dauphin et al. 2017
//     Scaled(ReLU)        its layers' output for x, times a learned factor
#ifndef EXERCISES_SUPPORT_MODEL_LINE_H
#define EXERCISES_SUPPORT_MODEL_LINE_H

#include "layers/layer.h"

// Like model_text_read; also STATUS_INVALID_ARGUMENT if the device holds values and the parameters
// would take more than a gibibyte.
Layer *model_from_line(const char *text, Shape *input);

#endif
