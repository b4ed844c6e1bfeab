// profile_library.h -- internal to `lab profile`: the library's numbers for a model, to show beside
// a student's numbers. They are in separate files, because exercise 04 and the library both have a
// RooflineInput.
#ifndef EXERCISES_LAB_PROFILE_LIBRARY_H
#define EXERCISES_LAB_PROFILE_LIBRARY_H

#include <stdbool.h>
#include <stdio.h>

#include "layers/layer.h"

typedef struct LibraryNumbers {
    int64_t parameters;
    int64_t flops;                                  // for a sample, by the textbook preset
    int64_t bytes_read, bytes_written;              // for a forward pass of the batch
    double peak_flops_per_second, bytes_per_second; // ceilings, from the last memory level
    char level[8];                                  // name of that memory level
    double intensity, ridge, roof_seconds;          // for a forward pass of the batch
    bool compute_bound;
    double median_seconds, min_seconds; // for a forward pass of the batch
    int64_t parameter_bytes, gradient_bytes, optimizer_bytes, saved_bytes; // for a step with Adam
} LibraryNumbers;

// Prints the report of a forward and backward pass, and fills in the numbers. The roofline is that
// of exercise 04: it uses only the two ceilings that the student gets, and nothing else about the
// machine. `peaks` is a machine file (machine.h); NULL: this machine.
Status library_profile(Layer *model, Tensor *x, const char *peaks, FILE *report,
                       LibraryNumbers *numbers);

#endif
