// ex08_memory_parts.h -- the two halves of exercise 08's cases, for the table that lists them.
#ifndef EXERCISES_COURSE_EX08_MEMORY_PARTS_H
#define EXERCISES_COURSE_EX08_MEMORY_PARTS_H

#include "exercises/grader/exercise.h"

// ex08_events.c: lists of allocations, for memory_use.
Status memory_live_peak_total(Draw *draw, CaseRun *run);
Status memory_by_category(Draw *draw, CaseRun *run);
Status memory_leaks(Draw *draw, CaseRun *run);
Status memory_bad_list(Draw *draw, CaseRun *run);

// ex08_training.c: models, for training_memory.
Status training_parameters(Draw *draw, CaseRun *run);
Status training_optimizer(Draw *draw, CaseRun *run);
Status training_activations(Draw *draw, CaseRun *run);
Status training_total(Draw *draw, CaseRun *run);
Status training_by_hand(Draw *draw, CaseRun *run);

#endif
