// program.h -- internal to the programs of profiler/, not in the library: what profile_mlp does, in
// parts. These may print and show progress.
#ifndef PROFILER_PROGRAM_PROGRAM_H
#define PROFILER_PROGRAM_PROGRAM_H

#include "profiler/files/profile_json.h"
#include "profiler/program/options.h"

typedef struct Images {
    Dataset train, test;
    bool was_split; // the folder had one set only; its last fifth became the test set
} Images;

typedef struct Program {
    const Options *options;
    Device *device;
    const char *command; // as typed, for the JSON
    bool report;         // to standard output
    bool terminal;       // progress on standard error is seen
    bool failed;         // a threshold, or a comparison: exit status 1
    Images images;       // empty: nothing is trained
    Layer *model;        // that was profiled
    Tensor *x, *labels;  // its resident batch
    Machine machine;
    Profile profile;
    ProfileTraining training;
} Program;

OptimizerConfig program_optimizer(const Options *options);
Layer *program_model_new(const Options *options);   // the same weights each time
Loader *program_loader_new(const Program *program); // of the training images, in batches

// program_data.c: reads or draws the images where there will be training; says why not.
Status program_load(Program *program);
// program_profile.c: obtains ceilings, builds model and batch, profiles.
Status program_profile(Program *program);
// program_training.c: trains a fresh model, and tells.
Status program_train(Program *program);
// program_answers.c: what was asked instead of the report, and the files.
Status program_answer(Program *program);
Status program_check_files(const Options *options);             // can they be written?
Status program_write_files(Program *program, JsonWriter *json); // the JSON last; frees `json`

// A line of progress on standard error, at most every 0.1 s.
typedef struct ProgressLine {
    double shown; // when it was last drawn
} ProgressLine;
bool progress_due(ProgressLine *line);
void progress_clear(const Program *program);

#endif
