// graph.h -- internal to the ONNX reader: the steps of a model as they run, and the layers that
// they run in. The imported file is gone by then.
#ifndef LAYERS_FILES_ONNX_GRAPH_H
#define LAYERS_FILES_ONNX_GRAPH_H

#include "layers/files/onnx/import.h"

// The place where a running model finds a value.
typedef struct Slot {
    Layer *owner; // of a parameter or buffer; NULL: a constant, or computed
    int index;    // in the owner's list
    bool is_buffer;
    Tensor *constant; // owned
    bool is_result;   // a step computes it
} Slot;

typedef struct RunStep {
    Step step;    // in and out are slots
    Layer *layer; // the layer that it runs in
    int *ends;    // slots whose last reader it is
    int n_ends;
} RunStep;

typedef struct Deciding { // an input's numbers that determined shapes, on the host
    void *bytes;          // owned; NULL: they determined none
    size_t size;
} Deciding;

typedef struct Program {
    Slot *slots;
    int n_slots;
    RunStep *steps;
    int n_steps;
    int *inputs, n_inputs, outputs[LAYER_MAX_OUTPUTS], n_outputs;
    bool whole[LAYER_MAX_OUTPUTS]; // outputs given as int64
    Shape *shapes;                 // of the inputs
    Deciding *decides;             // of the inputs
    Tensor **given;                // inputs for when forward gets fewer; owned; NULL: none
    const RunStep *running;
    Tensor **values; // of the slots, while it runs
    Tensor **in;     // of a step; room for the longest list
} Program;

enum { GRAPH_ATTRIBUTES = 16 };

// A layer of a model: it runs the steps that the file records for it.
typedef struct GraphLayer {
    Layer layer;
    LayerType type; // its own: a type is identified by its name
    char *type_name;
    LayerAttribute attributes[GRAPH_ATTRIBUTES]; // each at its size in `values`
    char values[GRAPH_ATTRIBUTES][8] __attribute__((aligned(8)));
    int n_steps;      // number of the program's steps that run here
    Program *program; // the root's
} GraphLayer;

// Makes the tree of layers, and gives it the program's steps and the parameters of its slots.
Layer *graph_tree_new(Import *import, Program *program);
// Sets what a summary says of layers that are one step. Their types already have names.
Status graph_describe(Program *program);
// forward of the root, and of all layers below.
Status graph_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
Status graph_part_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
Program *program_new(Import *import); // without layers and parameters
void program_free(Program *program);

#endif
