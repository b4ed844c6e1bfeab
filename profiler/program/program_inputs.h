// program_inputs.h -- internal to the programs of profiler/: --input and --size, parsed into names,
// shapes and numbers for a file's inputs.
#ifndef PROFILER_PROGRAM_PROGRAM_INPUTS_H
#define PROFILER_PROGRAM_PROGRAM_INPUTS_H

#include "layers/files/onnx.h"
#include "profiler/program/options.h"

typedef struct GivenInput {
    const char *name; // NULL: identified by its place among the unnamed inputs
    const char *file; // .npy; NULL: only a shape is given
    Shape shape;
    Tensor *numbers; // owned: the file's data, on the CPU
} GivenInput;

typedef struct Inputs {
    GivenInput *given;
    OnnxShape *shapes; // the same inputs, in the reader's form
    OnnxSize *sizes;
    int n, n_sizes;
    char *names;          // owned: storage of all names
    struct Context *host; // owned: the context of the files' numbers
} Inputs;

// Also reads .npy files: numbers may decide shapes. The caller frees *told, also after a failure.
Status inputs_read(const Options *options, Inputs *told);
void inputs_free(Inputs *told);
// Refuses an --input that matches no input of the file.
Status inputs_check(const Inputs *told, const OnnxModel *about, const char *file);

#endif
