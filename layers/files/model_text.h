// model_text.h -- reads models that are written down as text, in one line or in a file. Values are
// not in it (parameters begin as their layers have them); nothing here writes such a text.
//
//     Shape input;
//     Layer *model = model_text_read("Linear(784,512) ReLU Linear(512,10) @ 64x784", &input);
//     // "0" to "2" of a Sequential, and input (64, 784)
//     layer_free(model);
//
// More of what can be said (# begins a comment; a new line is a space):
//
//     conv1: Conv2d(3, 16, 3, stride=2, padding=1)    # named as in PyTorch: conv1.weight
//     layer1: Sequential(3*Residual(Conv2d(16,16,3,padding=1) ReLU))
//     Concat(1; Identity Conv2d(16,8,kernel_h=1,kernel_w=3,padding_left=1,padding_right=1))
//     Flatten fc: Linear(1000,10,bias=false)
//     tie(a.weight,b.weight) freeze(conv1) @ 8x3x32x32
//
// A layer is its name and, in parentheses, its arguments: in their order or, behind those, by name;
// what is left out is PyTorch's default. A container's layers stand in its parentheses, behind its
// arguments and a semicolon. One layer without a name stands for itself, several are the children
// of a Sequential. A child is called what stands before its colon, else its place: "0", "1" ...
// 3*ReLU are three. What has a height and a width (kernel, stride, padding, dilation) is given for
// both, as _h and _w, or, for padding, as _top, _bottom, _left and _right; the narrower word
// counts. After the layers: tie(a,b) makes parameter a the same tensor as b, freeze(path) says that
// a parameter, or every one of a layer and below, wants no gradient. After @: the input's shape.
#ifndef LAYERS_FILES_MODEL_TEXT_H
#define LAYERS_FILES_MODEL_TEXT_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// At most so many layers, copies included, of which so many inside one another.
enum { MODEL_TEXT_LAYERS = 1024, MODEL_TEXT_DEPTH = 32 };

// The model, yours to layer_free, on the context's device, and its input's shape (ndim 0 where the
// text has no @; `input` may be NULL). NULL with an error pending, which names line and column:
// STATUS_FORMAT for a malformed text; what a constructor refuses is its own error. A short text can
// ask for much memory: where that matters read it on device_meta() first, and ask
// layer_parameter_count.
Layer *model_text_read(const char *text, Shape *input);

// The same of a file, of at most a mebibyte. STATUS_IO: it cannot be read.
Layer *model_text_read_file(const char *path, Shape *input);

// A layer that a text may name beside those of this library. Its arguments are written as a text
// would give them, with what they are where nothing is said:
//
//     in_features          an integer that has to be given      rate=real   a real number likewise
//     groups=1  p=0.5      an integer, a real number            bias=true   true or false
//     mode=zeros|edge      one of these words                   act=ReLU    an activation
//     stride_h=stride      as that earlier one                  ;           from here by name only
typedef struct ModelTextLayer {
    const char *name;      // "Linear"; with a capital. NULL ends a table
    const char *arguments; // "in_features out_features bias=true", at most 24; "": none
    // values: in that order; of a flag 0 or 1, of words the place, of an activation what
    // model_text_activation takes.
    Layer *(*make)(const double *values);
    bool holds; // other layers, which become its children
} ModelTextLayer;

// model_text_read, with a table of further layers, which come first; NULL: none.
Layer *model_text_read_with(const char *text, Shape *input, const ModelTextLayer *further);

// The activation that a value stands for; NULL: Identity.
const Op *model_text_activation(double value);

// Every layer that a text may name, containers included: number 0, 1, ...; NULL past the last.
const char *model_text_layer(int index);

RIDGEPOINT_API_END

#endif
