// product.cuh -- internal to cuda/: matrix products by cuBLAS, for any op.
#ifndef CUDA_PRODUCT_CUH
#define CUDA_PRODUCT_CUH

#include "cuda/cuda.h"

typedef struct Product { // c (m, n) = op(a) (m, k) . op(b) (k, n), row-major
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;  // elements between rows as stored; ldc 0: n
    bool trans_a, trans_b;  // stored transposed: a as (k, m), b as (n, k)
    int64_t count;          // number of products; distances to the next one's operands:
    int64_t step_a, step_b; // 0: all products share one
    int64_t step_c;         // 0: m * n
    bool add;               // adds to c instead of overwriting it
} Product;

// One product, or many at equal distances, in fp32.
Status cuda_multiply(CudaDevice *cuda, const Product *product);

#endif
