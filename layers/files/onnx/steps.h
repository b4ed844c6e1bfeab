// steps.h -- internal to the ONNX reader: what runs of a graph, one operator each, and what each
// keeps of its node. How nodes become steps is import.h's.
#ifndef LAYERS_FILES_ONNX_STEPS_H
#define LAYERS_FILES_ONNX_STEPS_H

#include <onnx.pb-c.h>

#include "layers/files/onnx.h"

typedef Onnx__Node Node;
typedef struct Step Step;
typedef struct Import Import;

typedef enum Whole {
    WHOLE_NOT,      // it computes floats only: integers are refused that float32 would round
    WHOLE_COMPUTED, // it computes with them as such
    WHOLE_MOVED     // it moves or picks numbers, of any type
} Whole;

typedef struct Operator {
    const char *name; // ONNX's
    // Takes from the node what `run` needs: attributes and constant inputs into params, the others
    // into step->in by step_input.
    Status (*build)(Import *import, const Node *node, Step *step);
    // Composes ops of tensor/: fills out. `training`: the layer's mode.
    Status (*run)(const Step *step, bool training, Tensor *const in[], Tensor *out[]);
    const char *module; // what PyTorch calls a layer that is this: "Conv2d"; NULL: it has none
    // Of element-wise ones, for a `run` that several share.
    Tensor *(*of_one)(Tensor *x);
    Tensor *(*of_two)(Tensor *a, Tensor *b);
    const Op *activation;
    Whole whole;       // what it does with integers
    bool wraps;        // what it computes of them may leave their type's range
    int data;          // which of its inputs are the numbers that it computes with: the first
    int type;          // ONNX's type of the result; 0: that of the first input
    int second_type;   // of the second one, where that has another; 0: it has not
    unsigned optional; // bit i: the step's input i may be absent; bit 31: from there on
} Operator;

enum { STEP_OUTPUTS = 4 }; // the most that an operator gives; a longer split is as many slices

typedef struct ReduceParams {
    int dims[TENSOR_MAX_DIMS], n_dims;
    bool keep, nothing; // nothing: x as it is
} ReduceParams;
typedef struct PadParams {
    int64_t before[TENSOR_MAX_DIMS], after[TENSOR_MAX_DIMS];
    PadMode mode;
    float value;
    int64_t whole; // the same, of integers
    bool pads;     // any at all
} PadParams;
typedef struct ConvParams {
    ConvTranspose2dOptions options;
    bool flat; // of sequences: along the width
} ConvParams;
typedef struct PoolParams {
    Pool2dOptions options;
    PadParams pad; // what a pool cannot pad by itself
    bool flat;
} PoolParams;
typedef struct VolumeParams { // of three dimensions: what is of the last two, and of the depth
    ConvTranspose2dOptions conv;
    Pool2dOptions pool;
    int64_t kernel, stride, dilation, before, after, more;
} VolumeParams;
typedef struct SliceParams { // of each dimension; step may be below 0, and begin is then the last
    int64_t begin[TENSOR_MAX_DIMS], count[TENSOR_MAX_DIMS], step[TENSOR_MAX_DIMS];
} SliceParams;
enum { MOST_WIDE = 16 };
typedef struct WideParams { // of a reshape to more dimensions than a tensor has, and of its
                            // transpose
    int n;
    int64_t sizes[MOST_WIDE];
    int order[MOST_WIDE]; // in which the transpose takes them
} WideParams;
typedef struct NormParams {
    float epsilon, momentum;
    bool trains;   // it goes by the batch in evaluation, too
    bool computed; // of a batch norm: its statistics, by other steps
    int64_t groups;
    Shape row;
} NormParams;
typedef struct RandomParams {
    Shape shape;
    float first, second; // low and high, or mean and deviation
    bool normal;
} RandomParams;
typedef struct RecurrentParams {
    int64_t hidden;
    bool reverse[2], relu[2];
    int directions, layout;
    int layer;   // of a stack
    bool ragged; // sequences have lengths of their own, which are the last input
    bool whole;  // W, R and B come as the file has them, and their gates in its order
} RecurrentParams;

enum { EINSUM_MAX_TEXT = 120 };

typedef union StepParams {
    char equation[EINSUM_MAX_TEXT];
    ReduceParams reduce;
    PadParams pad;
    ConvParams conv;
    PoolParams pool;
    VolumeParams volume;
    SliceParams slice;
    NormParams norm;
    RecurrentParams recurrent;
    RandomParams random;
    struct {
        ResizeOptions resize, depth; // depth: of images (depth, height x width), before
    };
    Shape shape;
    WideParams wide;
    struct {
        int dim, count;
        int64_t sizes[STEP_OUTPUTS];
    } split;
    struct {
        int dim, other;
        int64_t count, sizes;
        float value[4];
        bool flags[4];
        const Op *op;
    } plain;
} StepParams;

struct Step {
    const Operator *op;
    const Node *node;
    int *in; // values; -1: absent
    int n_in;
    int out[STEP_OUTPUTS];
    int n_out;
    StepParams params;
    int type;   // ONNX's, of its results
    bool whole; // its numbers are integers, and computed as such
    int narrow; // they wrap around at so many bits; 0: they do not
    bool is_signed;
    DType dtypes[2]; // of its first result and the others; of the second one
    char *path;      // of its layer; NULL: the model itself
    bool dead;       // joined into another, or nobody needs it
};

#endif
