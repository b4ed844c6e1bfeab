// planted.h -- a model of one op whose kernel the test provides, so that its cost is known.
#ifndef TESTS_HELPERS_PLANTED_H
#define TESTS_HELPERS_PLANTED_H

#include "layers/layer.h"

// A layer that maps x to as many numbers; free it. All such layers share the kernel given last.
Layer *planted_new(CpuKernel kernel);

#endif
