// result_json.h -- result.json: a grade as one canonical file, of which every other format is a
// transform. The same grade gives the same bytes, but for what stands under "times".
#ifndef EXERCISES_GRADER_RESULT_JSON_H
#define EXERCISES_GRADER_RESULT_JSON_H

#include "exercises/grader/grade.h"

// Of a hidden case it has name, points, state and misconception: no input, no answer.
Status result_json_write(const char *path, const GradeResult *result);

// Before grading: the result of grade_nothing, with "complete": false.
Status result_json_begin(const char *path, const GradeOptions *options);

#endif
