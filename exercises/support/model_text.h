// model_text.h -- models written down in one line: the language in which the exercises' cases say
// what a student's function is called with.
//
//     Linear(784,512) ReLU Linear(512,10,bias=false) @ 64x784
//     Conv2d(3,16,3,stride=2,padding=1) ReLU MaxPool2d(2) Flatten Linear(400,10) @ 1x3x22x22
//     Sequential(Linear(4,4) Tanh) Linear(4,2)
//     Linear(8,8) Linear(8,8) tie(1.weight,0.weight) freeze(0) freeze(1.bias)
//     Conv2d(3,8,kernel_h=3,kernel_w=5,padding_left=2) 20*Residual(Conv2d(8,8,3,padding=1) ReLU)
//
// One layer stands for itself; several are the children "0", "1" ... of a Sequential; 3*ReLU are
// three. A layer's sizes come first, in its constructor's order; further ones follow by name. What
// has a height and a width (kernel, stride, padding, dilation) is given for both, as _h and _w, or,
// for padding, as _top, _bottom, _left and _right; the narrower word counts. After the layers:
// tie(a,b) makes parameter a the same tensor as parameter b, freeze(path) says that a parameter, or
// every one of a layer and below, wants no gradient. After @: the input's shape, batch first.
#ifndef EXERCISES_SUPPORT_MODEL_TEXT_H
#define EXERCISES_SUPPORT_MODEL_TEXT_H

#include "layers/layer.h"

// The model, yours to layer_free, on the context's device, and its input's shape (ndim 0 where the
// text has no @). NULL with an error pending: STATUS_FORMAT, with the column, for malformed text;
// what a constructor refuses is its own error. STATUS_INVALID_ARGUMENT where the device has values,
// and the parameters would take more than a gibibyte.
Layer *model_from_text(const char *text, Shape *input);

// Every layer that a text may name, containers included: name 0, 1, ...; NULL past the last.
const char *model_text_layer(int index);

#endif
