// onnx.h -- models from ONNX files, as either exporter of torch.onnx.export writes them. A file
// becomes layers with the paths of PyTorch's named_modules(), where the exporter recorded them.
//
//     OnnxModel about;
//     Layer *model = onnx_load("resnet18.onnx", NULL, &about);    // NULL: an error is pending
//     Tensor *y = layer_forward(model, x);                        // in the file's order of inputs
//     onnx_model_free(&about);
//     layer_free(model);
//
// Everything that depends only on shapes and constants is computed while a file loads, so a model
// works for the shapes that it was loaded with. Parameters are made on the context's device; on the
// meta device their numbers are not read. Training works as for any layer, but without what an
// exporter folded away (dropout, batch norm fused into the layer before it: `norms_folded`). A
// model starts as it was exported, in evaluation mode: layer_train(model, true) makes batch norms
// use the batch, and dropout act where the export kept it. A batch norm with training_mode 1 uses
// the batch in evaluation, too. Functions in the file are expanded where they are called.
#ifndef LAYERS_FILES_ONNX_H
#define LAYERS_FILES_ONNX_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct OnnxShape { // shape for an input whose sizes the file leaves open
    const char *name;      // NULL: for the unnamed inputs, in the graph's order
    Shape shape;
    // The input's numbers, of that shape, dense in host memory: int64 for integers and truth
    // values, else float32. They count only where a node needs numbers when the file is loaded (a
    // Reshape's shape, a TopK's k), also by way of other nodes. NULL: not told.
    const Tensor *numbers;
} OnnxShape;

typedef struct OnnxSize { // a size that the file leaves open, by its name there
    const char *name;     // "seq"
    int64_t size;
} OnnxSize;

// A name in several inputs is one size, however it is told; two different values are refused. A
// size that is told nowhere is refused, too, except the batch: it becomes 1 (`assumed`). The batch
// is the size named so (batch, N), if an input begins with it; otherwise the open size that comes
// first in every input whose first size is open.
typedef struct OnnxOptions {
    const OnnxShape *shapes;
    const OnnxSize *sizes;
    int n_shapes, n_sizes;
    int64_t batch; // 0: not told
    // Puts the first input that the batch leads before all others, in `inputs` and for forward: for
    // callers that take the first input's first size as the batch.
    bool batch_first;
    bool other_batch; // overrides what shapes and sizes say; STATUS_SHAPE if told numbers decide
    // Missing operators are no error: where the file records their output's shape, zeros of that
    // shape take its place. For counting, on the meta device.
    bool partial;
} OnnxOptions;

typedef struct OnnxPort { // an input or output
    char *name;
    int told;    // for an input: its index in OnnxOptions.shapes; -1: none
    DType dtype; // forward's: int64 for integers, else float32; see below
    Shape shape;
    const char *numpy; // NumPy's name of the type in the file: "i4"; for bfloat16 "f4"
    bool batched;      // an input led by the batch, left open, with no told numbers that decide
    bool decides;      // its numbers determined shapes; forward refuses others on the CPU
} OnnxPort;

typedef struct OnnxMissing {
    char *name; // "NonMaxSuppression"
    int64_t count;
} OnnxMissing;

typedef struct OnnxAssumption { // a value that the file leaves open, and the one assumed
    char *what;                 // "size \"batch\" of input \"x\""
    char *taken;                // "1"
} OnnxAssumption;

typedef struct OnnxModel { // a file's description
    OnnxPort *inputs, *outputs;
    int n_inputs, n_outputs;
    int64_t opset;
    char *producer;             // "pytorch 2.15.0"; "": the file does not say
    int64_t parameters_stored;  // numbers stored as parameters
    int64_t parameters;         // tied ones once: as layer_parameter_count
    int64_t parameters_guessed; // numbers classified, either way, without a record or a layer
    int64_t nodes, steps;       // nodes in the file; steps that run for them
    bool norms_folded;          // batch norms are fused into the layers before them
    const char *remark;         // a warning for the reader, one line; "": none
    OnnxMissing *missing;       // with `partial`; otherwise an error names them
    int n_missing;
    OnnxAssumption *assumed; // in order of appearance, each once
    int n_assumed;
} OnnxModel;

// options NULL: the file's shapes, and a batch of 1 where it leaves that open. about may be NULL;
// what it receives is yours, also after a failure. The model takes the graph's inputs in order:
// int64 where the file has integers or truth values (0 and 1), else float32. It gives the first
// LAYER_MAX_OUTPUTS outputs in order (layer_forward_each), conditions as float32. Integers are
// computed as integers, and wrap around at the bits of their type; an operator that would round
// them is refused by name. Floats of any precision are computed in float32. STATUS_IO: the file, or
// a file of numbers beside it; STATUS_FORMAT: its content is no such model; STATUS_NOT_IMPLEMENTED:
// missing operators, all named at once; an attribute, input, output or opset of a node that is not
// supported, named; or this build has no protobuf-c.
Layer *onnx_load(const char *path, const OnnxOptions *options, OnnxModel *about);
// Sets the value of an input that forward is not called with (the last ones), so that a model of
// several inputs can be called with its first: a mask, say. The model keeps a reference.
// STATUS_SHAPE; STATUS_INVALID_ARGUMENT: onnx_load did not make the model.
Status onnx_give_input(Layer *model, int input, Tensor *value);
void onnx_model_free(OnnxModel *about); // frees what onnx_load filled; NULL is fine

RIDGEPOINT_API_END

#endif
