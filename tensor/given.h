// given.h -- internal: how a public function refuses a NULL that its header does not allow, where
// it enters: before anything has changed, naming function and parameter.
//
//     Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count) {
//         if (!GIVEN(pattern) || !GIVEN(count)) return STATUS_INVALID_ARGUMENT;
#ifndef TENSOR_GIVEN_H
#define TENSOR_GIVEN_H

#include "tensor/status.h"

#define GIVEN(pointer) ((pointer) != NULL || given_refuse(__func__, #pointer))

// "layer_freeze: count is NULL" is pending, as an invalid argument; false.
bool given_refuse(const char *function, const char *pointer) __attribute__((cold));

#endif
