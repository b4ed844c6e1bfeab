// parts.h -- declarations that the files of one exercise's cases share, exercise by exercise. The
// library counts the wrong values, on another model, layer or input; no layer's formula is here.
#ifndef EXERCISES_COURSE_PARTS_H
#define EXERCISES_COURSE_PARTS_H

#include "exercises/course/timed_case.h"

// ---- 01: ex01_count_parameters_mistakes.c -------------------------------------------------------
// Adds the known mistakes to the value expected last, the count of the model's parameters. Needs a
// meta context.
Status add_parameter_mistakes(const char *text, CaseRun *run);

// Adds one more mistake: its wrong value is the right count of `text`.
Status add_other_model(const char *name, const char *text, CaseRun *run);

// ---- 02: ex02_count_flops_mistakes.c ------------------------------------------------------------
// A layer without children, as the library sees it.
typedef struct Leaf {
    Layer *layer;
    int depth; // levels below the model
    Shape in, out;
    int64_t flops, bias; // counts for one sample; `flops` does not contain the additions of a bias
} Leaf;
enum { MOST_LEAVES = 32 };

typedef struct LeafList {
    Leaf leaves[MOST_LEAVES];
    int count;
} LeafList;

// Lists the leaves of a Sequential, in order. Needs a meta context.
Status leaves_of(Layer *model, Shape input, LeafList *list);

// Adds the known mistakes to the value expected last, the model's FLOPs. Changes the model on the
// way, and restores it.
Status add_flop_mistakes(const LeafList *list, Layer *model, CaseRun *run);

// ex02_count_flops_shapes.c: adds the mistakes about shapes.
void add_shape_mistakes(const LeafList *list, Layer *model, CaseRun *run);

// ---- 03: ex03_count_bytes_slips.c ---------------------------------------------------------------
// Adds bytes_read and bytes_written of a model that its input fits, with the sum as formula.
void byte_slips_expect(const ModelCase *model, ModelCounts truth, CaseRun *run);

// ---- 08: ex08_memory_training.c -----------------------------------------------------------------
// Cases about models, for training_memory.
Status memory_parameters(Draw *draw, CaseRun *run);
Status memory_optimizer(Draw *draw, CaseRun *run);
Status memory_activations(Draw *draw, CaseRun *run);
Status memory_kept_buffers(Draw *draw, CaseRun *run);
Status memory_total(Draw *draw, CaseRun *run);
Status memory_by_hand(Draw *draw, CaseRun *run);
// Expects correct use of malloc and free by a function that shall return `status`.
void memory_expect_account(CaseRun *run, Status status);

// ---- 09: profile_expect.c -----------------------------------------------------------------------
enum { EVERY_ROW = -1 };

typedef struct ForwardQuestion {
    TimedCase timed;
    int64_t peak, bandwidth; // MFLOP/s, MB/s
    const char *mistake;     // the mistake that a wrong bound of row `watched` shows, or NULL
    int watched;             // EVERY_ROW: any row
} ForwardQuestion;

// Expects the values that `ask` (values.h) names, in their order, with the known mistakes.
void expect_forward(const ForwardQuestion *q, int ask, CaseRun *run);

// ---- 10: profile_expect.c -----------------------------------------------------------------------
typedef enum StepPart { ZEROING, FORWARD, LOSS, BACKWARD, OPTIMIZER, PARTS } StepPart;

typedef struct BackwardQuestion {
    TimedCase timed;
    int64_t forward, weight, input; // FLOPs of the batch's products: 2 per multiply-add
    int64_t activations;            // FLOPs that the textbook counts for activations
    int64_t without_freezing;       // FLOPs of input gradients if nothing were frozen
    double forward_seconds, backward_seconds, optimizer_seconds, loss_seconds, zero_seconds;
    StepPart event_in; // the part that the clock event falls into
} BackwardQuestion;

// Expects the values that `ask` (values.h) names, in their order, with the known mistakes.
void expect_backward(const BackwardQuestion *q, int ask, CaseRun *run);

#endif
