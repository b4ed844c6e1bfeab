// ex80_dot_product.c -- exercise 80: the innermost loop. What to do is in ex80_dot_product.h.
#include "exercises/ex80_dot_product.h"

Status dot_product(const int64_t *x, const int64_t *y, int64_t count, int64_t *result) {
    // TODO: add up the products.
    (void)x;
    (void)y;
    (void)count;
    (void)result;
    return STATUS_NOT_IMPLEMENTED;
}
