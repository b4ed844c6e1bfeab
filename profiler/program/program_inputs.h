// program_inputs.h -- internal to the programs of profiler/: what --input and --size tell of a
// file's inputs, taken apart.
#ifndef PROFILER_PROGRAM_PROGRAM_INPUTS_H
#define PROFILER_PROGRAM_PROGRAM_INPUTS_H

#include "layers/files/onnx.h"
#include "profiler/program/options.h"

typedef struct GivenInput {
    const char *name; // NULL: it counts by its place among those without a name
    const char *file; // .npy; NULL: a shape alone
    Shape shape;
    Tensor *numbers; // of a file, on the CPU; ours
} GivenInput;

typedef struct Inputs {
    GivenInput *given;
    OnnxShape *shapes; // the same, as the reader takes them
    OnnxSize *sizes;
    int n, n_sizes;
    char *names;          // owned: all of them
    struct Context *host; // owned: of the files' numbers
} Inputs;

// Reads .npy files, whose numbers may decide shapes. The caller frees *told, also after a failure.
Status inputs_read(const Options *options, Inputs *told);
void inputs_free(Inputs *told);
// Refuses what was told of an input that the file does not have.
Status inputs_check(const Inputs *told, const OnnxModel *about, const char *file);

#endif
