// ex01_count_parameters_mistakes.h -- what known mistakes make of a model. Nothing here counts: the
// library does, another model.
#ifndef EXERCISES_COURSE_EX01_COUNT_PARAMETERS_MISTAKES_H
#define EXERCISES_COURSE_EX01_COUNT_PARAMETERS_MISTAKES_H

#include "exercises/course/model_case.h"

// To the value expected last, the count of the model's parameters: what each mistake makes of it.
// On a meta context.
Status add_parameter_mistakes(const char *text, CaseRun *run);

// One mistake more: it counts what is right of this text.
Status add_other_model(const char *name, const char *text, CaseRun *run);

#endif
