// gemm.c -- splits a product over the pool, and does without BLAS the products for which a call
// costs more than the product: tiny ones, and outer products.
#include "tensor/gemm.h"

#include "tensor/math.h"
#include "tensor/op.h"

// Below SMALL_MACS a plain loop beats the BLAS interface; blocks are multiples of 16 so that the
// BLAS kernels stay on full tiles.
enum { SMALL_MACS = 2048, TILE = 16 };

// c (m,n) = a (m,k) . b (k,n) for tiny shapes; if b is transposed, its rows give contiguous dot
// products.
KERNEL static void gemm_small(const Gemm *g) {
    int64_t n = g->n, k = g->k, step = g->trans_a ? g->lda : 1;
    for (int64_t i = 0; i < g->m; i++) {
        const float *a = g->trans_a ? g->a + i : g->a + i * g->lda;
        float *c = g->c + i * g->ldc;
        if (g->trans_b) {
            for (int64_t j = 0; j < n; j++) {
                const float *b = g->b + j * g->ldb;
                float sum = g->add ? c[j] : 0.0f;
                for (int64_t p = 0; p < k; p++) sum += a[p * step] * b[p];
                c[j] = sum;
            }
        } else {
            for (int64_t j = 0; j < n && !g->add; j++) c[j] = 0.0f;
            for (int64_t p = 0; p < k; p++) {
                const float scale = a[p * step], *b = g->b + p * g->ldb;
                for (int64_t j = 0; j < n; j++) c[j] += scale * b[j];
            }
        }
    }
}

// k = 1: every row of c is b scaled. Only moves memory; a BLAS would first clear c.
KERNEL static void gemm_outer(const Gemm *g) {
    int64_t n = g->n, step = g->trans_b ? g->ldb : 1;
    const float *restrict b = g->b;
    for (int64_t i = 0; i < g->m; i++) {
        float scale = g->a[g->trans_a ? i : i * g->lda];
        float *restrict c = g->c + i * g->ldc;
        if (g->add)
            for (int64_t j = 0; j < n; j++) c[j] += scale * b[j * step];
        else if (step == 1)
            for (int64_t j = 0; j < n; j++) c[j] = scale * b[j];
        else
            for (int64_t j = 0; j < n; j++) c[j] = scale * b[j * step];
    }
}

void gemm_alone(const Gemm *g) {
    if (g->k == 1)
        gemm_outer(g);
    else if (g->m * g->n * g->k <= SMALL_MACS)
        gemm_small(g);
    else
        blas_gemm(g);
}

typedef struct GemmJob {
    const Gemm *gemm;
    GemmEpilogue epilogue;
    void *argument;
    bool by_rows;
} GemmJob;

static void run_range(void *argument, int64_t begin, int64_t end) {
    const GemmJob *job = argument;
    Gemm part = *job->gemm;
    int64_t count = end - begin;
    if (job->by_rows) {
        part.a += part.trans_a ? begin : begin * part.lda;
        part.c += begin * part.ldc;
        part.m = count;
    } else {
        part.b += part.trans_b ? begin * part.ldb : begin;
        part.c += begin;
        part.n = count;
    }
    gemm_alone(&part);
    if (!job->epilogue) return;
    if (job->by_rows)
        job->epilogue(job->argument, begin, count, 0, part.n);
    else
        job->epilogue(job->argument, 0, part.m, begin, count);
}

// Splits the longer side, but a weight's gradient (the product with a transposed) always by rows,
// so a thread writes the gradient of the weight rows that it read in forward.
static bool goes_by_rows(const Gemm *gemm) { return gemm->m >= gemm->n || gemm->trans_a; }

static OpWork work_of(const Gemm *gemm) {
    bool by_rows = goes_by_rows(gemm);
    double macs = (double)gemm->k * (double)(by_rows ? gemm->n : gemm->m); // per row or column
    return (OpWork){by_rows ? gemm->m : gemm->n, macs / WORK_MACS, TILE};
}

int64_t gemm_handoffs(const Gemm *gemm) { return cpu_handoffs(work_of(gemm)); }

void gemm_run(const Gemm *gemm, GemmEpilogue epilogue, void *argument) {
    if (gemm->m == 0 || gemm->n == 0) return;
    OpWork work = work_of(gemm);
    if (cpu_pays((double)work.items * work.cost)) {
        cpu_parallel(work, run_range, &(GemmJob){gemm, epilogue, argument, goes_by_rows(gemm)});
        return;
    }
    gemm_alone(gemm);
    if (epilogue) epilogue(argument, 0, gemm->m, 0, gemm->n);
}
