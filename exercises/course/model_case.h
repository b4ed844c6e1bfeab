// model_case.h -- what the cases of exercises about models share: a model text becomes a run, the
// library says what the answer is, and random sizes are drawn. Wrong answers are not here: each
// exercise has a file of closed formulas, right and wrong (exNN_name_formula.h).
#ifndef EXERCISES_COURSE_MODEL_CASE_H
#define EXERCISES_COURSE_MODEL_CASE_H

#include "exercises/grader/exercise.h"
#include "layers/layer.h"
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

// Adds to the end of a text of CASE_LINE characters; too long an end becomes "...".
void line_add(char line[CASE_LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

int64_t draw_odd(Draw *draw, int64_t least, int64_t most); // odd sizes keep formulas apart

#endif
