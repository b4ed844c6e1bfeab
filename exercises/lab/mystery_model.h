// mystery_model.h -- the programs of ./lab mystery: a small network that trains, with one real
// cause of lost time. course/mystery_record.h says how a profile shows the cause.
#ifndef EXERCISES_LAB_MYSTERY_MODEL_H
#define EXERCISES_LAB_MYSTERY_MODEL_H

#include "exercises/course/mystery_record.h"
#include "layers/layer.h"
#include "layers/train/dataset.h"

// The program of a seed, the same everywhere and always. The seeds 1 to 7 all have different
// causes, and so do 8 to 14, and so on.
typedef struct MysteryPlan {
    Cause cause;
    int place; // place of the cause: PLACE_RECALL1
    int64_t batch, inputs, hidden[2], classes;
} MysteryPlan;
MysteryPlan mystery_plan(int64_t seed); // 1 to MYSTERY_MOST_SEED

// The network, and the data for a step:
//     fc1 relu1 recall1 fc2 relu2 recall2 fc3, on a batch of the loader's images
// A recall layer adds to each sample the mean of samples that it keeps (Recall in mystery_model.c).
typedef struct MysteryProgram {
    Layer *model;
    Tensor *x, *labels;
    Dataset images;
    Loader *loader;
} MysteryProgram;

// `cache`: total bytes of this machine's caches. STATUS_OUT_OF_MEMORY. Free the program with
// mystery_program_free, also after a failure.
Status mystery_program_make(const MysteryPlan *plan, int64_t cache, MysteryProgram *program);
void mystery_program_free(MysteryProgram *program);

#endif
