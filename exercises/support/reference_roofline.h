// reference_roofline.h -- a correct roofline of exercise 04, for exercises that build on it.
#ifndef EXERCISES_SUPPORT_REFERENCE_ROOFLINE_H
#define EXERCISES_SUPPORT_REFERENCE_ROOFLINE_H

#include "exercises/ex04_roofline.h"

Status reference_roofline(const RooflineInput *input, RooflineResult *result);

#endif
