// draw.h -- internal to the grader: where the numbers of a run begin (draw_between and draw_real
// are in exercise.h).
#ifndef EXERCISES_GRADER_DRAW_H
#define EXERCISES_GRADER_DRAW_H

#include "exercises/grader/exercise.h"

// The same for the same key, exercise, case and run; else unrelated.
Draw draw_begin(DrawKey key, const char *exercise, const char *case_name, int run);

#endif
