// graph.h -- internal to the ONNX reader: the steps of a model as they run, and the layers
// that they run in. What the file was is gone by then.
#ifndef LAYERS_FILES_ONNX_GRAPH_H
#define LAYERS_FILES_ONNX_GRAPH_H

#include "layers/files/onnx/import.h"

// Where a value is found while the model runs.
typedef struct Slot {
    Layer *owner; // of a parameter or buffer; NULL: it is a constant, or computed
    int index;    // in the owner's list
    bool is_buffer;
    Tensor *constant; // ours
    bool is_result;   // of a step
} Slot;

typedef struct RunStep {
    Step step;    // in and out are slots
    Layer *layer; // that it runs in
    int *ends;    // slots that nobody reads any more behind it
    int n_ends;
} RunStep;

typedef struct Deciding { // an input's numbers that made shapes, as the host has them
    void *bytes;          // ours; NULL: it has none
    size_t size;
} Deciding;

typedef struct Program {
    Slot *slots;
    int n_slots;
    RunStep *steps;
    int n_steps;
    int *inputs, n_inputs, outputs[LAYER_MAX_OUTPUTS], n_outputs;
    bool whole[LAYER_MAX_OUTPUTS]; // they are given as int64
    Shape *shapes;                 // of the inputs
    Deciding *decides;             // of the inputs
    Tensor **given;                // for those that forward is not called with; ours; NULL: none
    const RunStep *running;
    Tensor **values; // of the slots, while it runs
    Tensor **in;     // of a step: room for the most inputs that one has
} Program;

enum { GRAPH_ATTRIBUTES = 16 };

// A layer of a model: it runs those steps that the file says ran there.
typedef struct GraphLayer {
    Layer layer;
    LayerType type; // its own: types are known by their names
    char *type_name;
    LayerAttribute attributes[GRAPH_ATTRIBUTES]; // and what they are of, each at its size
    char values[GRAPH_ATTRIBUTES][8] __attribute__((aligned(8)));
    int n_steps;      // of the program's, that run here
    Program *program; // the root's
} GraphLayer;

// The tree, and in it the layers of the program's steps and the parameters of its slots.
Layer *graph_tree_new(Import *import, Program *program);
// Of those that are one step: what a summary says of them. Their types have been named.
Status graph_describe(Program *program);
// The root's forward, and that of all below.
Status graph_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
Status graph_part_forward(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
Program *program_new(Import *import); // without layers and parameters
void program_free(Program *program);

#endif
