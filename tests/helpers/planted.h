// planted.h -- a model of one op whose kernel is the test's: what it takes is known.
#ifndef TESTS_HELPERS_PLANTED_H
#define TESTS_HELPERS_PLANTED_H

#include "layers/layer.h"

// x to as many numbers; free it. The kernel is of all of them: the last one that was given.
Layer *planted_new(CpuKernel kernel);

#endif
