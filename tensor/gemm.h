// gemm.h -- one matrix product on the CPU, over threads: what matmul and linear share.
// The single-thread product itself is blas_gemm (OpenBLAS, or plain C where there is none).
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include <stdbool.h>
#include <stdint.h>

// c (m,n) = op(a) (m,k) . op(b) (k,n), row-major; op transposes when asked. c is overwritten, or,
// with `add`, added to.
typedef struct Gemm {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc; // elements from one row as stored to the next
    bool trans_a, trans_b, add;
} Gemm;

// Called on each block of c right after it was computed, in the thread that did.
typedef void (*GemmEpilogue)(void *argument, int64_t row, int64_t rows, int64_t column,
                             int64_t columns);

void gemm_run(const Gemm *gemm, GemmEpilogue epilogue, void *argument);
int64_t gemm_handoffs(const Gemm *gemm); // by its sizes and trans_a: ranges for other threads
void gemm_alone(const Gemm *gemm); // on the calling thread: for kernels that split their own work

// One product on the calling thread; safe to call from several threads at once.
void blas_gemm(const Gemm *gemm);
// Once a thread, before anything is timed: from then on the BLAS has no threads of its own.
void blas_settle(void);
// Can it have the memory that a product takes? Where it cannot, it asks for ever.
bool blas_has_room(void);
// Before `threads` threads multiply at once, gets the memory that the BLAS would take when they do.
// How many of them there is room for, at least the caller: more must not try.
int blas_reserve(int threads);
// What stands behind it, for reports: "OpenBLAS 0.3.21 (SkylakeX)".
const char *blas_name(void);

#endif
