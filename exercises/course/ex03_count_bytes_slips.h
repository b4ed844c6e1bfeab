// ex03_count_bytes_slips.h -- what is expected of count_bytes, and the wrong values that known
// mistakes lead to: all of it counted by the library, of this model or of another.
#ifndef EXERCISES_COURSE_EX03_COUNT_BYTES_SLIPS_H
#define EXERCISES_COURSE_EX03_COUNT_BYTES_SLIPS_H

#include <stdio.h>

#include "exercises/course/model_case.h"

// Adds bytes_read and bytes_written of a model that its input fits, and what is added up.
void byte_slips_expect(const ModelCase *model, ModelCounts truth, CaseRun *run);

#endif
