// layer.h -- modules composed of ops: parameters with names, children, one forward function.
// A layer has no formula for its cost and no profiling line: both follow from the ops it runs.
//
//     Layer *model = mlp_new((int64_t[]){784, 512, 10}, 3, mlp_defaults());
//     Tensor *logits = layer_forward(model, x);       // x (batch, 784) -> (batch, 10)
//     layer_free(model);
//
// Threads: one thread at a time uses a layer, its parameters and its optimizer, and it is the
// thread that made them. This holds for inference, too, because forward changes reference counts.
// Threads that run the same model at the same time have a copy each.
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
    ATTRIBUTE_NAMELESS    // int64_t; layer_print shows no name for it, as in PyTorch
} AttributeKind;

typedef struct LayerAttribute {
    const char *name; // "in_features"
    AttributeKind kind;
    size_t offset; // bytes from the start of the layer's struct
} LayerAttribute;

enum { LAYER_ANY_INPUTS = -1, LAYER_MAX_OUTPUTS = 256 };

typedef struct LayerType {
    const char *name;                 // "Linear"
    const char *printed;              // in layer_print; NULL: name, attributes and children
    size_t size;                      // bytes of its struct, whose first member is a Layer
    const LayerAttribute *attributes; // for summaries and --explain
    int n_attributes;
    // Number of tensors that forward takes; 0 means one. layer_forward checks it, and that none is
    // NULL. LAYER_ANY_INPUTS: forward checks its inputs itself, also for NULL.
    int n_inputs;
    Tensor *(*forward)(Layer *self, Tensor *const in[], int n_in); // composes tensor_ ops
    // For a layer with several results, such as an LSTM: called in place of `forward`, fills out.
    Status (*forward_each)(Layer *self, Tensor *const in[], int n_in, Tensor *out[]);
    int n_outputs;             // at most LAYER_MAX_OUTPUTS
    void (*free)(Layer *self); // frees all but parameters and children; may be NULL
    // Prints the text between layer_print's parentheses; NULL: the attributes.
    void (*print)(const Layer *self, FILE *file);
    // For attention whose keys and values a cache may keep (kv_cache.h): heads and features of one
    // position. False: no cache is possible, as it sees later positions. NULL: not attention.
    bool (*keeps)(const Layer *self, int64_t size[2]);
    // True if a position of (batch, positions, features) depends on others other than by attention:
    // recurrent layers, convolutions over sequences. Such a layer needs the whole sequence as
    // input, so no cache fits a model that has one.
    bool mixes_positions;
    // True if only its parts run, one step of a file at a time: there is no forward to run again.
    bool in_steps;
} LayerType;

typedef struct Parameter {
    char *name; // "weight"; its name within the layer
    Tensor *tensor;
    bool unsaved; // a buffer that files leave out
} Parameter;

struct Layer {
    const LayerType *type;
    char *name;    // its name within the parent: "fc1"; "" at the root
    Layer *parent; // NULL: the layer is a root, and yours
    int place;     // its index among the parent's children
    Layer **children;
    int n_children;
    Parameter *parameters; // owned; tied ones together with another layer
    int n_parameters;
    Parameter *buffers; // owned: state without a gradient, such as running statistics
    int n_buffers;
    bool training;           // dropout is active, batch norm normalises by the batch
    int dry_depth;           // number of dry runs (cost.h) in progress when it was made
    bool is_twin;            // it stands for another layer in a dry run
    bool recompute;          // it is marked by layer_recompute
    struct Recompute *again; // lets graphs run it again; NULL: never marked
    struct Map *names;       // of all that it holds, when many; NULL: they are few
    struct KvCache *cache;   // set while kv_cache_forward runs it; else NULL
    uint64_t serial;         // unique in this process, from 1, and never used again
};

// For authors of layers: returns a zeroed struct of the type; NULL with an error pending.
Layer *layer_new(const LayerType *type);
// Takes ownership of the tensor (also on failure) and marks it as wanting a gradient. A NULL tensor
// passes its pending error on. A name has at least one letter and no dot, and no other parameter,
// buffer or child of the layer may have it: STATUS_INVALID_ARGUMENT.
Status layer_add_parameter(Layer *self, const char *name, Tensor *tensor);
// Adds a buffer: state that is saved with the weights but that no gradient changes.
Status layer_add_buffer(Layer *self, const char *name, Tensor *tensor);
// Adds a buffer that layer_state leaves out because the layer's constructor computes it: a table of
// angles, say. PyTorch's register_buffer(persistent=False).
Status layer_add_unsaved_buffer(Layer *self, const char *name, Tensor *tensor);
// Adds a parameter that another layer owns, too (tied weights): it lives as long as either layer.
Status layer_tie_parameter(Layer *self, const char *name, Tensor *tensor);
// Takes ownership of the child (also on failure). If the child has a parent already, or would
// contain itself, ownership does not change: STATUS_STATE.
Status layer_add_child(Layer *self, const char *name, Layer *child);

void layer_leave_parent(Layer *self); // makes it yours again; does nothing without a parent

// Frees the layer, its children and parameters; leaves its parent first. NULL is fine.
void layer_free(Layer *self);

// Runs the layer in a scope and a call site of its own; the result belongs to the caller's scope.
// An error message from inside begins with the layer's path, cut at 95 characters: "encoder.fc1:
// linear of ...".
Tensor *layer_forward(Layer *self, Tensor *x);
Tensor *layer_forward_many(Layer *self, Tensor *const in[], int n_in);
// Fills `out` with the first n_out results of a layer that has several; all are NULL after a
// failure. The two functions above give the first result only.
Status layer_forward_each(Layer *self, Tensor *const in[], int n_in, Tensor *out[], int n_out);
void layer_train(Layer *self, bool training); // with all layers below; a new layer is in training

// Activation checkpointing: from now on forward keeps only the layer's inputs for backward, and no
// tensor from inside. Backward runs forward again, with the same random numbers, and then goes
// through that graph. Gradients are the same, bit for bit; it takes less memory and a second
// forward (PHASE_RECOMPUTE). Marked layers inside it run once more each. State beside the results,
// such as running statistics, must not change while autograd_recomputing(). A layer may have at
// most 16 inputs, and 3 results that want a gradient; these share one graph, which the backward of
// any of them frees. Backward gives STATUS_STATE if the layer, its parameters or its mode changed
// since forward. STATUS_INVALID_ARGUMENT: a layer of a file that only holds others, or runs as
// several steps.
//     layer_recompute(layer_find(model, "layer1"), true);
Status layer_recompute(Layer *self, bool recompute);
// Marks the layers whose path matches by fnmatch: "layer1.*", "h.*". A layer inside a marked one is
// not marked; one that cannot be marked is searched inside. *count: how many; 0 is no error.
Status layer_recompute_matching(Layer *self, const char *pattern, int64_t *count);

// Copies the marks of another model whose tree of children has the same names. STATUS_SHAPE, with
// nothing changed: the trees differ.
Status layer_recompute_as(Layer *self, const Layer *other);

// State beside parameters that runs change, of this layer and all below, to restore after an
// evaluation or a trial: training flags and the values of buffers (running statistics). Restoring
// does not write to a buffer whose values are still the same.
typedef struct LayerModes {
    bool *training; // in the order of a walk over the tree
    int count;
    char *values;  // of buffers, on the host, in the same order, and as much spare room after them
    int64_t bytes; // size of the values, without the spare room
} LayerModes;
Status layer_modes_save(const Layer *self, LayerModes *modes);
void layer_modes_restore(Layer *self, LayerModes *modes); // frees them, too; self NULL: only frees

// ---- parameters and buffers of a layer and all below -----------------------------------------
typedef struct ParameterEntry {
    char *path; // "fc1.weight"
    Tensor *tensor;
    bool is_buffer;
} ParameterEntry;
typedef struct ParameterList {
    ParameterEntry *items;
    int count;
} ParameterList;
// Lists every parameter once (tied ones under their first path), in the order of definition. Free
// with parameter_list_free.
Status layer_parameters(const Layer *self, ParameterList *list);
// Lists the parameters and buffers that files hold, tied ones under every path, in the order of
// PyTorch's state_dict (for each layer its parameters, then its buffers, then its children).
Status layer_state(const Layer *self, ParameterList *list);
void parameter_list_free(ParameterList *list);
int64_t layer_parameter_count(const Layer *self); // elements, tied once; -1: an error is pending
int64_t layer_own_parameter_count(const Layer *self); // without children
int64_t layer_trainable_count(const Layer *self);     // those that want a gradient

// Finds a layer by its path: "" is self, "encoder.fc1" one below. NULL, without an error: none.
Layer *layer_find(Layer *self, const char *path);
// Replaces the parameter at the first path by the one at the other (tied weights), and frees the
// one that was there. STATUS_SHAPE: their shapes differ.
Status layer_tie(Layer *self, const char *path, const char *other_path);
// Makes parameters stop wanting a gradient, or want one again: those whose path, or the path of a
// layer around them, matches by fnmatch: "features.*", "fc1", "*.bias"; "": all. *count: number of
// parameter paths that matched; 0 is no error.
Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count);

// For inference only: folds each batch norm that follows a convolution of images, or a linear layer
// on (n, features), into that product's weight and bias. The norm becomes an Identity: fewer
// numbers, ops and bytes, and the same values but for rounding. A norm stays as it is where the
// product's output has other readers or is a result, and where one of the two runs twice or shares
// its tensors. `in` is an input for a dry run, which shows what follows what; *count: number of
// norms folded. Call it before an optimizer is made: training afterwards trains another network.
Status layer_fold_norms(Layer *self, Tensor *const in[], int n_in, int64_t *count);

// In a dry run, returns the twin of a layer that was made outside; otherwise the layer itself. NULL
// gives NULL; for any other layer, NULL means that an error is pending.
Layer *layer_here(Layer *layer);

// Reads the attribute of that name ("in_features") as an integer: an integer, a flag (0 or 1), or
// an activation (its op's id; 0: none, or a program's own). Returns false, and leaves *value as it
// was, where this layer has no such attribute or it is a real number.
bool layer_attribute(const Layer *self, const char *name, int64_t *value);

// Writes "in_features=784, out_features=512, bias=true" into text (cut at size).
char *layer_attributes_text(const Layer *self, char *text, size_t size);

// Prints the tree as PyTorch does: "(fc1): Linear(in_features=784, out_features=512, bias=True)",
// each level indented by two more spaces. Pools of images, embeddings, norms other than batch
// norms, recurrent layers, attention and dropouts print all their settings, in PyTorch's words.
// STATUS_IO.
Status layer_print(const Layer *self, FILE *file);

// ---- the layers ------------------------------------------------------------------------------
// weight (out, in), bias (out): uniform in +-1/sqrt(in), as PyTorch's nn.Linear.
Layer *linear_new(int64_t in_features, int64_t out_features, bool bias);
// A linear layer with an activation fused into the product.
Layer *linear_new_fused(int64_t in_features, int64_t out_features, bool bias, const Op *activation);
// An activation given by its op, as in tensor_activation: activation_new(&op_silu). NULL: identity.
Layer *activation_new(const Op *op);
// An activation with parameters other than the defaults, in the order of Op.values: the slope of a
// leaky_relu, &(float){0.2f}.
Layer *activation_new_with(const Op *op, const float *values);
// weight (num_parameters), each `slope` (PyTorch's is 0.25): one for each channel, or 1 for all.
Layer *prelu_new(int64_t num_parameters, float slope);
// These work along a dimension; a negative one counts from the end.
Layer *softmax_new(int dim);
Layer *log_softmax_new(int dim);
Layer *glu_new(int dim);
Layer *relu_new(void);
Layer *gelu_new(void);
Layer *dropout_new(float p);
// weight and bias have the shape of a row, which is x's last sizes, and start at 1 and 0, as in
// PyTorch's nn.LayerNorm. Without affine there are none.
Layer *layer_norm_new(Shape row, float epsilon, bool affine);
// A layer norm with a weight and no bias: PyTorch's LayerNorm(bias=False).
Layer *layer_norm_new_unbiased(Shape row, float epsilon);
// An RMS norm, with a weight only, as PyTorch's nn.RMSNorm, whose default epsilon is FLT_EPSILON.
Layer *rms_norm_new(Shape row, float epsilon, bool affine);
// Normalises groups of adjacent channels of each sample of x (n, channels, ...); weight and bias
// (channels) start at 1 and 0, as in PyTorch's nn.GroupNorm.
Layer *group_norm_new(int64_t groups, int64_t channels, float epsilon, bool affine);
// Normalises each feature of each sample of x (n, features, length). There are no running
// statistics, so training and evaluation do the same. PyTorch's is not affine by default.
Layer *instance_norm1d_new(int64_t features, float epsilon, bool affine);
typedef struct BatchNormOptions { // as in torch.nn.BatchNorm1d and 2d
    float epsilon;
    float momentum;           // weight of the newest batch; NAN, PyTorch's None: all equal
    bool affine;              // with a weight that starts at 1 and a bias at 0
    bool track_running_stats; // false: evaluation normalises by the batch, too
} BatchNormOptions;
BatchNormOptions batch_norm_defaults(void); // epsilon 1e-5, momentum 0.1, both flags true
// Takes x (n, features) or (n, features, length); for images: layers2d.h. In training it normalises
// by the batch and updates running statistics; in evaluation it normalises by these. They are
// buffers: running_mean, running_var (features), and num_batches_tracked, one int64.
Layer *batch_norm1d_new(int64_t features, BatchNormOptions options);
// weight (count, features), standard normal as PyTorch's nn.Embedding. Takes int64 indices (...) in
// [0, count), gives (..., features).
Layer *embedding_new(int64_t count, int64_t features);
// An embedding whose row padding_idx (negative: from the end) is 0 and has no gradient.
Layer *embedding_new_padded(int64_t count, int64_t features, int64_t padding_idx);
// Merges dimensions start_dim to end_dim, both included, into one; a view. Negative ones count from
// the end: PyTorch's nn.Flatten() is flatten_new(1, -1).
Layer *flatten_new(int start_dim, int end_dim);

Layer *sequential_new(void); // runs its children in order; other containers: containers.h
// Adds a child named by its index, as in PyTorch's containers: "0", "1" ... Otherwise as
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
