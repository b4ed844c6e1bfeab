// blas_plain.c -- one-thread products in plain C, blocked for the cache; used only without
// OpenBLAS, and several times slower: `make` says so.
#include "tensor/gemm.h"
#include "tensor/math.h"

enum { BLOCK_K = 64, BLOCK_N = 256, LANES = 32 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// A block of op(b), row by row, as `multiply` reads it.
typedef struct Rows {
    const float *first;
    int64_t stride;
} Rows;

static Rows rows_of_b(const Gemm *g, int64_t p0, int64_t p1, int64_t j0, int64_t j1, float *copy) {
    if (!g->trans_b) return (Rows){g->b + p0 * g->ldb + j0, g->ldb};
    for (int64_t j = j0; j < j1; j++)
        for (int64_t p = p0; p < p1; p++) copy[(p - p0) * BLOCK_N + j - j0] = g->b[j * g->ldb + p];
    return (Rows){copy, BLOCK_N};
}

// c (m, columns) += op(a) (m, depth) . rows (depth, columns), where a begins at column p0 of op(a).
KERNEL static void multiply(const Gemm *g, int64_t p0, int64_t p1, int64_t j0, int64_t columns,
                            Rows b) {
    for (int64_t i = 0; i < g->m; i++) {
        float *c = g->c + i * g->ldc + j0;
        for (int64_t p = p0; p < p1; p++) {
            const float scale = g->trans_a ? g->a[p * g->lda + i] : g->a[i * g->lda + p];
            const float *row = b.first + (p - p0) * b.stride;
            for (int64_t j = 0; j < columns; j++) c[j] += scale * row[j];
        }
    }
}

// If only b is transposed, as in a linear layer's forward, both rows lie along k: each element is
// one sum, in LANES parts.
KERNEL static void dot_rows(const Gemm *g) {
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            const float *a = g->a + i * g->lda, *b = g->b + j * g->ldb;
            float lane[LANES] = {0};
            int64_t p = 0;
            for (; p + LANES <= g->k; p += LANES)
                for (int l = 0; l < LANES; l++) lane[l] += a[p + l] * b[p + l];
            for (int l = 0; p < g->k; p++, l++) lane[l] += a[p] * b[p];
            for (int width = LANES / 2; width > 0; width /= 2)
                for (int l = 0; l < width; l++) lane[l] += lane[l + width];
            g->c[i * g->ldc + j] += lane[0];
        }
}

void blas_gemm(const Gemm *g) {
    float copy[BLOCK_K * BLOCK_N]; // 64 kB
    for (int64_t i = 0; i < g->m && !g->add; i++)
        for (int64_t j = 0; j < g->n; j++) g->c[i * g->ldc + j] = 0.0f;
    if (g->trans_b && !g->trans_a) {
        dot_rows(g);
        return;
    }
    for (int64_t p = 0; p < g->k; p += BLOCK_K)
        for (int64_t j = 0; j < g->n; j += BLOCK_N) {
            int64_t p1 = least(p + BLOCK_K, g->k), j1 = least(j + BLOCK_N, g->n);
            multiply(g, p, p1, j, j1 - j, rows_of_b(g, p, p1, j, j1, copy));
        }
}

void blas_settle(void) {}
bool blas_has_room(void) { return true; }
int blas_reserve(int threads) { return threads; } // needs no memory

const char *blas_name(void) { return "plain C product (no BLAS used)"; }
