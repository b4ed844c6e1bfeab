// ex80_dot_product.c -- exercise 80, solved.
#include "exercises/ex80_dot_product.h"

Status dot_product(const int64_t *x, const int64_t *y, int64_t count, int64_t *result) {
    if (count < 0) return STATUS_INVALID_ARGUMENT;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] * y[i];
    *result = sum;
    return STATUS_OK;
}
