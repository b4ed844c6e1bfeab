// steps.h -- internal to the ONNX reader: the steps that run for a graph, one operator each, with
// their parameters. import.h turns nodes into steps.
#ifndef LAYERS_FILES_ONNX_STEPS_H
#define LAYERS_FILES_ONNX_STEPS_H

#include <onnx.pb-c.h>

#include "layers/files/onnx.h"

typedef Onnx__Node Node;
typedef struct Step Step;
typedef struct Import Import;

typedef enum Whole {
    WHOLE_NOT,      // floats only: refuses integers that float32 would round
    WHOLE_COMPUTED, // computes with integers as such
    WHOLE_MOVED     // moves or picks numbers of any type
} Whole;

typedef struct Operator {
    const char *name; // ONNX's name
    // Reads from the node all that `run` needs: attributes and constant inputs into params, other
    // inputs into step->in by step_input.
    Status (*build)(Import *import, const Node *node, Step *step);
    // Composes ops of tensor/ and fills out. `training`: the layer's mode.
    Status (*run)(const Step *step, bool training, Tensor *const in[], Tensor *out[]);
    const char *module; // PyTorch's name for such a layer: "Conv2d"; NULL: none
    // For element-wise operators, whose `run` is shared.
    Tensor *(*of_one)(Tensor *x);
    Tensor *(*of_two)(Tensor *a, Tensor *b);
    const Op *activation;
    Whole whole;       // its treatment of integers
    bool wraps;        // integer results may leave their type's range
    int data;          // first of the inputs with the numbers that it computes with
    int type;          // ONNX's type of the result; 0: that of the first input
    int second_type;   // the second result's type; 0: the same
    unsigned optional; // bit i: the step's input i may be absent; bit 31: all from there on
} Operator;

enum { STEP_OUTPUTS = 4 }; // the most results of a step; a longer split becomes slices

typedef struct ReduceParams {
    int dims[TENSOR_MAX_DIMS], n_dims;
    bool keep, nothing; // nothing: returns x as it is
} ReduceParams;
typedef struct PadParams {
    int64_t before[TENSOR_MAX_DIMS], after[TENSOR_MAX_DIMS];
    PadMode mode;
    float value;
    int64_t whole; // the pad value for integers
    bool pads;     // whether it pads at all
} PadParams;
typedef struct ConvParams {
    ConvTranspose2dOptions options;
    bool flat; // on sequences: along the width
} ConvParams;
typedef struct PoolParams {
    Pool2dOptions options;
    PadParams pad; // padding that a pool cannot do itself
    bool flat;
} PoolParams;
typedef struct VolumeParams { // conv, pool: the last two dimensions; the rest: depth
    ConvTranspose2dOptions conv;
    Pool2dOptions pool;
    int64_t kernel, stride, dilation, before, after, more;
} VolumeParams;
typedef struct SliceParams { // per dimension; step may be below 0: begin is then the last
    int64_t begin[TENSOR_MAX_DIMS], count[TENSOR_MAX_DIMS], step[TENSOR_MAX_DIMS];
} SliceParams;
enum { MOST_WIDE = 16 };
typedef struct WideParams { // a reshape beyond a tensor's dimensions, and its transpose
    int n;
    int64_t sizes[MOST_WIDE];
    int order[MOST_WIDE]; // the transpose's
} WideParams;
typedef struct NormParams {
    float epsilon, momentum;
    bool trains;   // uses batch statistics in evaluation, too
    bool computed; // a batch norm whose statistics other steps compute
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
    int layer;   // index in a stack
    bool ragged; // sequences have their own lengths, the last input
    bool whole;  // W, R and B as in the file, with gates in its order
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
        ResizeOptions resize, depth; // depth: resizes (depth, height x width), before the other
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
    int type;   // ONNX's type of its results
    bool whole; // its numbers are integers, and computed as such
    int narrow; // bits at which they wrap around; 0: they do not
    bool is_signed;
    DType dtypes[2]; // of its first result and the others; of the second one
    char *path;      // of its layer; NULL: the model itself
    bool dead;       // joined into another, or its results are not needed
};

#endif
