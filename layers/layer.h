// layer.h -- modules composed of ops: parameters with names, children, one forward function.
// A layer has no formula for its cost and no profiling line: both follow from the ops it runs.
//
//     Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
//     Tensor *logits = layer_forward(model, x);       // x (batch, 784) -> (batch, 10)
//     layer_free(model);
//
// Threads: a layer, its parameters and its optimizer are used by one thread at a time, where they
// were made, for inference too, because forward counts who holds what. Threads that answer with one
// model at the same time have a copy each.
#ifndef LAYERS_LAYER_H
#define LAYERS_LAYER_H

#include <stddef.h>
#include <stdio.h>

#include "autograd/autograd.h"

RIDGEPOINT_API_BEGIN

typedef struct Layer Layer;

typedef enum AttributeKind {
    ATTRIBUTE_INTEGER,    // int64_t
    ATTRIBUTE_REAL,       // float
    ATTRIBUTE_FLAG,       // bool
    ATTRIBUTE_ACTIVATION, // const Op *
    ATTRIBUTE_NAMELESS    // int64_t, of which layer_print shows no name, as PyTorch
} AttributeKind;

typedef struct LayerAttribute {
    const char *name; // "in_features"
    AttributeKind kind;
    size_t offset; // in the layer's struct
} LayerAttribute;

enum { LAYER_ANY_INPUTS = -1, LAYER_MAX_OUTPUTS = 256 };

typedef struct LayerType {
    const char *name;                 // "Linear"
    const char *printed;              // by layer_print; NULL: name, attributes and children
    size_t size;                      // of its struct, whose first member is a Layer
    const LayerAttribute *attributes; // for summaries and --explain
    int n_attributes;
    // How many tensors forward takes: layer_forward checks it, and that none is NULL. 0: one.
    // LAYER_ANY_INPUTS: forward looks for itself, also for NULL.
    int n_inputs;
    Tensor *(*forward)(Layer *self, Tensor *const in[], int n_in); // composes tensor_ ops
    // Of a layer with several results, as an LSTM has, instead of `forward`: fills so many of out.
    Status (*forward_each)(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
    int n_outputs;             // at most LAYER_MAX_OUTPUTS
    void (*free)(Layer *self); // what it owns beside parameters and children; may be NULL
    // What layer_print writes between the parentheses; NULL: the attributes.
    void (*print)(const Layer *self, FILE *file);
    // Of attention, whose keys and values a cache may keep (kv_cache.h): heads and features of one
    // position's. False: it cannot, because it sees later positions. NULL: it is none.
    bool (*keeps)(const Layer *self, int64_t size[2]);
    // A position of (batch, positions, features) depends on others, and not by attention: recurrent
    // layers, convolutions over sequences. What such a layer is given must be whole, so that no
    // cache fits the model.
    bool mixes_positions;
    // What is in it runs, step by step of a file, and never the whole: nothing to run again.
    bool in_steps;
} LayerType;

typedef struct Parameter {
    char *name; // "weight"; within its layer
    Tensor *tensor;
    bool unsaved; // a buffer that files leave out
} Parameter;

struct Layer {
    const LayerType *type;
    char *name;    // within its parent: "fc1"; "" at the root
    Layer *parent; // whose child it is; NULL: it is yours
    int place;     // its index there
    Layer **children;
    int n_children;
    Parameter *parameters; // owned; tied ones together with another layer
    int n_parameters;
    Parameter *buffers; // owned: state that no gradient changes, such as running statistics
    int n_buffers;
    bool training;           // dropout acts, batch norm goes by the batch
    int dry_depth;           // dry runs (cost.h) that were around when it was made
    bool is_twin;            // it stands for another in one
    bool recompute;          // layer_recompute
    struct Recompute *again; // by which graphs run it; NULL: it never was marked
    struct Map *names;       // of what it holds, when they are many; NULL: they are few
    struct KvCache *cache;   // while kv_cache_forward runs it; else NULL
    uint64_t serial;         // of this process's layers, from 1: no other has had it, or will
};

// For the authors of layers: a zeroed struct of the type; NULL with an error pending.
Layer *layer_new(const LayerType *type);
// Takes ownership of the tensor (also on failure) and marks it as wanting a gradient. NULL passes.
// Names are some letters without a dot, and within a layer each is given once, to a parameter, a
// buffer or a child: STATUS_INVALID_ARGUMENT.
Status layer_add_parameter(Layer *self, const char *name, Tensor *tensor);
// The same for state that is kept with the weights and no gradient changes.
Status layer_add_buffer(Layer *self, const char *name, Tensor *tensor);
// A buffer that layer_state leaves out, because whoever makes the layer works it out: a table of
// angles, say. PyTorch's register_buffer(persistent=False).
Status layer_add_unsaved_buffer(Layer *self, const char *name, Tensor *tensor);
// A parameter that another layer owns too (tied weights): it lives as long as either.
Status layer_tie_parameter(Layer *self, const char *name, Tensor *tensor);
// Takes ownership of the child (also on failure). STATUS_STATE, and everything stays whose it is:
// the child has a parent already, or would contain itself.
Status layer_add_child(Layer *self, const char *name, Layer *child);

void layer_leave_parent(Layer *self); // which forgets it: it is yours again. Without one: nothing

// With children and parameters; a child leaves its parent first. NULL is fine.
void layer_free(Layer *self);

// Runs the layer in a scope and a call site of its own; the result belongs to the caller's scope.
// Whatever goes wrong inside, its message begins with the layer's path, or with 95 characters of a
// longer one: "encoder.fc1: linear of ...".
Tensor *layer_forward(Layer *self, Tensor *x);
Tensor *layer_forward_many(Layer *self, Tensor *const in[], int n_in);
// The same of a layer with several results: the first n_out of them, all NULL after a failure. The
// two above give the first.
Status layer_forward_each(Layer *self, Tensor *const in[], int n_in, Tensor *out[], int n_out);
void layer_train(Layer *self, bool training); // this layer and all below; true from the start

// Activation checkpointing: from now on forward keeps the layer's inputs for backward, and nothing
// of what is inside; backward runs forward again, with the random numbers of the first time, and
// goes on through that. Gradients are the same, bit for bit; it takes less memory and a second
// forward, phase PHASE_RECOMPUTE. Layers inside that are marked, too, are run once more each.
// What a layer keeps beside its results (running statistics) it must not change while
// autograd_recomputing(). At most 16 inputs, and 3 results that want a gradient; these are of one
// graph, which the backward of any of them frees. Backward gives STATUS_STATE where the layer, its
// parameters, or the mode it trains in changed since forward. STATUS_INVALID_ARGUMENT for a layer
// of a file that only holds others, or runs as several steps of it.
//     layer_recompute(layer_find(model, "layer1"), true);
Status layer_recompute(Layer *self, bool recompute);
// Marks those whose path matches, as by fnmatch: "layer1.*", "h.*"; of layers in one another only
// the outermost, and of those that cannot what is in them. *count: how many; 0 is no error.
Status layer_recompute_matching(Layer *self, const char *pattern, int64_t *count);

// Marks layers as those of another model are: one of the same children, by name. STATUS_SHAPE, and
// nothing has changed: it is another.
Status layer_recompute_as(Layer *self, const Layer *other);

// What runs change of this layer and all below, beside parameters: the training flags, and what
// buffers hold (running statistics), to be put back after an evaluation or a trial. A buffer that
// still holds the same is left alone.
typedef struct LayerModes {
    bool *training; // in the order of a walk over the tree
    int count;
    char *values;  // of buffers, on the host, in the same order; behind them as much room again
    int64_t bytes; // of the values
} LayerModes;
Status layer_modes_save(const Layer *self, LayerModes *modes);
void layer_modes_restore(Layer *self, LayerModes *modes); // and frees them; NULL: only that

// ---- what a layer holds, and all below -------------------------------------------------------
typedef struct ParameterEntry {
    char *path; // "fc1.weight"
    Tensor *tensor;
    bool is_buffer;
} ParameterEntry;
typedef struct ParameterList {
    ParameterEntry *items;
    int count;
} ParameterList;
// Every parameter once (tied ones by their first path), in the order of definition. Free with
// parameter_list_free.
Status layer_parameters(const Layer *self, ParameterList *list);
// What files hold: parameters and buffers, tied ones under every path, in the order of PyTorch's
// state_dict (of each layer its parameters, then its buffers, then its children).
Status layer_state(const Layer *self, ParameterList *list);
void parameter_list_free(ParameterList *list);
int64_t layer_parameter_count(const Layer *self); // elements; tied once; -1 with an error pending
int64_t layer_own_parameter_count(const Layer *self); // without children
int64_t layer_trainable_count(const Layer *self);     // those that want a gradient

// The layer of a path: "" this one, "encoder.fc1" one below. NULL, without an error: there is none.
Layer *layer_find(Layer *self, const char *path);
// From now on the parameter of the first path is the one of the other (tied weights): what it was
// is freed. STATUS_SHAPE: they differ in shape.
Status layer_tie(Layer *self, const char *path, const char *other_path);
// Parameters want no gradient any more, or want one again: those whose path, or that of a layer
// around them, matches as by fnmatch: "features.*", "fc1", "*.bias"; "": all. *count: how many
// paths of parameters that were; 0 is no error.
Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count);

// For inference alone: each batch norm whose input is the output of a convolution of images, or
// that of a linear layer (n, features), goes into that product's weight and bias, and is an
// Identity from then on: fewer numbers, ops and bytes, and the same values but for rounding. Left
// as it is: where that output is read by others, or is a result; where one of the two runs twice,
// or shares what it has. `in` is an input to see the layers run on, in a dry run; *count: how many
// norms. Before an optimizer is made: what is trained after it is another network.
Status layer_fold_norms(Layer *self, Tensor *const in[], int n_in, int64_t *count);

// In a dry run, what stands for a layer that comes in from outside; else the layer itself. NULL
// stays NULL; from others it comes with an error pending.
Layer *layer_here(Layer *layer);

// The integer, flag (0 or 1) or activation (its op's id; 0: none, or a program's own) of that name
// ("in_features") as an integer. False: this layer has none, or it is a real number; *value is then
// as it was.
bool layer_attribute(const Layer *self, const char *name, int64_t *value);

// "in_features=784, out_features=512, bias=true" into text (cut at size).
char *layer_attributes_text(const Layer *self, char *text, size_t size);

// The tree as PyTorch prints it: "(fc1): Linear(in_features=784, out_features=512, bias=True)", a
// level two spaces further in. Pools of images, embeddings, norms that are no batch norms,
// recurrent layers, attention and dropouts name all that they have, in words of their own.
// STATUS_IO.
Status layer_print(const Layer *self, FILE *file);

// ---- the layers ------------------------------------------------------------------------------
// weight (out, in), bias (out): uniform in +-1/sqrt(in), as PyTorch's nn.Linear.
Layer *linear_new(int64_t in_features, int64_t out_features, bool bias);
// With an activation fused into the product.
Layer *linear_new_fused(int64_t in_features, int64_t out_features, bool bias, const Op *activation);
// An activation by its op, as in tensor_activation: activation_new(&op_silu). NULL: the identity.
Layer *activation_new(const Op *op);
// The same with other parameters, in the order of Op.values: a slope of leaky_relu's,
// &(float){0.2f}.
Layer *activation_new_with(const Op *op, const float *values);
// weight (num_parameters), each `slope` (PyTorch's is 0.25): one for each channel, or 1 for all.
Layer *prelu_new(int64_t num_parameters, float slope);
// Along a dimension; a negative one counts from the end.
Layer *softmax_new(int dim);
Layer *log_softmax_new(int dim);
Layer *glu_new(int dim);
Layer *relu_new(void);
Layer *gelu_new(void);
Layer *dropout_new(float p);
// weight and bias of the shape of a row, which is x's last sizes: 1 and 0, as PyTorch's
// nn.LayerNorm. Without affine there are none.
Layer *layer_norm_new(Shape row, float epsilon, bool affine);
// With a weight, and no bias: PyTorch's LayerNorm(bias=False).
Layer *layer_norm_new_unbiased(Shape row, float epsilon);
// The same with a weight only, as PyTorch's nn.RMSNorm, whose epsilon is FLT_EPSILON where nobody
// says.
Layer *rms_norm_new(Shape row, float epsilon, bool affine);
// Of x (n, channels, ...), groups of neighbouring channels of a sample; weight and bias (channels)
// as PyTorch's nn.GroupNorm: 1 and 0.
Layer *group_norm_new(int64_t groups, int64_t channels, float epsilon, bool affine);
// Of x (n, features, length), each feature of a sample. No running statistics: it does the same in
// training and after. PyTorch's is not affine where nobody says.
Layer *instance_norm1d_new(int64_t features, float epsilon, bool affine);
typedef struct BatchNormOptions { // as torch.nn.BatchNorm1d's and 2d's
    float epsilon;
    float momentum;           // what the newest batch counts; NAN, PyTorch's None: all alike
    bool affine;              // with a weight, 1, and a bias, 0
    bool track_running_stats; // else evaluation normalises by the batch, too
} BatchNormOptions;
BatchNormOptions batch_norm_defaults(void); // 1e-5, 0.1, both
// x (n, features) or (n, features, length); of images: layers2d.h. layer_train says whether it
// normalises by the batch, and running statistics follow, or by these. They are buffers:
// running_mean, running_var (features), and num_batches_tracked, one int64.
Layer *batch_norm1d_new(int64_t features, BatchNormOptions options);
// weight (count, features), standard normal as PyTorch's nn.Embedding. Takes int64 indices (...)
// in [0, count), gives (..., features).
Layer *embedding_new(int64_t count, int64_t features);
// The same with a row, counted from the end where it is negative, that is 0 and has no gradient.
Layer *embedding_new_padded(int64_t count, int64_t features, int64_t padding_idx);
// Dimensions start_dim to end_dim, both included, become one; a view. Negative ones count from the
// end: PyTorch's nn.Flatten() is flatten_new(1, -1).
Layer *flatten_new(int start_dim, int end_dim);

Layer *sequential_new(void); // runs its children in order; more that run others: containers.h
// Adds a child that is called by its place, as in PyTorch's containers: "0", "1" ... Else as
// layer_add_child.
Status layer_append(Layer *self, Layer *child);

typedef struct MlpOptions {
    const Op *activation; // between the linear layers; NULL: none
    float dropout;        // after each activation; 0: none
    bool fuse;            // activation inside the linear layer
    bool bias;
} MlpOptions;
MlpOptions mlp_defaults(void); // ReLU, no dropout, not fused, bias
// sizes {784, 512, 10}: fc1 784->512, relu1, fc2 512->10. At least two sizes, each >= 1.
Layer *mlp_new(const int64_t *sizes, int n_sizes, MlpOptions options);

RIDGEPOINT_API_END

#endif
