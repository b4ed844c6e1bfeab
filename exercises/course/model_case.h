// model_case.h -- shared by the cases of exercises about models: makes a run from a model text,
// asks the library for the answer, and draws random sizes. Each exercise makes its wrong answers.
#ifndef EXERCISES_COURSE_MODEL_CASE_H
#define EXERCISES_COURSE_MODEL_CASE_H

#include "exercises/course/exercise.h"
#include "layers/train/optimizer.h"
#include "tensor/context.h"

// A case's model, on a meta context of its own that is current until model_case_end.
typedef struct ModelCase {
    Context *context;
    Layer *model;
    Shape input;
} ModelCase;

// Makes the model, in inference mode, and fills in input and shown of the run.
Status model_case_begin(ModelCase *model_case, const char *text, CaseRun *run);
// Frees all of it. Returns `status`, or the pending error, which moves to the outer context.
Status model_case_end(ModelCase *model_case, Status status);

// The library's counts for one forward pass, from a dry run: FLOPs of a sample by the textbook's
// preset, traffic of the batch. `status` is STATUS_OK, or STATUS_SHAPE if the input does not fit.
typedef struct ModelCounts {
    Status status;
    int64_t flops, bytes_read, bytes_written;
} ModelCounts;
Status model_case_count(ModelCase *model_case, ModelCounts *counts);

// Bytes that the library allocates in a training step of a model text, from a dry run; and, for
// common mistakes, the bytes of layers counted one by one.
typedef struct StepMemory {
    int64_t parameters, gradients, optimizer, activations;
    int64_t unshared, outputs; // bytes that layers keep if nothing is shared; bytes of all outputs
    int64_t of_linear, last;   // bytes of the outputs of layers with parameters; of the last output
    int64_t upper;             // parameter bytes of the model's own children
    int64_t input, batch, rows; // bytes of the input; samples; rows of a sample
} StepMemory;
Status model_case_step(const char *text, OptimizerKind kind, StepMemory *memory);

// Appends to a text of CASE_LINE characters; a text that is too long ends in "...".
void line_add(char line[CASE_LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

// Sets the question of a run, and the formula of its answer.
void case_say(CaseRun *run, const char *asked, const char *formula);
// Expects `bytes` bytes of float32 numbers; wrong values: elements, megabytes, 32-bit overflow.
void expect_bytes(CaseRun *run, const char *name, int64_t bytes);

// Copies `pattern` with numbers in place of letters: "$a" is numbers['a'], "$a+$b" is a sum.
void text_fill(char *text, size_t size, const char *pattern, const int64_t numbers[128]);

int64_t draw_odd(Draw *draw, int64_t least, int64_t most); // odd sizes keep formulas apart

#endif
