// given.h -- internal: refuses NULL arguments at the entry of public functions, where the header
// does not allow NULL: before anything changes, with the names of function and parameter.
//
//     Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count) {
//         if (!GIVEN(pattern) || !GIVEN(count)) return STATUS_INVALID_ARGUMENT;
#ifndef TENSOR_GIVEN_H
#define TENSOR_GIVEN_H

#include "tensor/status.h"

#define GIVEN(pointer) ((pointer) != NULL || given_refuse(__func__, #pointer))

// Leaves "layer_freeze: count is NULL" pending as an invalid argument; returns false.
bool given_refuse(const char *function, const char *pointer) __attribute__((cold));

#endif
