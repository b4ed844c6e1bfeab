// blas_plain.c -- one-thread products in plain C, blocked for the cache; used only where no
// OpenBLAS is installed, and several times slower: `make` says so.
#include "tensor/gemm.h"
#include "tensor/math.h"

enum { BLOCK_K = 128, BLOCK_N = 256 };

// c (m,n) += a (m,k) . b (k,n) for one block of k and n; b rows are walked straight.
KERNEL static void block(const Gemm *g, int64_t p0, int64_t p1, int64_t j0, int64_t j1) {
    for (int64_t i = 0; i < g->m; i++) {
        float *c = g->c + i * g->ldc;
        for (int64_t p = p0; p < p1; p++) {
            float scale = g->trans_a ? g->a[p * g->lda + i] : g->a[i * g->lda + p];
            if (g->trans_b)
                for (int64_t j = j0; j < j1; j++) c[j] += scale * g->b[j * g->ldb + p];
            else
                for (int64_t j = j0; j < j1; j++) c[j] += scale * g->b[p * g->ldb + j];
        }
    }
}

void blas_gemm(const Gemm *g) {
    for (int64_t i = 0; i < g->m && !g->add; i++)
        for (int64_t j = 0; j < g->n; j++) g->c[i * g->ldc + j] = 0.0f;
    for (int64_t p = 0; p < g->k; p += BLOCK_K)
        for (int64_t j = 0; j < g->n; j += BLOCK_N)
            block(g, p, p + BLOCK_K < g->k ? p + BLOCK_K : g->k, j,
                  j + BLOCK_N < g->n ? j + BLOCK_N : g->n);
}

void blas_settle(void) {}
bool blas_has_room(void) { return true; }
int blas_reserve(int threads) { return threads; } // it takes none

const char *blas_name(void) { return "plain C product (no BLAS used)"; }
