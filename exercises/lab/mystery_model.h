// mystery_model.h -- the programs of ./lab mystery: a small network that trains, and in it one
// cause of lost time, really there. What a profile has to show of it: course/mystery_record.h.
#ifndef EXERCISES_LAB_MYSTERY_MODEL_H
#define EXERCISES_LAB_MYSTERY_MODEL_H

#include "exercises/course/mystery_record.h"
#include "layers/layer.h"
#include "layers/train/dataset.h"

// What a seed stands for: the same everywhere and always. Of the seeds 1 to 7, of 8 to 14, and so
// on, each has another cause.
typedef struct MysteryPlan {
    Cause cause;
    int place; // where it is planted: PLACE_RECALL1
    int64_t batch, inputs, hidden[2], classes;
} MysteryPlan;
MysteryPlan mystery_plan(int64_t seed); // 1 to MYSTERY_MOST_SEED

// The network, and what a step of it needs:
//     fc1 relu1 recall1 fc2 relu2 recall2 fc3, on a batch of the loader's images
// recall adds to each sample the mean of what it has kept (Recall, in mystery_model.c).
typedef struct MysteryProgram {
    Layer *model;
    Tensor *x, *labels;
    Dataset images;
    Loader *loader;
} MysteryProgram;

// `cache`: bytes that this machine's caches hold together. Free it with mystery_program_free, also
// after a failure: STATUS_OUT_OF_MEMORY.
Status mystery_program_make(const MysteryPlan *plan, int64_t cache, MysteryProgram *program);
void mystery_program_free(MysteryProgram *program);

#endif
