// model_text.h -- reads models written as text, in one line or in a file. The text has no values
// (parameters start with their layers' initial values), and nothing here writes it.
//
//     Shape input;
//     Layer *model = model_text_read("Linear(784,512) ReLU Linear(512,10) @ 64x784", &input);
//     // "0" to "2" of a Sequential, and input (64, 784)
//     layer_free(model);
//
// More of the syntax (# begins a comment; a new line is a space):
//
//     conv1: Conv2d(3, 16, 3, stride=2, padding=1)    # named as in PyTorch: conv1.weight
//     layer1: Sequential(3*Residual(Conv2d(16,16,3,padding=1) ReLU))
//     Concat(1; Identity Conv2d(16,8,kernel_h=1,kernel_w=3,padding_left=1,padding_right=1))
//     Flatten fc: Linear(1000,10,bias=false)
//     tie(a.weight,b.weight) freeze(conv1) @ 8x3x32x32
//
// A layer is its name and its arguments in parentheses: by position or, after those, by name; an
// argument left out has PyTorch's default. A container's layers stand in its parentheses, after its
// arguments and a semicolon. A single layer without a name stands for itself; several become the
// children of a Sequential. A child's name stands before its colon; without one it is the index:
// "0", "1" ... 3*ReLU makes three layers. A setting with a height and a width (kernel, stride,
// padding, dilation) is given for both, as _h and _w, or, for padding, as _top, _bottom, _left and
// _right; the more specific one counts. After the layers, tie(a,b) makes parameter a the same
// tensor as b, freeze(path) freezes a parameter or all in a layer and below. After @: input shape.
#ifndef LAYERS_FILES_MODEL_TEXT_H
#define LAYERS_FILES_MODEL_TEXT_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

// The most layers, copies included, and the deepest nesting.
enum { MODEL_TEXT_LAYERS = 1024, MODEL_TEXT_DEPTH = 32 };

// Returns the model, yours to layer_free, on the context's device, and its input's shape (ndim 0
// without an @; `input` may be NULL). NULL with an error pending, which names line and column:
// STATUS_FORMAT for a malformed text; a constructor's refusal has its own status. A short text can
// ask for much memory: where that matters, read it on device_meta() first, and check
// layer_parameter_count.
Layer *model_text_read(const char *text, Shape *input);

// As model_text_read, from a file of at most 1 MiB. STATUS_IO: it cannot be read.
Layer *model_text_read_file(const char *path, Shape *input);

// A layer that texts may name in addition to this library's. `arguments` lists its arguments in the
// syntax of a text, with their default values:
//
//     in_features          an integer that is required          rate=real   a real number, required
//     groups=1  p=0.5      an integer, a real number            bias=true   true or false
//     mode=zeros|edge      one of these words                   act=ReLU    an activation
//     stride_h=stride      as that earlier one                  ;           from here by name only
typedef struct ModelTextLayer {
    const char *name;      // "Linear"; begins with a capital. NULL ends a table
    const char *arguments; // "in_features out_features bias=true", at most 24; "": none
    // values: in that order; 0 or 1 for a flag, the index for a word, the argument of
    // model_text_activation for an activation.
    Layer *(*make)(const double *values);
    bool holds; // it takes other layers, which become its children
} ModelTextLayer;

// As model_text_read, with a table of further layers, which take precedence; NULL: none.
Layer *model_text_read_with(const char *text, Shape *input, const ModelTextLayer *further);

// The activation that such a value stands for; NULL: Identity.
const Op *model_text_activation(double value);

// Names all layers that a text may use, containers included: index 0, 1, ...; NULL after the last.
const char *model_text_layer(int index);

RIDGEPOINT_API_END

#endif
