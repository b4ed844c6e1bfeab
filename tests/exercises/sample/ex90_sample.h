// ex90_sample.h -- the contract of the tests' own exercise.
#ifndef TESTS_EXERCISES_SAMPLE_EX90_SAMPLE_H
#define TESTS_EXERCISES_SAMPLE_EX90_SAMPLE_H

#include <stdint.h>

#include "tensor/status.h"

// Twice and half of n; a negative one is STATUS_INVALID_ARGUMENT.
Status sample(int64_t n, int64_t *twice, double *half);

#endif
