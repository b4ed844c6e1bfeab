// onnx.h -- models from ONNX files, as torch.onnx.export writes them with either of its exporters.
// A file becomes layers whose paths are PyTorch's named_modules() where the exporter recorded them.
//
//     OnnxModel about;
//     Layer *model = onnx_load("resnet18.onnx", NULL, &about);    // NULL: an error is pending
//     Tensor *y = layer_forward(model, x);                        // in the file's order of inputs
//     onnx_model_free(&about);
//     layer_free(model);
//
// What depends on shapes and constants only is computed while a file is loaded, so a model is made
// for the shapes that it was loaded with. Parameters are made on the context's device; on the meta
// device their numbers are not read. Training goes by the tape as ever; what an exporter folded
// away (dropout, batch norm fused into the layer before it) is gone: `norms_folded`. A model comes
// as it was exported, in evaluation: layer_train(model, true) has batch norms go by the batch, and
// dropout act where the export kept it. A batch norm whose training_mode is 1 goes by the batch in
// evaluation, too. A model's own functions are written out where they are called.
#ifndef LAYERS_FILES_ONNX_H
#define LAYERS_FILES_ONNX_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct OnnxShape { // what an input is to have where the file leaves sizes open
    const char *name;      // NULL: for the inputs that no other one names, in the graph's order
    Shape shape;
    // Its numbers, of that shape, in the host's memory, dense: int64 of integers and truth values,
    // else float32. Where a node demands numbers when the file is loaded (a Reshape's shape, a
    // TopK's k) these decide, or what is computed from them; nothing else does. NULL: not told.
    const Tensor *numbers;
} OnnxShape;

typedef struct OnnxSize { // a size that the file leaves open, by the name that it has there
    const char *name;     // "seq"
    int64_t size;
} OnnxSize;

// A name that stands in several inputs is one size, however it is told; two that differ are
// refused. What is told nowhere is refused, too, but for the batch: it is taken as 1 (`assumed`).
// The batch is the size that is called so (batch, N), if an input begins with it; else the one that
// all inputs begin with that begin with an open size.
typedef struct OnnxOptions {
    const OnnxShape *shapes;
    const OnnxSize *sizes;
    int n_shapes, n_sizes;
    int64_t batch; // 0: not said
    // The first input that the batch leads comes before all others, in `inputs` and for forward:
    // for whoever takes the first input's first size for the batch.
    bool batch_first;
    bool other_batch; // it holds in the place of what shapes and sizes say of it; STATUS_SHAPE
                      // where numbers decide, which are told for one batch
    // Operators that are missing are no error: where the file records their output's shape, it goes
    // on behind them with zeros of that shape. For counting, on the meta device.
    bool partial;
} OnnxOptions;

typedef struct OnnxPort { // an input or output
    char *name;
    int told;    // of an input: which of OnnxOptions.shapes is for it; -1: none
    DType dtype; // as forward takes it: integers int64, all else float32; see below
    Shape shape;
    const char *numpy; // NumPy's name of the type that the file has: "i4"; of a bfloat16 "f4"
    bool batched; // of an input: its first size is the batch, which the file leaves open, and no
                  // numbers that were told decide
    bool decides; // of an input: its numbers made shapes, and forward refuses others on the CPU
} OnnxPort;

typedef struct OnnxMissing {
    char *name; // "NonMaxSuppression"
    int64_t count;
} OnnxMissing;

typedef struct OnnxAssumption { // what a file does not say, and was taken to be so
    char *what;                 // "size \"batch\" of input \"x\""
    char *taken;                // "1"
} OnnxAssumption;

typedef struct OnnxModel { // what a file says of itself
    OnnxPort *inputs, *outputs;
    int n_inputs, n_outputs;
    int64_t opset;
    char *producer;             // "pytorch 2.15.0"; "": it does not say
    int64_t parameters_stored;  // numbers, as the file holds them
    int64_t parameters;         // tied ones once: as layer_parameter_count
    int64_t parameters_guessed; // numbers, counted or not, that no record and no layer tells of
    int64_t nodes, steps;       // in the file; of them, what runs
    bool norms_folded;          // batch norms are fused into the layers before them
    const char *remark;         // what a reader must know of it, one line; "": nothing
    OnnxMissing *missing;       // with `partial`, else an error names them
    int n_missing;
    OnnxAssumption *assumed; // in the order in which it was met, each once
    int n_assumed;
} OnnxModel;

// options NULL: the file's shapes, and a batch of 1 where it leaves that open. about may be NULL;
// what it is filled with is yours, also after a failure. The model takes the graph's inputs in
// their order: int64 where the file has integers or truth values (0 and 1), else float32; and gives
// its outputs in theirs (layer_forward_each), the first LAYER_MAX_OUTPUTS of them, conditions as
// float32. Integers are computed as such, and wrap around at the bits of their type; an operator
// that would round them is refused by name. Floats of any precision are computed in float32.
// STATUS_IO: the file, or one of numbers beside it; STATUS_FORMAT: what it holds is no such model;
// STATUS_NOT_IMPLEMENTED: operators are missing, all named at once; a node has an attribute, input,
// output or opset that is not read here, which is named; or this build has no protobuf-c.
Layer *onnx_load(const char *path, const OnnxOptions *options, OnnxModel *about);
// What a model takes for an input that forward is not called with (the last ones), so that one that
// takes several can be called with its first: a mask, say. The model holds it, too. STATUS_SHAPE;
// STATUS_INVALID_ARGUMENT: it is no model that onnx_load made.
Status onnx_give_input(Layer *model, int input, Tensor *value);
void onnx_model_free(OnnxModel *about); // what onnx_load filled; NULL is fine

RIDGEPOINT_API_END

#endif
