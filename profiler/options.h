// options.h -- the command line of profile_mlp: one table yields parsing and help.
#ifndef PROFILER_OPTIONS_H
#define PROFILER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/train/optimizer.h"

enum { OPTIONS_MAX_LAYERS = 64 };

typedef struct Options {
    int64_t layers[OPTIONS_MAX_LAYERS];
    int n_layers;
    Activation activation;
    int64_t batch, epochs, steps, iterations, warmup, threads, seed;
    OptimizerKind optimizer;
    double learning_rate; // NaN: the optimizer's default
    Device *device;
    const char *data;  // NULL: generated digits
    const char *peaks; // a machine file; NULL: this machine's own ceilings
    bool calibrate;    // measure them again
    const char *json;  // NULL: none; "-": standard output
    bool quiet, help, version;
    const char *topic; // of the help; NULL: the options
} Options;

// False after one line on standard error: what, where, and what to do (exit status 2).
bool options_parse(int argc, char **argv, Options *options);
// The options, or what `topic` explains; false after one line on standard error.
bool options_print_help(const char *topic);

#endif
