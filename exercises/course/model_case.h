// model_case.h -- what the cases of exercises about models share: a model text becomes a run, the
// library says what the answer is, and random sizes are drawn. Wrong answers are each exercise's.
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
// Frees all of it; returns `status`, or the error that is pending, which moves outwards.
Status model_case_end(ModelCase *model_case, Status status);

// What the library counts of one forward, by a dry run: FLOPs of a sample by the textbook's preset,
// traffic of the batch. *status: STATUS_OK, or STATUS_SHAPE where the input does not fit.
typedef struct ModelCounts {
    Status status;
    int64_t flops, bytes_read, bytes_written;
} ModelCounts;
Status model_case_count(ModelCase *model_case, ModelCounts *counts);

// What the library allocates in a training step of a model text: bytes, by a dry run; and, for what
// people take for it, what each layer does by itself.
typedef struct StepMemory {
    int64_t parameters, gradients, optimizer, activations;
    int64_t unshared, outputs;  // what layers keep where nothing is shared; what they put out,
    int64_t of_linear, last;    // those with parameters, and the last of them
    int64_t upper;              // parameters of the model's own children
    int64_t input, batch, rows; // bytes that go in; samples; rows of a sample
} StepMemory;
Status model_case_step(const char *text, OptimizerKind kind, StepMemory *memory);

// Adds to the end of a text of CASE_LINE characters; too long an end becomes "...".
void line_add(char line[CASE_LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

// What is asked of a run, and how to get there.
void case_say(CaseRun *run, const char *asked, const char *formula);
// So many bytes of float32 numbers; wrong as elements, as megabytes, or in 32 bits.
void expect_bytes(CaseRun *run, const char *name, int64_t bytes);

// `pattern` with numbers instead of letters: "$a" is numbers['a'], "$a+$b" a sum.
void text_fill(char *text, size_t size, const char *pattern, const int64_t numbers[128]);

int64_t draw_odd(Draw *draw, int64_t least, int64_t most); // odd sizes keep formulas apart

#endif
