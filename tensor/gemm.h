// gemm.h -- one matrix product on the CPU, over threads; shared by matmul and linear.
// The single-thread product itself is blas_gemm (OpenBLAS, or plain C where there is none).
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include <stdbool.h>
#include <stdint.h>

// c (m,n) = op(a) (m,k) . op(b) (k,n), row-major; op transposes when asked. The product overwrites
// c, or, with `add`, is added to it.
typedef struct Gemm {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc; // elements between rows as stored
    bool trans_a, trans_b, add;
} Gemm;

// Called on each block of c right after its computation, in the same thread.
typedef void (*GemmEpilogue)(void *argument, int64_t row, int64_t rows, int64_t column,
                             int64_t columns);

void gemm_run(const Gemm *gemm, GemmEpilogue epilogue, void *argument);
int64_t gemm_handoffs(const Gemm *gemm); // ranges for other threads; depends on sizes and trans_a
void gemm_alone(const Gemm *gemm); // on the calling thread: for kernels that split their own work

// One product on the calling thread; safe to call from several threads at once.
void blas_gemm(const Gemm *gemm);
// Call once per thread, before timing anything; then the BLAS uses no threads of its own.
void blas_settle(void);
// Whether the memory for a product is available. If it is not, the BLAS asks for it for ever.
bool blas_has_room(void);
// Before `threads` threads multiply at once, gets the memory that the BLAS would then take. Returns
// how many of them have room, at least 1 (the caller): more must not try.
int blas_reserve(int threads);
// Name of the BLAS, for reports: "OpenBLAS 0.3.21 (SkylakeX)".
const char *blas_name(void);

#endif
