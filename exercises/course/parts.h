// parts.h -- what the cases of one exercise share between their files, exercise by exercise. Wrong
// values are counted by the library, of another model, layer or input; no formula of a layer is
// here.
#ifndef EXERCISES_COURSE_PARTS_H
#define EXERCISES_COURSE_PARTS_H

#include "exercises/course/timed_case.h"

// ---- 01: ex01_count_parameters_mistakes.c -------------------------------------------------------
// To the value expected last, the count of the model's parameters: what each mistake makes of it.
// On a meta context.
Status add_parameter_mistakes(const char *text, CaseRun *run);

// One mistake more: it counts what is right of this text.
Status add_other_model(const char *name, const char *text, CaseRun *run);

// ---- 02: ex02_count_flops_mistakes.c ------------------------------------------------------------
// A layer that is no container, as the library sees it.
typedef struct Leaf {
    Layer *layer;
    int depth; // below the model
    Shape in, out;
    int64_t flops, bias; // of one sample; the additions of a bias are not in `flops`
} Leaf;
enum { MOST_LEAVES = 32 };

typedef struct LeafList {
    Leaf leaves[MOST_LEAVES];
    int count;
} LeafList;

// The leaves of a Sequential, in order. On a meta context.
Status leaves_of(Layer *model, Shape input, LeafList *list);

// To the value expected last, the model's FLOPs: what each mistake makes of it. The model is
// changed on the way, and is as it was when it comes back.
Status add_flop_mistakes(const LeafList *list, Layer *model, CaseRun *run);

// ex02_count_flops_shapes.c: those of them that are about shapes.
void add_shape_mistakes(const LeafList *list, Layer *model, CaseRun *run);

// ---- 03: ex03_count_bytes_slips.c ---------------------------------------------------------------
// Adds bytes_read and bytes_written of a model that its input fits, and what is added up.
void byte_slips_expect(const ModelCase *model, ModelCounts truth, CaseRun *run);

// ---- 08: ex08_memory_training.c -----------------------------------------------------------------
// Cases about models, for training_memory.
Status memory_parameters(Draw *draw, CaseRun *run);
Status memory_optimizer(Draw *draw, CaseRun *run);
Status memory_activations(Draw *draw, CaseRun *run);
Status memory_kept_buffers(Draw *draw, CaseRun *run);
Status memory_total(Draw *draw, CaseRun *run);
Status memory_by_hand(Draw *draw, CaseRun *run);
// What a function does with memory of its own; it shall return `status`.
void memory_expect_account(CaseRun *run, Status status);

// ---- 09: profile_expect.c -----------------------------------------------------------------------
enum { EVERY_ROW = -1 };

typedef struct ForwardQuestion {
    TimedCase timed;
    int64_t peak, bandwidth; // MFLOP/s, MB/s
    const char *mistake;     // that a wrong bound of row `watched` is taken for, or NULL
    int watched;             // EVERY_ROW: of any
} ForwardQuestion;

// The values that `ask` (values.h) names, in their order, with what is known to go wrong.
void expect_forward(const ForwardQuestion *q, int ask, CaseRun *run);

// ---- 10: profile_expect.c -----------------------------------------------------------------------
typedef enum StepPart { ZEROING, FORWARD, LOSS, BACKWARD, OPTIMIZER, PARTS } StepPart;

typedef struct BackwardQuestion {
    TimedCase timed;
    int64_t forward, weight, input; // FLOPs of products, of the batch: 2 per multiply-add
    int64_t activations;            // what the textbook counts besides
    int64_t without_freezing;       // of input gradients, were nothing frozen
    double forward_seconds, backward_seconds, optimizer_seconds, loss_seconds, zero_seconds;
    StepPart event_in; // that it falls into
} BackwardQuestion;

// The values that `ask` (values.h) names, in their order, with what is known to go wrong.
void expect_backward(const BackwardQuestion *q, int ask, CaseRun *run);

#endif
