// ex02_count_flops_mistakes.h -- what known mistakes make of a model's FLOPs. There is no formula
// of a layer here: the library counts, other layers or other inputs, or its count is taken times or
// over what was mistaken.
#ifndef EXERCISES_COURSE_EX02_COUNT_FLOPS_MISTAKES_H
#define EXERCISES_COURSE_EX02_COUNT_FLOPS_MISTAKES_H

#include "exercises/course/model_case.h"

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

#endif
