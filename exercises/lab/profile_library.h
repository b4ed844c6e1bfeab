// profile_library.h -- internal to `lab profile`: what the library says of a model, to stand beside
// a student's numbers. Apart from these, because exercise 04 and the library both have a
// RooflineInput.
#ifndef EXERCISES_LAB_PROFILE_LIBRARY_H
#define EXERCISES_LAB_PROFILE_LIBRARY_H

#include <stdbool.h>
#include <stdio.h>

#include "layers/layer.h"

typedef struct LibraryNumbers {
    int64_t parameters;
    int64_t flops;                                  // of a sample, by the textbook preset
    int64_t bytes_read, bytes_written;              // of a forward of the batch
    double peak_flops_per_second, bytes_per_second; // the ceilings: the last level's
    char level[8];                                  // the level whose bandwidth it is
    double intensity, ridge, roof_seconds;          // of a forward of the batch
    bool compute_bound;
    double median_seconds, min_seconds; // of a forward of the batch
    int64_t parameter_bytes, gradient_bytes, optimizer_bytes, saved_bytes; // of a step with Adam
} LibraryNumbers;

// Prints the report of a forward and backward pass, and fills in the numbers. The roofline is the
// one that exercise 04 is about: of the two ceilings that the student is given, and of nothing else
// that is known of the machine. `peaks` is a machine file (machine.h); NULL: this machine.
Status library_profile(Layer *model, Tensor *x, const char *peaks, FILE *report,
                       LibraryNumbers *numbers);

#endif
