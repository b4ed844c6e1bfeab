// ex80_dot_product.h -- exercise 80, dot_product: the innermost loop.
//
// WHY    Every matrix product is made of dot products: two rows of numbers, multiplied pair by pair
//        and added up. Who has written one knows what a multiply-add is, and why there are two
//        FLOPs in it.
//
// TODO   Write dot_product in exercises/ex80_dot_product.c.
//
// APPROACH
//   1. Begin with a sum of 0.
//   2. For each index, add x[index] * y[index] to it.
//
// EXAMPLE
//   (1, 2, 3) . (4, 5, 6) = 4 + 10 + 18 = 32
//
// HINTS
//   * Nothing times nothing is 0: count may be 0.
#ifndef EXERCISES_EX80_DOT_PRODUCT_H
#define EXERCISES_EX80_DOT_PRODUCT_H

#include <stdint.h>

#include "tensor/status.h"

// [1] *result is the sum over i of x[i] * y[i], of 64 bits. [2] count 0: the sum is 0. [3] count <
// 0 is STATUS_INVALID_ARGUMENT; else STATUS_OK.
Status dot_product(const int64_t *x, const int64_t *y, int64_t count, int64_t *result);

#endif
